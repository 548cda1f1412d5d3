"""The lines a table is shown with: headings in their place, rows indented under them, totals told apart."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

from fin_agent.presentation.plain import one_line
from fin_agent.vocabulary.table import Cell, Row


class LineKind(StrEnum):
    """What a shown line is."""

    HEADING = "heading"
    ROW = "row"
    TOTAL = "total"
    GAP = "gap"
    PAGE = "page"
    """Where a page begins, in a table that runs over several."""


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line of a table as people see it."""

    kind: LineKind
    label: str = ""
    depth: int = 0
    """Steps of indentation."""
    cells: tuple[Printed | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Printed:
    """A number in two parts, so that those of a column stand digit under digit."""

    digits: str
    """With what stands before them: `(1,234`, `$ 5.51`, `—`."""
    after: str = ""
    """`)`, `%` or both."""


GAP = ShownLine(LineKind.GAP)


def shown_lines(
    rows: Sequence[Row], *, dollars: bool = False, page_starts: Mapping[int, int] | None = None
) -> list[ShownLine]:
    """The lines of `rows`: each heading once, above its rows; a gap before a section and after a total.

    Currency signs are left out where not `dollars`: the unit line says what the figures are in. `page_starts` names,
    by its position, the row that a page begins with, and that page (0-based).
    """
    totals = totals_among(rows)
    lines: list[ShownLine] = []
    path: tuple[str, ...] = ()
    for index, row in enumerate(rows):
        if page_starts and index in page_starts:
            lines.append(ShownLine(LineKind.PAGE, f"page {page_starts[index] + 1}"))
        shared = _shared(path, row.section)
        for depth in range(shared, len(row.section)):
            if lines and (lines[-1].kind is LineKind.TOTAL or (depth == 0 and lines[-1].kind is LineKind.ROW)):
                lines.append(GAP)
            lines.append(ShownLine(LineKind.HEADING, _heading(row.section[depth]), depth))
        path = row.section
        if lines and lines[-1].kind is LineKind.TOTAL and index not in totals:
            lines.append(GAP)
        kind = LineKind.TOTAL if index in totals else LineKind.ROW
        depth = min(totals.get(index, len(path)), len(path))
        cells = tuple(printed(cell, dollars=dollars) if cell else None for cell in row.cells)
        lines.append(ShownLine(kind, one_line(row.label), depth, cells))
    return lines


def totals_among(rows: Sequence[Row]) -> dict[int, int]:
    """Rows that sum up others, and how many headings stand over all of what they sum up.

    A sum of the rows above it, or the first of them less the others; and any row called a total.
    """
    found: dict[int, int] = {}
    starts: list[int] = []
    for index, row in enumerate(rows):
        start = _first_summand(rows, starts, index)
        starts.append(start)
        if start < index:
            found[index] = min(len(each.section) for each in rows[start : index + 1])
        elif _CALLED_TOTAL.match(row.label) or _is_marked(rows, index):
            found[index] = len(row.section)
    return found


def printed(cell: Cell, *, dollars: bool) -> Printed:
    """The cell's print in two parts.

    >>> from fin_agent.vocabulary.place import Box
    >>> printed(Cell(Decimal("-4935"), "($ 4,935)", False, True, Box(0, 0, 0, 0)), dollars=False)
    Printed(digits='(4,935', after=')')
    """
    text = re.sub(r"\s+", "", one_line(cell.printed))
    if not dollars:
        text = text.translate(_NO_SIGNS)
    parts = _PRINT.fullmatch(text)
    return Printed(parts[1], parts[2]) if parts else Printed(text)


def of_columns(line: ShownLine, columns: Sequence[int]) -> ShownLine:
    """The line with its cells of `columns` only."""
    return replace(line, cells=tuple(line.cells[column] for column in columns)) if line.cells else line


_CALLED_TOTAL = re.compile(r"\W*total\b", re.I)
_NO_SIGNS = str.maketrans("", "", "$€£¥")
_PRINT = re.compile(r"(.*[\d—–-])([^\d]*)")
_MOST_SUMMANDS = 40
_COARSE = 50
"""Sums of rounded figures may be one off; among figures as small as the rounding, that proves nothing."""
_MOST_MARKED = 0.4


def _first_summand(rows: Sequence[Row], starts: Sequence[int], index: int) -> int:
    """First of the rows right above that make up row `index`, sums among them counted once; `index` if none do."""
    wanted = [cell.amount if cell else None for cell in rows[index].cells]
    if not any(wanted):
        return index
    below = [Decimal(0)] * len(wanted)
    position, count = index - 1, 0
    while position >= 0 and count < _MOST_SUMMANDS:
        here = [cell.amount if cell else Decimal(0) for cell in rows[position].cells]
        if len(here) != len(below):
            return index
        added = [mine + sofar for mine, sofar in zip(here, below, strict=True)]
        less = [mine - sofar for mine, sofar in zip(here, below, strict=True)]
        start, count = starts[position], count + 1
        taken_off = _makes(less, wanted) and _is_taken_off(rows[position : index + 1])
        if count > 1 and (taken_off or _makes(added, wanted)):
            return start
        below, position = added, start - 1
    return index


def _is_taken_off(rows: Sequence[Row]) -> bool:
    """Whether the last of `rows` may be the first less all others: these stand under one heading, or under none.

    Assets less liabilities make no sum of a statement: what would be left stands among the liabilities.
    """
    first, *taken, last = (row.section[0] if row.section else "" for row in rows)
    headings = {heading for heading in taken if heading}
    return len(headings) <= 1 and (not first or headings <= {first} or last not in headings)


def _makes(sums: Sequence[Decimal], wanted: Sequence[Decimal | None]) -> bool:
    return all(
        target is None or abs(target - made) <= (1 if abs(target) > _COARSE else 0)
        for target, made in zip(wanted, sums, strict=True)
    )


def _is_marked(rows: Sequence[Row], index: int) -> bool:
    """Whether a `$` sets the row off: filers print one on the first row of a block and on its last."""
    row = rows[index]
    marked = [position for position, each in enumerate(rows) if any(cell and cell.dollar for cell in each.cells)]
    if index not in marked or index == 0 or len(marked) > _MOST_MARKED * len(rows):
        return False
    whole = all(cell is None or cell.amount == cell.amount.to_integral_value() for cell in row.cells)
    return whole and rows[index - 1].section == row.section and index - 1 not in marked


def _shared(path: Sequence[str], other: Sequence[str]) -> int:
    return next(
        (depth for depth, (a, b) in enumerate(zip(path, other, strict=False)) if a != b), min(len(path), len(other))
    )


def _heading(text: str) -> str:
    return one_line(text).rstrip(":")
