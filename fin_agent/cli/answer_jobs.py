"""Answers as JSON, many of them in a row, kept in files as they come, and recorded."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from io import FileIO
from pathlib import Path
from types import FrameType, TracebackType
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from fin_agent.answering.answer import Answer, AnswerValue, refusal_text
from fin_agent.atomic_write import check_place, writing
from fin_agent.cli.exit_codes import sentence_of
from fin_agent.cli.options import OnIndex
from fin_agent.cli.streams import on_one_line, say, warn
from fin_agent.config import Recording, Settings, SettingsError, recording_from_environment
from fin_agent.errors import FinAgentError, QuestionError
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import answer_question
from fin_agent.index.protocol import PageKey
from fin_agent.models.metering import CallRecord
from fin_agent.runs.run import StepTime
from fin_agent.runs.store import Recorder
from fin_agent.workspace import Workspace


def answer_json(answer: Answer, *, trace: bool = False) -> str:
    """The published contract as one line of JSON; the audit trace is added only where asked for."""
    return on_one_line(answer.model_dump_json(exclude=None if trace else {"trace"}))


@dataclass(frozen=True, slots=True)
class Attempt:
    """An answer, or the refusal that stands in for one where answering failed, with the reason."""

    answer: Answer
    failure: str = ""


def attempt(
    question: str,
    context: AnswerContext,
    *,
    doc_ids: Sequence[str] | None = None,
    pages: Sequence[PageKey] | None = None,
    question_id: str | None = None,
    debug: bool = False,
) -> Attempt:
    """Answer one of many questions: one that fails does not end the run, unless `debug` wants to see it.

    Nobody is there to be asked back: what a question leaves open is among its assumptions.
    """
    context = replace(context, asks_back=False)
    try:
        return Attempt(answer_question(question, context, doc_ids=doc_ids, pages=pages, question_id=question_id))
    except Exception as error:  # the other questions still get their answers; the reason is kept and told
        if debug and not isinstance(error, FinAgentError):
            raise
        failure = sentence_of(error)
    return Attempt(refusal_for(question, failure, question_id), failure)


def refusal_for(question: str, reason: str, question_id: str | None) -> Answer:
    """The refusal of a question that was not answered, for `reason`."""
    return Answer(
        id=question_id,
        question=question,
        answer=AnswerValue(text=refusal_text([reason])),
        refused=True,
        missing=(reason,),
    )


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
            left = memoryview(f"{line}\n".encode())
            while left:  # a disk that has become full takes the beginning of it, and says so at the next write
                left = left[self._file.write(left) :]
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
                published = Answer.model_construct(**{name: getattr(read, name) for name in Answer.model_fields})
                self._found.setdefault(read.key, []).append(published)
        self.calls = tuple(calls)
        if unreadable:
            warn(f"{unreadable} lines of {self.unfinished} are nothing that a batch keeps, and left out")
        return whole


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


def _without_model(answer: Answer) -> bool:
    """Whether rules answered as no model could be had, or no budget allowed one: to ask again pays nothing twice."""
    usage = answer.usage
    return bool(usage.left_out or answer.warnings) and not usage.input_tokens + usage.output_tokens


Given = TypeVar("Given")
Result = TypeVar("Result")


def _threads(jobs: int) -> Executor:
    return ThreadPoolExecutor(jobs, thread_name_prefix="question")


def each_done(
    do: Callable[[Given], Result],
    given: Sequence[Given],
    jobs: int,
    pool_of: Callable[[int], Executor] = _threads,
    *,
    ahead: int = 0,
) -> Iterator[Result]:
    """The results in the order in which they come: one after the other by this thread, or `jobs` at once by others.

    `ahead` more are handed over before one is done, so that nobody waits for what becomes of the results here.
    What `do` raises ends it. Stopped from the keyboard, it begins no other; those under way are ended and given back
    first, because they may have been paid for. Stopped once more, it waits for nothing.
    """
    if jobs == 1:
        yield from map(do, given)
        return
    left = enumerate(given)
    under_way: dict[Future[Result], int] = {}
    with pool_of(min(jobs, max(1, len(given)))) as pool, _stopped(under_way) as stopped:
        while True:
            while (
                not stopped.is_set() and len(under_way) < jobs + ahead and (following := next(left, None)) is not None
            ):
                under_way[pool.submit(do, following[1])] = following[0]
            if not under_way:
                break
            done = wait(under_way, return_when=FIRST_COMPLETED).done
            for future in sorted(done, key=under_way.__getitem__):
                del under_way[future]
                yield future.result()
        if stopped.is_set():
            raise KeyboardInterrupt


@contextmanager
def _stopped(under_way: dict[Future[Result], int]) -> Iterator[threading.Event]:
    """Set by the first interrupt inside the block; the second one is raised, as any is outside."""
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return

    def stop(number: int, frame: FrameType | None) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt
        stopped.set()
        with suppress(RuntimeError):  # in the midst of another line, no line can be written
            say(f"stopping: the {len(under_way)} under way are ended first")

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGINT, before)


def recorder_for(workspace: Workspace, on: OnIndex, settings: Settings, wanted: bool) -> Recorder:
    """Records over the index in use, unless it is not `wanted` or the environment switches it off."""
    recording = Recording(enabled=False)
    if wanted:
        try:
            recording = recording_from_environment()
        except SettingsError as error:
            warn(f"runs are not recorded: {error}")
    return Recorder(workspace.index, on.chosen.folder, settings, recording, notify=warn)


class Stopwatch:
    """Takes the time of each step as it ends."""

    def __init__(self) -> None:
        self.steps: list[StepTime] = []
        self._last = time.perf_counter()

    def start(self) -> None:
        """The first step begins now."""
        self._last = time.perf_counter()

    def step(self, node: str) -> None:
        """A step has ended, and the next one begins."""
        now = time.perf_counter()
        self.steps.append(StepTime(node=node, seconds=round(now - self._last, 4)))
        self._last = now


FILE_NAME = "replies.sqlite"


def with_replies_kept(settings: Settings, on: OnIndex, *, wanted: bool) -> Settings:
    """The settings of a batch: replies are kept where the settings say, else beside the index in use.

    Where they are not `wanted`, none are kept or used. Without a model there are none.
    """
    if not settings.by_model:
        return settings
    cache = (settings.models.cache or on.chosen.folder / FILE_NAME) if wanted else None
    return settings.model_copy(update={"models": settings.models.model_copy(update={"cache": cache})})
