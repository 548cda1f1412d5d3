"""A table found on a page: rows of numbers under periods."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from fin_agent.vocabulary.fact import FactPeriod
from fin_agent.vocabulary.place import Box


@dataclass(frozen=True, slots=True)
class Table:
    """A table found on a page: its rows and the meaning of its columns."""

    page: int
    box: Box
    caption: str
    """Title lines above the table, joined."""
    unit_line: str
    """`(in millions, except per share amounts)` or empty."""
    columns: tuple[str, ...]
    """Header of each value column as printed, left to right."""
    periods: tuple[FactPeriod | None, ...]
    """What each column covers; None for a column without a period (percent change, notes)."""
    rows: tuple[Row, ...] = field(default=())
    column_paths: tuple[tuple[str, ...], ...] = ()
    """Header of each value column level by level, outermost first; empty where no header was read."""

    def column_path(self, index: int) -> tuple[str, ...]:
        """Header of the column at `index` level by level; its name alone where the levels are not known."""
        if self.column_paths:
            return self.column_paths[index]
        return (self.columns[index],) if self.columns[index] else ()


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table."""

    label: str
    section: tuple[str, ...]
    cells: tuple[Cell | None, ...]
    """As many as the table has columns; None where the row is blank there."""
    line: int
    box: Box


@dataclass(frozen=True, slots=True)
class Cell:
    """One printed number."""

    amount: Decimal
    printed: str
    """With its signs: `(1,234)`, `$ 5.51`, `12.3%`, `—`."""
    percent: bool
    dollar: bool
    box: Box
