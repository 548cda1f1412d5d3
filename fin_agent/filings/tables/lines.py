"""Group the words of a page into lines, and lines of a table into rows with labels and headings."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter, itemgetter
from statistics import median, median_high, median_low
from typing import TYPE_CHECKING

from fin_agent.lexicon.words import patterns
from fin_agent.vocabulary.page import PageContent, PrintedLine
from fin_agent.vocabulary.place import Box, Word

_PATTERNS = patterns("table_patterns")

if TYPE_CHECKING:
    from fin_agent.filings.tables.cells import Token


@dataclass(frozen=True, slots=True)
class Line:
    """Words at one height, sorted by x; positions in points, upright."""

    words: tuple[Word, ...]
    x0: float
    y0: float
    x1: float
    y1: float
    cells: bool = False
    """Whether each word is the whole content of a cell of a real table."""

    @property
    def text(self) -> str:
        """Its words, separated by single blanks."""
        return " ".join([word.text for word in self.words])

    @property
    def middle(self) -> float:
        """The y coordinate of its center, in points from the top."""
        return (self.y0 + self.y1) / 2

    @property
    def height(self) -> float:
        """Its height in points."""
        return self.y1 - self.y0


@dataclass(frozen=True, slots=True)
class Flow:
    """Lines of a page, with the mapping back to the page as printed."""

    lines: tuple[Line, ...]
    printed: tuple[PrintedLine, ...] = ()
    """The lines from the reader, if it knows cells; `lines` are then evenly spaced, one band apart."""

    def table_of(self, index: int) -> int | None:
        """Return the real table that a line is a row of; None where it is none, or tables are unknown."""
        return self.printed[index].table if self.printed else None

    def box_on_page(self, box: Box) -> Box:
        """Return `box` in its position on the page as printed."""
        if self.printed:
            return Box(box.x0, self._printed_at(box.y0).y0, box.x1, self._printed_at(box.y1 - 1).y1)
        return box

    def _printed_at(self, y: float) -> PrintedLine:
        return self.printed[max(0, bisect_right(self.printed, y // BAND, key=attrgetter("band")) - 1)]


BAND = 12.0
"""Height of a band of evenly spaced lines, in points."""
_BAND_LINE = 10.0


def flow_of(page: PageContent) -> Flow:
    """Return the lines of a page: those of its reader, otherwise its words by height."""
    if not page.lines:
        return Flow(tuple(lines_of([word for word in page.words if word.text.strip()])))
    lines = []
    for printed in page.lines:
        top = printed.band * BAND
        bottom = top + _BAND_LINE
        words = tuple(Word(word.x0, top, word.x1, bottom, word.text) for word in printed.words)
        lines.append(Line(words, words[0].x0, top, words[-1].x1, bottom, printed.table is not None))
    return Flow(tuple(lines), printed=page.lines)


def lines_of(words: Sequence[Word]) -> list[Line]:
    """Group words into lines, top to bottom: a word joins a line if they share two fifths of their height."""
    lines: list[Line] = []
    row: list[Word] = []
    top = bottom = 0.0
    for word in sorted(sorted(words, key=_LEFT), key=lambda word: word[1] + word[3]):
        if row:
            overlap = min(bottom, word.y1) - max(top, word.y0)
            if overlap > 0.4 * min(bottom - top, word.y1 - word.y0):
                row.append(word)
                taller = (word.y1 - word.y0) / (bottom - top)
                if 1.3 < taller < 2.0:
                    # What came first was a superscript; the line is as high as its words.
                    top, bottom = word.y0, word.y1
                elif taller <= 1.3:
                    top, bottom = (top + word.y0) / 2, (bottom + word.y1) / 2
                continue
            lines.append(_line(row))
        row, top, bottom = [word], word.y0, word.y1
    if row:
        lines.append(_line(row))
    return lines


def _line(words: list[Word]) -> Line:
    words.sort(key=_ACROSS)
    heights = [y1 - y0 for _, y0, _, y1, _ in words]
    regular = words
    if min(heights) < _SMALL_PRINT * max(heights):
        least = _SMALL_PRINT * median(heights)
        regular = [word for word, height in zip(words, heights, strict=True) if height >= least]
    return Line(tuple(words), words[0].x0, min(map(_TOP, regular)), max(map(_RIGHT, words)), max(map(_BOTTOM, regular)))


_LEFT, _TOP, _RIGHT, _BOTTOM = map(itemgetter, range(4))
_ACROSS = itemgetter(0, 2, 1)
_SMALL_PRINT = 0.75
"""Share of a line's usual height below which words are footnote marks, which do not determine its position."""


