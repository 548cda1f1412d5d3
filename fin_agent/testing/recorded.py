"""A chat model that keeps what a real one said, and says it again without a network."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from types import TracebackType

from langchain_core.language_models import BaseChatModel
from langchain_core.outputs import ChatResult
from pydantic import PrivateAttr

from fin_agent.testing.base import WrappingChatModel
from fin_agent.testing.call import ModelCall, digest_of
from fin_agent.testing.differences import nearest_difference
from fin_agent.testing.recording import (
    HEADER,
    Entry,
    RecordingError,
    line_of,
    read_entries,
    response_read,
    response_written,
    secrets_of,
    write_entries,
)


class NotRecordedError(RecordingError):
    """A replaying model was asked what is not in its file."""


class RecordedChatModel(WrappingChatModel):
    """Made by `recording` around a real model, and by `replaying` without one.

    A call is known by its messages, tools and options, such as the schema and the temperature; a call made again is
    kept again, and said in the same order. What a provider raises is raised, and not kept. While it records, streams
    come when the answer is whole.

    >>> from pathlib import Path
    >>> from fin_agent.testing import ScriptedChatModel
    >>> with RecordedChatModel.recording(ScriptedChatModel("A real answer."), Path("said.jsonl")) as model:
    ...     model.invoke("What was revenue?").content
    'A real answer.'
    >>> replayed = RecordedChatModel.replaying(Path("said.jsonl"))
    >>> replayed.invoke("What was revenue?").content
    'A real answer.'
    >>> try:
    ...     replayed.invoke("What was net revenue?")
    ... except NotRecordedError as error:
    ...     print(error.what, error.remedy, sep=". ")
    this call was not recorded. Nearest to it is a recorded call whose message 1 differs at character 9: \
recorded 'What was revenue?', asked 'What was net revenue?'
    """

    file: Path
    recorded: BaseChatModel | None = None
    """The model that is asked; None while replaying."""

    _entries: dict[tuple[str, int], Entry] = PrivateAttr(default_factory=dict)
    _asked: Counter[str] = PrivateAttr(default_factory=Counter)
    _secrets: frozenset[str] = PrivateAttr(default=frozenset())
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    @classmethod
    def recording(cls, model: BaseChatModel, file: Path, *, add: bool = False) -> RecordedChatModel:
        """Asks `model` and keeps what it says in a new file; close it, or use it in a `with`, to have it in order.

        With `add`, what the file holds is said from there, and only the rest is asked. Raises RecordingError where the
        file is there already and nothing is to be added.
        """
        name = getattr(model, "model_name", None) or getattr(model, "model", None) or type(model).__name__
        made = cls(file=file, recorded=model, model_name=str(name), rate_limiter=model.rate_limiter)
        made._secrets = secrets_of(model)
        if file.exists() and not add:
            raise RecordingError(
                "a recording is there already", subject=str(file), remedy="Remove it, or give add=True to keep it"
            )
        if file.exists():
            made._load()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{line_of(HEADER)}\n", encoding="utf-8")
        return made

    @classmethod
    def replaying(cls, file: Path) -> RecordedChatModel:
        """Says what the file holds. Raises RecordingError where it cannot be read."""
        made = cls(file=file, model_name="replayed")
        made._load()
        return made

    def rewind(self) -> None:
        """Calls made again are answered from the first on, as if none had been made."""
        with self._lock:
            self._asked.clear()

    def close(self) -> None:
        """Writes the file in its final order. Until then it has one line for each call, in the order they came."""
        if self.recorded is not None:
            with self._lock:
                write_entries(self.file, self._entries.values())

    def __enter__(self) -> RecordedChatModel:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _before(self, call: ModelCall) -> ChatResult | None:
        try:
            request = call.written()
        except TypeError as failure:
            raise RecordingError(f"the call cannot be written ({failure})", subject=str(self.file)) from failure
        digest = digest_of(request)
        with self._lock:
            repeat = self._asked[digest]
            entry = self._entries.get((digest, repeat))
            self._asked[digest] += entry is not None
        if entry is not None:
            return response_read(entry["response"])
        if self.recorded is None:
            raise self._unknown(call, repeat)
        self._without_secrets(line_of(request), "prompt")
        return None

    def _behind(self) -> BaseChatModel | None:
        return self.recorded

    def _after(self, call: ModelCall, result: ChatResult) -> ChatResult:
        request, response = call.written(), response_written(result)
        digest = digest_of(request)
        with self._lock:
            entry = Entry(request=request, repeat=self._asked[digest], role=call.role, response=response)
            line = line_of(entry)
            self._without_secrets(line, "answer")
            self._asked[digest] += 1
            self._entries[digest, entry["repeat"]] = entry
            with self.file.open("a", encoding="utf-8") as written:
                written.write(f"{line}\n")
        return response_read(response)

    def _without_secrets(self, line: str, what: str) -> None:
        if any(secret in line for secret in self._secrets):
            raise RecordingError(
                f"a key or a header's value stands in the {what}; nothing was recorded", subject=str(self.file)
            )

    def _unknown(self, call: ModelCall, repeat: int) -> NotRecordedError:
        if repeat:
            what = f"this call was recorded {'once' if repeat == 1 else f'{repeat} times'} and is made once more"
            return NotRecordedError(what, subject=str(self.file), remedy=f"The prompt: {call.head()}")
        with self._lock:
            told = nearest_difference(call.written(), [entry["request"] for entry in self._entries.values()])
        return NotRecordedError("this call was not recorded", subject=str(self.file), remedy=told)

    def _load(self) -> None:
        for entry in read_entries(self.file):
            self._entries[digest_of(entry["request"]), entry["repeat"]] = entry
