"""Tables of a filing as HTML needs them: cells taken apart into sign, number and mark, each number tagged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from html import escape
from pathlib import Path
from typing import Any

import yaml
from filing_figures import Span
from filing_layout import Line
from filing_sheet import Figure, Table
from filing_words import long_date
from html_tagging import Members, Period, Tagger

CONCEPTS: Mapping[str, Any] = yaml.safe_load(
    (Path(__file__).resolve().parent / "html_concepts.yaml").read_text(encoding="utf-8")
)
EXPONENTS = {1: 0, 1_000: 3, 1_000_000: 6}
UNITS = {"USD": "USD", "USD per share": "USD/shares", "shares": "shares", "percent": "pure"}


@dataclass(frozen=True, slots=True)
class View:
    """A table ready for markup."""

    heads: tuple[tuple[str, ...], ...]
    spans: tuple[tuple[str, int, int], ...]
    head_left: str
    lines: tuple[ViewLine, ...]
    footnotes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ViewLine:
    """One row; a heading has no cells."""

    label: str
    """Markup."""
    mark: str
    """Of a footnote, `(1)`."""
    cells: tuple[Cell, ...]
    indent: int
    bold: bool
    rule_above: bool
    double_below: bool


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure: `$`, `(`, the number as markup, `)` and `%`, and the mark of a footnote."""

    dollar: str = ""
    opening: str = ""
    number: str = ""
    closing: str = ""
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Tabulator:
    """Makes views of one filing's tables; without a tagger the numbers are plain."""

    company: Mapping[str, Any]
    tagger: Tagger | None
    marks: Mapping[tuple[str, str], str]
    """Footnote marks: by (table, label) on the label, by (table, label + `#` + column) on a cell."""
    footnotes: Mapping[str, Sequence[str]]
    """Lines below a table."""

    def view(self, key: str, table: Table) -> View:
        """`key` is what the template calls the table."""
        grid = table.grid
        rows = table.rows or tuple(_equity_rows(table, self.company)) if key == "equity" else table.rows
        lines = []
        for number, line in enumerate(grid.lines):
            row = rows[number] if rows and key in CONCEPTS else None
            cells = tuple(self._cells(key, line, row, table))
            mark = self.marks.get((key, line.label), "")
            label = escape(line.label, quote=False)
            lines.append(ViewLine(label, mark, cells, line.indent, line.bold, line.rule_above, line.double_below))
        left = "" if key in STATEMENTS else table.unit_line or grid.head_left
        return View(grid.heads, grid.spans, left, tuple(lines), tuple(self.footnotes.get(key, ())))

    def _cells(self, key: str, line: Line, row: Figure | None, table: Table) -> Iterator[Cell]:
        if not line.cells:
            if key == "balance" and self.tagger and line.label == "Commitments and contingencies":
                spans = [span for span, _ in next(r for r in table.rows if r.values).values]
                concept = CONCEPTS["balance"][line.label]
                yield from (Cell(number=self.tagger.nil(concept, Period(None, s.end), "&#160;")) for s in spans)
            return
        for column, printed in enumerate(line.cells):
            cell = _taken_apart(printed, line.dollar)
            mark = self.marks.get((key, f"{line.label}#{column}"), "")
            if row and self.tagger and printed:
                cell = replace(cell, number=self._tagged(key, row, column, self.tagger) or cell.number)
            yield replace(cell, mark=mark)

    def _tagged(self, key: str, row: Figure, column: int, tagger: Tagger) -> str:
        name, _, part = row.metric.partition(":")
        name = name or self._row_name(row.label, key)
        coded = CONCEPTS[key].get(name, "")
        if not coded:
            return ""
        concept = coded.lstrip("-~+")
        deducts = self.company.get("expense_sign", -1) < 0
        opposite = coded.startswith("-") or (coded.startswith("~") and deducts)
        opposite = opposite or (coded.startswith("+~") and not deducts)
        span, amount = row.values[column]
        unit = UNITS[row.unit]
        places = {"pure": 1, "USD/shares": 2}.get(unit, 0)
        exponent = -2 if unit == "pure" else EXPONENTS[row.scale]
        if unit == "shares" and row.scale == 1_000_000:
            places = 1
        return tagger.number(
            concept,
            amount,
            _period(self.company, span, row),
            members=self._members(key, name, part, column),
            unit=unit,
            exponent=exponent,
            places=places,
            opposite=opposite,
        )

    def _members(self, key: str, name: str, part: str, column: int) -> Members:
        known = CONCEPTS["members"]
        found: dict[str, str] = {}
        if key == "equity" and column < 4:
            found["us-gaap:StatementEquityComponentsAxis"] = known["equity columns"][column]
        elif name == "note":
            words = re.sub(r"[^A-Za-z0-9 ]", "", part).title().replace(" ", "")
            found["us-gaap:DebtInstrumentAxis"] = f"{self.company['prefix']}:{words}Member"
        elif part or name in known:
            found |= known[part or name]
        if name == "segment_profit":
            found |= known["operating"]
        return tuple(sorted(found.items()))

    def _row_name(self, label: str, key: str) -> str:
        names = self.company["labels"]
        own = {
            f"Total {names['revenue'].lower()}": "Total revenue",
            names["restructuring"]: "Restructuring",
            names["operating_income"]: "Operating income",
            names["tax"]: "Provision for income taxes",
        }
        if key == "equity" and label.startswith(("Balance at", "Cash dividends")):
            return label.partition(" at ")[0].partition(" (")[0]
        return own.get(label, label) if key not in ("equity", "cash-flow") else label