@dataclass(slots=True)
class BodyLine:
    """A line of a table's body: its label words, and its cells by column index (none in a heading)."""

    line: Line
    number: int
    """Position among the page's lines."""
    label: str
    x0: float
    """Left edge of the label."""
    x1: float
    """Right edge of the label."""
    cells: dict[int, Token] = field(default_factory=dict)


@dataclass(slots=True)
class LabelledRow:
    """A row with its whole label and the headings above it, outermost first."""

    label: str
    section: tuple[str, ...]
    body: BodyLine
    lines: list[Line]


@dataclass(slots=True)
class _Heading:
    text: str
    x0: float
    colon: bool
    rows: int = 0
    indented: bool = False


def rows_of(body: Sequence[BodyLine]) -> list[LabelledRow]:
    """Join wrapped labels, and give each row of numbers its section path."""
    pitch = _pitch(body)
    rows: list[LabelledRow] = []
    path: list[_Heading] = []
    previous: float | None = None
    for label, lines, item in _join_wrapped(body, pitch):
        apart = previous is not None and lines[0].middle - previous > 1.6 * pitch
        previous = lines[-1].middle
        if not item.cells:
            _open(path, label, item.x0)
            continue
        _close(path, label, item.x0, apart)
        section = tuple(heading.text for heading in path if heading.text)
        for heading in path:
            heading.rows += 1
        if path:
            path[-1].indented |= item.x0 > path[-1].x0 + _INDENT
        rows.append(LabelledRow(label, section, item, lines))
        if (total := _PATTERNS["total of a label"].match(label)) is not None:
            _after_total(path, label[total.end() :], item.x0)
    return rows


_INDENT = 2.0


def clean_label(label: str) -> str:
    """Return a label without footnote marks, leader dots and double spaces."""
    text = " ".join(label.split()).strip(" .…")
    text = _PATTERNS["note mark"].sub("", text)
    return _PATTERNS["marks of a label"].sub("", text).strip()


def _pitch(body: Sequence[BodyLine]) -> float:
    """Return the usual distance between two rows of numbers."""
    steps = [second.line.middle - first.line.middle for first, second in pairwise(body) if second.cells and first.cells]
    return median_low(steps) if steps else 1.2 * median_high(item.line.height for item in body)


def _join_wrapped(body: Sequence[BodyLine], pitch: float) -> list[tuple[str, list[Line], BodyLine]]:
    """Return (label, lines, line with the cells or heading) of each row and heading."""
    joined: list[tuple[str, list[Line], BodyLine]] = []
    labels: list[BodyLine] = []
    widest = max((item.x1 for item in body if item.label), default=0.0)
    for position, item in enumerate(body):
        if not item.cells:
            if labels and not _continues(labels[-1], item, pitch, widest):
                _flush(joined, labels)
                labels = []
            if not labels and joined and _ends_label_above(joined[-1][2], item, body, position, pitch):
                label, lines, row = joined[-1]
                joined[-1] = (f"{label} {item.label}", [*lines, item.line], row)
                continue
            labels.append(item)
            continue
        parts = labels if labels and _begin_label(labels[-1], item, pitch, widest) else []
        if not parts:
            _flush(joined, labels)
        text = " ".join([*(part.label for part in parts), item.label]).strip()
        if parts:
            item.x0 = parts[0].x0
        joined.append((text, [*(part.line for part in parts), item.line], item))
        labels = []
    _flush(joined, labels)
    return [(clean_label(label), lines, item) for label, lines, item in joined]


