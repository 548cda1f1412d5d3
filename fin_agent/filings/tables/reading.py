"""Tables of a page: rows of numbers under the periods that their columns cover."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from fin_agent.filings.filing import Box, Cell, Identity, PageContent, Row, Table
from fin_agent.filings.tables.headers import Header, read_header
from fin_agent.filings.tables.labels import LabelledRow, rows_of
from fin_agent.filings.tables.layout import FoundTable, find_tables, goes_on
from fin_agent.filings.tables.periods import FiscalCalendar
from fin_agent.filings.tables.totals import name_totals


def read_tables(pages: Sequence[PageContent], identity: Identity | None = None) -> list[Table]:
    """Every table of `pages`, top to bottom; `identity` gives the fiscal calendar that columns are dated by.

    A table that goes on over a page's end without repeating its header keeps the header of its first part.
    """
    calendar = FiscalCalendar.of(identity)
    tables: list[Table] = []
    before: FoundTable | None = None
    for page in pages:
        found = find_tables(page)
        for table in found:
            if before and before.header and not table.header and goes_on(before, table):
                table = replace(table, header=before.header, unit_line=table.unit_line or before.unit_line)
            tables.append(_read(page, table, calendar))
            before = table
        if not found:
            before = None
    return tables


def tables_of_page(page: PageContent, identity: Identity | None = None) -> list[Table]:
    """Tables of one page, read by itself."""
    return read_tables([page], identity)


_BALANCE_LABEL = re.compile(r"^total (?:current )?(?:assets|liabilities)\b", re.I)
_BALANCE_CAPTION = re.compile(r"\bbalance sheets?\b|\bstatements? of financial (?:position|condition)\b", re.I)


def _read(page: PageContent, found: FoundTable, calendar: FiscalCalendar | None) -> Table:
    rows = rows_of(found.body)
    instant = bool(_BALANCE_CAPTION.search(found.caption[-160:])) and not re.search("cash flows", found.caption, re.I)
    instant = instant or sum(1 for row in rows if _BALANCE_LABEL.match(row.label)) >= 2
    if found.header:
        header = read_header(found.header, found.columns, found.caption, calendar, instant)
    else:
        header = Header(tuple("" for _ in found.columns), tuple(None for _ in found.columns))
    percent = _percent_columns(found, header)
    read = tuple(name_totals([_row(found, row, percent) for row in rows]))
    left = min((line.x0 for row in rows for line in row.lines), default=0.0)
    box = Box(
        min(left, found.columns[0].left),
        found.first,
        max(found.columns[-1].right, left),
        max(line.y1 for row in rows for line in row.lines),
    )
    return Table(
        page.number, found.flow.box_on_page(box), found.caption, found.unit_line, header.columns, header.periods, read
    )


def _row(found: FoundTable, row: LabelledRow, percent: Sequence[bool]) -> Row:
    cells: list[Cell | None] = []
    for index in range(len(found.columns)):
        token = row.body.cells.get(index)
        cell = token.cell() if token else None
        if cell is not None:
            cell = replace(cell, percent=cell.percent or percent[index], box=found.flow.box_on_page(cell.box))
        cells.append(cell)
    line = row.body.line
    box = Box(
        min(part.x0 for part in row.lines),
        min(part.y0 for part in row.lines),
        line.x1,
        max(part.y1 for part in row.lines),
    )
    return Row(row.label, row.section, tuple(cells), row.body.number, found.flow.box_on_page(box))


def _percent_columns(found: FoundTable, header: Header) -> list[bool]:
    """Columns of percentages that print `%` in their first row only, or in their header."""
    result: list[bool] = []
    for index, name in enumerate(header.columns):
        cells = [cell for item in found.body if (token := item.cells.get(index)) is not None and (cell := token.cell())]
        small = bool(cells) and all(abs(cell.amount) < 1000 and not cell.dollar for cell in cells)
        marked = bool(cells) and cells[0].percent and len(cells) > 2 and sum(cell.percent for cell in cells) >= 1
        result.append(small and (marked or name.strip().startswith("%") or name.strip().endswith("%")))
    return result
