"""A chat model that keeps what a real one said, and says it again without a network.

A recording is a file of JSON Lines in one order, without keys and headers.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import messages_from_dict
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import JsonValue, PrivateAttr, SecretStr

from fin_agent.errors import FinAgentError
from fin_agent.testing.stand_in import ModelCall, StandInChatModel, message_written

_HEADER: dict[str, JsonValue] = {"format": "fin-agent recorded chat", "version": 2}
_KEPT_METADATA = ("finish_reason", "model_name", "model_provider", "stop_reason", "token_usage")
_KEPT_KWARGS = ("reasoning_content", "refusal")
_SECRET_NAME = re.compile(r"(?:key|token|secret|password)$", re.I)
_SHORTEST_SECRET = 12


class RecordingError(FinAgentError):
    """A recording cannot be read or written."""


class NotRecordedError(RecordingError):
    """A replaying model was asked what is not in its file."""


class Entry(TypedDict):
    """One line: what was asked, how often it had been asked before, and what was answered."""

    digest: str
    request: dict[str, JsonValue]
    repeat: int
    role: str | None
    response: dict[str, JsonValue]


class RecordedChatModel(StandInChatModel):
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
    this call was not recorded. Nearest to it is a recorded call with content 'What was revenue?', \
where content 'What was net revenue?' was asked
    """

    file: Path
    recorded: BaseChatModel | None = None
    """The model that is asked; None while replaying."""

    _entries: dict[tuple[str, int], Entry] = PrivateAttr(default_factory=dict)
    _made: Counter[str] = PrivateAttr(default_factory=Counter)
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
        made._secrets = _secrets_of(model)
        if file.exists() and not add:
            raise RecordingError(
                "a recording is there already", subject=str(file), remedy="Remove it, or give add=True to keep it"
            )
        if file.exists():
            made._entries = _read(file)
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{_line(_HEADER)}\n", encoding="utf-8")
        return made

    @classmethod
    def replaying(cls, file: Path) -> RecordedChatModel:
        """Says what the file holds. Raises RecordingError where it cannot be read."""
        made = cls(file=file, model_name="replayed")
        made._entries = _read(file)
        return made

    def rewind(self) -> None:
        """Calls made again are answered from the first on, as if none had been made."""
        with self._lock:
            self._made.clear()

    def close(self) -> None:
        """Writes the file in its final order. Until then it has one line for each call, in the order they came."""
        if self.recorded is not None:
            with self._lock:
                _write(self.file, self._entries.values())

    def __enter__(self) -> RecordedChatModel:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _answered(self, call: ModelCall) -> ChatResult:
        try:
            request, digest = call.written(), call.digest()
        except TypeError as failure:
            raise RecordingError(f"the call cannot be written ({failure})", subject=str(self.file)) from failure
        with self._lock:
            repeat = self._made[digest]
            known = self._entries.get((digest, repeat))
            self._made[digest] += known is not None
        if known is not None:
            return _result(known["response"])
        if self.recorded is None:
            raise self._unknown(call, repeat)
        self._check_secrets(_line(request), "prompt")
        response = _response(self._asked(self.recorded, call))
        with self._lock:
            repeat = self._made[digest]
            entry = Entry(digest=digest, request=request, repeat=repeat, role=call.role, response=response)
            line = _line(entry)
            self._check_secrets(line, "answer")
            self._made[digest] += 1
            self._entries[digest, repeat] = entry
            with self.file.open("a", encoding="utf-8") as written:
                written.write(f"{line}\n")
        return _result(response)

    def _check_secrets(self, line: str, what: str) -> None:
        if any(secret in line for secret in self._secrets):
            raise RecordingError(
                f"a key or a header's value stands in the {what}; nothing was recorded", subject=str(self.file)
            )

    def _unknown(self, call: ModelCall, repeat: int) -> NotRecordedError:
        if repeat:
            what = f"this call was recorded {'once' if repeat == 1 else f'{repeat} times'} and is made once more"
            return NotRecordedError(what, subject=str(self.file), remedy=f"The prompt: {call.head()}")
        told = _nearest(call.written(), [entry["request"] for entry in self._entries.values()])
        return NotRecordedError("this call was not recorded", subject=str(self.file), remedy=told)