def _flush(joined: list[tuple[str, list[Line], BodyLine]], labels: Sequence[BodyLine]) -> None:
    if labels:
        joined.append((" ".join(part.label for part in labels), [part.line for part in labels], labels[0]))


def _begin_label(last: BodyLine, item: BodyLine, pitch: float, widest: float) -> bool:
    """Return whether the label-only lines that end with `last`, right above a row, begin its label."""
    if item.label:
        return _continues(last, item, pitch, widest)
    step = item.line.middle - last.line.middle
    return step < 0.75 * pitch or (step < 1.3 * pitch and _is_unfinished(last))


def _is_unfinished(line: BodyLine) -> bool:
    return _PATTERNS["unfinished label"].search(line.label) is not None


def _continues(first: BodyLine, second: BodyLine, pitch: float, widest: float) -> bool:
    """Return whether `second` continues the label begun by `first`, which has no cells."""
    step = second.line.middle - first.line.middle
    unfinished = _is_unfinished(first)
    colon = first.label.endswith(":")
    begins = second.label[:1]
    if step > (2.0 if unfinished else 1.5) * pitch or (colon and not begins.islower()) or second.x0 < first.x0 - 6.0:
        return False
    if begins.islower() or (begins.isdigit() and not colon) or unfinished:
        return True
    tight = step < 0.87 * pitch
    long = first.x1 - first.x0 > 0.7 * (widest - first.x0)
    return tight and (long or second.x0 > first.x0 + _INDENT or not second.cells) and not first.label.isupper()


def _ends_label_above(row: BodyLine, item: BodyLine, body: Sequence[BodyLine], position: int, pitch: float) -> bool:
    """Return whether a label-only line ends the label of the row above it."""
    if not row.cells or body[position - 1] is not row:
        return False
    step = item.line.middle - row.line.middle
    if step > 1.3 * pitch or item.label.endswith(":") or item.x0 < row.x0 - _INDENT:
        return False
    following = body[position + 1] if position + 1 < len(body) else None
    if following is not None and following.cells and following.line.middle - item.line.middle < 0.6 * pitch:
        return False
    if not row.label:
        return step < 0.75 * pitch
    tight = step < 1.05 * pitch if item.label[:1].islower() else step < 0.87 * pitch and item.x0 > row.x0 + _INDENT
    return tight or _is_unfinished(row)


def _open(path: list[_Heading], text: str, x0: float) -> None:
    while path and (path[-1].x0 > x0 + _INDENT or (abs(path[-1].x0 - x0) <= _INDENT and (path[-1].rows or not text))):
        path.pop()
    if text and not _PATTERNS["no heading"].match(text):
        path.append(_Heading(text.rstrip(" :"), x0, text.endswith(":")))


def _close(path: list[_Heading], label: str, x0: float, apart: bool) -> None:
    if (total := _PATTERNS["total of a label"].match(label)) is not None:
        named = next((depth for depth, head in enumerate(path, 1) if _same(head.text, label[total.end() :])), None)
        if named is not None:
            del path[named:]
            return
    while path:
        top = path[-1]
        beside = abs(x0 - top.x0) <= _INDENT and top.rows and (top.indented or (apart and top.colon))
        if x0 >= top.x0 - _INDENT and not beside:
            return
        path.pop()


def _after_total(path: list[_Heading], what: str, x0: float) -> None:
    named = next((depth for depth, heading in enumerate(path) if _same(heading.text, what)), None)
    if named is not None:
        del path[named:]
    elif path and path[-1].rows and abs(path[-1].x0 - x0) <= _INDENT and not path[-1].indented:
        path.pop()


def _same(heading: str, what: str) -> bool:
    return bool(what) and heading.lower().rstrip("s:") == what.lower().rstrip("s:")
