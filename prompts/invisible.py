"""Characters that no reader sees: taken out of what a model is shown, counted, and read where they spell something."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

_KINDS = {
    "zero-width": "\u034f\u180e\u200b-\u200d\u2060-\u2064\ufeff",
    "direction": "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f",
    "blank letter": "\u115f\u1160\u17b4\u17b5\u3164\uffa0",
    "soft hyphen": "\u00ad",
    "tag": "\U000e0000-\U000e007f",
    "variation selector": "\ufe00-\ufe0f\U000e0100-\U000e01ef",
    "surrogate": "\ud800-\udfff",
    "control": "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\ufff9-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a",
}
_INVISIBLE = re.compile("|".join(f"(?P<k{number}>[{marks}])" for number, marks in enumerate(_KINDS.values())))
_NAMES = tuple(_KINDS)
_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Removed:
    """Characters of one kind that were taken out of a text."""

    kind: str
    """`zero-width`, `direction`, `tag`, `variation selector`, `blank letter`, `soft hyphen`, `control`, `surrogate`."""
    count: int
    spelt: str = ""
    """What tags spell in plain letters, where they do; at most 200 characters."""

    def __str__(self) -> str:
        spelt = f", spelling {self.spelt!r}" if self.spelt else ""
        return f"{self.count} {self.kind} character{'' if self.count == 1 else 's'} taken out{spelt}"


def visible(text: str) -> tuple[str, tuple[Removed, ...]]:
    """A text without what no reader sees, and what was taken out, by kind. All line ends become plain ones.

    >>> visible("net\\u200b sales\\x1b[2J")
    ('net sales[2J', (Removed(kind='control', count=1, spelt=''), Removed(kind='zero-width', count=1, spelt='')))
    """
    removed: Counter[str] = Counter()
    spelt: list[str] = []

    def taken_out(found: re.Match[str]) -> str:
        kind = _kind(found)
        removed[kind] += 1
        spelt.append(letter_of_tag(found[0]))
        return ""

    seen = _INVISIBLE.sub(taken_out, _LINE_END.sub("\n", text))
    said = "".join(spelt)[:200]
    return seen, tuple(Removed(kind, count, said if kind == "tag" else "") for kind, count in sorted(removed.items()))


def letter_of_tag(mark: str) -> str:
    """The plain letter that a tag character stands for; empty for any other character."""
    return chr(ord(mark) - 0xE0000) if 0xE0020 <= ord(mark) < 0xE007F else ""


def invisible_in(text: str) -> list[tuple[int, str]]:
    """(place, kind) of every character that no reader sees."""
    if text.isascii() and text.isprintable():
        return []
    return [(found.start(), _kind(found)) for found in _INVISIBLE.finditer(text)]


def _kind(found: re.Match[str]) -> str:
    return _NAMES[int((found.lastgroup or "k0")[1:])]
