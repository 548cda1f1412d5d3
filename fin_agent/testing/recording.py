"""A file of recorded calls and answers: JSON Lines, in one order, without keys and headers."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypedDict, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import JsonValue, SecretStr

from fin_agent.errors import FinAgentError
from fin_agent.testing.call import digest_of, plain

HEADER: dict[str, JsonValue] = {"format": "fin-agent recorded chat", "version": 1}
_KEPT_METADATA = ("finish_reason", "model_name", "model_provider", "stop_reason", "token_usage")
_KEPT_KWARGS = ("reasoning_content", "refusal")
_SECRET_NAME = re.compile(r"(?:key|token|secret|password)$", re.I)
_SHORTEST_SECRET = 12


class RecordingError(FinAgentError):
    """A recording cannot be read or written."""


class Entry(TypedDict):
    """One line: what was asked, how often it had been asked before, and what was answered."""

    request: dict[str, JsonValue]
    repeat: int
    role: str | None
    response: list[JsonValue]


def read_entries(file: Path) -> list[Entry]:
    """What a file holds. Raises RecordingError where it is no recording, or a broken one."""
    try:
        # Not splitlines: it would part a line at signs that JSON leaves as they are, U+2028 among them.
        lines = file.read_text(encoding="utf-8").split("\n")
        header, *entries = [json.loads(line) for line in lines if line.strip()]
    except (OSError, ValueError) as failure:
        raise RecordingError(
            f"it cannot be read as a recording ({failure})", subject=str(file), remedy="Record it anew"
        ) from failure
    wrong = [entry for entry in entries if not isinstance(entry, dict) or set(entry) != set(Entry.__annotations__)]
    if header != HEADER or wrong:
        raise RecordingError("it is no recording of this version", subject=str(file), remedy="Record it anew")
    return cast(list[Entry], entries)


def write_entries(file: Path, entries: Iterable[Entry]) -> None:
    """Writes a whole file at once: the same entries, in whatever order they came, give the same bytes."""
    ordered = sorted(entries, key=lambda entry: (entry["role"] or "", digest_of(entry["request"]), entry["repeat"]))
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f"{file.name}.partial")
    partial.write_text("".join(f"{line_of(line)}\n" for line in (HEADER, *ordered)), encoding="utf-8")
    partial.replace(file)


def line_of(entry: Mapping[str, object]) -> str:
    """One line of the file."""
    # A lone surrogate is no UTF-8: as an escape it can be kept.
    written = json.dumps(entry, ensure_ascii=False, sort_keys=True)
    return written if written.isascii() or _is_utf8(written) else json.dumps(entry, sort_keys=True)


def response_written(result: ChatResult) -> list[JsonValue]:
    """What was answered, as JSON: no ids and fingerprints of the provider's, no headers."""
    written: list[JsonValue] = []
    for generation in result.generations:
        message = generation.message
        known = {**(result.llm_output or {}), **(generation.generation_info or {}), **message.response_metadata}
        told: dict[str, JsonValue] = {
            "content": plain(message.content),
            "metadata": {name: plain(known[name]) for name in _KEPT_METADATA if known.get(name) is not None},
        }
        kwargs = {name: plain(message.additional_kwargs.get(name)) for name in _KEPT_KWARGS}
        told |= {name: value for name, value in kwargs.items() if value is not None}
        if isinstance(message, AIMessage):
            told["tool_calls"] = plain(message.tool_calls)
            told["invalid_tool_calls"] = plain(message.invalid_tool_calls)
            told["usage"] = plain(message.usage_metadata)
        written.append(told)
    return written


def response_read(written: Sequence[JsonValue]) -> ChatResult:
    """The other way round."""
    generations = []
    for told in written:
        assert isinstance(told, dict)
        message = AIMessage.model_validate(
            {
                "content": told["content"],
                "additional_kwargs": {name: told[name] for name in _KEPT_KWARGS if name in told},
                "response_metadata": told["metadata"],
                "tool_calls": told.get("tool_calls") or [],
                "invalid_tool_calls": told.get("invalid_tool_calls") or [],
                "usage_metadata": told.get("usage"),
            }
        )
        generations.append(ChatGeneration(message=message))
    return ChatResult(generations=generations)


def secrets_of(model: BaseChatModel) -> frozenset[str]:
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


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
