"""Read the tables of a page: locate them, and read rows of figures under the periods of their columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise, takewhile

from fin_agent.filings.tables.cells import (
    BodyLine,
    Column,
    Flow,
    LabelledRow,
    Line,
    Token,
    assign_to_columns,
    cells_of_row,
    columns_of,
    flow_of,
    may_be_cell,
    rows_of,
    tokens_of,
    trailing_cells,
    unit_line_in,
)
from fin_agent.filings.tables.column_periods import FiscalCalendar, is_month_end, time_words
from fin_agent.filings.tables.headers import Header, heading_of_labels, is_header_line, phrases_of, read_header
from fin_agent.filings.tables.sum_detection import row_sums
from fin_agent.lexicon.text_normalization import plain
from fin_agent.lexicon.words import patterns, word_lists
from fin_agent.vocabulary.fact import FactPeriod
from fin_agent.vocabulary.identity import Identity
from fin_agent.vocabulary.page import PageContent
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Row, Table

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
            within = plain(path[-1])
            # `Liabilities and shareholders' equity` names the sections and totals below it.
            parts = (
                plain(row.section[0] if row.section else row.label).removeprefix("total ")
                for row in rows[start:index]
                if row.section[:depth] != path
            )
            return path[-1] if all(part and part in within for part in parts) else ""
    return ""


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
                near = page.number - tables[-1].page <= 1 and len(table.columns) == len(before.columns)
                brief = len(table.caption.split()) <= _WORDS_OF_A_HEADING
                said = before.caption if near and brief else table.caption
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
    own = before.flow.table_of(before.body[-1].number)
    same = before.flow is table.flow and own is not None and own == table.flow.table_of(table.body[0].number)
    one = same and len(before.columns) == len(table.columns)
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
    of_balances = sum(1 for row in rows if _PATTERNS["balance label"].match(row.label)) >= 2
    titled = _PATTERNS["balance caption"].search(found.caption[-160:]) and "cash flows" not in found.caption.lower()
    count = len(found.columns)
    header = Header(("",) * count, (None,) * count, ((),) * count)
    if found.header:
        header = read_header(found.header, found.columns, said, calendar, bool(of_balances or titled))
    percent = _percent_columns(found, header)
    read = tuple(name_totals([_row(found, row, percent) for row in rows]))
    units = {path[-1] for path in header.paths if path}
    left, _, _, bottom = Box.around(line.box for row in rows for line in row.lines)
    box = Box(min(left, found.columns[0].left), found.first, max(found.columns[-1].right, left), bottom)
    unit_line, box = "" if found.unit_line in units else found.unit_line, found.flow.box_on_page(box)
    return Table(page.number, box, found.caption, unit_line, header.columns, header.periods, read, header.paths)


def _row(found: FoundTable, row: LabelledRow, percent: Sequence[bool]) -> Row:
    tokens = map(row.body.cells.get, range(len(found.columns)))
    to_page = found.flow.box_on_page
    cells = (token.cell(to_page, of_100) if token else None for token, of_100 in zip(tokens, percent, strict=True))
    box = Box.around(part.box for part in row.lines)._replace(x1=row.body.line.x1)
    return Row(row.label, row.section, tuple(cells), row.body.number, to_page(box))


def _percent_columns(found: FoundTable, header: Header) -> list[bool]:
    """Return which columns are percentages that print `%` in their first row only, or in their header."""
    numbered = [
        [token.number for item in found.body if (token := item.cells.get(index)) and token.number]
        for index in range(len(header.columns))
    ]
    small = [bool(held) and all(abs(one.amount) < 1000 and not one.dollar for one in held) for held in numbered]
    marked = [len(numbers) > 2 and numbers[0].percent for numbers in numbered]
    rates = any(mark and not below for mark, below in zip(marked, small, strict=True))  # a row of percentages
    named = [name.strip().startswith("%") or name.strip().endswith("%") for name in header.columns]
    return [low and ((mark and not rates) or name) for low, mark, name in zip(small, marked, named, strict=True)]


REACH = 46.0
"""Most white space between two lines of one table, in points."""


@dataclass(frozen=True, slots=True)
class _Marked:
    """The lines of a flow, and what each of them may be."""

    flow: Flow
    lines: Sequence[Line]
    tokens: Sequence[list[Token]]
    heads: Sequence[bool]
    """Whether a line may belong to a header."""
    seeds: Sequence[list[Token]]
    """The cells of lines that may be rows."""


def _top_of_header(marked: _Marked, columns: Sequence[Column], start: int, floor: int) -> int:
    """Return the first line of the header, or of the headings above the first row."""
    lines = marked.lines
    top = start
    seen = False
    labels = 0
    for index in range(start - 1, floor - 1, -1):
        line = lines[index]
        # All lines from `floor` on belong to one real table, whatever the space between them.
        if marked.seeds[index] or (lines[index + 1].middle - line.middle > REACH and not marked.flow.printed):
            break
        if marked.heads[index]:
            seen = True
        elif not is_above_columns(line, columns) and not (unit_line_in(line.text) and len(line.words) <= 14):
            labels += 1
            heading = line.x1 <= columns[0].core + 10 or (line.cells and len(phrases_of(line)) == 1)
            if seen or labels > 4 or not heading:
                break
        top = index
    # Headings without a dated header above may belong to the caption or to the body; keep the nearest.
    nearest = start
    for index in range(start - 1, max(top, start - _MAX_HEADER_LINES) - 1, -1):
        if not _names_columns(marked, columns, index, start) and index < start - 2:
            break
        nearest = index
    return top if seen else nearest


def _names_columns(marked: _Marked, columns: Sequence[Column], index: int, start: int) -> bool:
    """Return whether a line names columns, unlike a title or unit line centered above the whole table."""
    line, row = marked.lines[index], marked.lines[start]
    if not is_above_columns(line, columns):
        return False
    middle = (row.x0 + columns[-1].right) / 2
    centered = len(line.words) >= 3 and abs((line.x0 + line.x1) / 2 - middle) < 15
    return len(phrases_of(line)) != 1 or not (unit_line_in(line.text) or centered)


_MAX_HEADER_LINES = 6


def _caption_above(marked: _Marked, top: int, floor: int) -> tuple[str, str]:
    """Return (title lines above the header, unit line among them)."""
    lines = marked.lines
    parts: list[str] = []
    unit_line = ""
    bound = lines[top].middle if top < len(lines) else 0.0
    for index in range(top - 1, max(floor, top - 7) - 1, -1):
        line = lines[index]
        if marked.seeds[index] or bound - line.middle > REACH:
            break
        bound = line.middle
        unit_line = unit_line or unit_line_in(line.text)
        parts.append(line.text)
        prose = len(line.words) > 12
        if prose and ((line.text[:1].isupper() and index + 1 < top) or len(parts) >= 4):
            break
    return " ".join(reversed(parts))[-600:], unit_line


def is_above_columns(line: Line, columns: Sequence[Column]) -> bool:
    """Return whether a line is above the columns rather than above the labels."""
    left = columns[0].left
    if line.x0 > left - 30 and line.x0 > 0.5 * left:
        return True
    phrases = phrases_of(line)
    fewest = 2 if line.cells else 3
    if phrases[0].x1 < left and unit_line_in(phrases[0].text):
        phrases, fewest = phrases[1:], 1
    over = sum(phrase.x1 > left or (bool(line.cells) and place > 0) for place, phrase in enumerate(phrases))
    short = line.cells or all(len(phrase.text) <= 30 for phrase in phrases)
    return len(phrases) >= fewest and 2 * over >= len(phrases) and short


def find_tables(page: PageContent) -> list[FoundTable]:
    """Return the tables of a page, top to bottom."""
    found: list[FoundTable] = []
    marked = _marked(flow_of(page))
    floor = 0
    for start, end in _segments(marked):
        table = _assemble(marked, start, end, floor)
        if table is not None:
            found.append(table)
            floor = end + 1
    return found


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table with known lines and columns, before its header is read."""

    flow: Flow
    body: tuple[BodyLine, ...]
    columns: tuple[Column, ...]
    header: tuple[Line, ...]
    caption: str
    unit_line: str
    first: float
    """Top of its highest line, excluding the caption."""