def _nearest(asked: Mapping[str, JsonValue], recorded: list[dict[str, JsonValue]]) -> str:
    """A sentence that names the first difference from the nearest recorded call."""
    if not recorded:
        return "The recording is empty"
    mine = _lines(asked)

    def likeness(request: Mapping[str, JsonValue]) -> float:
        return difflib.SequenceMatcher(None, "\n".join(_lines(request)), "\n".join(mine), autojunk=False).ratio()

    its = _lines(max(recorded, key=likeness))
    codes = difflib.SequenceMatcher(None, its, mine, autojunk=False).get_opcodes()
    place = next((code for code in codes if code[0] != "equal"), ("equal", 0, 0, 0, 0))
    kept, wanted = ("; ".join(lines) or "nothing" for lines in (its[place[1] : place[2]], mine[place[3] : place[4]]))
    return f"Nearest to it is a recorded call with {kept}, where {wanted} was asked"


def _lines(value: JsonValue | Mapping[str, JsonValue], name: str = "") -> list[str]:
    """Messages and options of a call, line by line, as a difference between two is told."""
    if isinstance(value, Mapping):
        return [line for key in sorted(value) for line in _lines(value[key], key)]
    if isinstance(value, list):
        return [line for each in value for line in _lines(each, name)]
    return [f"{name} {value!r}"]


def _read(file: Path) -> dict[tuple[str, int], Entry]:
    """What a file holds. Raises RecordingError where it is no recording, or a broken one."""
    try:
        # Not splitlines: it would part a line at signs that JSON leaves as they are, U+2028 among them.
        header, *entries = [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line.strip()]
    except (OSError, ValueError) as failure:
        raise RecordingError(
            f"it cannot be read as a recording ({failure})", subject=str(file), remedy="Record it anew"
        ) from failure
    if header != _HEADER or any(
        not isinstance(each, dict) or set(each) != set(Entry.__annotations__) for each in entries
    ):
        raise RecordingError("it is no recording of this version", subject=str(file), remedy="Record it anew")
    return {(entry["digest"], entry["repeat"]): entry for entry in entries}


def _write(file: Path, entries: Iterable[Entry]) -> None:
    """Writes a whole file at once: the same entries, in whatever order they came, give the same bytes."""
    ordered = sorted(entries, key=lambda entry: (entry["role"] or "", entry["digest"], entry["repeat"]))
    partial = file.with_name(f"{file.name}.partial")
    partial.write_text("".join(f"{_line(each)}\n" for each in (_HEADER, *ordered)), encoding="utf-8")
    partial.replace(file)


def _line(entry: Mapping[str, Any]) -> str:
    """One line of the file."""
    # A lone surrogate is no UTF-8: as an escape it can be kept.
    written = json.dumps(entry, ensure_ascii=False, sort_keys=True)
    odd = any("\ud800" <= sign <= "\udfff" for sign in written)
    return json.dumps(entry, sort_keys=True) if odd else written


def _response(result: ChatResult) -> dict[str, JsonValue]:
    """What was answered, as JSON: no ids and fingerprints of the provider's, no headers."""
    generation = result.generations[0]
    message = generation.message
    known = {**(result.llm_output or {}), **(generation.generation_info or {}), **message.response_metadata}
    kept = {name: known[name] for name in _KEPT_METADATA if known.get(name) is not None}
    more = {name: value for name, value in message.additional_kwargs.items() if name in _KEPT_KWARGS and value}
    return message_written(message.model_copy(update={"response_metadata": kept, "additional_kwargs": more}))


def _result(response: dict[str, JsonValue]) -> ChatResult:
    (message,) = messages_from_dict([{"type": response["type"], "data": {"content": "", **response}}])
    return ChatResult(generations=[ChatGeneration(message=message)])


def _secrets_of(model: BaseChatModel) -> frozenset[str]:
    """What must not get into a file: the model's keys and headers, and secrets among the environment's variables."""
    found: set[str] = {value for name, value in os.environ.items() if _SECRET_NAME.search(name)}
    for name in type(model).model_fields:
        value = getattr(model, name, None)
        if isinstance(value, SecretStr):
            found.add(value.get_secret_value())
        elif isinstance(value, Mapping) and "header" in name:
            found.update(str(each) for each in value.values())
        elif isinstance(value, str) and _SECRET_NAME.search(name):
            found.add(value)
    return frozenset(secret for secret in found if len(secret) >= _SHORTEST_SECRET)
