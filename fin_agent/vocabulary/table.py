"""Tables found on pages: rows of figures under periods."""

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
    """The period of each column; None for a column without one (percent change, notes)."""
    rows: tuple[Row, ...] = field(default=())
    column_paths: tuple[tuple[str, ...], ...] = ()
    """Header of each value column level by level, outermost first; empty where no header was found."""

    def column_path(self, index: int) -> tuple[str, ...]:
        """Return the header of the column at `index` level by level; only its name where the levels are unknown."""
        if self.column_paths:
            return self.column_paths[index]
        return (self.columns[index],) if self.columns[index] else ()


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table."""

    label: str
    section: tuple[str, ...]
    cells: tuple[Cell | None, ...]
    """One entry per column of the table; None where the row is blank."""
    line: int
    box: Box


@dataclass(frozen=True, slots=True)
class Cell:
    """One printed figure."""

    amount: Decimal
    printed: str
    """As printed, with signs: `(1,234)`, `$ 5.51`, `12.3%`, `—`."""
    percent: bool
    dollar: bool
    box: Box
