"""Views of pages and statements."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult, group
from rich.padding import Padding
from rich.table import Column
from rich.table import Table as RichTable
from rich.text import Text

from fin_agent.filings.outline.statements import StatementPart
from fin_agent.filings.tables.sum_detection import row_sums
from fin_agent.index.protocol import FilingIndex, FilingRecord, PageKey
from fin_agent.presentation.filings import filing_title, statements_on
from fin_agent.presentation.terminal_text import listing, one_line, page_numbers, plain, warning_lines_by_page
from fin_agent.tools.result_formatting import join_number_rows
from fin_agent.vocabulary.page import Page, printed_number
from fin_agent.vocabulary.runs import runs_of
from fin_agent.vocabulary.table import Cell, Row, Table


@group()
def page_view(record: FilingRecord, page: Page, printed_as: str | None = None) -> Iterator[RenderableType]:
    """Return the text of a page, with one line per table row, under its place in the filing."""
    lines = [plain(line).rstrip().replace("\t", "    ") for line in join_number_rows(page.text.strip("\n")).split("\n")]
    yield from (page_head(record, page, printed_as), Text(), Text(re.sub(r"\n{3,}", "\n\n", "\n".join(lines))))
    for warning in warning_lines_by_page(each for each in record.warnings if each.page == page.number):
        yield from (Text(), Text(one_line(f"warning: {warning}"), style="yellow"))


def page_head(record: FilingRecord, page: Page, printed_as: str | None = None) -> Text:
    """Return the place of a page: `BOEING_2022_10K, page 55 of 190, printed as 53: Item 8, income`."""
    part = [page.item if page.item and not page.item[0].isdigit() else f"Item {page.item}" if page.item else ""]
    part += [f"note {page.note}" if page.note else ""]
    part += [each.value for each in (*statements_on(page), page.kind) if each is not None]
    said = ", ".join(each for each in part if each)
    printed = f", printed as {printed_as}" if printed_as else ""
    place = f"page {page.number + 1} of {record.page_count:,}{printed}"
    return Text.assemble((one_line(record.doc_id), "bold"), f", {place}", f": {said}" if said else "")


def page_number_printed(index: FilingIndex, key: PageKey) -> str | None:
    """Return the number printed on an indexed page, such as `47` or `F-12`; None if there is none."""
    keys = [PageKey(key.doc_id, number) for number in range(max(key.page - 1, 0), key.page + 2)]
    pages = {stored.key: stored.page for stored in index.pages(keys)}
    page = pages.pop(key, None)
    return printed_number(page, pages.values()) if page is not None else None


@group()
def statement_view(record: FilingRecord, parts: Sequence[StatementPart]) -> Iterator[RenderableType]:
    """Return all tables of a statement; tables that continue on the next page under the same columns are joined."""
    title = ""
    for number, run in enumerate(join_tables(parts)):
        if number:
            yield Text()
        if run.title and run.title != title:
            yield Text(run.title, style="bold")
        if not number or run.title not in ("", title):
            yield Text(filing_title(record))
        title = run.title or title
        if run.unit_line:
            yield Text(one_line(run.unit_line), style="italic")
        yield FiguresTable(run.columns, run.rows, dollars=not run.unit_line, pages=run.pages)
        yield Text(f"{one_line(record.doc_id)}, {page_numbers(run.pages)}", style="dim")


@dataclass(frozen=True, slots=True)
class ContinuedTable:
    """Consecutive tables with the same columns."""

    title: str
    unit_line: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    pages: tuple[int, ...]
    """The page of each row, 0-based."""


def join_tables(parts: Sequence[StatementPart]) -> list[ContinuedTable]:
    """Return the tables of a statement, joined if one continues in the next."""

    def apart(run: Sequence[StatementPart], part: StatementPart) -> bool:
        last, table = run[-1].table, part.table
        same = last.columns == table.columns or (last.periods == table.periods and any(table.periods))
        return not same or len(last.columns) != len(table.columns) or last.unit_line != table.unit_line

    return [_joined(run) for run in runs_of(parts, apart)]


def table_view(table: Table) -> Iterator[RenderableType]:
    """Yield a table with its unit line; its caption is part of the page's text."""
    if table.unit_line:
        yield Text(one_line(table.unit_line), style="italic")
    yield FiguresTable(table.columns, table.rows, dollars=not table.unit_line)


