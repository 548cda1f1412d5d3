"""Answers of a batch as they come, kept so that a batch that is stopped at any instant goes on where it was."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from io import FileIO
from pathlib import Path
from types import TracebackType

from pydantic import BaseModel, ConfigDict, ValidationError

from fin_agent.answering.answer import Answer
from fin_agent.cli.answers import answer_json
from fin_agent.cli.streams import say, warn
from fin_agent.errors import QuestionError
from fin_agent.models.metering import CallRecord
from fin_agent.written_file import check_place, writing


class AnswersKept:
    """Answers in `NAME.part`, a line each in the order in which they came, beside the file `NAME` they are meant for.

    A line is an answer as it is published, and behind it as `key` the question and the way of asking that it belongs
    to; or it is a call of a model, written as soon as that is made. What was written before the process was killed is
    taken up by the next one; half a line is not, nor what rules answered only because no model could be had. Safe to
    share between threads.
    """

    def __init__(self, path: Path, *, restart: bool = False) -> None:
        """`restart` leaves alone what an earlier batch kept. Nothing is opened yet."""
        self.path = path
        self.unfinished = path.with_name(f"{path.name}.part")
        self.calls: tuple[CallRecord, ...] = ()
        """What the batch took in earlier processes, whether it came to an answer or not."""
        self._restart = restart
        self._found: dict[str, list[Answer]] = {}
        self._count = 0
        self._file: FileIO | None = None
        self._guard = threading.Lock()

    def __enter__(self) -> AnswersKept:
        check_place(self.path)
        with writing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        whole = 0 if self._restart else self._read()
        with writing(self.unfinished):
            # Unbuffered: what a full disk does not take must not come up again when the file is closed.
            self._file = FileIO(self.unfinished, "ab")
            self._file.truncate(whole)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._file is not None
        self._file.close()
        if kind is not None and not issubclass(kind, QuestionError):
            say(f"the {self._count} answers so far are in {self.unfinished}; the same command goes on from there")

    def take(self, key: str) -> Answer | None:
        """An answer kept for a question of this fingerprint, each once; None where there is none (left)."""
        found = self._found.get(key)
        return found.pop(0) if found else None

    @property
    def left(self) -> int:
        """Answers found that nobody took: to other questions, or given in another way."""
        return sum(map(len, self._found.values()))

    def add(self, key: str, answer: Answer) -> None:
        """Keep an answer: the system has it when this returns, and the disk where a model was paid for it."""
        self._write(f'{answer_json(answer)[:-1]},"key":"{key}"}}', lasting=answer.usage.model_calls > 0)
        self._count += 1

    def note(self, call: CallRecord) -> None:
        """Keep what a call took; nothing where it took nothing."""
        if not call.from_cache:
            self._write(_Call(call=call).model_dump_json(), lasting=False)

    def _write(self, line: str, *, lasting: bool) -> None:
        with self._guard, writing(self.unfinished):
            assert self._file is not None
            # One write: what a killed process leaves is whole lines, and at most the beginning of one.
            _write_all(self._file, f"{line}\n".encode())
            if lasting:
                os.fsync(self._file.fileno())

    def publish(self, answers: Iterable[Answer]) -> None:
        """Write the whole file in this order, give it its name, and let go of what was kept."""
        assert self._file is not None
        whole = self.path.with_name(f"{self.path.name}.whole")
        with writing(self.path):
            with whole.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{answer_json(answer)}\n" for answer in answers)
                file.flush()
                os.fsync(file.fileno())
            whole.replace(self.path)
        self._file.close()
        self.unfinished.unlink(missing_ok=True)

    def _read(self) -> int:
        """Take up what is there; returns how many bytes of it are whole lines."""
        try:
            content = self.unfinished.read_bytes()
        except FileNotFoundError:
            return 0
        whole = content.rfind(b"\n") + 1
        calls: list[CallRecord] = []
        unreadable = 0
        for line in content[:whole].split(b"\n")[:-1]:
            read = _read(line)
            if isinstance(read, _Call):
                calls.append(read.call)
            elif read is None:
                unreadable += 1
            elif not _without_model(read):
                self._count += 1
                self._found.setdefault(read.key, []).append(_published(read))
        self.calls = tuple(calls)
        if unreadable:
            warn(f"{unreadable} lines of {self.unfinished} are nothing that a batch keeps, and left out")
        return whole


def _write_all(opened: FileIO, content: bytes) -> None:
    """A disk that has become full takes the beginning of it, and says so at the next write."""
    left = memoryview(content)
    while left:
        left = left[opened.write(left) :]


class _KeptAnswer(Answer):
    """An answer with what it belongs to."""

    key: str


class _Call(BaseModel):
    """A line for a call."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    call: CallRecord


def _read(line: bytes) -> _KeptAnswer | _Call | None:
    for kind in (_KeptAnswer, _Call):
        try:
            return kind.model_validate_json(line)
        except ValidationError:
            continue
    return None


def _published(kept: _KeptAnswer) -> Answer:
    return Answer.model_construct(**{name: getattr(kept, name) for name in Answer.model_fields})


def _without_model(answer: Answer) -> bool:
    """Whether rules answered as no model could be had, or no budget allowed one: to ask again pays nothing twice."""
    usage = answer.usage
    return bool(usage.left_out or answer.warnings) and not usage.input_tokens + usage.output_tokens
