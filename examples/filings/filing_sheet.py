"""A table in the making: rows of figures over the same columns, and what a test may expect to find in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeAlias

from filing_figures import Span
from filing_layout import Grid, Line, number, percent

Column: TypeAlias = tuple[Any, Span]
"""What a column shows (a Period or a Balance) and the time it covers."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its title, unit line and the figures that can be looked up in it."""

    title: str
    unit_line: str
    grid: Grid
    figures: tuple[Figure, ...] = ()
    rows: tuple[Figure, ...] = ()
    """One for each line of the grid, also those without a metric; headings have no values."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One row: amounts as printed, in units of `scale`, with the time of each column."""

    metric: str
    label: str
    unit: str
    scale: int
    values: tuple[tuple[Span, Decimal], ...]


@dataclass
class Sheet:
    """Rows of one table over the same columns."""

    company: Mapping[str, Any]
    columns: Sequence[Column]
    lines: list[Line] = field(default_factory=list)
    rows: list[Figure] = field(default_factory=list)

    def head(self, label: str, indent: int = 0) -> None:
        """A heading row without figures."""
        self.lines.append(Line(label, indent=indent))
        self.rows.append(Figure("", label, "", 1, ()))

    def row(
        self,
        label: str,
        amount: Callable[[Any], Any],
        metric: str = "",
        *,
        unit: str = "USD",
        places: int = 0,
        indent: int = 0,
        dollar: bool = False,
        total: bool = False,
        double: bool = False,
    ) -> None:
        """A row; `amount` is asked for each column's Period or Balance."""
        amounts = [Decimal(amount(source)) for source, _ in self.columns]
        write = percent if unit == "percent" else number
        cells = tuple(write(a, places or (1 if unit == "percent" else 0)) for a in amounts)
        bold = total and double
        self.lines.append(Line(label, cells, indent, dollar or (double and unit == "USD"), total, double, bold))
        scale = self.company["scale"] if unit in ("USD", "shares") else 1
        values = tuple((span, a) for (_, span), a in zip(self.columns, amounts, strict=True))
        self.rows.append(Figure(metric, label, unit, scale, values))

    def table(
        self,
        title: str,
        unit_line: str,
        heads: tuple[tuple[str, ...], ...],
        spans: tuple[tuple[str, int, int], ...],
        compact: bool = False,
    ) -> Table:
        """The finished table."""
        figures = tuple(row for row in self.rows if row.metric)
        return Table(title, unit_line, Grid(heads, tuple(self.lines), spans, "", compact), figures, tuple(self.rows))
