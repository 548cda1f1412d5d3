"""A check: figures of one column that belong together by their meaning, held against each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.page import Statement


@dataclass(frozen=True, slots=True)
class Column:
    """One period of one statement."""

    period: FactPeriod
    facts: tuple[Fact, ...]
    """In the order of pages and lines; of the consolidated company only."""

    def facts_of(self, *metrics: str) -> tuple[Fact, ...]:
        """Its facts of these metrics, in the order of the metrics, then of the lines; the first few of each.

        A total that is printed more often than that is none, and every reading of a check is tried.
        """
        return tuple(fact for metric in metrics for fact in self._of(metric)[:_AT_MOST])

    def between(self, first: Fact, last: Fact) -> tuple[Fact, ...]:
        """Amounts of money printed on lines after `first` and before `last`."""
        above, below = place_of(first), place_of(last)
        return tuple(fact for fact in self.facts if above < place_of(fact) < below and fact.unit == "USD")

    def _of(self, metric: str) -> list[Fact]:
        return [fact for fact in self.facts if fact.metric == metric]


_AT_MOST = 4


def statement_columns(facts: Iterable[Fact], statement: Statement) -> tuple[Column, ...]:
    """Columns of a filing's `statement`, by page and then as they stand, left to right.

    A statement that runs over adjacent pages is one; one that is printed again elsewhere has columns of its own. On a
    statement of durations an instant (opening and closing cash, as tags date it) is put to the column it stands in.
    """
    whole = sorted(
        (fact for fact in facts if fact.statement is statement and fact.scope is None),
        key=lambda fact: (fact.page, fact.line, fact.box.x0),
    )
    columns: list[Column] = []
    for sheet in _sheets(whole):
        by_period: dict[FactPeriod, list[Fact]] = {}
        for fact in sheet if statement is Statement.BALANCE_SHEET else _by_column(sheet):
            by_period.setdefault(replace(fact.period, end=None), []).append(fact)
        for held in by_period.values():
            dated = next((fact.period for fact in held if fact.period.end is not None), held[0].period)
            columns.append(Column(dated, tuple(held)))
    return tuple(columns)


def place_of(fact: Fact) -> tuple[int, int]:
    """(page, line), both from 0."""
    return fact.page, fact.line


def _sheets(facts: Sequence[Fact]) -> list[list[Fact]]:
    """Facts of adjacent pages together."""
    sheets: list[list[Fact]] = []
    for fact in facts:
        if not sheets or fact.page - sheets[-1][-1].page > 1:
            sheets.append([])
        sheets[-1].append(fact)
    return sheets


def _by_column(facts: Sequence[Fact]) -> list[Fact]:
    """`facts`, an instant with the period of the column whose figures it stands below."""
    edges: dict[int, dict[float, FactPeriod]] = {}
    for fact in facts:
        if fact.period.months:
            edges.setdefault(fact.page, {}).setdefault(fact.box.x1, fact.period)
    return [fact if fact.period.months else _in_column(fact, edges.get(fact.page, {})) for fact in facts]


def _in_column(fact: Fact, edges: Mapping[float, FactPeriod]) -> Fact:
    if not edges:
        return fact
    nearest = min(edges, key=lambda edge: (abs(edge - fact.box.x1), edge))
    return replace(fact, period=edges[nearest])


class Outcome(StrEnum):
    """How a check ended."""

    HOLDS = "holds"
    FAILS = "fails"
    """Look at the page: a figure was misread, or the filing is odd there."""
    NOT_CHECKABLE = "not checkable"
    """A figure that the check needs was not read."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure that a check compares."""

    label: str
    """As printed; with the heading above it where the row's words alone do not name the figure."""
    value: Decimal
    """As printed, in base units."""
    scale: int
    """What the print is multiplied with to get base units."""
    unit: str
    page: int
    """0-based."""
    line: int
    """From 0."""
    weight: int = 1
    """1 where it is added, -1 where it is taken off, 0 for the figure that the others have to come to."""


