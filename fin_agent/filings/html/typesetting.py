"""Typeset an HTML filing on pages: widths of words, layout of tables, line breaks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, count, groupby, takewhile

from fin_agent.filings.html.blocks import LINE_BREAK, Block, Break, Grid, GridCell, Text
from fin_agent.lexicon.words import load_yaml
from fin_agent.vocabulary.page import PageContent, PrintedLine
from fin_agent.vocabulary.place import Box, Word

SIZE = 9.0
"""Font size in points, for tables and text."""

_THOUSANDTHS = {mark: int(width) for width, marks in load_yaml("letter_widths").items() for mark in marks}
_OTHER = 556


@lru_cache(maxsize=100_000)  # filings use the same few thousand words
def width_of(word: str) -> float:
    """Return the width of a word in points."""
    return sum(_THOUSANDTHS.get(mark, _OTHER) for mark in word) * SIZE / 1000


SPACE = 0.278 * SIZE


_YEAR = re.compile(r"^(?:19|20)\d\d$")
_LEFT = 36.0
_PADDING = 3.0
_LINE = 11.0
_WORD_HEIGHT = 10.0
_WIDEST_TEXT = 250.0
_NUMBER = re.compile(r"^[$€£¥(+\-–—−\s]*(?:\d[\d,]*\.?\d*|\.\d+|[—–-])[\s)%*]*(?:\([a-z0-9]\))?$", re.I)
_CLOSER = re.compile(r"^[)%]+$")
_SIGN = re.compile(r"^[$€£¥()%]+$")
_MIN_SHARE_LENGTH = 0.62
"""A heading may wrap to columns of this share of its length, but no narrower."""


def _edges(grid: Grid) -> list[float]:
    """Return the x of the left edge of each column, and of the right edge of the last."""
    widths = [0.0] * _width_of_grid(grid)
    cells = (cell for row in grid.rows for cell in row if not cell.text.is_blank)
    for cell in sorted(cells, key=lambda cell: (cell.span, cell.column)):
        last = cell.column + cell.span
        want = _requested_width(cell) + 2 * _PADDING - sum(widths[cell.column : last])
        if want > 0:
            widths[last - 1] += want
    return list(accumulate(widths, initial=_LEFT))


def _requested_width(cell: GridCell) -> float:
    """Return the width that a cell needs: all of it for numbers, enough to wrap well for words."""
    words = cell.text.words
    printed = " ".join(word for word in words if word != LINE_BREAK)
    lines = [list(line) for ends, line in groupby(words, LINE_BREAK.__eq__) if not ends]
    natural = max(map(_width, lines), default=0.0)
    if _NUMBER.match(printed) or len(printed) <= 12:
        return natural
    natural += cell.text.indent
    if cell.column == 0:
        return min(natural, _WIDEST_TEXT)
    longest = max(width_of(word) for word in words if word != LINE_BREAK)
    return min(max(longest, _MIN_SHARE_LENGTH * natural), _WIDEST_TEXT)


def _width(words: list[str]) -> float:
    return sum(map(width_of, words)) + SPACE * (len(words) - 1) if words else 0.0


def _set_row(row: list[GridCell], edges: list[float], table: int) -> _Setting:
    setting = _Setting(table=table, right=edges[-1])
    wrapped: list[tuple[GridCell, list[list[tuple[int, str]]]]] = []
    for cell in row:
        if not cell.text.is_blank:
            room = edges[cell.column + cell.span] - edges[cell.column] - 2 * _PADDING + 0.5
            indent = cell.text.indent if cell.text.indent < room / 2 else 0.0
            wrapped.append((cell, _wrapped(cell.text.words, room - indent)))
    depth = max((len(lines) for _, lines in wrapped), default=0)
    for cell, lines in wrapped:
        _set_cell(setting, cell, lines, edges, depth)
    setting.marks += [(mark.tag, 0, -1) for cell in row if cell.text.is_blank for mark in cell.text.marks]
    setting.height = depth * _LINE + 2.0 if depth else 0.0
    setting.cells.sort(key=lambda word: word.x0)
    setting.text = "  ".join(cell.text for cell in setting.cells)
    return setting


def _wrapped(words: Sequence[str], room: float) -> list[list[tuple[int, str]]]:
    """Return the (position, word) pairs of each line, at most `room` wide."""
    lines: list[list[tuple[int, str]]] = [[]]
    x = 0.0
    for position, word in enumerate(words):
        if lines[-1] and (word == LINE_BREAK or x + width_of(word) > room):
            lines.append([])
            x = 0.0
        if word != LINE_BREAK:
            lines[-1].append((position, word))
            x += width_of(word) + SPACE
    return lines if lines[-1] or len(lines) == 1 else lines[:-1]


def _set_cell(
    row: _Setting, cell: GridCell, lines: list[list[tuple[int, str]]], edges: list[float], depth: int
) -> None:
    left, right = edges[cell.column] + _PADDING, edges[cell.column + cell.span] - _PADDING
    printed = " ".join(word for line in lines for _, word in line)
    number = bool(_NUMBER.match(printed))
    overhang = number * _width([printed[len(printed.rstrip(")%* ")) :].strip()])  # beyond the last digit
    # A parenthesis or percent sign in its own cell belongs to the number before it.
    align = "left" if _CLOSER.match(printed) else cell.text.align
    if not number and cell.column and align not in ("left", "right") and not _SIGN.match(printed):
        align = "center"
    indent = cell.text.indent if not number and align not in ("right", "center") else 0.0
    indent = min(indent, max(0.0, (right - left) / 2))
    where: dict[int, int] = {}
    first_x, last_x = right, left
    for line_number, line in enumerate(lines):
        width = _width([word for _, word in line])
        x = left + indent
        if number or align == "right":
            x = right - width + overhang
        elif align == "center":
            x = (left + right - width) / 2
        y = 1.0 + (depth - len(lines) + line_number) * _LINE
        first_x = min(first_x, x)
        for position, word in line:
            where[position] = len(row.words)
            row.words.append(Word(x, y, x + width_of(word), y + _WORD_HEIGHT, word))
            last_x = max(last_x, x + width_of(word))
            x += width_of(word) + SPACE
    row.cells.append(Word(first_x, 0.0, last_x, 0.0, printed))
    for mark in cell.text.marks:
        inside = [where[position] for position in range(mark.first, mark.last + 1) if position in where]
        row.marks.append((mark.tag, inside[0], inside[-1]) if inside else (mark.tag, 0, -1))


PAGE_WIDTH, PAGE_HEIGHT = 612.0, 792.0
MARGIN = 36.0
LEADING = 12.0
"""Distance between lines, in points."""


@dataclass(slots=True)
class TypesetDocument:
    """A document typeset on pages."""

    pages: list[PageContent] = field(default_factory=list)
    places: dict[int, tuple[int, Box]] = field(default_factory=dict)
    """Page (0-based) and box of each tagged element; for one that spans several texts, where it begins."""


def typeset(blocks: Sequence[Block], document: TypesetDocument | None = None) -> TypesetDocument:
    """Typeset `blocks` on pages, after those of `document` if given.

    Pages end where the file marks it; their height is what they need, up to four sheets. Other files are cut into
    letter-sized sheets; a table stays together with the short lines above it, on a longer sheet if necessary.
    """
    blocks = _with_headers(blocks)
    paged = sum(isinstance(block, Break) for block in blocks) >= _MIN_BREAKS
    document = document or TypesetDocument()
    page = _Page(len(document.pages), document.places)
    limit = _MAX_SHEETS * PAGE_HEIGHT if paged else PAGE_HEIGHT
    for position, block in enumerate(blocks):
        if isinstance(block, Break):
            page = _next(document, page)
            continue
        kept = 0.0 if paged else _keep_together_height(blocks, position)
        if page.words and page.y + kept > limit - MARGIN:
            page = _next(document, page)
        most = _MAX_SHEETS * PAGE_HEIGHT if kept and isinstance(block, Grid) else limit
        for setting in _settings_of(block, page):
            if page.words and page.y + setting.height > most - MARGIN:
                page = _next(document, page)
                if setting.table is not None:
                    setting.table = next(page.tables)
            page.take(setting)
        if page.words:
            page.y += _PARAGRAPH_GAP
            page.texts.append("")
    _next(document, page)
    return document


def _with_headers(blocks: Sequence[Block]) -> list[Block]:
    """Return `blocks` with a header in a table of its own joined to the table right below with the same columns."""
    joined: list[Block] = []
    for block in blocks:
        above = joined[-1] if joined else None
        if isinstance(block, Grid) and isinstance(above, Grid) and _heads(above, block):
            joined.pop()
            block = Grid([*above.rows, *block.rows])
        joined.append(block)
    return joined


def _heads(above: Grid, below: Grid) -> bool:
    printed = [cell for row in above.rows for cell in row if not cell.text.is_blank]
    texts = [" ".join(cell.text.words) for cell in printed]
    alike = len(above.rows) <= _HEADER_ROWS and _width_of_grid(above) == _width_of_grid(below)
    # Its labels stand over the columns, or in the corner, and it has no number other than a year.
    heads = bool(printed) and all(cell.column > 0 or above.rows[0][0] is cell for cell in printed)
    return alike and heads and not any(_NUMBER.match(text) and not _YEAR.match(text) for text in texts)


def _width_of_grid(grid: Grid) -> int:
    return max((cell.column + cell.span for row in grid.rows for cell in row), default=0)


_HEADER_ROWS = 4
_MIN_BREAKS = 1
_MAX_SHEETS = 4
_PARAGRAPH_GAP = 6.0
_SHORT_LINE = 14
"""Most words of a line that may be a heading or a caption."""
_ROW = 13.0


@dataclass(slots=True)
class _Setting:
    """A line or row about to be placed: its words from y = 0, and its marks."""

    words: list[Word] = field(default_factory=list)
    cells: list[Word] = field(default_factory=list)
    """For a row, one word per non-empty cell with `text` being the whole cell; y is not set."""
    text: str = ""
    height: float = 0.0
    marks: list[tuple[int, int, int]] = field(default_factory=list)
    """(tag, first word, last word) by position in `words`."""
    table: int | None = None
    right: float = 0.0
    """Right edge of the table."""
    skips: int = 0
    """Empty bands before it."""


class _Page:
    def __init__(self, number: int, places: dict[int, tuple[int, Box]]) -> None:
        self.number = number
        self.places = places
        self.words: list[Word] = []
        self.texts: list[str] = []
        self.lines: list[PrintedLine] = []
        self.y = MARGIN
        self.band = 0
        self.width = PAGE_WIDTH
        self.tables = count()
        """Numbers of its next tables."""

    def take(self, setting: _Setting) -> None:
        y = self.y
        words = [Word(x0, y0 + y, x1, y1 + y, text) for x0, y0, x1, y1, text in setting.words]
        for tag, first, last in setting.marks:
            self._mark(tag, words[first : last + 1])
        if not words and setting.table is None:
            return  # a tag in an empty paragraph: it has a place, but no line
        self.words.extend(words)
        self.band += setting.skips
        if setting.table is None:
            self.lines.append(PrintedLine(tuple(words), y, y + LEADING - 2, None, self.band))
        elif setting.cells:
            bottom = y + setting.height
            cells = tuple(Word(cell.x0, y, cell.x1, bottom, cell.text) for cell in setting.cells)
            self.lines.append(PrintedLine(cells, y, bottom - 1, setting.table, self.band))
        if setting.text:
            self.texts.append(setting.text)
        self.band += 1
        self.y = y + setting.height
        self.width = max(self.width, setting.right + MARGIN)

    def _mark(self, tag: int, words: Sequence[Word]) -> None:
        if tag in self.places:
            return
        box = Box.around(words) if words else Box(MARGIN, self.y, MARGIN, self.y + LEADING - 2)
        self.places[tag] = (self.number, box)

    def content(self) -> PageContent:
        text, height = "\n".join(self.texts).strip("\n") + "\n", max(PAGE_HEIGHT, self.y + MARGIN)
        return PageContent(self.number, self.width, height, text, tuple(self.words), tuple(self.lines))


def _next(document: TypesetDocument, page: _Page) -> _Page:
    """Close `page` and open the next; an empty page is reused, with its marks."""
    if not page.words:
        return page
    document.pages.append(page.content())
    return _Page(page.number + 1, document.places)


def _keep_together_height(blocks: Sequence[Block], position: int) -> float:
    """Return the height of a table with the short lines before it, if `position` begins them and two sheets suffice."""
    near = blocks[position : min(position + 5, len(blocks) - 1)]
    above = list(takewhile(lambda block: isinstance(block, Text) and len(block.words) <= _SHORT_LINE, near))
    block = blocks[position + len(above)]
    if not isinstance(block, Grid):
        return 0.0
    rows = sum(any(not cell.text.is_blank for cell in row) for row in block.rows)
    height = len(above) * (LEADING + _PARAGRAPH_GAP) + _ROW * rows
    return height if height <= 2 * (PAGE_HEIGHT - 2 * MARGIN) else 0.0


def _settings_of(block: Text | Grid, page: _Page) -> Iterator[_Setting]:
    if isinstance(block, Text):
        yield from _paragraph(block)
        return
    table, edges = next(page.tables), _edges(block)
    skips, begun = 1, False
    for row in block.rows:
        setting = _set_row(row, edges, table)
        if setting.words or setting.marks:
            setting.skips = skips
            yield setting
            skips, begun = 0, True
        else:
            skips += begun  # blank rows before the first words only set widths


def _paragraph(text: Text) -> Iterator[_Setting]:
    """Yield the lines of a paragraph, broken at the margin."""
    left = MARGIN + min(text.indent, 200.0)
    lines = _wrapped(text.words, PAGE_WIDTH - MARGIN - left)
    begins = [0, *(line[0][0] for line in lines[1:])]
    for line, first, ends in zip(lines, begins, [*begins[1:], len(text.words)], strict=True):
        marks = [
            (mark.tag, max(0, mark.first - first), mark.last - first)
            for mark in text.marks
            if first <= mark.first < ends or not line
        ]
        words, x = [], left
        for _, word in line:
            words.append(Word(x, 0.0, x + width_of(word), LEADING - 2, word))
            x += width_of(word) + SPACE
        if text.align == "center" and words:
            shift = (PAGE_WIDTH - MARGIN - words[-1].x1 + words[0].x0 - MARGIN) / 2 + MARGIN - words[0].x0
            words = [Word(x0 + shift, y0, x1 + shift, y1, said) for x0, y0, x1, y1, said in words]
        said = " ".join(word for _, word in line)
        if words or marks:
            yield _Setting(words, text=said, height=LEADING if words else 0.0, marks=marks, skips=int(first == 0))
