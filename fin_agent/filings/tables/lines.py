"""Words of a page become visual lines: what stands at one height, left to right."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from statistics import median

from fin_agent.vocabulary.page import PageContent, PrintedLine
from fin_agent.vocabulary.place import Box, Word


@dataclass(frozen=True, slots=True)
class Line:
    """Words that stand at one height, sorted by x; all places in points, upright."""

    words: tuple[Word, ...]
    x0: float
    y0: float
    x1: float
    y1: float
    cells: bool = False
    """Whether each word is all that a cell of a real table holds."""

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    @property
    def middle(self) -> float:
        return (self.y0 + self.y1) / 2

    @property
    def height(self) -> float:
        return self.y1 - self.y0


@dataclass(frozen=True, slots=True)
class Flow:
    """Lines of one text column of a page, and how its places map back to the page."""

    lines: tuple[Line, ...]
    turn: int = 0
    """0 upright; 1 the page reads bottom to top; -1 top to bottom."""
    extent: float = 0.0
    """What a turned coordinate is measured from: the page's height for 1, its width for -1."""
    printed: tuple[PrintedLine, ...] = ()
    """The lines as the reader gave them, where it knows cells; then `lines` stand evenly spaced, a band apart."""

    def table_of(self, index: int) -> int | None:
        """The real table that a line is a row of; None where it is none or where tables are not known."""
        return self.printed[index].table if self.printed else None

    def box_on_page(self, box: Box) -> Box:
        """`box`, given upright, where it stands on the page as printed."""
        if self.printed:
            return Box(box.x0, self._printed_at(box.y0).y0, box.x1, self._printed_at(box.y1 - 1).y1)
        if self.turn == 1:
            return Box(box.y0, self.extent - box.x1, box.y1, self.extent - box.x0)
        if self.turn == -1:
            return Box(self.extent - box.y1, box.x0, self.extent - box.y0, box.x1)
        return box

    def _printed_at(self, y: float) -> PrintedLine:
        return self.printed[max(0, bisect_right(self.printed, y // BAND, key=attrgetter("band")) - 1)]


BAND = 12.0
"""Height of a band of evenly spaced lines, in points."""
_BAND_LINE = 10.0


def flows_of(page: PageContent) -> list[Flow]:
    """The page as upright text columns: one, save on pages set in two columns of prose; turned text is turned up."""
    if page.lines:
        return [_flow_of_known_lines(page)]
    words = [word for word in page.words if word.text.strip()]
    turn = _turn(words)
    extent = page.height if turn == 1 else page.width
    if turn:
        words = [_upright(word, turn, extent) for word in words]
    lines = lines_of(words)
    gutter = None if turn else _gutter(lines)
    if gutter is None:
        return [Flow(tuple(lines), turn, extent)]
    left = [word for word in words if word.x1 <= gutter + 1]
    right = [word for word in words if word.x1 > gutter + 1]
    return [Flow(tuple(lines_of(left))), Flow(tuple(lines_of(right)))]


def _flow_of_known_lines(page: PageContent) -> Flow:
    lines = []
    for printed in page.lines:
        top = printed.band * BAND
        bottom = top + _BAND_LINE
        words = tuple(Word(word.x0, top, word.x1, bottom, word.text) for word in printed.words)
        lines.append(Line(words, words[0].x0, top, words[-1].x1, bottom, printed.table is not None))
    return Flow(tuple(lines), printed=page.lines)


def lines_of(words: Sequence[Word]) -> list[Line]:
    """Cluster words into lines, top to bottom: a word joins the line it shares two fifths of its height with."""
    lines: list[Line] = []
    row: list[Word] = []
    top = bottom = 0.0
    for word in sorted(words, key=_middle):
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


def _middle(word: Word) -> tuple[float, float]:
    return (word.y0 + word.y1, word.x0)


def _line(words: list[Word]) -> Line:
    words.sort(key=lambda word: (word.x0, word.x1, word.y0))
    heights = [word.y1 - word.y0 for word in words]
    typical = median(heights)
    regular = [word for word, height in zip(words, heights, strict=True) if height >= 0.75 * typical]
    return Line(
        tuple(words),
        min(word.x0 for word in words),
        min(word.y0 for word in regular),
        max(word.x1 for word in words),
        max(word.y1 for word in regular),
    )


def _turn(words: Sequence[Word]) -> int:
    long = [word for word in words if len(word.text) > 3]
    tall = [word for word in long if word.y1 - word.y0 > 1.5 * (word.x1 - word.x0)]
    if len(tall) < 10 or 2 * len(tall) <= len(long):
        return 0
    rising = sum(_rises(*pair) for pair in _neighbours(tall))
    return 1 if rising >= 0 else -1


def _neighbours(words: Sequence[Word]) -> Iterator[tuple[Word, Word]]:
    return ((a, b) for a, b in pairwise(words) if abs(a.x0 - b.x0) < 2)


def _rises(first: Word, second: Word) -> int:
    return 1 if second.y1 < first.y1 else -1


def _upright(word: Word, turn: int, extent: float) -> Word:
    if turn == 1:
        return Word(extent - word.y1, word.x0, extent - word.y0, word.x1, word.text)
    return Word(word.y0, extent - word.x1, word.y1, extent - word.x0, word.text)


def _gutter(lines: Sequence[Line]) -> float | None:
    """x of the blank band between two columns of prose, or None: what a table sets apart are numbers, not words."""
    if len(lines) < 25:
        return None
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    middle = (left + right) / 2
    reach = 0.08 * (right - left)
    gaps = [(line, gap) for line in lines if (gap := _gap_at(line, middle, reach)) is not None]
    if len(gaps) < 20:
        return None
    crossing = sum(line.x0 < middle < line.x1 for line in lines) - sum(line.x0 < middle < line.x1 for line, _ in gaps)
    if crossing > 0.25 * len(gaps) or sum(_is_prose(line, gap) for line, gap in gaps) < 0.7 * len(gaps):
        return None
    return (median(gap[0] for _, gap in gaps) + median(gap[1] for _, gap in gaps)) / 2


def _gap_at(line: Line, middle: float, reach: float) -> tuple[float, float] | None:
    for first, second in pairwise(line.words):
        if second.x0 - first.x1 > 9 and first.x1 < middle + reach and second.x0 > middle - reach:
            return first.x1, second.x0
    return None


def _is_prose(line: Line, gap: tuple[float, float]) -> bool:
    after = [word.text for word in line.words if word.x0 >= gap[1]]
    before = [word.text for word in line.words if word.x1 <= gap[0]]
    return all(sum(text[:1].isalpha() for text in side) >= max(3, 0.7 * len(side)) for side in (after, before))