@dataclass(frozen=True, slots=True)
class Check:
    """One identity of one column, and whether the printed figures keep it."""

    name: str
    """`balance`, `liabilities and equity`, `current and non-current`, `cash`, `cash flows`, `opening cash`,
    `gross profit`, `income after taxes`, `net income`, `basic earnings per share`, `diluted earnings per share`."""
    period: FactPeriod | None
    """None where no column of the filing can be checked."""
    figures: tuple[Figure, ...]
    """Those that are added or taken off (or multiplied: earnings per share and shares), then what they come to."""
    difference: Decimal | None
    """What they come to less what is printed, in base units; None where not checkable."""
    tolerance: Decimal
    """The largest difference that rounding explains, in base units."""
    outcome: Outcome
    sentence: str
    """For people, without figures and pages: what is compared and what came of it, or what is missing."""

    @property
    def pages(self) -> tuple[int, ...]:
        """Pages of the figures, 0-based, ascending; empty where there are none."""
        return tuple(sorted({figure.page for figure in self.figures}))


@dataclass(frozen=True, slots=True)
class Sum:
    """One reading of a check: `parts` with their weights have to come to `whole`."""

    parts: tuple[tuple[Fact, int], ...]
    whole: Fact

    @property
    def difference(self) -> Decimal:
        """In base units."""
        return sum((fact.value * weight for fact, weight in self.parts), Decimal(0)) - self.whole.value

    @property
    def tolerance(self) -> Decimal:
        """Half a printed step for every figure: each was rounded by itself, so their sum may be that far off."""
        facts = [*(fact for fact, _ in self.parts), self.whole]
        return sum((step_of(fact) for fact in facts), Decimal(0)) / 2

    @property
    def closes(self) -> bool:
        """Whether rounding explains the difference."""
        return abs(self.difference) <= self.tolerance


def run_check(name: str, period: FactPeriod, sums: Iterable[Sum]) -> Check | None:
    """The first of `sums` that closes, else the first as a failed check; None where there is none.

    Filers order and sign the rows around a total in several ways, so a check has several readings. Figures that were
    misread close none of them but by chance.
    """
    first: Sum | None = None
    for each in sums:
        first = first or each
        if each.closes:
            return _from_sum(name, period, each, Outcome.HOLDS)
    return _from_sum(name, period, first, Outcome.FAILS) if first is not None else None


def not_checkable(name: str, period: FactPeriod | None, why: str, facts: Sequence[Fact] = ()) -> Check:
    """A check that lacks a figure; `why` says which, as a clause without a full stop. `facts` are those it has."""
    figures = tuple(figure_of(fact, 1) for fact in facts)
    return Check(name, period, figures, None, Decimal(0), Outcome.NOT_CHECKABLE, f"Cannot be checked: {why}.")


def figure_of(fact: Fact, weight: int) -> Figure:
    """The figure of a fact."""
    return Figure(fact.label, fact.value, fact.scale, fact.unit, fact.page, fact.line, weight)


def step_of(fact: Fact) -> Decimal:
    """The smallest difference its print can show, in base units: a million for `1,234`, a tenth of one for `1.2`."""
    exponent = fact.amount.as_tuple().exponent
    places = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    return Decimal(fact.scale).scaleb(-places)


def _from_sum(name: str, period: FactPeriod, reading: Sum, outcome: Outcome) -> Check:
    figures = tuple(figure_of(fact, weight) for fact, weight in (*reading.parts, (reading.whole, 0)))
    said = _sentence(figures, outcome)
    return Check(name, period, figures, reading.difference, reading.tolerance, outcome, said)


def _sentence(figures: Sequence[Figure], outcome: Outcome) -> str:
    *parts, whole = figures
    added = " + ".join(part.label for part in parts if part.weight > 0)
    taken = "".join(f" - {part.label}" for part in parts if part.weight < 0)
    return f"{added}{taken} {'is' if outcome is Outcome.HOLDS else 'should be'} {whole.label}."
