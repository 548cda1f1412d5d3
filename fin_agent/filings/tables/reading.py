"""Read the tables of a page: rows of figures under the periods of their columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from itertools import takewhile

from fin_agent.filings.tables.column_periods import FiscalCalendar, is_month_end, time_words
from fin_agent.filings.tables.headers import Header, heading_of_labels, read_header
from fin_agent.filings.tables.layout import FoundTable, find_tables, has_same_columns, is_one_table
from fin_agent.filings.tables.lines import LabelledRow, rows_of
from fin_agent.filings.tables.sum_detection import row_sums
from fin_agent.lexicon.words import patterns
from fin_agent.vocabulary.fact import FactPeriod
from fin_agent.vocabulary.identity import Identity
from fin_agent.vocabulary.page import PageContent
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Cell, Row, Table

_PATTERNS = patterns("table_patterns")


def name_totals(rows: Sequence[Row]) -> list[Row]:
    """Return rows with blank labels named `Total current assets` where they sum all rows under `Current assets`."""
    named = list(rows)
    starts: dict[int, int] = {}
    """For each sum, the first row that it or one of its parts includes."""
    for found in row_sums([row.cells for row in rows]) if not all(row.label for row in rows) else ():
        if len(found.parts) < 2 or any(sign < 0 for _, sign in found.parts):
            continue
        start = starts[found.total] = min(starts.get(part, part) for part, _ in found.parts)
        if not rows[found.total].label and (heading := _heading_over(rows, start, found.total)):
            named[found.total] = replace(rows[found.total], label=f"Total {heading.lower()}")
    return named


def _heading_over(rows: Sequence[Row], start: int, index: int) -> str:
    """Return the outermost heading that begins with the first summand and ends with the sum."""
    before = rows[start - 1].section if start else ()
    after = rows[index + 1].section if index + 1 < len(rows) else ()
    for depth in range(1, len(rows[start].section) + 1):
        path = rows[start].section[:depth]
        if before[:depth] != path and after[:depth] != path:
            within = _plain(path[-1])
            # `Liabilities and shareholders' equity` names the sections and totals below it.
            parts = (
                _plain(row.section[0] if row.section else row.label).removeprefix("total ")
                for row in rows[start:index]
                if row.section[:depth] != path
            )
            return path[-1] if all(part and part in within for part in parts) else ""
    return ""


def _plain(text: str) -> str:
    return text.lower().replace("\u2019", "'")


def read_tables(pages: Sequence[PageContent], identity: Identity | None = None) -> list[Table]:
    """Return every table of `pages`, top to bottom; `identity` gives the fiscal calendar for dating columns.

    A table that continues on the next page keeps the header of its first part, or the names of its columns.
    """
    calendar = FiscalCalendar.of(identity)
    tables: list[Table] = []
    before: FoundTable | None = None
    for page in pages:
        found = find_tables(page)
        for position, table in enumerate(found):
            said = table.caption
            if before is not None:
                table = _continued(before, table)
                said = table.caption
                near = page.number - tables[-1].page <= 1 and len(table.columns) == len(before.columns)
                if near and len(said.split()) <= _WORDS_OF_A_HEADING:
                    said = before.caption
            read = _read(page, table, calendar, said)
            if before is not None and position == 0:
                read = _with_heads_of_page_before(tables[-1], read, table)
            if before is not None and page.number - tables[-1].page <= 1:
                read = _with_heads_above(tables[-1], read, _aligned_columns(before, table))
            tables.append(read)
            before = replace(table, caption=read.caption)
        if not found and len(page.text.strip()) > _BLANK_PAGE:
            before = None
    return _with_known_ends(tables, calendar)


_BLANK_PAGE = 80
"""Most characters on a page between two parts of a table: a number, a running head."""


def _continued(before: FoundTable, table: FoundTable) -> FoundTable:
    """Return `table` with the header, unit line and caption of the table above, where it is a part of that one."""
    one = is_one_table(before, table)
    headless = before.header and not table.header and (one or has_same_columns(before, table))
    if not headless and (table.caption or not one):
        return table
    return replace(
        table,
        header=before.header if headless else table.header,
        unit_line=table.unit_line or before.unit_line,
        caption=table.caption or before.caption,
    )


def _with_heads_of_page_before(above: Table, table: Table, found: FoundTable) -> Table:
    """Return a real table that continues on the next page without its header, with that header."""
    follows = bool(found.flow.printed) and table.page == above.page + 1 and len(table.columns) == len(above.columns)
    if not follows or found.header or not any(above.periods) or any(table.periods):
        return table
    return replace(
        table,
        columns=above.columns,
        periods=above.periods,
        unit_line=table.unit_line or above.unit_line,
        column_paths=above.column_paths,
    )


def _aligned_columns(above: FoundTable, table: FoundTable) -> list[int | None]:
    """Return for each column the column of `above` in the same position, or None; all None for other tables."""
    if len(above.columns) == len(table.columns) and (
        has_same_columns(above, table) or (above.flow.printed and table.flow.printed)
    ):
        return list(range(len(table.columns)))
    theirs, own = ([column.edge for column in each.columns] for each in (above, table))
    nearest = [min(range(len(theirs)), key=lambda place: abs(theirs[place] - edge)) for edge in own]
    under = [
        place if abs(theirs[place] - edge) <= min(_IN_LINE, *(abs(theirs[place] - other) for other in own)) else None
        for place, edge in zip(nearest, own, strict=True)
    ]
    return under if under.count(None) <= len(under) // 4 else [None] * len(under)


_IN_LINE = 12.0


def _with_heads_above(above: Table, table: Table, under: Sequence[int | None]) -> Table:
    """Return `table`, whose columns all have the same period, with the distinguishing heads of the table `above`."""
    alike = len(table.columns) > 1 and len(set(table.columns)) == 1 and None not in table.periods
    if not alike or set(under) == {None} or len(set(filter(None, above.periods))) > 1:
        return table
    words = [name.split() for name in above.columns]
    common = sum(1 for _ in takewhile(lambda last: len(set(last)) == 1, zip(*map(reversed, words), strict=False)))
    heads = [" ".join(name[: len(name) - common]) for name in words]
    telling = [head for head in heads if any(map(str.isalnum, head))]
    if len(set(telling)) < len(telling) or len(telling) < 2:
        return table
    parts = [heads[place] if place is not None else "" for place in under]
    return replace(
        table,
        columns=tuple(f"{part} {own}".strip() for part, own in zip(parts, table.columns, strict=True)),
        column_paths=tuple(
            (part, *path) if part else path for part, path in zip(parts, table.column_paths, strict=True)
        ),
        periods=tuple(when if part else None for part, when in zip(parts, table.periods, strict=True)),
        unit_line=table.unit_line or above.unit_line,
        caption=table.caption or above.caption,
    )


def _with_known_ends(tables: Sequence[Table], calendar: FiscalCalendar | None) -> list[Table]:
    """Return tables in which periods named by their year alone have the end that dated columns give for that year.

    Where any year ends on a day that cannot be computed (52 and 53 weeks), a year without a date has no known end.
    """
    own = calendar.period_end if calendar else None

    def is_known(name: str, period: FactPeriod) -> bool:
        # The end was read rather than computed from the year; computed ends are month ends.
        end = period.end
        return end is not None and (end == own or not is_month_end(end) or end in time_words(name).dates)

    columns = [pair for table in tables for pair in zip(table.columns, table.periods, strict=True)]
    seen: dict[tuple[int, int | None], Counter[date]] = {}
    for name, period in columns:
        if period and period.end and is_known(name, period) and (key := _end_key(period)):
            seen.setdefault(key, Counter())[period.end] += 1
    ends = {key: max(days, key=lambda day: (days[day], day)) for key, days in seen.items()}
    drifting = any(key[1] is None and not is_month_end(end) for key, end in ends.items())

    def dated(name: str, period: FactPeriod | None) -> FactPeriod | None:
        if period is None or (key := _end_key(period)) is None or is_known(name, period):
            return period
        end = ends.get(key) or (None if drifting else period.end)
        if end is None and calendar is not None and key[1] is not None and not drifting:
            end = calendar.end_of_quarter(key[0], key[1])
        return replace(period, end=end)

    return [replace(table, periods=tuple(map(dated, table.columns, table.periods))) for table in tables]


def _end_key(period: FactPeriod) -> tuple[int, int | None] | None:
    """Return (fiscal year, quarter at whose end it ends; None for the year's end) of periods with a definite end."""
    if period.quarter is not None:
        return period.fiscal_year, None if period.quarter == 4 else period.quarter
    if period.months in (6, 9):
        return period.fiscal_year, period.months // 3
    return (period.fiscal_year, None) if period.months in (0, 12) else None


_WORDS_OF_A_HEADING = 4
"""A caption this short says nothing about time; the caption of the previous table with equally many columns applies."""


def _read(page: PageContent, found: FoundTable, calendar: FiscalCalendar | None, said: str) -> Table:
    rows = rows_of(found.body)
    if heading := heading_of_labels(found.header, found.columns):
        rows = [replace(row, section=row.section or (heading,)) for row in rows]
    instant = bool(_PATTERNS["balance caption"].search(found.caption[-160:])) and not re.search(
        "cash flows", found.caption, re.I
    )
    instant = instant or sum(1 for row in rows if _PATTERNS["balance label"].match(row.label)) >= 2
    if found.header:
        header = read_header(found.header, found.columns, said, calendar, instant)
    else:
        count = len(found.columns)
        header = Header(("",) * count, (None,) * count, ((),) * count)
    percent = _percent_columns(found, header)
    read = tuple(name_totals([_row(found, row, percent) for row in rows]))
    units = {path[-1] for path in header.paths if path}
    left = min((line.x0 for row in rows for line in row.lines), default=0.0)
    box = Box(
        min(left, found.columns[0].left),
        found.first,
        max(found.columns[-1].right, left),
        max(line.y1 for row in rows for line in row.lines),
    )
    return Table(
        page.number,
        found.flow.box_on_page(box),
        found.caption,
        "" if found.unit_line in units else found.unit_line,
        header.columns,
        header.periods,
        read,
        header.paths,
    )


def _row(found: FoundTable, row: LabelledRow, percent: Sequence[bool]) -> Row:
    cells: list[Cell | None] = []
    for index in range(len(found.columns)):
        token = row.body.cells.get(index)
        cells.append(token.cell(found.flow.box_on_page, percent[index]) if token else None)
    line = row.body.line
    box = Box(
        min(part.x0 for part in row.lines),
        min(part.y0 for part in row.lines),
        line.x1,
        max(part.y1 for part in row.lines),
    )
    return Row(row.label, row.section, tuple(cells), row.body.number, found.flow.box_on_page(box))


def _percent_columns(found: FoundTable, header: Header) -> list[bool]:
    """Return which columns are percentages that print `%` in their first row only, or in their header."""
    numbered = [
        [token.number for item in found.body if (token := item.cells.get(index)) and token.number]
        for index in range(len(header.columns))
    ]
    small = [
        bool(numbers) and all(abs(number.amount) < 1000 and not number.dollar for number in numbers)
        for numbers in numbered
    ]
    marked = [len(numbers) > 2 and numbers[0].percent for numbers in numbered]
    rates = any(mark and not below for mark, below in zip(marked, small, strict=True))  # a row of percentages
    named = [name.strip().startswith("%") or name.strip().endswith("%") for name in header.columns]
    return [low and ((mark and not rates) or name) for low, mark, name in zip(small, marked, named, strict=True)]
