"""Headers of columns: what neighbours share stands once above them, over a rule, as filings print it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from fin_agent.presentation.plain import one_line


@dataclass(frozen=True, slots=True)
class Head:
    """A header over the columns `first` to `last`, on one level."""

    text: str
    first: int
    last: int
    level: int
    """0 for the outermost."""


@dataclass(frozen=True, slots=True)
class Heads:
    """The headers of a table: what is shared, outermost first, and what each column has of its own."""

    shared: tuple[Head, ...]
    own: tuple[str, ...]

    @property
    def levels(self) -> int:
        """How many levels of shared headers there are."""
        return max((head.level + 1 for head in self.shared), default=0)


def heads_of(columns: Sequence[str]) -> Heads:
    """Split printed headers into what is shared and what is not.

    >>> heads_of(["Years ended December 31, 2022", "Years ended December 31, 2021"]).own
    ('2022', '2021')
    """
    words = [_ASIDE.sub("", one_line(column)).split() for column in columns]
    own = [" ".join(each) for each in words]
    shared: list[Head] = []

    def split(first: int, last: int, used: int, level: int) -> None:
        start = first
        while start <= last:
            end = start
            while end < last and _shared_words(words[start : end + 2], used):
                end += 1
            count = _shared_words(words[start : end + 1], used) if end > start else 0
            if count:
                shared.append(Head(" ".join(words[start][used : used + count]), start, end, level))
                for column in range(start, end + 1):
                    own[column] = " ".join(words[column][used + count :])
                split(start, end, used + count, level + 1)
            start = end + 1

    split(0, len(words) - 1, 0, 0)
    return Heads(tuple(shared), tuple(own))


def wrapped(text: str, width: int) -> list[str]:
    """`text` on lines of at most `width` columns; a longer word stays whole, and a month keeps its day."""
    tied = _DAY.sub("\\1\u00a0", text)
    lines = textwrap.wrap(tied, max(width, 1), break_long_words=False, break_on_hyphens=False) or [""]
    return [line.replace("\u00a0", " ") for line in lines]


def own_width(text: str, figures: int) -> int:
    """How wide a column over figures `figures` wide is with its own header on as few lines as that suits, up to six."""
    widths = [width_on(text, lines) for lines in range(2, _MOST_LINES + 1)]
    return max(figures, next((width for width in widths if width <= _SUITABLE), widths[-1]))


def width_on(text: str, lines: int) -> int:
    """The least width at which a header takes no more than `lines` lines and holds its words."""
    return next(
        width
        for width in range(len(text) + 1)
        if len(parts := wrapped(text, width)) <= lines and max(map(len, parts)) <= width
    )


_ASIDE = re.compile(r"^\(unaudited\)\s+", re.I)
_SUITABLE = 14
_MOST_LINES = 6
_MONTH = re.compile(r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?$", re.I)
_DAY = re.compile(r"\b((?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?) (?=\d)", re.I)


def _shared_words(columns: Sequence[Sequence[str]], used: int) -> int:
    """How many words after the first `used` these columns all begin with, leaving each something of its own.

    A date is not split between its month and its day.
    """
    most = min(len(words) for words in columns) - used - 1
    count = 0
    while count < most and len({words[used + count].lower() for words in columns}) == 1:
        count += 1
    while count > 0 and _MONTH.fullmatch(columns[0][used + count - 1]):
        count -= 1
    return count
