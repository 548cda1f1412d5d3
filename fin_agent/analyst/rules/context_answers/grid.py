"""A table given as rows of printed cells: which rows are headers, what each figure's row, section and column say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from fin_agent.analyst.rules.context_answers.period_names import PeriodName, periods_in, without_periods
from fin_agent.filings.tables.numbers import parse_number


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure of the table with everything that says what it is."""

    row: int
    """0-based; -1 for a figure of the text."""
    column: int
    printed: str
    amount: Decimal
    percent: bool
    label: str
    section: str
    header: str
    periods: tuple[PeriodName, ...]
    period_in_column: bool
    dash: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A row below the headers; `texts` are its cells that print no figure."""

    number: int
    label: str
    section: str
    cells: tuple[Cell, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """The table as it is read."""

    rows: tuple[Row, ...]
    headers: tuple[str, ...]
    """Header of each column of the first block, the label's included."""
    sections: tuple[str, ...]

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All figures, in reading order."""
        return tuple(cell for row in self.rows for cell in row.cells)


def read_grid(table: Sequence[Sequence[str]]) -> Grid:
    """Reads a table; one without figures has rows and no cells."""
    heads: list[Sequence[str]] = []
    headers: tuple[str, ...] = ()
    first_headers: tuple[str, ...] = ()
    rows: list[Row] = []
    sections: list[str] = []
    section = ""
    in_head = True
    for number, row in enumerate(table):
        if not any(row):
            continue
        if _is_header(row, first=not rows, begun=in_head):
            if not in_head:
                heads, in_head = [], True
            heads.append(row)
            continue
        if in_head:
            section, heads = _sections_set_off(heads, section)
            sections += [section] if section and section not in sections else []
            headers = _joined(heads, len(row))
            first_headers = first_headers or headers
            in_head = False
        if not any(row[1:]) and row[0]:
            section = row[0]
            sections.append(section)
            continue
        rows.append(_row(number, row, section, headers))
    if in_head and heads and not first_headers:
        first_headers = _joined(heads, len(heads[0]))
    return Grid(tuple(rows), first_headers, tuple(sections))


def is_year(printed: str) -> bool:
    """Whether a cell prints a year, or a period named by its year."""
    return bool(_YEAR_CELL.match(printed.strip()))


def _is_header(row: Sequence[str], *, first: bool, begun: bool) -> bool:
    """A header holds no figure but years; below the first figures it also has no label."""
    others = [cell for cell in row[1:] if cell]
    if not others:
        return first and bool(row[0]) and bool(periods_in(row[0])) is False and not _is_figure(row[0]) and len(row) > 1
    if any(_is_figure(cell) and not is_year(cell) for cell in others):
        return False
    if first or (begun and not row[0]):
        return True
    worded = [cell for cell in others if is_year(cell) or _DATE_CELL.match(cell) or _UNIT.search(cell)]
    return (not row[0] or bool(_UNIT.search(row[0]))) and len(worded) == len(others)


def _sections_set_off(heads: list[Sequence[str]], section: str) -> tuple[str, list[Sequence[str]]]:
    """Lines of the head with a label alone are headings of what follows, not of a column."""
    alone = [row[0] for row in heads if not any(row[1:])]
    kept = [row for row in heads if any(row[1:])]
    return (" ".join(alone) or section, kept)


def _is_figure(cell: str) -> bool:
    return parse_number(cell) is not None


def _joined(heads: Sequence[Sequence[str]], width: int) -> tuple[str, ...]:
    """The header of each column: what stands above it, a text over several columns said of each."""
    filled = [_spread(row) for row in heads]
    return tuple(" ".join(dict.fromkeys(row[column] for row in filled if row[column])) for column in range(width))


def _spread(row: Sequence[str]) -> list[str]:
    named = [column for column in range(1, len(row)) if row[column]]
    width = len(row) - 1
    spread = list(row)
    if not named or len(named) == width:
        return spread
    size, left = divmod(width, len(named))
    groups = [range(1 + place * size, 1 + (place + 1) * size) for place in range(len(named))]
    if not left and all(column in group for column, group in zip(named, groups, strict=True)):
        for column, group in zip(named, groups, strict=True):
            for place in group:
                spread[place] = row[column]
        return spread
    if _all_periods([row[column] for column in named]) and width - len(named) <= 2:
        return spread  # a column without a year beside those with one is a column of another kind
    for column in range(1, len(row)):
        before = [place for place in named if place <= column] or named[:1]
        spread[column] = row[before[-1]]
    return spread


def _all_periods(texts: Sequence[str]) -> bool:
    return len(texts) > 1 and all(periods_in(text) for text in texts)


def _row(number: int, row: Sequence[str], section: str, headers: Sequence[str]) -> Row:
    texts: list[str] = []
    cells: list[Cell] = []
    label = row[0]
    dated = any(periods_in(header) for header in headers[1:])
    for column, printed in enumerate(row[1:], start=1):
        read = parse_number(printed) if printed else None
        if read is None:
            if printed:
                texts.append(printed)
                if not cells and not label:
                    label = printed
            continue
        header = headers[column] if column < len(headers) else ""
        in_column = periods_in(header)
        cells.append(
            Cell(
                row=number,
                column=column,
                printed=printed,
                amount=read.amount,
                percent=read.percent,
                label=label,
                section=section,
                header=header,
                periods=in_column or (() if dated else periods_in(label) or periods_in(section)),
                period_in_column=bool(in_column),
                dash=not any(mark.isdigit() for mark in printed),
            )
        )
    return Row(number, label, section, tuple(cells), tuple(texts))


def spoken(text: str) -> str:
    """`text` without periods, footnote marks and unit lines."""
    return _FOOTNOTE.sub(" ", _UNIT_LINE.sub(" ", without_periods(text)))


_FOOTNOTE = re.compile(r"\((?:\d{1,2}|[a-z])\)|\*+")
_UNIT_LINE = re.compile(
    r"\([^()]*\b(?:in\s*)?(?:thousands|millions|billions|000s?)\b[^()]*\)|\bin (?:thousands|millions|billions)\b", re.I
)
_YEAR_CELL = re.compile(r"^(?:FY\s?)?(?:19|20)\d\d(?:\s?/\s?(?:19|20)?\d\d)?\s*(?:\(\w{1,3}\)|\*{1,3}|[A-Z])?$", re.I)
_DATE_CELL = re.compile(r"^\W*(?:[a-z]+,? ){0,5}(?:[a-z]+\.? ?\d{1,2}, ?)?(?:19|20)\d\d\W*$", re.I)
_UNIT = re.compile(
    r"[’'‘]000|\$000|\b(?:thousands?|millions?|billions?)\b|^\s*(?:US|A|C)?[$€£]\s?(?:m|mn|bn|000)?\s*$|^%$|[$€£]m\b",
    re.I,
)
