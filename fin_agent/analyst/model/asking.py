"""A chat model asked for JSON: its reply read leniently, and asked for once more where it cannot be used."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from pydantic import JsonValue, ValidationError

from fin_agent.errors import FinAgentError
from fin_agent.retrieval.strategies.writing import Writer

Value = TypeVar("Value")

_MOST_CHARACTERS = 40_000
_MOST_FAULTS = 4
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.S | re.I)
_OPENING = re.compile(r"[\[{]")
_DECODER = json.JSONDecoder()


class UnusableReplyError(FinAgentError):
    """A chat model's reply is not what it was asked for."""


def asked(writer: Writer, prompt: Callable[[str], str], read: Callable[[JsonValue], Value]) -> Value:
    """What `read` makes of the JSON that the writer replies with; one correction is asked for.

    `prompt` takes what was wrong with the reply before, a sentence or nothing. `read` may raise ValidationError or
    UnusableReplyError. Raises WritingError, and UnusableReplyError where the second reply is no better.
    """
    try:
        return _read(writer.write(prompt("")), read)
    except UnusableReplyError as failure:
        first = failure.what
    correction = f"A reply before this one could not be used: {first}. Reply anew, with the JSON alone."
    try:
        return _read(writer.write(prompt(correction)), read)
    except UnusableReplyError as failure:
        raise UnusableReplyError(f"two replies of the chat model could not be used: {failure.what}") from failure


def json_in(reply: str) -> JsonValue:
    """The longest JSON list or object of a reply, whatever stands around it; of equally long ones the last.

    Raises UnusableReplyError where there is none.

    >>> json_in("Here you are:\\n```json\\n[3, 1]\\n```\\nCard [3] fits best.")
    [3, 1]
    """
    found = list(_values(_THOUGHTS.sub("", reply[:_MOST_CHARACTERS])))
    if not found:
        raise UnusableReplyError("no whole JSON is in it")
    return max(enumerate(found), key=lambda value: (value[1][1], value[0]))[1][0]


def _values(text: str) -> Iterator[tuple[JsonValue, int]]:
    """(value, its length in characters) of each list or object that stands in no other."""
    place = 0
    while (opening := _OPENING.search(text, place)) is not None:
        try:
            value, end = _DECODER.raw_decode(text, opening.start())
        except RecursionError:
            return
        except ValueError:
            place = opening.end()
            continue
        yield value, end - opening.start()
        place = end


def _read(reply: str, read: Callable[[JsonValue], Value]) -> Value:
    try:
        return read(json_in(reply))
    except ValidationError as failure:
        faults = [
            f"{'.'.join(map(str, fault['loc'])) or 'the whole'}: {fault['msg']}"
            for fault in failure.errors(include_url=False, include_input=False, include_context=False)[:_MOST_FAULTS]
        ]
        raise UnusableReplyError("; ".join(faults)) from failure