_CONTINUED = re.compile(r"\s*[(\[,–—-]*\s*\bcont(?:inued|['’]?d)\.?\s*[)\]]*", re.I)


def _joined(parts: Sequence[StatementPart]) -> ContinuedTable:
    first = parts[0].table
    title = one_line(_CONTINUED.sub("", next((part.title for part in parts if part.title), "")))
    rows = tuple(row for part in parts for row in part.table.rows)
    pages = tuple(part.table.page for part in parts for _ in part.table.rows)
    return ContinuedTable(title, first.unit_line, first.columns, rows, pages)


_BETWEEN = 2
_STEP = 2
_NARROWEST_LABELS = 26
_WIDEST_LABELS = 76
_SUITABLE = 14
"""Preferred width of a header in characters, if its words allow it."""
_DAY = re.compile(r"\b((?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?) (?=\d)", re.I)
_AFTER_DIGITS = ")%]*"


class FiguresTable:
    """Rows under their columns, no wider than the console; columns that do not fit follow below.

    Digits stand below digits: parentheses and percent signs after a figure hang.
    """

    def __init__(
        self, columns: Sequence[str], rows: Sequence[Row], *, dollars: bool = False, pages: Sequence[int] = ()
    ) -> None:
        """Prepare the table; see `display_lines` for `dollars` and `pages`."""
        self._lines = display_lines(rows, dollars=dollars, pages=pages)
        self._heads: list[list[str]] = []
        self._cells: list[list[str]] = []
        """The cells of each column, line by line."""
        for column, head in enumerate(columns):
            tied = _DAY.sub("\\1\u00a0", one_line(head))  # a month stays with its day
            folded = textwrap.wrap(tied, _SUITABLE, break_long_words=False, break_on_hyphens=False)
            self._heads.append([line.replace("\u00a0", " ") for line in folded])
            cells = [(line.cells[column] if line.cells else None) or "" for line in self._lines]
            hanging = [len(cell) - len(cell.rstrip(_AFTER_DIGITS)) for cell in cells]
            most = max(hanging, default=0)
            padded = [cell and cell + " " * (most - own) for cell, own in zip(cells, hanging, strict=True)]
            width = max(map(len, (*padded, *self._heads[-1])), default=0)
            self._cells.append([cell and f"{cell:>{width}}" for cell in padded])

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        blocks = self._blocks(options.max_width)
        for number, block in enumerate(blocks):
            if number:
                yield Text()
            if len(blocks) > 1:
                first, last = block[0] + 1, block[-1] + 1
                named = f"Column {first}" if first == last else f"Columns {first} to {last}"
                yield Text(f"{named} of {len(self._heads)}", style="dim")
            yield self._table(block)

    def _blocks(self, width: int) -> list[list[int]]:
        """Return the columns in blocks that fit the width; each block repeats the labels."""
        lines = (line for line in self._lines if line.kind != "heading")  # which are folded
        labels = min(max((line.depth * _STEP + len(line.label) for line in lines), default=0), _NARROWEST_LABELS)
        columns = zip(self._heads, self._cells, strict=True)
        rooms = [_BETWEEN + max(map(len, chain(*cells)), default=0) for cells in columns]
        blocks = runs_of(range(len(rooms)), lambda block, column: labels + sum(rooms[block[0] : column + 1]) > width)
        return blocks or [[]]

    def _table(self, block: Sequence[int]) -> RichTable:
        """Return a block: the headings, and the lines that have a figure in its columns."""
        table = listing(Column("", max_width=_WIDEST_LABELS, overflow="fold"))
        for column in block:
            head = Text("\n".join(self._heads[column]), justify="right", overflow="fold")
            table.add_column(head, vertical="bottom", no_wrap=True)
        for at, line in enumerate(self._lines):
            cells = [self._cells[column][at] for column in block]
            if any(cells) or not line.cells:
                label = Padding(Text(line.label), (0, 0, 0, line.depth * _STEP))
                table.add_row(label, *map(Text, cells if line.cells else ()), style=_STYLES.get(line.kind, ""))
        return table