STATEMENTS = ("income", "comprehensive-income", "balance", "parenthetical", "cash-flow", "equity")


def statement_rows(company: Mapping[str, Any], key: str, table: Table) -> Iterator[dict[str, Any]]:
    """Label, heading above it and printed amounts in base units, as a reader of the table should find them."""
    section = ""
    rows = table.rows if key != "equity" else tuple(_equity_rows(table, company))
    for row in rows:
        if not row.values:
            section = row.label
            continue
        values = []
        for column, (span, amount) in enumerate(row.values):
            period = _period(company, span, row)
            value = amount.scaleb(-2) if row.unit == "percent" else amount * row.scale
            if key == "equity" and not table.grid.lines[rows.index(row)].cells[column]:
                continue
            start = period.start.isoformat() if period.start else None
            values.append([start, period.end.isoformat(), format(value, "f")])
        yield {"label": row.label, "section": section, "unit": UNITS[row.unit], "values": values}


def _period(company: Mapping[str, Any], span: Span, row: Figure) -> Period:
    """The time a cell states: opening balances of a cash flow or accrual are those of the day before."""
    start = start_of(company, span)
    if start and row.label.lower().endswith((" at beginning of year", " at beginning of period")):
        return Period(None, start - timedelta(days=1))
    if row.label.lower().endswith((" at end of year", " at end of period")):
        return Period(None, span.end)
    return Period(start, span.end)


def start_of(company: Mapping[str, Any], span: Span) -> date | None:
    """First day of a duration by the company's calendar; None for an instant."""
    if not span.months:
        return None
    if span.months == 3:
        if company["column_names"] == "date":
            return span.end - timedelta(weeks=13) + timedelta(days=1)
        return date(span.end.year, span.end.month - 2, 1)
    before: date = max(end for end in company["year_ends"] if end < span.end)
    return before + timedelta(days=1)


def _taken_apart(printed: str, dollar: bool) -> Cell:
    match = re.fullmatch(r"(\(?)(.*?)(\)?%?)", printed)
    assert match
    opening, number, closing = match.groups()
    return Cell("$" if dollar and printed else "", opening, escape(number), closing)


def _equity_rows(table: Table, company: Mapping[str, Any]) -> Iterator[Figure]:
    """Rows of the equity statement, which is set from lines: balances at a date, movements of the year between."""
    ends = {long_date(end): end for end in company["year_ends"]}
    lines = table.grid.lines
    balances = [ends[line.label.removeprefix("Balance at ")] for line in lines if line.label.startswith("Balance at ")]
    reached = 0
    for line in lines:
        if line.label.startswith("Balance at "):
            span = Span(balances[reached], 0)
            reached += 1
        else:
            span = Span(balances[reached], 12)
        amounts = tuple((span, _amount(cell)) for cell in line.cells)
        yield Figure("", line.label, "USD", company["scale"], amounts)


def _amount(printed: str) -> Decimal:
    digits = printed.strip("()").replace(",", "").replace("—", "0") or "0"
    return -Decimal(digits) if printed.startswith("(") else Decimal(digits)
