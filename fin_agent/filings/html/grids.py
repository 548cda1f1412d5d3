"""Rows of an HTML table laid out: column widths from what the cells hold, numbers aligned by their last digit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from fin_agent.filings.html.blocks import LINE_BREAK, Grid, GridCell
from fin_agent.filings.html.widths import SPACE, WIDTHS
from fin_agent.vocabulary.place import Word


@dataclass(slots=True)
class LaidRow:
    """A row from y = 0."""

    words: list[Word] = field(default_factory=list)
    cells: list[Word] = field(default_factory=list)
    """One for each cell that holds anything, `text` being the whole cell; y is not set."""
    marks: list[tuple[int, int, int]] = field(default_factory=list)
    """(tag, first word, last word) by position in `words`."""
    height: float = 0.0
    right: float = 0.0
    """Right edge of the table."""
    is_blank: bool = False
    counts: bool = True
    """Whether a blank row takes room: rows before the first words only set widths."""

    @property
    def text(self) -> str:
        return "  ".join(cell.text for cell in self.cells)


def rows_of_grid(grid: Grid) -> Iterator[LaidRow]:
    """Lay out `grid`, row by row, top to bottom."""
    edges = _edges(grid)
    begun = False
    for row in grid.rows:
        laid = _lay_out(row, edges)
        laid.counts = begun
        begun = begun or not laid.is_blank
        yield laid


def is_amount(printed: str) -> bool:
    """Whether a cell prints a number that is no year."""
    return bool(_NUMBER.match(printed)) and not _YEAR.match(printed)


_YEAR = re.compile(r"^(?:19|20)\d\d$")
_LEFT = 36.0
_PADDING = 3.0
_LINE = 11.0
_WORD_HEIGHT = 10.0
_WIDEST_TEXT = 250.0
_NUMBER = re.compile(r"^[$€£¥(+\-–—−\s]*(?:\d[\d,]*\.?\d*|\.\d+|[—–-])[\s)%*]*(?:\([a-z0-9]\))?$", re.I)
_CLOSER = re.compile(r"^[)%]+$")
_SIGN = re.compile(r"^[$€£¥()%]+$")
_SHORTEST_SHARE = 0.62
"""A heading may wrap to columns of this share of its length, and to no narrower ones."""


def _edges(grid: Grid) -> list[float]:
    """x of the left edge of each column, and of the right edge of the last."""
    count = max((cell.column + cell.span for row in grid.rows for cell in row), default=0)
    widths = [0.0] * count
    wanting = sorted(
        (cell for row in grid.rows for cell in row if not cell.text.is_blank), key=lambda cell: (cell.span, cell.column)
    )
    for cell in wanting:
        last = min(cell.column + cell.span, count)
        want = _wanted(cell) + 2 * _PADDING - sum(widths[cell.column : last])
        if want > 0:
            widths[last - 1] += want
    edges = [_LEFT]
    for width in widths:
        edges.append(edges[-1] + width)
    return edges


def _wanted(cell: GridCell) -> float:
    """Width that a cell asks for: numbers all of theirs, words enough to wrap well."""
    words = cell.text.words
    printed = " ".join(word for word in words if word != LINE_BREAK)
    natural = max(_width(line) for line in _lines(words))
    if _NUMBER.match(printed) or len(printed) <= 12:
        return natural
    natural += cell.text.indent
    if cell.column == 0:
        return min(natural, _WIDEST_TEXT)
    longest = max(WIDTHS[word] for word in words if word != LINE_BREAK)
    return min(max(longest, _SHORTEST_SHARE * natural), _WIDEST_TEXT)


def _lines(words: list[str]) -> list[list[str]]:
    if LINE_BREAK not in words:
        return [words]
    lines: list[list[str]] = [[]]
    for word in words:
        if word == LINE_BREAK:
            lines.append([])
        else:
            lines[-1].append(word)
    return [line for line in lines if line] or [[]]


def _width(words: list[str]) -> float:
    return sum(WIDTHS[word] for word in words) + SPACE * (len(words) - 1) if words else 0.0


def _lay_out(row: list[GridCell], edges: list[float]) -> LaidRow:
    laid = LaidRow(right=edges[-1])
    printed = [cell for cell in row if not cell.text.is_blank]
    wrapped = [(cell, _wrapped(cell, edges)) for cell in printed]
    depth = max((len(lines) for _, lines in wrapped), default=0)
    for cell, lines in wrapped:
        _set_cell(laid, cell, lines, edges, depth)
    for cell in row:
        if cell.text.is_blank:
            laid.marks.extend((mark.tag, 0, -1) for mark in cell.text.marks)
    laid.is_blank = not printed and not laid.marks
    laid.height = depth * _LINE + 2.0 if depth else 0.0
    laid.cells.sort(key=lambda word: word.x0)
    return laid


def _wrapped(cell: GridCell, edges: list[float]) -> list[list[tuple[int, str]]]:
    """(position in the cell, word) of each line."""
    room = edges[cell.column + cell.span] - edges[cell.column] - 2 * _PADDING + 0.5
    if cell.text.indent < room / 2:
        room -= cell.text.indent
    lines: list[list[tuple[int, str]]] = [[]]
    x = 0.0
    for position, word in enumerate(cell.text.words):
        if word == LINE_BREAK:
            if lines[-1]:
                lines.append([])
            x = 0.0
            continue
        width = WIDTHS[word]
        if lines[-1] and x + width > room:
            lines.append([])
            x = 0.0
        lines[-1].append((position, word))
        x += width + SPACE
    return lines if lines[-1] or len(lines) == 1 else lines[:-1]


def _set_cell(
    laid: LaidRow, cell: GridCell, lines: list[list[tuple[int, str]]], edges: list[float], depth: int
) -> None:
    left, right = edges[cell.column] + _PADDING, edges[cell.column + cell.span] - _PADDING
    printed = " ".join(word for line in lines for _, word in line)
    number = bool(_NUMBER.match(printed))
    # A parenthesis or percent sign in a cell of its own stands beside the number it closes.
    align = "left" if _CLOSER.match(printed) else cell.text.align
    if not number and cell.column and align not in ("left", "right") and not _SIGN.match(printed):
        align = "center"
    indent = cell.text.indent if not number and align not in ("right", "center") else 0.0
    indent = min(indent, max(0.0, (right - left) / 2))
    where: dict[int, int] = {}
    first_x, last_x = right, left
    for line_number, line in enumerate(lines):
        width = _width([word for _, word in line])
        if number:
            x = right - width + _tail(printed)
        elif align == "right":
            x = right - width
        elif align == "center":
            x = (left + right - width) / 2
        else:
            x = left + indent
        y = 1.0 + (depth - len(lines) + line_number) * _LINE
        first_x = min(first_x, x)
        for position, word in line:
            where[position] = len(laid.words)
            laid.words.append(Word(x, y, x + WIDTHS[word], y + _WORD_HEIGHT, word))
            last_x = max(last_x, x + WIDTHS[word])
            x += WIDTHS[word] + SPACE
    laid.cells.append(Word(first_x, 0.0, last_x, 0.0, printed))
    for mark in cell.text.marks:
        inside = [where[position] for position in range(mark.first, mark.last + 1) if position in where]
        laid.marks.append((mark.tag, inside[0], inside[-1]) if inside else (mark.tag, 0, -1))


def _tail(printed: str) -> float:
    """Width of what hangs over the edge behind the last digit."""
    digits = printed.rstrip(")%* ")
    return _width([printed[len(digits) :].strip()]) if digits != printed else 0.0