def has_same_columns(first: FoundTable, second: FoundTable) -> bool:
    """Return whether `second` has the columns of `first`, in the same positions."""
    return len(first.columns) == len(second.columns) and all(
        abs(a.edge - b.edge) < 12 for a, b in zip(first.columns, second.columns, strict=True)
    )


def _marked(flow: Flow) -> _Marked:
    lines = flow.lines
    with_figures = [any(map(may_be_cell, line.words if line.cells else line.words[-1:])) for line in lines]
    tokens = [tokens_of(line) if figures else [] for line, figures in zip(lines, with_figures, strict=True)]
    heads = list(map(is_header_line, lines))
    edge = {*range(3), *range(len(lines) - 3, len(lines))}
    seeds: list[list[Token]] = []
    for index, line in enumerate(lines):
        outside = flow.printed and flow.table_of(index) is None
        if heads[index] or outside or (index in edge and _PATTERNS["page number"].fullmatch(line.text)):
            seeds.append([])
        else:
            seeds.append(cells_of_row(tokens[index]) if line.cells else trailing_cells(tokens[index], line.height))
    return _Marked(flow, lines, tokens, heads, seeds)


def _segments(marked: _Marked) -> list[tuple[int, int]]:
    """Return (first, last) lines with cells of each run that looks like one table."""
    flow, lines, heads = marked.flow, marked.lines, marked.heads
    segments: list[tuple[int, int]] = []
    start = last = -1
    left = right = 0.0
    edges: set[float] = set()
    dated = broken = False
    for index, line in enumerate(lines):
        cells = marked.seeds[index]
        if heads[index]:
            broken = True
            continue
        if not cells:
            broken |= start >= 0 and not (line.cells and len(line.words) > 1) and _is_prose(line, left, right)
            continue
        # The numbers of a labelled row right below may be in a column that was empty so far.
        below = line.middle - lines[last].middle <= 1.6 * line.height
        labelled = below and abs(line.x0 - lines[last].x0) <= 40
        near = start >= 0 and not broken and index - last <= 9 and line.middle - lines[index - 1].middle <= REACH
        same = near and flow.table_of(index) == flow.table_of(last)
        if same and (
            any(abs(cell.edge - edge) <= 6 or cell.core < edge < cell.x1 for cell in cells for edge in edges)
            or (index == last + 1 and labelled)
            or (dated and all(between.x1 < left for between in lines[last + 1 : index]))
        ):
            last = index
            left, right = min(left, cells[0].x0), max(right, cells[-1].x1)
        else:
            if start >= 0:
                segments.append((start, last))
            start = last = index
            left, right, broken, edges = cells[0].x0, cells[-1].x1, False, set()
            dated = any(heads[max(0, index - 4) : index])
        edges.update(round(cell.edge) for cell in cells)
    return [*segments, (start, last)] if start >= 0 else []


