"""What a question is answered from, and the answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Context:
    """One table as rows of printed cells, and the paragraphs around it in reading order."""

    table: tuple[tuple[str, ...], ...]
    paragraphs: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: Sequence[Sequence[str]], paragraphs: Sequence[str] = ()) -> Context:
        """Rows may be of different lengths: short ones are filled with empty cells."""
        width = max((len(row) for row in table), default=0) or 1
        rows = (tuple(_one_line(str(cell)) for cell in row) for row in table)
        return cls(tuple(row + ("",) * (width - len(row)) for row in rows), tuple(map(str, paragraphs)))


def _one_line(cell: str) -> str:
    """Single spaces; a year whose digits were set apart (`2 0 1 8`) is one word again."""
    return _SPACED_YEAR.sub(lambda match: match[0].replace(" ", ""), " ".join(cell.split()))


_SPACED_YEAR = re.compile(r"(?<!\d )(?<!\d)(?:1 9|2 0) \d \d(?! ?\d)")


class AnswerKind(StrEnum):
    """How an answer came about."""

    SPAN = "span"
    SPANS = "multi-span"
    COMPUTED = "arithmetic"
    COUNT = "count"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Source:
    """A figure that an answer uses: a cell of the table, counted from 0, or one of the text."""

    row: int
    """-1 for a figure of the text, and so is `column`."""
    column: int
    printed: str


@dataclass(frozen=True, slots=True)
class ContextAnswer:
    """An answer as printed, or computed; `scale` is one of "", percent, thousand, million, billion."""

    kind: AnswerKind
    spans: tuple[str, ...] = ()
    value: Decimal | None = None
    scale: str = ""
    program: str = ""
    """Python with `solution()`; every figure in it is a cell of `sources`. Empty where nothing is computed."""
    sources: tuple[Source, ...] = ()


NO_ANSWER = ContextAnswer(AnswerKind.NONE)
