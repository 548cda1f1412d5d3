"""A table of a filing set for a terminal: digits under digits, headings over their rows, folded where too wide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text

from fin_agent.presentation.column_heads import Heads, heads_of, own_width, width_on, wrapped
from fin_agent.presentation.table_rows import LineKind, Printed, ShownLine, of_columns, shown_lines
from fin_agent.vocabulary.table import Row

_BETWEEN = 2
_STEP = 2
_HANGING = 2
_NARROWEST_LABELS = 26
_WIDEST_LABELS = 76
_STYLES = {LineKind.HEADING: "bold", LineKind.TOTAL: "bold", LineKind.PAGE: "dim"}


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
