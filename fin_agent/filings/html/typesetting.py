"""Blocks set on pages: every word gets a place, every table row keeps its cells, every tag finds where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fin_agent.filings.html.blocks import LINE_BREAK, Block, Break, Grid, Text
from fin_agent.filings.html.grids import LaidRow, is_amount, rows_of_grid
from fin_agent.filings.html.widths import SPACE, WIDTHS
from fin_agent.vocabulary.page import PageContent, PrintedLine
from fin_agent.vocabulary.place import Box, Word

PAGE_WIDTH, PAGE_HEIGHT = 612.0, 792.0
MARGIN = 36.0
LEADING = 12.0
"""From one line to the next, in points."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands: page (0-based) and box."""

    page: int
    box: Box


@dataclass(slots=True)
class SetDocument:
    """A document set on pages."""

    pages: list[PageContent] = field(default_factory=list)
    places: dict[int, Place] = field(default_factory=dict)
    """Tagged element (its position) -> where it stands; of one that runs over several texts, where it begins."""


def typeset(blocks: Sequence[Block], document: SetDocument | None = None) -> SetDocument:
    """Set `blocks` on pages, behind those of `document` where one is given.

    Pages end where the file ends them; their height is what they need, up to four sheets. A file that names no page
    ends is cut into sheets of letter size; a table and the short lines above it stay together, on a longer sheet where
    they need one.
    """
    blocks = _with_headers(blocks)
    paged = sum(isinstance(block, Break) for block in blocks) >= _FEWEST_BREAKS
    document = document or SetDocument()
    page = _Page(len(document.pages), document.places)
    limit = _MOST_SHEETS * PAGE_HEIGHT if paged else PAGE_HEIGHT
    for position, block in enumerate(blocks):
        if isinstance(block, Break):
            page = _next(document, page)
            continue
        kept = 0.0 if paged else _kept_together(blocks, position)
        if page.words and page.y + kept > limit - MARGIN:
            page = _next(document, page)
        most = _MOST_SHEETS * PAGE_HEIGHT if kept and isinstance(block, Grid) else limit
        for setting in _settings_of(block, page):
            if page.words and page.y + setting.height > most - MARGIN:
                page = _next(document, page)
                setting = setting.on(page)
            page.take(setting)
        page.end_block()
    _next(document, page)
    return document


def _with_headers(blocks: Sequence[Block]) -> list[Block]:
    """`blocks` with a header that is a table of its own put on top of the table right below that has its columns."""
    joined: list[Block] = []
    for block in blocks:
        above = joined[-1] if joined else None
        if isinstance(block, Grid) and isinstance(above, Grid) and _heads(above, block):
            joined[-1] = Grid([*above.rows, *block.rows])
        else:
            joined.append(block)
    return joined


def _heads(above: Grid, below: Grid) -> bool:
    printed = [cell for row in above.rows for cell in row if not cell.text.is_blank]
    return (
        len(above.rows) <= _HEADER_ROWS
        and _width(above) == _width(below)
        and bool(printed)
        and all(cell.column > 0 or above.rows[0][0] is cell for cell in printed)
        and not any(is_amount(" ".join(cell.text.words)) for cell in printed)
    )


def _width(grid: Grid) -> int:
    return max((cell.column + cell.span for row in grid.rows for cell in row), default=0)


_HEADER_ROWS = 4
_FEWEST_BREAKS = 1
_MOST_SHEETS = 4
_PARAGRAPH_GAP = 6.0
_SHORT_LINE = 14
"""Most words of a line that is a heading or a caption."""
_MONOSPACE = 4.8
_ROW = 13.0


@dataclass(slots=True)
class _Setting:
    """A line or row about to be set: its words from y = 0, and what they mark."""

    words: list[Word]
    cells: tuple[Word, ...]
    """Of a row, one word a cell."""
    text: str
    height: float
    marks: list[tuple[int, int, int]]
    """(tag, first word, last word) by position in `words`."""
    table: int | None
    wide: float
    skips: int = 0
    """Empty bands before it."""

    def on(self, page: _Page) -> _Setting:
        if self.table is not None:
            self.table = page.continue_table()
        return self