def _is_prose(line: Line, left: float, right: float) -> bool:
    """Return whether a line without cells extends over a table's columns like a sentence, unlike a label."""
    over = line.x0 <= left - 30 and line.x1 > left + 12
    return over and (line.x1 > right - 0.3 * (right - left) or (right - left < 60 and len(line.words) >= 10))


def _assemble(marked: _Marked, start: int, end: int, floor: int) -> FoundTable | None:
    lines, heads, seeds = marked.lines, marked.heads, marked.seeds
    rows = [cells for cells in seeds[start : end + 1] if cells]
    columns = _without_strays(columns_of(rows), lines[start : end + 1], len(rows))
    if lines[start].cells:
        columns = _without_marks(columns, rows)
    label_column = len(columns) > 1 and _is_label_column(columns[0], marked, start, end)
    columns = columns[label_column:]
    if not columns:
        return None
    table, head = marked.flow.table_of(start), start
    while table is not None and head > floor and marked.flow.table_of(head - 1) == table:
        head -= 1
    top = _top_of_header(marked, columns, start, floor if table is None else head)
    header = [index for index in range(top, start) if heads[index] or _names_columns(marked, columns, index, start)]
    opening = [
        index
        for index in range(top, start)
        if not heads[index] and not is_above_columns(lines[index], columns) and not unit_line_in(lines[index].text)
    ]
    if header:
        opening = [index for index in opening if index > header[-1]]
        top = header[0]  # text above the header is a title, wherever it begins
    caption, unit_line = _caption_above(marked, top, floor)
    for index in range(top, start):
        unit_line = unit_line_in(lines[index].text) or unit_line
    unit_line = unit_line or _unit_of_headings(marked, top)
    body = [
        _body_line(marked, index, columns if seeds[index] else [], label_column)
        for index in [*opening, *range(start, _bottom(marked, columns, end) + 1)]
    ]
    rows_of_numbers = sum(1 for item in body if item.cells)
    few = rows_of_numbers < 2 or (len(columns) == 1 and (rows_of_numbers < 3 or _is_contents(body)))
    if not rows_of_numbers or (few and not any(heads[top:start])):
        return None
    printed = tuple(lines[index] for index in header)
    return FoundTable(marked.flow, tuple(body), tuple(columns), printed, caption, unit_line, lines[min(top, start)].y0)


