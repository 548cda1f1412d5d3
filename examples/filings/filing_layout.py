"""Set text and ruled figure columns on Letter pages the way filings printed from EDGAR look."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pymupdf

WIDTH, HEIGHT = 612.0, 792.0
LEFT, RIGHT, TOP, BOTTOM = 54.0, 558.0, 60.0, 734.0
FACES = {
    "times": {"plain": "tiro", "bold": "tibo", "italic": "tiit", "bold-italic": "tibi"},
    "helvetica": {"plain": "helv", "bold": "hebo", "italic": "heit", "bold-italic": "hebi"},
}
BAND = (0.87, 0.93, 1.0)
COLUMN_PITCH = {1: 96.0, 2: 92.0, 3: 80.0, 4: 72.0, 5: 70.0, 6: 62.0}
"""Distance between number columns in points, by how many there are."""
CHECKED, UNCHECKED = "\ue001", "\ue000"
"""Stand in running text for the check boxes of a cover page."""


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a table: `cells` as printed, empty where blank; a heading has none."""

    label: str
    cells: tuple[str, ...] = ()
    indent: int = 0
    dollar: bool = False
    """Prints `$` at the left edge of each number column."""
    rule_above: bool = False
    double_below: bool = False
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table ready to be set: heads are lines of text above each number column."""

    heads: tuple[tuple[str, ...], ...]
    lines: tuple[Line, ...]
    spans: tuple[tuple[str, int, int], ...] = ()
    """(text, first column, last column) set above the heads with a rule below."""
    head_left: str = ""
    compact: bool = False


@dataclass
class Typesetter:
    """A document in the making: a cursor that runs down the page and breaks to the next."""

    font: str
    banded: bool = False
    running_head: str = ""
    running_foot: str = ""
    numbered: bool = True
    draft: bool = False
    """Break lines and pages only, without setting text: a first pass to learn page numbers."""
    document: Any = field(default_factory=pymupdf.open)
    y: float = TOP
    _shape: Any = None

    @property
    def page(self) -> int:
        """0-based number of the page being set."""
        return int(self.document.page_count) - 1

    def new_page(self) -> None:
        """Finish the page being set and begin another."""
        self._finish_page()
        page = self.document.new_page(width=WIDTH, height=HEIGHT)
        self._shape = page.new_shape()
        self.y = TOP
        number = self.page
        if number and self.running_head:
            self._put(LEFT, 40, self.running_head, "plain", 8)
        if number and self.numbered:
            self._centered(self.running_foot + str(number), HEIGHT - 32, "plain", 8.5)

    def need(self, height: float) -> None:
        """Break the page unless `height` points are left on it."""
        if self._shape is None or self.y + height > BOTTOM:
            self.new_page()

    def space(self, points: float) -> None:
        """Leave room, except at the top of a page."""
        if self._shape is not None and self.y > TOP:
            self.y += points

    def centered(self, text: str, size: float = 10, face: str = "bold") -> None:
        """Centered lines, wrapped."""
        for line in _wrap(text, self._code(face), size, RIGHT - LEFT):
            self.need(size * 1.25)
            self.y += size * 1.2
            self._centered(line, self.y, face, size)

    def heading(self, text: str, size: float = 10, face: str = "bold") -> None:
        """A heading kept with the lines that follow it."""
        self.need(48)
        self.space(6)
        self.paragraph(text, size=size, face=face)

    def paragraph(self, text: str, size: float = 9.4, face: str = "plain", indent: float = 0) -> None:
        """Running text, ragged right, followed by half a line."""
        for line in _wrap(text, self._code(face), size, RIGHT - LEFT - indent):
            self.need(size * 1.3)
            self.y += size * 1.22
            self._put(LEFT + indent, self.y, line, face, size)
        self.y += size * 0.55

    def bullet(self, text: str) -> None:
        """A bulleted paragraph."""
        self.need(26)
        self._put(LEFT + 10, self.y + 9.4 * 1.22, "•", "plain", 9.4)
        self.paragraph(text, indent=22)

    def columns(self, cells: Iterable[str], size: float = 9.4, face: str = "plain") -> None:
        """Short texts side by side, each centered in its share of the width."""
        texts = list(cells)
        share = (RIGHT - LEFT) / len(texts)
        wrapped = [_wrap(text, self._code(face), size, share - 8) for text in texts]
        self.need(size * 1.2 * max(map(len, wrapped)))
        for number, lines in enumerate(wrapped):
            middle = LEFT + share * (number + 0.5)
            for row, line in enumerate(lines):
                x = middle - _length(line, self._code(face), size) / 2
                self._put(x, self.y + size * 1.2 * (row + 1), line, face, size)
        self.y += size * 1.2 * max(map(len, wrapped)) + 2

    def leader(self, left: str, title: str, page: str, bold: bool = False) -> None:
        """One line of a table of contents."""
        face = "bold" if bold else "plain"
        self.y += 5
        for row, line in enumerate(_wrap(title, self._code(face), 9.4, RIGHT - LEFT - 100) or [""]):
            self.y += 11.4
            self._put(LEFT, self.y, "" if row else left, face, 9.4)
            self._put(LEFT + 62, self.y, line, face, 9.4)
        self._put(RIGHT - _length(page, self._code("plain"), 9.4), self.y, page, "plain", 9.4)

    def rule(self, width: float = 0.8) -> None:
        """A line across the page."""
        self.y += 6
        self._line(LEFT, RIGHT, self.y, width)
        self.y += 4

    def grid(self, grid: Grid) -> None:
        """A table, kept on one page: labels at the left, figures aligned at the right of their columns."""
        size, leading = _size(grid)
        count = len(grid.heads)
        pitch = COLUMN_PITCH[count]
        edges = [RIGHT - 6 - pitch * (count - 1 - number) for number in range(count)]
        wrapped = self._labels(grid)
        self.need(min(self.height(grid), BOTTOM - TOP))
        self._heads(grid, edges, pitch, max(map(len, grid.heads)), size)
        for number, (line, label) in enumerate(zip(grid.lines, wrapped, strict=True)):
            self._row(line, label, edges, pitch, size, leading, shaded=self.banded and number % 2 == 0)
        self.y += 12

    def height(self, grid: Grid) -> float:
        """Points that a table takes."""
        rows = sum(max(1, len(lines)) for lines in self._labels(grid)) + max(map(len, grid.heads)) + bool(grid.spans)
        return _size(grid)[1] * rows + 24

    def save(self, path: Path, title: str, author: str, created: str) -> None:
        """Write the document; the same content gives the same bytes. `created` is a PDF date."""
        self._finish_page()
        self.document.set_metadata(
            {
                "title": title,
                "author": author,
                "producer": "fin-agent sample filings",
                "creator": "",
                "creationDate": created,
                "modDate": created,
            }
        )
        self.document.save(path, garbage=4, deflate=True, no_new_id=True)
        self.document.close()

    def _labels(self, grid: Grid) -> list[list[str]]:
        code, width = self._code("plain"), RIGHT - LEFT - COLUMN_PITCH[len(grid.heads)] * len(grid.heads) - 14
        return [_wrap(line.label, code, _size(grid)[0], width - line.indent * 10) for line in grid.lines]

    def _heads(self, grid: Grid, edges: list[float], pitch: float, depth: int, size: float) -> None:
        small = size - 0.7
        for text, first, last in grid.spans:
            left, right = edges[first] - pitch + 14, edges[last]
            x = (left + right - _length(text, self._code("bold"), small)) / 2
            self._put(x, self.y + small, text, "bold", small)
            self._line(left, right, self.y + small + 3, 0.5)
        if grid.spans:
            self.y += small + 4
        for row in range(depth):
            self.y += small * 1.2
            if row == depth - 1 and grid.head_left:
                self._put(LEFT, self.y, grid.head_left, "bold", small)
            for edge, head in zip(edges, grid.heads, strict=True):
                text = head[row - depth + len(head)] if row - depth + len(head) >= 0 else ""
                if text:
                    x = (2 * edge - pitch + 14 - _length(text, self._code("bold"), small)) / 2
                    self._put(x, self.y, text, "bold", small)
        if depth:
            for edge in edges:
                self._line(edge - pitch + 14, edge, self.y + 2.5, 0.7)
            self.y += 4

    def _row(
        self, line: Line, label: list[str], edges: list[float], pitch: float, size: float, leading: float, shaded: bool
    ) -> None:
        face = "bold" if line.bold else "plain"
        height = leading * max(1, len(label))
        if shaded:
            self._shape.draw_rect((LEFT - 2, self.y + 0.8, RIGHT + 4, self.y + height + 0.8))
            self._shape.finish(color=None, fill=BAND, width=0)
        if line.rule_above:
            for edge, cell in zip(edges, line.cells, strict=False):
                if cell:
                    self._line(edge - pitch + 14, edge, self.y + 1.4, 0.5)
        for row, text in enumerate(label):
            hang = 10 if row else 0
            self._put(LEFT + line.indent * 10 + hang, self.y + leading * (row + 0.8), text, face, size)
        base = self.y + height - leading * 0.2
        for edge, cell in zip(edges, line.cells, strict=False):
            if not cell:
                continue
            if line.dollar:
                self._put(edge - pitch + 14, base, "$", face, size)
            # A closing parenthesis and a percent sign hang to the right, so that digits stay aligned.
            digits = cell.rstrip(")%")
            self._put(edge - _length(digits, self._code(face), size), base, cell, face, size)
        self.y += height
        if line.double_below:
            for edge in edges:
                self._line(edge - pitch + 14, edge, self.y + 0.6, 0.5)
                self._line(edge - pitch + 14, edge, self.y + 2.2, 0.5)
            self.y += 3

    def _centered(self, text: str, y: float, face: str, size: float) -> None:
        self._put((WIDTH - _length(text, self._code(face), size)) / 2, y, text, face, size)

    def _put(self, x: float, y: float, text: str, face: str, size: float) -> None:
        """One run of text with its base line at y; check boxes in it are drawn."""
        if self.draft:
            return
        code = self._code(face)
        run = ""
        for char in text + "\n":
            if char not in (CHECKED, UNCHECKED, "\n"):
                run += char
                continue
            if run.strip():
                self._shape.insert_text((x, y), _encoded(run), fontname=code, fontsize=size)
            x += _length(run, code, size)
            run = ""
            if char != "\n":
                self._shape.draw_rect((x + 0.8, y - size * 0.68, x + size * 0.76 + 0.8, y + size * 0.08))
                self._shape.finish(color=(0, 0, 0), width=0.6)
                if char == CHECKED:
                    self._shape.insert_text(
                        (x + size * 0.2, y - size * 0.05), "x", fontname="hebo", fontsize=size * 0.8
                    )
                x += _advance(char, code) * size

    def _line(self, x0: float, x1: float, y: float, width: float) -> None:
        self._shape.draw_line((x0, y), (x1, y))
        self._shape.finish(color=(0, 0, 0), width=width)

    def _code(self, face: str) -> str:
        return FACES[self.font][face]

    def _finish_page(self) -> None:
        if self._shape is not None:
            self._shape.commit()
            self._shape = None


def _size(grid: Grid) -> tuple[float, float]:
    """Type size and leading of a table."""
    return (8.6, 11.6) if grid.compact else (9.2, 13.0)


def number(amount: Any, places: int = 0) -> str:
    """An amount as filings print it: thousands separated, negatives in parentheses, an em dash for zero."""
    if amount == 0:
        return "—"
    text = f"{abs(amount):,.{places}f}"
    return f"({text})" if amount < 0 else text


def percent(amount: Any, places: int = 1) -> str:
    """As `number`, with a percent sign."""
    text = f"{abs(amount):.{places}f}"
    return f"({text})%" if amount < 0 and float(text) else f"{text}%"


def _wrap(text: str, code: str, size: float, width: float) -> list[str]:
    lines: list[str] = []
    current = ""
    for word in text.split(" "):
        trial = f"{current} {word}" if current else word
        if current and _length(trial, code, size) > width:
            lines.append(current)
            current = word
        else:
            current = trial
    return [*lines, current] if current else lines


def _length(text: str, code: str, size: float) -> float:
    return sum(_advance(char, code) for char in text) * size


@cache
def _advance(char: str, code: str) -> float:
    if char in (CHECKED, UNCHECKED):
        return 0.95
    return float(_face(code).glyph_advance(ord(char)))


@cache
def _face(code: str) -> Any:
    font: Any = pymupdf.Font
    return font(code)


def _encoded(text: str) -> str:
    """Characters at their Windows-1252 places, which is how the built-in fonts are addressed."""
    return text.encode("cp1252").decode("latin-1", errors="strict")
