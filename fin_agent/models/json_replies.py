"""A value read from what a model wrote as JSON: lenient about what stands around it, strict about itself."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import NoReturn, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

ValueT = TypeVar("ValueT", bound=BaseModel)

_MOST_CHARACTERS = 200_000
_MOST_FAULTS = 4
_FENCE = "```"
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.S | re.I)


class UnreadableError(ValueError):
    """No value of the type wanted can be read; says why in words that a model can use."""


def read_value(text: str, output: type[ValueT], *, whole: bool = False) -> ValueT:
    """The value of a reply. Raises UnreadableError.

    With `whole` the text must be the JSON and nothing else. Otherwise fences, thoughts and words around it are passed
    over; of several objects (lists, where it holds none), those with most fields of the type are meant, and of these
    the last: an example goes before the answer, and may be longer. What stands inside an object that is broken is never
    taken for the object.
    """
    if len(text) > _MOST_CHARACTERS:
        raise UnreadableError(f"it is longer than {_MOST_CHARACTERS:,} characters")
    found = _load(text) if whole else _found(text, frozenset(output.model_fields))
    try:
        return output.model_validate_json(json.dumps(found))
    except ValidationError as failure:
        faults = failure.errors(include_url=False, include_input=False, include_context=False)[:_MOST_FAULTS]
        told = (f"{'.'.join(map(str, fault['loc'])) or 'the whole'}: {fault['msg']}" for fault in faults)
        raise UnreadableError("; ".join(told)) from failure


def _found(text: str, fields: frozenset[str]) -> JsonValue:
    said = _THOUGHTS.sub("", text).strip()
    try:
        return _load(said)
    except UnreadableError as failure:
        first = failure
    found = list(_fenced_values(said)) or list(_values(said))
    if not found:
        raise first
    return max(enumerate(found), key=lambda each: (_known(each[1], fields), each[0]))[1]


def _known(value: JsonValue, fields: frozenset[str]) -> int:
    """How many fields of the type wanted it has."""
    return len(fields.intersection(value)) if isinstance(value, dict) else 0


def _fenced_values(text: str) -> Iterator[JsonValue]:
    for fenced in _fenced(text):
        try:
            yield _load(fenced)
        except UnreadableError:
            continue


def _fenced(text: str) -> Iterator[str]:
    """What stands between lines that begin with a fence; read line by line, as a reply may hold very many fences."""
    inside: list[str] | None = None
    for line in text.splitlines():
        if not line.lstrip().startswith(_FENCE):
            if inside is not None:
                inside.append(line)
        elif inside is None:
            inside = []
        else:
            yield "\n".join(inside)
            inside = None


_LIST = re.compile(r"^[ \t]*(\[)", re.M)


def _values(text: str) -> Iterator[JsonValue]:
    """Each object that stands in no other, up to one that is broken; where there are none, lists on lines of their own.

    Lists in running text are references, as in `card [3]`.
    """
    opening = re.compile(r"(\{)") if "{" in text else _LIST
    found = opening.search(text)
    while found is not None:
        try:
            value, end = _DECODER.raw_decode(text, found.start(1))
        except (ValueError, RecursionError):
            return  # what follows may be a part of it
        yield value
        found = opening.search(text, end)


def _load(text: str) -> JsonValue:
    try:
        value: JsonValue = _DECODER.decode(text)
    except (ValueError, RecursionError) as failure:
        raise UnreadableError(_told(failure)) from failure
    return value


def _told(failure: Exception) -> str:
    if isinstance(failure, json.JSONDecodeError):
        return f"it is no valid JSON: {failure.msg.lower().removesuffix(' at')} (character {failure.pos})"
    return f"it is no valid JSON: {failure if isinstance(failure, UnreadableError) else 'it goes too deep or too far'}"


def _once(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    """A field that stands twice has no certain value."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise UnreadableError(f"the field {twice[:40]!r} stands in it twice")
    return found


def _no_number(name: str) -> NoReturn:
    raise UnreadableError(f"{name} is no number in JSON")


def _finite(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise UnreadableError(f"the number {written[:40]} is too large")
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite)