def _unit_of_headings(marked: _Marked, top: int) -> str:
    """Return the unit line in a page's heading, or in a sentence that leads to a table: `shown below (in millions)`."""
    lines = marked.lines[:top]
    for index in range(len(lines) - 2, -1, -1):
        for size in (1, 2):  # lines that the unit is spread over
            text = " ".join(line.text for line in lines[index : index + size])
            unit, after = unit_line_in(text), index + size
            if not unit.startswith("(") or after >= len(lines) or marked.heads[after] or marked.seeds[after]:
                continue
            before, _, behind = text.partition(unit)
            lead = " ".join(line.text for line in lines[max(0, index - _LINES_OF_A_LEAD) : index])
            sentence = f"{lead} {before}".rpartition(". ")[2].lower().split()
            leads = not word_lists("fact_words")["leading to a table"].isdisjoint(sentence)
            title = all(len(word) <= _SHORT_WORD or not word[0].islower() for word in before.split())
            if (leads and behind[:1] in ("", ".", ":")) or (not behind and title):
                return unit
    return ""


_LINES_OF_A_LEAD = 3


_SHORT_WORD = 3
"""Most letters of words like `of`, which have no capital in a title."""


def _without_strays(columns: list[Column], lines: Sequence[Line], rows: int) -> list[Column]:
    """Drop columns formed by one or two numbers inside labels, where other lines have words."""
    if rows < 6:
        return columns

    words = [[word for word in line.words if word.text[:1].isalpha()] for line in lines]

    def is_stray(column: Column) -> bool:
        beside = (any(word.x0 < column.right and word.x1 > column.core for word in of_line) for of_line in words)
        return sum(beside) > 0.25 * rows

    return [column for column in columns if column.count > 2 or column is columns[-1] or not is_stray(column)]


def _without_marks(columns: list[Column], rows: Sequence[list[Token]]) -> list[Column]:
    """Drop columns of footnote marks: small bare numbers right after the figures of another column."""
    kept = columns[:1]
    for before, column in pairwise(columns):
        cells = [token for row in rows for token in row if column.low <= token.edge <= column.high]
        near = column.left - before.right < _MARK_REACH and 2 * column.count <= before.count
        if not (near and all(_PATTERNS["mark of a table"].match(token.text) for token in cells)):
            kept.append(column)
    return kept


_MARK_REACH = 9.0


def _is_label_column(first: Column, marked: _Marked, start: int, end: int) -> bool:
    """Return whether a leftmost column consists of bare years in the position of labels (`2023  $ 120`)."""
    lines = zip(marked.seeds[start : end + 1], marked.tokens[start : end + 1], strict=True)
    firsts = [(cells[0], tokens[0]) for cells, tokens in lines if cells and abs(cells[0].edge - first.edge) <= 4]
    years = sum(cell is token and re.fullmatch(r"(?:19|20)\d\d", cell.text) is not None for cell, token in firsts)
    return years > 0 and years >= 0.6 * len(firsts)


def _bottom(marked: _Marked, columns: Sequence[Column], end: int) -> int:
    """Return the last line of the body; lines after the last row may end its label."""
    lines = marked.lines
    after = range(end + 1, min(end + 3, len(lines)))
    for index in after:
        line = lines[index]
        apart = line.x1 > columns[0].core or line.middle - lines[index - 1].middle > 16
        if marked.seeds[index] or marked.heads[index] or apart:
            return index - 1
    return after.stop - 1


def _body_line(marked: _Marked, number: int, columns: Sequence[Column], label_column: bool) -> BodyLine:
    line = marked.lines[number]
    tokens = marked.tokens[number] or tokens_of(line)
    cells = {}
    words = tokens
    if columns:
        cells = assign_to_columns(tokens[label_column:], columns, line.height, line.cells)
        taken = {id(token) for token in cells.values()}
        beside = (token for token in tokens if token.blank or (line.cells and (cells or token.number)))
        taken |= {id(token) for token in beside if token.x0 > columns[0].core}
        words = [token for token in tokens if id(token) not in taken]
    label = " ".join(token.text for token in words)
    x0, x1 = (words[0].x0, words[-1].x1) if words else (line.x0, line.x0)
    return BodyLine(line, number, label, x0, x1, cells)


def _is_contents(body: Sequence[BodyLine]) -> bool:
    numbers = [token.number.amount for item in body for token in item.cells.values() if token.number]
    return all(a <= b for a, b in pairwise(numbers)) and all(
        number == int(number) and 0 <= number < 1000 for number in numbers
    )
