"""Totals printed without a name are named after the heading whose rows they add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from fin_agent.vocabulary.table import Row


def name_totals(rows: Sequence[Row]) -> list[Row]:
    """Rows with blank labels named `Total current assets` where they are the sum of all rows under `Current assets`.

    A blank row that adds up to nothing stays blank: no name is guessed.
    """
    if all(row.label for row in rows):
        return list(rows)
    named: list[Row] = []
    starts: list[int] = []
    """For each row, the first row it adds up (itself where it is no sum)."""
    for index, row in enumerate(rows):
        start = index
        if not row.label or row.label.lower().startswith("total"):
            start = _first_summand(rows, starts, index)
        if not row.label and start < index:
            heading = _heading_over(rows, start, index)
            if heading:
                row = replace(row, label=f"Total {heading[:1].lower()}{heading[1:].lower()}")
        named.append(row)
        starts.append(start)
    return named


_MOST_SUMMANDS = 24


def _first_summand(rows: Sequence[Row], starts: Sequence[int], index: int) -> int:
    """First of the rows right above that add up to row `index`, sums among them counted once; `index` if none do."""
    target = [cell.amount if cell else None for cell in rows[index].cells]
    if not any(target):
        return index
    sums = [Decimal(0)] * len(target)
    position, count = index - 1, 0
    while position >= 0 and count < _MOST_SUMMANDS:
        for column, cell in enumerate(rows[position].cells):
            if cell:
                sums[column] += cell.amount
        position = starts[position]
        count += 1
        if count > 1 and all(
            wanted is None or abs(wanted - got) <= 1 for wanted, got in zip(target, sums, strict=True)
        ):
            return position
        position -= 1
    return index


def _heading_over(rows: Sequence[Row], start: int, index: int) -> str:
    """The outermost heading that begins with the first summand and ends with the sum."""
    before = rows[start - 1].section if start else ()
    after = rows[index + 1].section if index + 1 < len(rows) else ()
    for depth in range(1, len(rows[start].section) + 1):
        path = rows[start].section[:depth]
        if before[:depth] != path and after[:depth] != path:
            within = _plain(path[-1])
            inside = all(row.section[:depth] == path or _named_in(row, within) for row in rows[start:index])
            return path[-1] if inside else ""
    return ""


def _named_in(row: Row, heading: str) -> bool:
    """`Liabilities and shareholders' equity` holds what stands under `Shareholders' equity`, and its total."""
    part = _plain(row.section[0] if row.section else row.label).removeprefix("total ")
    return bool(part) and part in heading


def _plain(text: str) -> str:
    return text.lower().replace("\u2019", "'")
