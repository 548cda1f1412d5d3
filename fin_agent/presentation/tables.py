"""A table of a filing set for a terminal: digits under digits, headings over their rows, folded where too wide."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text

from fin_agent.filings.tables.sums import row_sums
from fin_agent.presentation.plain import one_line
from fin_agent.vocabulary.table import Cell, Row

_BETWEEN = 2
_STEP = 2
_HANGING = 2
_NARROWEST_LABELS = 26
_WIDEST_LABELS = 76


class FiguresTable:
    """Rows under their columns, as wide as they need and no wider than the console."""

    def __init__(
        self,
        columns: Sequence[str],
        rows: Sequence[Row],
        *,
        dollars: bool = False,
        page_starts: Mapping[int, int] | None = None,
    ) -> None:
        """`dollars`: keep currency signs, where no unit line says what the figures are in.

        `page_starts`: rows (by position) that a page (0-based) begins with, of a table that runs over several.
        """
        self._columns = tuple(columns)
        self._lines = shown_lines(rows, dollars=dollars, page_starts=page_starts)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self.lines(options.max_width)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(min(_NARROWEST_LABELS, options.max_width), options.max_width)

    def lines(self, width: int) -> Iterator[Text]:
        """Every line; columns that do not fit beside the labels follow below, under the labels again."""
        blocks = self._blocks(width)
        for number, block in enumerate(blocks):
            if number:
                yield Text()
            if len(blocks) > 1:
                first, last = block[0] + 1, block[-1] + 1
                named = f"Column {first}" if first == last else f"Columns {first} to {last}"
                yield Text(f"{named} of {len(self._columns)}", style="dim")
            yield from _Block([self._columns[column] for column in block], _kept(self._lines, block), width).lines()

    def _blocks(self, width: int) -> list[list[int]]:
        """Columns that are shown beside each other: as many as fit, those under one header kept together."""
        blocks: list[list[int]] = []
        for unit in _units(heads_of(self._columns)):
            if blocks and self._fits([*blocks[-1], *unit], width):
                blocks[-1] += unit
            elif self._fits(unit, width):
                blocks.append(list(unit))
            else:
                blocks += [[column] for column in unit]
        return blocks or [[]]

    def _fits(self, block: Sequence[int], width: int) -> bool:
        return _Block([self._columns[column] for column in block], _kept(self._lines, block), width).fits


def _units(heads: Heads) -> Iterator[list[int]]:
    """Columns that belong together: those under the narrowest header that several share, or a column alone."""
    column = 0
    while column < len(heads.own):
        over = [head for head in heads.shared if head.first == column and head.last - head.first + 1 < len(heads.own)]
        last = min((head.last for head in over), default=column)
        yield list(range(column, last + 1))
        column = last + 1


def _kept(lines: Sequence[ShownLine], columns: Sequence[int]) -> list[ShownLine]:
    """The lines that have a figure in one of `columns`, and the headings over these."""
    kept: list[ShownLine] = []
    for line in lines:
        if line.cells:
            line = of_columns(line, columns)
            if any(line.cells):
                kept.append(line)
            continue
        while kept and (
            (kept[-1].kind is LineKind.HEADING and line.kind is LineKind.HEADING and kept[-1].depth >= line.depth)
            or (kept[-1].kind is LineKind.PAGE and line.kind is LineKind.PAGE)
        ):
            kept.pop()
        if line.kind is not LineKind.GAP or (kept and kept[-1].cells):
            kept.append(line)
    while kept and not kept[-1].cells:
        kept.pop()
    return kept


@dataclass(frozen=True, slots=True)
class _Width:
    """Of a column: its digits (or its header, where that is wider) and what stands after them."""

    digits: int
    after: int

    @property
    def whole(self) -> int:
        return self.digits + self.after


class _Block:
    """Labels and the columns that fit beside them."""

    def __init__(self, columns: Sequence[str], lines: Sequence[ShownLine], width: int) -> None:
        self._heads = heads_of(columns)
        self._rows = lines
        self._widths = _widths(self._heads, lines)
        figures = sum(_BETWEEN + each.whole for each in self._widths)
        longest = max((line.depth * _STEP + len(line.label) for line in lines if line.cells), default=0)
        room = width - figures
        self.fits = room >= min(longest, _NARROWEST_LABELS)
        self._labels = max(min(longest, room, _WIDEST_LABELS), 1)
        self._width = min(width, self._labels + figures)

    def lines(self) -> Iterator[Text]:
        yield from self._header()
        for line in self._rows:
            yield from self._line(line)

    def _line(self, line: ShownLine) -> Iterator[Text]:
        style = _STYLES.get(line.kind, "")
        indent = " " * (line.depth * _STEP)
        if not line.cells:
            if line.kind is LineKind.PAGE:
                yield Text(f"{f' {line.label}':┄>{self._width}}", style=style)
                return
            for part in _hung(line.label, indent, self._width):
                yield Text(part, style=style)
            return
        label = _hung(line.label, indent, self._labels)
        for part in label[:-1]:
            yield Text(part, style=style)
        cells = (_set(cell, width) for cell, width in zip(line.cells, self._widths, strict=True))
        yield Text(f"{label[-1]:<{self._labels}}{''.join(cells)}".rstrip(), style=style)

    def _header(self) -> Iterator[Text]:
        for level in range(self._heads.levels):
            yield from self._shared(level)
        own = [wrapped(text, width.digits) for text, width in zip(self._heads.own, self._widths, strict=True)]
        height = max(map(len, own), default=0)
        for line in range(height):
            parts = [" " * self._labels]
            for said, width in zip(own, self._widths, strict=True):
                text = said[line - height + len(said)] if line >= height - len(said) else ""
                parts.append(f"{'':{_BETWEEN}}{text:>{width.digits}}{'':{width.after}}")
            yield Text("".join(parts).rstrip(), style="bold")
        yield Text("─" * self._width, style="dim")

    def _shared(self, level: int) -> Iterator[Text]:
        """What columns share, centred over them on a rule of their width."""
        heads = [head for head in self._heads.shared if head.level == level]
        spans = [(head, *self._span(head.first, head.last)) for head in heads]
        texts = [wrapped(head.text, end - start) for head, start, end in spans]
        height = max(map(len, texts), default=0)
        for line in range(height):
            row = ""
            for (_, start, end), said in zip(spans, texts, strict=True):
                text = said[line - height + len(said)] if line >= height - len(said) else ""
                row = f"{row:<{start}}{text:^{end - start}}"
            yield Text(row.rstrip(), style="bold")
        rule = ""
        for _, start, end in spans:
            rule = f"{rule:<{start}}{'─' * (end - start)}"
        yield Text(rule, style="dim")

    def _span(self, first: int, last: int) -> tuple[int, int]:
        """Where columns `first` to `last` begin and end, the room before the first left out."""
        before = self._labels + sum(_BETWEEN + width.whole for width in self._widths[:first])
        within = sum(_BETWEEN + width.whole for width in self._widths[first : last + 1])
        return before + _BETWEEN, before + within


def _widths(heads: Heads, lines: Sequence[ShownLine]) -> list[_Width]:
    widths = []
    for column, own in enumerate(heads.own):
        cells = [cell for line in lines if line.cells and (cell := line.cells[column]) is not None]
        digits = max((len(cell.digits) for cell in cells), default=0)
        after = max((len(cell.after) for cell in cells), default=0)
        widths.append(_Width(own_width(own, digits), after))
    for head in heads.shared:
        under = range(head.first, head.last + 1)
        wanted = width_on(head.text, 2) - sum(_BETWEEN + widths[column].whole for column in under) + _BETWEEN
        for column in under:
            more = -(-max(wanted, 0) // len(under))
            widths[column] = _Width(widths[column].digits + more, widths[column].after)
    return widths


def _set(cell: Printed | None, width: _Width) -> str:
    if cell is None:
        return " " * (_BETWEEN + width.whole)
    return f"{'':{_BETWEEN}}{cell.digits:>{width.digits}}{cell.after:<{width.after}}"


def _hung(text: str, indent: str, width: int) -> list[str]:
    """A label on as many lines as it needs, those after the first further in."""
    room = max(width - len(indent) - _HANGING, 8)
    if len(indent) + len(text) <= width:
        return [f"{indent}{text}"]
    parts = wrapped(text, room)
    # Words no column can hold are cut: a line that runs over would push the figures out of their columns.
    parts = [piece for part in parts for piece in ([part[at : at + room] for at in range(0, len(part), room)] or [""])]
    return [f"{indent}{'' if number == 0 else ' ' * _HANGING}{part}" for number, part in enumerate(parts)]


class LineKind(StrEnum):
    """What a shown line is."""

    HEADING = "heading"
    ROW = "row"
    TOTAL = "total"
    GAP = "gap"
    PAGE = "page"
    """Where a page begins, in a table that runs over several."""


_STYLES = {LineKind.HEADING: "bold", LineKind.TOTAL: "bold", LineKind.PAGE: "dim"}


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line of a table as people see it."""

    kind: LineKind
    label: str = ""
    depth: int = 0
    """Steps of indentation."""
    cells: tuple[Printed | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Printed:
    """A number in two parts, so that those of a column stand digit under digit."""

    digits: str
    """With what stands before them: `(1,234`, `$ 5.51`, `—`."""
    after: str = ""
    """`)`, `%` or both."""


GAP = ShownLine(LineKind.GAP)


def shown_lines(
    rows: Sequence[Row], *, dollars: bool = False, page_starts: Mapping[int, int] | None = None
) -> list[ShownLine]:
    """The lines of `rows`: each heading once, above its rows; a gap before a section and after a total.

    Currency signs are left out where not `dollars`: the unit line says what the figures are in. `page_starts` names,
    by its position, the row that a page begins with, and that page (0-based).
    """
    totals = totals_among(rows)
    lines: list[ShownLine] = []
    path: tuple[str, ...] = ()
    for index, row in enumerate(rows):
        if page_starts and index in page_starts:
            lines.append(ShownLine(LineKind.PAGE, f"page {page_starts[index] + 1}"))
        shared = _shared(path, row.section)
        for depth in range(shared, len(row.section)):
            if lines and (lines[-1].kind is LineKind.TOTAL or (depth == 0 and lines[-1].kind is LineKind.ROW)):
                lines.append(GAP)
            lines.append(ShownLine(LineKind.HEADING, one_line(row.section[depth]).rstrip(":"), depth))
        path = row.section
        if lines and lines[-1].kind is LineKind.TOTAL and index not in totals:
            lines.append(GAP)
        kind = LineKind.TOTAL if index in totals else LineKind.ROW
        depth = min(totals.get(index, len(path)), len(path))
        cells = tuple(printed(cell, dollars=dollars) if cell else None for cell in row.cells)
        lines.append(ShownLine(kind, one_line(row.label), depth, cells))
    return lines


def totals_among(rows: Sequence[Row]) -> dict[int, int]:
    """Rows that sum up others above them, and how many headings stand over all of what they sum up.

    By the sums that the table itself keeps; and any row called a total. What remains of a whole that is printed again
    below is none: assets less liabilities and all else of the equity are retained earnings.
    """
    found = {at: len(row.section) for at, row in enumerate(rows) if _CALLED_TOTAL.match(row.label)}
    for each in row_sums([row.cells for row in rows]):
        added = [position for position, sign in each.parts if sign > 0]
        first = min(position for position, _ in each.parts)
        rest = len(added) == 1 and any(_same(rows[added[0]], row) for row in rows[each.total + 1 :])
        if len(each.parts) > 1 and all(position < each.total for position, _ in each.parts) and not rest:
            found[each.total] = min(len(row.section) for row in rows[first : each.total + 1])
    return found


def _same(one: Row, other: Row) -> bool:
    return [cell and cell.amount for cell in one.cells] == [cell and cell.amount for cell in other.cells]


def printed(cell: Cell, *, dollars: bool) -> Printed:
    """The cell's print in two parts.

    >>> from fin_agent.vocabulary.place import Box
    >>> printed(Cell(Decimal("-4935"), "($ 4,935)", False, True, Box(0, 0, 0, 0)), dollars=False)
    Printed(digits='(4,935', after=')')
    """
    text = re.sub(r"\s+", "", one_line(cell.printed))
    if not dollars:
        text = text.translate(_NO_SIGNS)
    parts = _PRINT.fullmatch(text)
    return Printed(parts[1], parts[2]) if parts else Printed(text)


def of_columns(line: ShownLine, columns: Sequence[int]) -> ShownLine:
    """The line with its cells of `columns` only."""
    return replace(line, cells=tuple(line.cells[column] for column in columns)) if line.cells else line


_CALLED_TOTAL = re.compile(r"\W*total\b", re.I)
_NO_SIGNS = str.maketrans("", "", "$€£¥")
_PRINT = re.compile(r"(.*[\d—–-])([^\d]*)")


def _shared(path: Sequence[str], other: Sequence[str]) -> int:
    return next(
        (depth for depth, (a, b) in enumerate(zip(path, other, strict=False)) if a != b), min(len(path), len(other))
    )


@dataclass(frozen=True, slots=True)
class Head:
    """A header over the columns `first` to `last`, on one level."""

    text: str
    first: int
    last: int
    level: int
    """0 for the outermost."""


@dataclass(frozen=True, slots=True)
class Heads:
    """The headers of a table: what is shared, outermost first, and what each column has of its own."""

    shared: tuple[Head, ...]
    own: tuple[str, ...]

    @property
    def levels(self) -> int:
        """How many levels of shared headers there are."""
        return max((head.level + 1 for head in self.shared), default=0)


def heads_of(columns: Sequence[str]) -> Heads:
    """Split printed headers into what is shared and what is not.

    >>> heads_of(["Years ended December 31, 2022", "Years ended December 31, 2021"]).own
    ('2022', '2021')
    """
    words = [_ASIDE.sub("", one_line(column)).split() for column in columns]
    own = [" ".join(each) for each in words]
    shared: list[Head] = []

    def split(first: int, last: int, used: int, level: int) -> None:
        start = first
        while start <= last:
            end = start
            while end < last and _shared_words(words[start : end + 2], used):
                end += 1
            count = _shared_words(words[start : end + 1], used) if end > start else 0
            if count:
                shared.append(Head(" ".join(words[start][used : used + count]), start, end, level))
                for column in range(start, end + 1):
                    own[column] = " ".join(words[column][used + count :])
                split(start, end, used + count, level + 1)
            start = end + 1

    split(0, len(words) - 1, 0, 0)
    return Heads(tuple(shared), tuple(own))


def wrapped(text: str, width: int) -> list[str]:
    """`text` on lines of at most `width` columns; a longer word stays whole, and a month keeps its day."""
    tied = _DAY.sub("\\1\u00a0", text)
    lines = textwrap.wrap(tied, max(width, 1), break_long_words=False, break_on_hyphens=False) or [""]
    return [line.replace("\u00a0", " ") for line in lines]


def own_width(text: str, figures: int) -> int:
    """How wide a column over figures `figures` wide is with its own header on as few lines as that suits, up to six."""
    widths = [width_on(text, lines) for lines in range(2, _MOST_LINES + 1)]
    return max(figures, next((width for width in widths if width <= _SUITABLE), widths[-1]))


def width_on(text: str, lines: int) -> int:
    """The least width at which a header takes no more than `lines` lines and holds its words."""
    return next(
        width
        for width in range(len(text) + 1)
        if len(parts := wrapped(text, width)) <= lines and max(map(len, parts)) <= width
    )


_ASIDE = re.compile(r"^\(unaudited\)\s+", re.I)
_SUITABLE = 14
_MOST_LINES = 6
_MONTH = re.compile(r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?$", re.I)
_DAY = re.compile(r"\b((?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?) (?=\d)", re.I)


def _shared_words(columns: Sequence[Sequence[str]], used: int) -> int:
    """How many words after the first `used` these columns all begin with, leaving each something of its own.

    A date is not split between its month and its day.
    """
    most = min(len(words) for words in columns) - used - 1
    count = 0
    while count < most and len({words[used + count].lower() for words in columns}) == 1:
        count += 1
    while count > 0 and _MONTH.fullmatch(columns[0][used + count - 1]):
        count -= 1
    return count