_STYLES = {"heading": "bold", "total": "bold", "page": "dim"}


@dataclass(frozen=True, slots=True)
class DisplayLine:
    """A line of a table as it is displayed."""

    kind: str
    """`heading`, `row`, `total`, `gap`, or `page`: the beginning of a page in a table that spans several."""
    label: str = ""
    depth: int = 0
    """Steps of indentation."""
    cells: tuple[str | None, ...] = ()
    """The figures as printed: `(1,234)`, `$5.51`, `—`."""
    row: int | None = None
    """Index of the row; None for a line that is none."""


def display_lines(rows: Sequence[Row], *, dollars: bool = False, pages: Sequence[int] = ()) -> list[DisplayLine]:
    """Return the display lines of `rows`: headings once above their rows, gaps before sections and after totals.

    `dollars` shows currency signs, for a table without a unit line; `pages` are the pages of the rows (0-based).
    """
    totals = totals_among(rows)
    lines: list[DisplayLine] = []
    path: tuple[str, ...] = ()
    for index, row in enumerate(rows):
        if index and pages and pages[index] != pages[index - 1]:
            lines.append(DisplayLine("page", f"┄┄ page {pages[index] + 1}"))
        shared = len([*takewhile(lambda pair: pair[0] == pair[1], zip(path, row.section, strict=False))])
        for depth in range(shared, len(row.section)):
            if lines and (lines[-1].kind == "total" or (depth == 0 and lines[-1].kind == "row")):
                lines.append(DisplayLine("gap"))
            lines.append(DisplayLine("heading", one_line(row.section[depth]).rstrip(":"), depth))
        path = row.section
        if lines and lines[-1].kind == "total" and index not in totals:
            lines.append(DisplayLine("gap"))
        kind = "total" if index in totals else "row"
        depth = min(totals.get(index, len(path)), len(path))
        cells = tuple(printed(cell, dollars=dollars) if cell else None for cell in row.cells)
        lines.append(DisplayLine(kind, one_line(row.label), depth, cells, index))
    return lines


def totals_among(rows: Sequence[Row]) -> dict[int, int]:
    """Return the rows that are totals, by index, with the number of headings above all of their parts.

    Totals are found by the sums of the table itself, and by labels that begin with `total`. A remainder of a whole that
    is printed again below is not a total: assets less liabilities and all other equity are retained earnings.
    """
    found = {at: len(row.section) for at, row in enumerate(rows) if _CALLED_TOTAL.match(row.label)}
    amounts = [[cell and cell.amount for cell in row.cells] for row in rows]
    for each in row_sums([row.cells for row in rows]):
        added = [position for position, sign in each.parts if sign > 0]
        first = min(position for position, _ in each.parts)
        rest = len(added) == 1 and amounts[added[0]] in amounts[each.total + 1 :]
        if len(each.parts) > 1 and all(position < each.total for position, _ in each.parts) and not rest:
            found[each.total] = min(len(row.section) for row in rows[first : each.total + 1])
    return found


def printed(cell: Cell, *, dollars: bool) -> str:
    """Return a cell as printed, without blanks, and without currency signs unless `dollars`."""
    text = re.sub(r"\s+", "", one_line(cell.printed))
    return text if dollars else text.translate(_NO_SIGNS)


_CALLED_TOTAL = re.compile(r"\W*total\b", re.I)
_NO_SIGNS = str.maketrans("", "", "$€£¥")
