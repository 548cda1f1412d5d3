"""The tables of the evidence: groups of rows that stand for one thing, and their figures as quotations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fin_agent.answering.answer import Citation
from fin_agent.evidence.evidence import Evidence
from fin_agent.filings.tables.cells import scale_of
from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.lexicon.fiscal import FiscalPeriod
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Cell, Row, Table

_SCALES = {1_000: "thousand", 1_000_000: "million", 1_000_000_000: "billion"}
_TOTAL = re.compile(r"^(?:sub-?)?totals?\b|\btotals?\b", re.I)
_NO_PART = re.compile(
    r"\beliminat\w*|\bunallocated\b|\breconcil\w*|\binter-?segment\b|\bcorporate\b|\badjustments?\b|\breportable\b|^segment\b",
    re.I,
)
"""What stands between the parts and the whole."""
_LESS = re.compile(r"^\W*(?:less|accumulated (?:depreciation|amortization)|allowances?)\b", re.I)
"""What is taken off the row above."""
_MOST_SUMMANDS = 20
_FEWEST_SUMMANDS = 2
_ROUNDING = 2


@dataclass(frozen=True, slots=True)
class PlacedTable:
    """A table on a page of the evidence."""

    doc_id: str
    table: Table
    evidence: int
    """Position of the first passage of its page."""
    statement: Statement | None
    facts: Mapping[Box, Fact]
    """What its cells state, by place."""

    @property
    def key(self) -> PageKey:
        """The page it stands on."""
        return PageKey(self.doc_id, self.table.page)

    def cited(self, row: Row, column: int) -> Citation:
        """A cell with the words of its row and column."""
        cell = row.cells[column]
        assert cell is not None
        head = self.period(column)
        text = f"{plain_label(row)}, {head}: {self.said(cell)}" if head else f"{plain_label(row)}: {self.said(cell)}"
        return Citation(doc_id=self.doc_id, page=self.table.page, text=text, box=cell.box)

    def said(self, cell: Cell) -> str:
        """A figure with its unit: `$32,502 million`; as printed where the table names none."""
        fact = self._fact(cell)
        scale = fact.scale if fact else scale_of(self.table.unit_line) or 1
        money = fact.unit.startswith("USD") if fact else self._in_dollars()
        if cell.percent or (fact and fact.unit not in ("USD", "count", "shares")):
            return cell.printed
        sign = "-" if cell.amount < 0 else ""
        return f"{sign}{'$' if money else ''}{abs(cell.amount):,} {_SCALES.get(scale, '')}".strip()

    def period(self, column: int) -> str:
        """What a column covers, in short: `FY2022`, `Q2 FY2022`; its own words where it is no period."""
        period = self.table.periods[column] if column < len(self.table.periods) else None
        if period is None:
            return self.table.columns[column] if column < len(self.table.columns) else ""
        return f"Q{period.quarter} FY{period.fiscal_year}" if period.quarter else f"FY{period.fiscal_year}"

    def _fact(self, cell: Cell) -> Fact | None:
        """What a cell states; a mere number among amounts of money is one too (`Stores` is no count of stores)."""
        fact = self.facts.get(cell.box)
        if cell.percent or (fact is not None and fact.unit != "count"):
            return fact
        place = next((number for row in self.table.rows for number, other in enumerate(row.cells) if other is cell), 0)
        beside = (row.cells[place] for row in self.table.rows)
        known = [each for cell in beside if cell and (each := self.facts.get(cell.box)) and each.unit != "count"]
        return known[0] if len({(each.unit, each.scale) for each in known}) == 1 else fact

    def _in_dollars(self) -> bool:
        cells = (cell for row in self.table.rows for cell in row.cells if cell)
        return "dollar" in self.table.unit_line.lower() or any(cell.dollar for cell in cells)


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of a table under one heading; its totals are rows of it too."""

    placed: PlacedTable
    section: tuple[str, ...]
    rows: tuple[Row, ...]

    def members(self, column: int, *, parts: bool) -> list[Row]:
        """The rows with a figure there that are no totals; nor, where `parts` are asked for, what is between them."""
        return [
            row
            for place, row in enumerate(self.rows)
            if row.label
            and (cell := row.cells[column]) is not None
            and not cell.percent
            and not _TOTAL.search(row.label)
            and not _LESS.search(row.label)
            and not self._is_gross(place)
            and not (parts and _NO_PART.search(row.label))
            and not self._adds_up(place, column)
        ]

    def _is_gross(self, place: int) -> bool:
        """Whether the row below takes something off it: what is left stands further down."""
        return place + 1 < len(self.rows) and _LESS.search(self.rows[place + 1].label) is not None

    def _adds_up(self, place: int, column: int) -> bool:
        """Whether a row is the sum of those right above it."""
        wanted = self.rows[place].cells[column]
        if wanted is None or not wanted.amount:
            return False
        total, summands = 0, 0
        for row in reversed(self.rows[max(0, place - _MOST_SUMMANDS) : place]):
            cell = row.cells[column]
            if cell is None or cell.percent:
                continue
            if _LESS.search(row.label):
                return False
            total, summands = total + cell.amount, summands + 1  # type: ignore[assignment]
            if summands >= _FEWEST_SUMMANDS and abs(total - wanted.amount) < _ROUNDING:
                return True
        return False


