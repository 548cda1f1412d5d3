"""What the figures of a given table are counted in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from fin_agent.analyst.rules.context_answers.context import Context
from fin_agent.analyst.rules.context_answers.grid import Cell, Grid, is_year

NAMES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}


class Scales:
    """The scale of each cell: said by its header or row, else by the table's head, else by the text around."""

    def __init__(self, context: Context, grid: Grid) -> None:
        shares = [_SHARES_IN.search(text) for text in (*grid.headers, *grid.sections, *context.paragraphs)]
        self._shares = next((match[1].lower().rstrip("s") for match in shares if match), "")
        self._percent = _percent_columns(grid)
        head = " ".join([*grid.headers, *grid.sections, *(row[0] for row in context.table[:3])])
        self._table = named_scale(head, column=True)
        spoken = [named_scale(text) for text in context.paragraphs]
        self._text = next((scale for scale in reversed(spoken) if scale), "") or _as_told(grid, context.paragraphs)
        self._said = next((text for text in reversed(context.paragraphs) if named_scale(text)), "")

    def of(self, cell: Cell) -> str:
        """`percent`, `thousand`, `million`, `billion`, or empty."""
        if (
            cell.percent
            or cell.column in self._percent
            or _PERCENT_LABEL.search(_EXCEPTED.sub(" ", f"{cell.label} {cell.header}"))
        ):
            return "percent"
        if is_year(cell.printed) or _PLAIN.search(_EXCEPTED.sub(" ", f"{cell.label} {cell.header}")):
            return ""
        if self._shares and _SHARES.search(f"{cell.label} {cell.section} {cell.header}"):
            return self._shares
        if own := named_scale(cell.header, column=True) or named_scale(cell.label, column=True):
            return own
        if _SHARES.search(f"{cell.label} {cell.section}") and _SHARES_APART.search(_PER_SHARE.sub(" ", self._said)):
            return ""
        return self._table or self._text

    def of_all(self, cells: Sequence[Cell]) -> str:
        """The scale that the first cell with one has."""
        return next((scale for cell in cells if (scale := self.of(cell))), "")


def _percent_columns(grid: Grid) -> frozenset[int]:
    """Columns whose first figure prints `%` and that hold no figure too large for a share: the rest goes without."""
    columns: dict[int, list[Cell]] = {}
    for cell in grid.cells:
        columns.setdefault(cell.column, []).append(cell)
    return frozenset(
        column
        for column, cells in columns.items()
        if cells[0].percent and all(abs(cell.amount) <= _LARGEST_SHARE and "$" not in cell.printed for cell in cells)
    )


_LARGEST_SHARE = 1000


def named_scale(text: str, *, column: bool = False) -> str:
    """The scale that `text` says its figures are in; in a `column`'s header the bare unit is enough (`£m`)."""
    text = _SHARES_IN.sub(" ", text)
    match = _SAID.search(text) or (_BARE.search(text) if column else None)
    if match is None:
        return ""
    word = next(group for group in match.groups() if group).lower()
    if word.startswith("b"):
        return "billion"
    return "million" if word.startswith("m") else "thousand"


def _as_told(grid: Grid, paragraphs: Sequence[str]) -> str:
    """The scale in which figures of the table are the amounts that the text tells: `$45.0 million` beside 45,007."""
    votes = dict.fromkeys(NAMES, 0)
    amounts = {abs(cell.amount) for cell in grid.cells if abs(cell.amount) >= _SMALLEST}
    for match in _TOLD.finditer(" ".join(paragraphs)):
        told, size = Decimal(match[1].replace(",", "")), NAMES[match[2].lower()]
        if len(match[1].replace(".", "").strip("0")) < _DIGITS:
            continue
        exponent = Decimal(1).scaleb(-len(match[1].partition(".")[2]))
        for name, scale in NAMES.items():
            if any((amount * scale / size).quantize(exponent) == told for amount in amounts):
                votes[name] += 1
    best = max(votes, key=lambda name: votes[name])
    return best if votes[best] else ""


_SMALLEST = 10
_DIGITS = 2
_TOLD = re.compile(r"(\d[\d,]*(?:\.\d+)?) (thousand|million|billion)\b", re.I)
_SAID = re.compile(
    r"\b(?:in\s*|of\s+)(?:(?!the\b)[\w$€£.'’]+\s+){0,4}?(thousands|millions|billions)\b"
    r"|\bin\s+(?:[\w$€£.]+\s+){0,2}(million|thousand|billion)s?\s*[),;:.]"
    r"|\(\s*(?:[\w$€£.]+\s+){0,2}(million|thousand|billion)s?\b"
    r"|[$€£(\s]\s?((?<![\d,])0{3})['’]?s?\b(?![,\d])|['’‘](000)\b|\b(millions|thousands|billions)\s*[,)]",
    re.I,
)
_BARE = re.compile(
    r"(?:[$€£]|RMB|US\$|A\$|USD|EUR)\s?['’]?(m)(?:n|ln)?\b|\b(millions?|thousands?|billions?)\b|(?<![\d,])(0{3})s?\b",
    re.I,
)
_PERCENT_LABEL = re.compile(r"%|\bper ?cent(?:age)?s?\b", re.I)
_PLAIN = re.compile(
    r"\bper\s+(?:\w+\s+){0,3}(?:shares?|unit|ounce|ton|barrel|employee)\b"
    r"|\b(?:ratio|per[- ]share|number of employees|headcount|exercise price|years?\))",
    re.I,
)
_SHARES_IN = re.compile(r"\bshares?\s+(?:are\s+)?in\s+(thousands|millions|billions)", re.I)
_EXCEPTED = re.compile(r"\b(?:except|excluding|other than)\b[^)]*", re.I)
_PER_SHARE = re.compile(r"\bper[\s-]+(?:\w+[\s-]+)?shares?\b(?: data| amounts?| information)?", re.I)
_SHARES = re.compile(r"\bshares?\b|\boutstanding\b|\bRSUs?\b|\bPSUs?\b", re.I)
_SHARES_APART = re.compile(r"\b(?:except|excluding|other than)\b.{0,60}\bshares?\b(?!\s+(?:data|amounts?)\s+in)", re.I)