class _Page:
    def __init__(self, number: int, places: dict[int, Place]) -> None:
        self.number = number
        self.places = places
        self.words: list[Word] = []
        self.texts: list[str] = []
        self.lines: list[PrintedLine] = []
        self.y = MARGIN
        self.band = 0
        self.width = PAGE_WIDTH
        self.tables = 0

    def take(self, setting: _Setting) -> None:
        y = self.y
        words = [Word(x0, y0 + y, x1, y1 + y, text) for x0, y0, x1, y1, text in setting.words]
        for tag, first, last in setting.marks:
            self._mark(tag, words[first : last + 1])
        if not words and setting.table is None:
            return  # a tag in a paragraph that prints nothing: a place, and no line
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
        self.width = max(self.width, setting.wide + MARGIN)

    def _mark(self, tag: int, words: Sequence[Word]) -> None:
        if tag in self.places:
            return
        if words:
            box = Box(
                min(word.x0 for word in words), min(word.y0 for word in words),
                max(word.x1 for word in words), max(word.y1 for word in words),
            )  # fmt: skip
        else:
            box = Box(MARGIN, self.y, MARGIN, self.y + LEADING - 2)
        self.places[tag] = Place(self.number, box)

    def begin_table(self) -> int:
        self.tables += 1
        return self.tables - 1

    def continue_table(self) -> int:
        return self.tables - 1 if self.tables else self.begin_table()

    def end_block(self) -> None:
        if self.words:
            self.y += _PARAGRAPH_GAP
            self.texts.append("")

    def content(self) -> PageContent:
        return PageContent(
            self.number,
            self.width,
            max(PAGE_HEIGHT, self.y + MARGIN),
            "\n".join(self.texts).strip("\n") + "\n",
            tuple(self.words),
            tuple(self.lines),
        )


def _next(document: SetDocument, page: _Page) -> _Page:
    """Close `page` and open the next; a page without a word is passed over, what it marks goes to the next one."""
    if not page.words:
        return page
    document.pages.append(page.content())
    return _Page(page.number + 1, document.places)


def _kept_together(blocks: Sequence[Block], position: int) -> float:
    """Height of a table and the short lines before it, where `position` begins such a group and two sheets hold it."""
    block = blocks[position]
    height = 0.0
    ahead = position
    while (
        isinstance(block, Text) and len(block.words) <= _SHORT_LINE and ahead + 1 < len(blocks) and ahead < position + 5
    ):
        height += LEADING + _PARAGRAPH_GAP
        ahead += 1
        block = blocks[ahead]
    if not isinstance(block, Grid):
        return 0.0
    height += _ROW * sum(any(not cell.text.is_blank for cell in row) for row in block.rows)
    return height if height <= 2 * (PAGE_HEIGHT - 2 * MARGIN) else 0.0


def _settings_of(block: Text | Grid, page: _Page) -> Iterator[_Setting]:
    if isinstance(block, Grid):
        table = page.begin_table()
        skips = 1
        for row in rows_of_grid(block):
            if row.is_blank:
                skips += 1 if row.counts else 0
                continue
            yield _row_setting(row, table, skips)
            table = page.continue_table() if table >= page.tables else table
            skips = 0
    elif block.preformatted:
        yield from _preformatted(block, page.begin_table())
    else:
        yield from _paragraph(block)


def _row_setting(row: LaidRow, table: int, skips: int) -> _Setting:
    return _Setting(row.words, tuple(row.cells), row.text, row.height, row.marks, table, row.right, skips)


def _paragraph(text: Text) -> Iterator[_Setting]:
    """Lines of a paragraph, broken at the margin."""
    left = MARGIN + min(text.indent, 200.0)
    room = PAGE_WIDTH - MARGIN
    line: list[Word] = []
    begins = 0
    x = left
    first = True
    for index, word in enumerate(text.words):
        if word != LINE_BREAK:
            width = WIDTHS[word]
            if line and x + width > room:
                yield _line(line, text, begins, index - 1, first)
                line, begins, x, first = [], index, left, False
            line.append(Word(x, 0.0, x + width, LEADING - 2, word))
            x += width + SPACE
        elif line:
            yield _line(line, text, begins, index, first)
            line, begins, x, first = [], index + 1, left, False
    if line or (first and text.marks):
        yield _line(line, text, begins, len(text.words) - 1, first)


def _line(words: list[Word], text: Text, begins: int, ends: int, first: bool) -> _Setting:
    if text.align == "center" and words:
        shift = (PAGE_WIDTH - MARGIN - words[-1].x1 + words[0].x0 - MARGIN) / 2 + MARGIN - words[0].x0
        words = [Word(x0 + shift, y0, x1 + shift, y1, said) for x0, y0, x1, y1, said in words]
    return _Setting(
        words,
        (),
        " ".join(word.text for word in words),
        LEADING if words else 0.0,
        [
            (mark.tag, max(0, mark.first - begins), mark.last - begins)
            for mark in text.marks
            if begins <= mark.first <= ends or (first and not words)
        ],
        None,
        0.0,
        1 if first else 0,
    )


def _preformatted(text: Text, table: int) -> Iterator[_Setting]:
    """Lines whose columns are made of spaces: each word stands where it was typed."""
    skips = 1
    for typed in text.words:
        words = []
        position = 0
        for word in typed.split():
            position = typed.index(word, position)
            x = MARGIN + position * _MONOSPACE
            words.append(Word(x, 0.0, x + len(word) * _MONOSPACE, LEADING - 2, word))
            position += len(word)
        if not words:
            skips += 1
            continue
        yield _Setting(words, tuple(words), typed.rstrip(), LEADING, [], table, words[-1].x1, skips)
        skips = 0