def tables_of(evidence: Sequence[Evidence], index: FilingIndex) -> list[PlacedTable]:
    """The tables on the pages of the evidence, page by page, each page once."""
    first: dict[PageKey, int] = {}
    for number, kept in enumerate(evidence):
        first.setdefault(PageKey(kept.passage.doc_id, kept.passage.page), number)
    statements = {page.key: page.statement for page in index.outline({key.doc_id for key in first})}
    placed: list[PlacedTable] = []
    for key, number in first.items():
        facts = {each.fact.box: each.fact for each in index.facts([key.doc_id], pages=[key])}
        shown = statements.get(key)
        statement = Statement(shown) if shown else None
        placed += [PlacedTable(key.doc_id, table, number, statement, facts) for table in index.tables([key])]
    return placed


def groups_of(placed: PlacedTable) -> Iterator[Group]:
    """Rows that follow one another under the same heading, with the total that closes them; a flat table as a whole."""
    rows = placed.table.rows
    start = 0
    while start < len(rows):
        end = start + 1
        while end < len(rows) and rows[end].section == rows[start].section:
            end += 1
        section = rows[start].section
        yield Group(placed, section, rows[start : _closed(rows, start, end) if section else end])
        start = end


def columns_of(table: Table, periods: Sequence[FiscalPeriod]) -> list[int]:
    """The columns of the period asked about, left to right; of the latest year, where none is."""
    dated = [(number, period) for number, period in enumerate(table.periods) if period is not None]
    if not dated:
        return []
    if not periods:
        latest = max(period.fiscal_year for _, period in dated)
        return [number for number, period in dated if period.fiscal_year == latest and period.months in (0, 12)]
    asked = periods[-1]
    found = []
    for number, period in dated:
        length = (0, 12) if asked.quarter is None else (0, 3)
        fits = period.quarter in (None, 4) if asked.quarter is None else period.quarter == asked.quarter
        if period.fiscal_year == asked.fiscal_year and fits and period.months in length:
            found.append(number)
    return found


def plain_label(row: Row) -> str:
    """What a row is called, without what its label says in brackets."""
    label = re.sub(r"\s*\([^()]*(?:\)|$)", "", row.label)
    return re.split(r",\s+(?:less|net of)\b", label or row.label)[0].strip(" :,")


def _closed(rows: Sequence[Row], start: int, end: int) -> int:
    """Where a group ends: rows without a heading go with it up to the total that is called as the group is."""
    if any(_TOTAL.search(row.label) for row in rows[start:end]):
        return end
    name = _words(rows[start].section[-1])
    for place in range(end, len(rows)):
        if rows[place].section:
            break
        if _TOTAL.search(rows[place].label) and name & _words(rows[place].label):
            return place + 1
    return end


def _words(text: str) -> set[str]:
    return {word.rstrip("s") for word in re.findall(r"[a-z]{4,}", text.lower())}
