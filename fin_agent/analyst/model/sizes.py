"""Sizes that a text gives its numbers: the `million` of `$5 million`, the sign of `6%`, the `bn` of `$3bn`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sized:
    """A number, and the size said of it."""

    number: str
    """Without commas."""
    size: str
    """`million`, `%`, `points`, `hundred thousand`; empty for a bare number."""
    shared: str
    """Of a bare number, the size of the one it is told together with: the `%` of the 3 in `3 to 5%`."""
    behind: str
    """The word right behind a bare number, where it begins small: a capital begins the next row of a table. None of an
    amount of money: its word is no noun that is counted."""
    start: int
    end: int


def sizes_in(text: str) -> Iterator[Sized]:
    """The numbers of a text in their order.

    >>> [(each.number, each.size) for each in sizes_in("$3,533 bn, or 41k, up (6.0) %")]
    [('3533', 'billion'), ('41', 'thousand'), ('6.0', '%')]
    >>> [each.shared for each in sizes_in("between $3 and 5 million")]
    ['million', '']
    """
    found = list(_SIZED.finditer(text))
    shared = ""
    sizes: list[Sized] = []
    for place in range(len(found) - 1, -1, -1):
        match = found[place]
        end = match.end()
        size = _plain(match["sizes"] or "")
        next_size = sizes[-1].size or sizes[-1].shared if sizes else ""
        told_together = bool(sizes) and _TOGETHER.fullmatch(text[end : sizes[-1].start]) is not None
        shared = next_size if told_together and not size else ""
        behind = None if match["currency"] else _WORD.match(text, end)
        number = match["number"].replace(",", "")
        sizes.append(Sized(number, size, shared, behind[1] if behind else "", match.start(), end))
    yield from reversed(sizes)


_NUMBER = r"\d+(?:,\d+)*(?:\.\d+)?"
_LONG = r"hundreds?|thousands?|millions?|billions?|trillions?|dozens?|lakhs?|crores?|mln|mil|mn|mm|bn|bil|trn|tn"
_PERCENT = r"%|(?:per[ ]?cent|pct|percentage[ -]points?|p\.?p\.?|ppts?|basis[ ]points?|bps?|points?)(?!\w)"
_SIZED = re.compile(
    rf"(?P<currency>[$€£¥]\s?)?\(?(?<![\d.])(?P<number>{_NUMBER})"
    rf"(?P<sizes>(?:\s?\)?\s?\|?\s?%|\)?[\s-]{{0,2}}(?:{_PERCENT})|\)?[\s-]{{0,2}}(?:{_LONG})(?!\w)"
    r"|(?:(?(currency)\s?))\(?[kmb](?!\w)\)?)*)",
    re.I,
)
_TOGETHER = re.compile(
    r"\)?\s*(?:,|,?\s*(?:and|or|to|through|versus|vs\.?|from|compared\s+(?:to|with))|[-–—])\s*(?:and\s+)?[$€£(]*\s*",
    re.I,
)
_WORD = re.compile(r"\)?\s+([a-z][\w'’-]*)")
_EACH = re.compile(rf"{_PERCENT}|{_LONG}|[kmb]", re.I)
_SAME = {
    **dict.fromkeys(("m", "mm", "mn", "mil", "mln"), "million"),
    **dict.fromkeys(("b", "bn", "bil"), "billion"),
    **dict.fromkeys(("tn", "trn"), "trillion"),
    "k": "thousand",
    **dict.fromkeys(("per cent", "percent", "pct"), "%"),
    **dict.fromkeys(("percentage point", "percentage-point", "pp", "ppt", "point"), "points"),
    **dict.fromkeys(("bp", "basis point"), "basis points"),
}


def _plain(sizes: str) -> str:
    words = (found[0].lower().replace(".", "") for found in _EACH.finditer(sizes))
    bare = (word if len(word) < 2 or not word.endswith("s") else word[:-1] for word in words)
    return " ".join(_SAME.get(word, word) for word in bare)
