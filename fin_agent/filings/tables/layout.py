"""Locate the tables of a page: their lines, columns, header and caption."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fin_agent.filings.tables.cells import (
    Column,
    Token,
    assign_to_columns,
    cells_of_row,
    columns_of,
    may_be_cell,
    tokens_of,
    trailing_cells,
    unit_line_in,
)
from fin_agent.filings.tables.headers import is_header_line, phrases_of
from fin_agent.filings.tables.lines import BodyLine, Flow, Line, flow_of
from fin_agent.lexicon.words import word_lists
from fin_agent.vocabulary.page import PageContent
from fin_agent.vocabulary.place import Word

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
    """Return the tables of a page, top to bottom; pages with hardly any amounts are skipped."""
    found: list[FoundTable] = []
    if not _may_hold_a_table(page):
        return found
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


def is_one_table(first: FoundTable, second: FoundTable) -> bool:
    """Return whether both contain rows of one real table, with equally many columns."""
    table = first.flow.table_of(first.body[-1].number)
    same = first.flow is second.flow and table is not None and table == second.flow.table_of(second.body[0].number)
    return same and len(first.columns) == len(second.columns)


def _may_hold_a_table(page: PageContent) -> bool:
    """Return whether there are several amounts, or two that are aligned."""
    amounts: list[Word] = []
    for word in page.words:
        if word[4][0] in _FIRST_OF_AMOUNT and _AMOUNT.match(word.text):
            if len(amounts) == 3 or any(_are_aligned(other, word) for other in amounts):
                return True
            amounts.append(word)
    return False


def _are_aligned(first: Word, second: Word) -> bool:
    if abs(first.y0 - second.y0) < 2:
        return second.x0 - first.x1 > 8
    return abs(first.x1 - second.x1) < 16 or abs(first.y1 - second.y1) < 16


_FIRST_OF_AMOUNT = frozenset("$(.0123456789—–-")
_AMOUNT = re.compile(r"^[$(]*\d{1,3}(?:,\d{3})+\)?|^[$(]*\d*\.\d+\)?%?\)?$|^\$?\(?\d{1,3}\)?%?$|^\$?[—–-]%?$|^\$$")


def _marked(flow: Flow) -> _Marked:
    lines = flow.lines
    with_figures = [any(map(may_be_cell, line.words if line.cells else line.words[-1:])) for line in lines]
    near = [False] * len(lines)  # the rest is prose
    for index, figures in enumerate(with_figures):
        if figures:
            first, last = max(0, index - _LINES_BEFORE), min(len(near), index + _LINES_AFTER)
            near[first:last] = [True] * (last - first)
    tokens = [tokens_of(line) if figures else [] for line, figures in zip(lines, with_figures, strict=True)]
    heads = [each and is_header_line(line) for line, each in zip(lines, near, strict=True)]
    edge = {*range(3), *range(len(lines) - 3, len(lines))}
    seeds: list[list[Token]] = []
    for index, line in enumerate(lines):
        if (
            heads[index]
            or (index in edge and _PAGE_NUMBER.fullmatch(line.text))
            or (flow.printed and flow.table_of(index) is None)
        ):
            seeds.append([])
        else:
            seeds.append(cells_of_row(tokens[index]) if line.cells else trailing_cells(tokens[index], line.height))
    return _Marked(flow, lines, tokens, heads, seeds)


_PAGE_NUMBER = re.compile(r"\d{1,3}")
_LINES_BEFORE = 24
_LINES_AFTER = 4


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
        if (
            near
            and flow.table_of(index) == flow.table_of(last)
            and (
                _aligned(cells, edges)
                or (index == last + 1 and labelled)
                or (dated and all(between.x1 < left for between in lines[last + 1 : index]))
            )
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
    if line.x0 > left - 30 or line.x1 <= left + 12:
        return False
    return line.x1 > right - 0.3 * (right - left) or (right - left < 60 and len(line.words) >= 10)


def _aligned(cells: Sequence[Token], edges: Collection[float]) -> bool:
    return any(abs(cell.edge - edge) <= 6 or cell.core < edge < cell.x1 for cell in cells for edge in edges)


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
    top = _top_of_header(marked, columns, start, max(floor, _top_of_table(marked.flow, start)))
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


def _top_of_table(flow: Flow, start: int) -> int:
    """Return the first line, including the header, of the real table with line `start`; 0 where none is known."""
    table = flow.table_of(start)
    while table is not None and start > 0 and flow.table_of(start - 1) == table:
        start -= 1
    return 0 if table is None else start


def _without_strays(columns: list[Column], lines: Sequence[Line], rows: int) -> list[Column]:
    """Drop columns formed by one or two numbers inside labels, where other lines have words."""
    if rows < 6:
        return columns

    def is_stray(column: Column) -> bool:
        words = sum(
            any(word.x0 < column.right and word.x1 > column.core and word.text[:1].isalpha() for word in line.words)
            for line in lines
        )
        return words > 0.25 * rows

    return [column for column in columns if column.count > 2 or column is columns[-1] or not is_stray(column)]


def _without_marks(columns: list[Column], rows: Sequence[list[Token]]) -> list[Column]:
    """Drop columns of footnote marks: small bare numbers right after the figures of another column."""
    kept = columns[:1]
    for before, column in pairwise(columns):
        cells = [token for row in rows for token in row if column.low <= token.edge <= column.high]
        near = column.left - before.right < _MARK_REACH and 2 * column.count <= before.count
        if not (near and all(_MARK.match(token.text) for token in cells)):
            kept.append(column)
    return kept


_MARK = re.compile(r"^\d{1,2}$")
_MARK_REACH = 9.0


def _is_label_column(first: Column, marked: _Marked, start: int, end: int) -> bool:
    """Return whether a leftmost column consists of bare years in the position of labels (`2023  $ 120`)."""
    cells = years = 0
    for index in range(start, end + 1):
        if marked.seeds[index] and abs((cell := marked.seeds[index][0]).edge - first.edge) <= 4:
            cells += 1
            leads = cell is marked.tokens[index][0]
            years += leads and re.fullmatch(r"(?:19|20)\d\d", cell.text) is not None
    return years > 0 and years >= 0.6 * cells


def _bottom(marked: _Marked, columns: Sequence[Column], end: int) -> int:
    """Return the last line of the body; lines after the last row may end its label."""
    lines = marked.lines
    bottom = end
    for index in range(end + 1, min(end + 3, len(lines))):
        line = lines[index]
        apart = line.x1 > columns[0].core or line.middle - lines[index - 1].middle > 16
        if marked.seeds[index] or marked.heads[index] or apart:
            break
        bottom = index
    return bottom


def _body_line(marked: _Marked, number: int, columns: Sequence[Column], label_column: bool) -> BodyLine:
    line = marked.lines[number]
    tokens = marked.tokens[number] or tokens_of(line)
    cells = {}
    words = list(tokens)
    if columns:
        cells = assign_to_columns(tokens[label_column:], columns, line.height, line.cells)
        taken = {id(token) for token in cells.values()}
        words = [
            token
            for token in tokens
            if id(token) not in taken
            and not ((token.blank or (line.cells and (cells or token.number))) and token.x0 > columns[0].core)
        ]
    label = " ".join(token.text for token in words)
    x0, x1 = (words[0].x0, words[-1].x1) if words else (line.x0, line.x0)
    return BodyLine(line, number, label, x0, x1, cells)


def _is_contents(body: Sequence[BodyLine]) -> bool:
    numbers = [token.number.amount for item in body for token in item.cells.values() if token.number]
    return all(a <= b for a, b in pairwise(numbers)) and all(
        number == int(number) and 0 <= number < 1000 for number in numbers
    )
