"""How a call differs from the recorded one that is most like it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

_AROUND = 30


def nearest_difference(asked: Mapping[str, JsonValue], recorded: Sequence[Mapping[str, JsonValue]]) -> str:
    """A sentence that names the first difference from the nearest recorded call."""
    if not recorded:
        return "The recording is empty"
    nearest = min(recorded, key=lambda request: (-_likeness(asked, request), json.dumps(request, sort_keys=True)))
    return f"Nearest to it is a recorded call whose {_difference(asked, nearest)}"


def _likeness(asked: Mapping[str, JsonValue], other: Mapping[str, JsonValue]) -> float:
    """Characters that the messages share at their beginnings and ends, and something for equal options."""
    shared = 0
    for one, two in zip(_messages(asked), _messages(other), strict=False):
        first, second = _content(one), _content(two)
        front = _shared(first, second)
        back = _shared(first[front:][::-1], second[front:][::-1])
        shared += front + back
    return shared + (0.5 if asked.get("options") == other.get("options") else 0)


def _difference(asked: Mapping[str, JsonValue], other: Mapping[str, JsonValue]) -> str:
    ours, theirs = _messages(asked), _messages(other)
    for number, (one, two) in enumerate(zip(ours, theirs, strict=False), start=1):
        first, second = _content(one), _content(two)
        if first != second:
            at = _shared(first, second)
            return f"message {number} differs at character {at}: recorded {_cut(second, at)}, asked {_cut(first, at)}"
        for name in sorted({*one, *two}):
            if one.get(name) != two.get(name):
                return f"message {number} has another {name}: recorded {two.get(name)!r}, asked {one.get(name)!r}"
    if len(ours) != len(theirs):
        return f"messages are {len(theirs)} in number, where {len(ours)} were asked"
    for name in sorted({*_options(asked), *_options(other)}):
        mine, its = _options(asked).get(name), _options(other).get(name)
        if mine != its:
            first, second = _json(mine), _json(its)
            at = _shared(first, second)
            return f"option {name!r} differs: recorded {_cut(second, at)}, asked {_cut(first, at)}"
    return (
        f"further options are {other.get('options_not_told', [])}, where {asked.get('options_not_told', [])} were asked"
    )


def _messages(request: Mapping[str, JsonValue]) -> list[dict[str, JsonValue]]:
    messages = request.get("messages")
    return [each for each in messages if isinstance(each, dict)] if isinstance(messages, list) else []


def _options(request: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    options = request.get("options")
    return options if isinstance(options, dict) else {}


def _content(message: Mapping[str, JsonValue]) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else _json(content)


def _shared(first: str, second: str) -> int:
    """Characters that two texts begin with alike."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((at for at, (one, two) in pairs if one != two), min(len(first), len(second)))


def _json(value: JsonValue) -> str:
    return "nothing" if value is None else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _cut(text: str, at: int) -> str:
    """The surroundings of a place."""
    start, end = max(0, at - _AROUND), at + _AROUND
    return repr(f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}")
