"""Lines of a table: one measure over its periods, and how well a question names it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fin_agent.analyst.rules.context_answers.grid import Cell, Grid
from fin_agent.analyst.rules.context_answers.period_names import PeriodName
from fin_agent.analyst.rules.context_answers.wording import rarity, telling_stems, weight_of

_HEADER_SHARE = 0.95
_SECTION_SHARE = 0.6
_UNSAID = 0.3
"""What each word of a label that the question does not say takes off."""
_UNSAID_HEADER = 0.2
_OPERATION_SHARE = 0.35
_TOTAL = "total"
_TOTAL_SHARE = 0.75
"""`total` may say how figures are put together, not what the row is called."""
_UNNAMED_SHARE = 0.6
"""A row without a label is the total of those above it."""
_PHRASE_BONUS = 0.6
"""For a label that the question says in full."""


@dataclass(frozen=True, slots=True)
class Line:
    """Figures that differ in their period alone; without periods, one figure."""

    cells: tuple[Cell, ...]
    label: frozenset[str]
    section: frozenset[str]
    header: frozenset[str]

    @property
    def words(self) -> frozenset[str]:
        """All that is said of the line."""
        return self.label | self.section | self.header

    @property
    def periods(self) -> tuple[PeriodName, ...]:
        """First to last in time; a cell without a period has none."""
        return tuple(sorted(period for cell in self.cells for period in cell.periods[:1]))

    def at(self, asked: PeriodName) -> Cell | None:
        """The figure of a period, the one of exactly its month first."""
        fitting = [cell for cell in self.cells if any(period.fits(asked) for period in cell.periods)]
        return min(fitting, key=lambda cell: (asked not in cell.periods, cell.row, cell.column), default=None)


@dataclass(frozen=True, slots=True)
class Match:
    """A line with how well a phrase names it."""

    line: Line
    score: float
    coverage: float
    """Share of the phrase's weight that the line says, 0 to 1."""


class Lines:
    """All lines of a table."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.lines = _lines(grid)
        self.loose = _loose_lines(grid)
        self.weights: Mapping[str, float] = rarity(line.words for line in self.lines)

    def matches(
        self,
        words: Sequence[str],
        *,
        operation: Sequence[str] = (),
        also: Sequence[str] = (),
        at: PeriodName | None = None,
        loose: bool = False,
    ) -> list[Match]:
        """Every line, best first; `loose` for rows as a whole.

        `operation` words count less, and so do `also`: what is said of several measures.
        """
        found = [
            self._match(line, words, operation, also)
            for line in (self.loose if loose else self.lines)
            if at is None or line.at(at)
        ]
        return sorted(
            found, key=lambda match: (-round(match.score, 6), match.line.cells[0].row, match.line.cells[0].column)
        )

    def known(self, words: Sequence[str]) -> bool:
        """Whether the table says any of the words."""
        return any(word in self.weights for word in words)

    def _match(self, line: Line, words: Sequence[str], operation: Sequence[str], also: Sequence[str]) -> Match:
        asked = set(words)
        held = asked & line.label
        in_header = (asked & line.header) - held
        in_section = (asked & line.section) - held - in_header
        gained = weight_of(held, self.weights) + _HEADER_SHARE * weight_of(in_header, self.weights)
        gained += _SECTION_SHARE * weight_of(in_section, self.weights)
        if _TOTAL in held:
            gained -= (1 - _TOTAL_SHARE) * self.weights.get(_TOTAL, 1.0)
        elif _TOTAL in asked and not line.label:
            gained += _UNNAMED_SHARE * max(self.weights.values(), default=1.0)
            held = held | {_TOTAL}
        said = asked | set(operation) | set(also)
        side = (set(operation) | set(also)) - asked
        gained += _OPERATION_SHARE * weight_of(side & (line.words), self.weights)
        unsaid = _UNSAID * len(line.label - said) + _UNSAID_HEADER * len(line.header - said)
        bonus = _PHRASE_BONUS if line.label and line.label <= said and held else 0.0
        whole = weight_of(asked, self.weights) or 1.0
        return Match(line, gained - unsaid + bonus, weight_of(held | (asked & line.words), self.weights) / whole)


def _line(cells: Sequence[Cell], label: Sequence[str], section: Sequence[str], header: Sequence[str]) -> Line:
    return Line(tuple(cells), frozenset(label), frozenset(section), frozenset(header))


def _loose_lines(grid: Grid) -> tuple[Line, ...]:
    """Rows as a whole, whatever their columns say beside the period: `Estimated at June 30`, `Restated 2018`."""
    found: list[Line] = []
    for row in grid.rows:
        first: dict[tuple[PeriodName, ...], Cell] = {}
        for cell in row.cells:
            if cell.period_in_column:
                first.setdefault(cell.periods, cell)
        if len(first) > 1:
            found.append(_line(tuple(first.values()), telling_stems(row.label), telling_stems(row.section), ()))
    return tuple(found)


def _lines(grid: Grid) -> tuple[Line, ...]:
    title = telling_stems(grid.headers[0]) if grid.headers else ()
    groups: dict[tuple[object, ...], list[list[Cell]]] = {}
    named: dict[tuple[object, ...], tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {}
    for cell in grid.cells:
        said = (
            telling_stems(cell.label),
            (*telling_stems(cell.section), *title),
            tuple(word for word in telling_stems(cell.header) if not word.isdigit()),
        )
        if not cell.periods:
            key: tuple[object, ...] = (cell.row, cell.column)
        else:
            key = (cell.row if cell.period_in_column else -1, *said)
        named[key] = said
        alike = groups.setdefault(key, [])
        free = (group for group in alike if all(cell.periods != other.periods for other in group))
        group = next(free, None) if cell.periods else None
        if group is None:
            alike.append([cell])
        else:
            group.append(cell)
    return tuple(_line(cells, *named[key]) for key, alike in groups.items() for cells in alike)
