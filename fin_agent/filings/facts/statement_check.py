"""Checks: comparisons of figures in one column that are related by definition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.figure_agreement import last_place
from fin_agent.vocabulary.page import Statement


@dataclass(frozen=True, slots=True)
class Column:
    """One period of one statement."""

    period: FactPeriod
    facts: tuple[Fact, ...]
    """In the order of pages and lines; consolidated company only."""

    def facts_of(self, *metrics: str) -> tuple[Fact, ...]:
        """Return its facts of these metrics, in the order of the metrics, then of the lines; the first few of each.

        A total that is printed more often than that is not a total, and every combination is tried.
        """
        return tuple(fact for metric in metrics for fact in self._of(metric)[:_AT_MOST])

    def between(self, first: Fact, last: Fact) -> tuple[Fact, ...]:
        """Return amounts of money printed on lines between `first` and `last`."""
        above, below = place_of(first), place_of(last)
        return tuple(fact for fact in self.facts if above < place_of(fact) < below and fact.unit == "USD")

    def _of(self, metric: str) -> list[Fact]:
        return [fact for fact in self.facts if fact.metric == metric]


_AT_MOST = 4


def statement_columns(facts: Iterable[Fact], statement: Statement) -> tuple[Column, ...]:
    """Return the columns of a filing's `statement`, by page, then left to right.

    A statement over adjacent pages is one; a repetition elsewhere has its own columns. In a statement of durations, an
    instant (opening and closing cash, as dated by tags) belongs to the column it is printed in.
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
    """Return (page, line), both from 0."""
    return fact.page, fact.line


def _sheets(facts: Sequence[Fact]) -> list[list[Fact]]:
    """Return facts grouped by adjacent pages."""
    sheets: list[list[Fact]] = []
    for fact in facts:
        if not sheets or fact.page - sheets[-1][-1].page > 1:
            sheets.append([])
        sheets[-1].append(fact)
    return sheets


def _by_column(facts: Sequence[Fact]) -> list[Fact]:
    """Return `facts` with the period of their column for instants."""
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
    """The result of a check."""

    HOLDS = "holds"
    FAILS = "fails"
    """A figure was misread, or the filing is inconsistent there; compare with the page."""
    NOT_CHECKABLE = "not checkable"
    """A figure that the check needs is missing."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure compared by a check."""

    label: str
    """As printed, with the heading above where the row's words alone are ambiguous."""
    value: Decimal
    """As printed, in base units."""
    scale: int
    """Factor from the printed amount to base units."""
    unit: str
    page: int
    """0-based."""
    line: int
    """From 0."""
    weight: int = 1
    """1 if added, -1 if subtracted, 0 for the expected total."""


@dataclass(frozen=True, slots=True)
class Check:
    """One identity of one column, and whether the printed figures satisfy it."""

    name: str
    """`balance`, `liabilities and equity`, `current and non-current`, `cash`, `cash flows`, `opening cash`,
    `gross profit`, `income after taxes`, `net income`, `basic earnings per share`, `diluted earnings per share`."""
    period: FactPeriod | None
    """None where no column of the filing can be checked."""
    figures: tuple[Figure, ...]
    """Figures that are added or subtracted (or multiplied: earnings per share and shares), then the expected total."""
    difference: Decimal | None
    """The computed minus the printed total, in base units; None where not checkable."""
    tolerance: Decimal
    """The largest difference that rounding explains, in base units."""
    outcome: Outcome
    sentence: str
    """A sentence for people, without figures and pages: what is compared and the result, or what is missing."""

    @property
    def pages(self) -> tuple[int, ...]:
        """Pages of the figures, 0-based, ascending; empty where there are none."""
        return tuple(sorted({figure.page for figure in self.figures}))


@dataclass(frozen=True, slots=True)
class Sum:
    """One variant of a check: the weighted `parts` should add up to `whole`."""

    parts: tuple[tuple[Fact, int], ...]
    whole: Fact

    @property
    def difference(self) -> Decimal:
        """The difference in base units."""
        return sum((fact.value * weight for fact, weight in self.parts), Decimal(0)) - self.whole.value

    @property
    def tolerance(self) -> Decimal:
        """Half a printed step for every figure, because each is rounded independently."""
        facts = [*(fact for fact, _ in self.parts), self.whole]
        return sum((last_place(fact) for fact in facts), Decimal(0)) / 2

    @property
    def closes(self) -> bool:
        """Whether rounding explains the difference."""
        return abs(self.difference) <= self.tolerance


def run_check(name: str, period: FactPeriod, sums: Iterable[Sum]) -> Check | None:
    """Return the first of `sums` that matches, otherwise the first as a failed check; None where there is none.

    Filers order and sign the rows around a total in several ways, so a check has several variants. Misread figures
    match one of them only by chance.
    """
    first: Sum | None = None
    for each in sums:
        first = first or each
        if each.closes:
            return _from_sum(name, period, each, Outcome.HOLDS)
    return _from_sum(name, period, first, Outcome.FAILS) if first is not None else None


def not_checkable(name: str, period: FactPeriod | None, why: str, facts: Sequence[Fact] = ()) -> Check:
    """Return a check that lacks a figure; `why` says which, as a clause without a period, and `facts` are available."""
    figures = tuple(figure_of(fact, 1) for fact in facts)
    return Check(name, period, figures, None, Decimal(0), Outcome.NOT_CHECKABLE, f"Cannot be checked: {why}.")


def figure_of(fact: Fact, weight: int) -> Figure:
    """Return a fact as a figure of a check."""
    return Figure(fact.label, fact.value, fact.scale, fact.unit, fact.page, fact.line, weight)


def _from_sum(name: str, period: FactPeriod, reading: Sum, outcome: Outcome) -> Check:
    figures = tuple(figure_of(fact, weight) for fact, weight in (*reading.parts, (reading.whole, 0)))
    said = _sentence(figures, outcome)
    return Check(name, period, figures, reading.difference, reading.tolerance, outcome, said)


def _sentence(figures: Sequence[Figure], outcome: Outcome) -> str:
    *parts, whole = figures
    added = " + ".join(part.label for part in parts if part.weight > 0)
    taken = "".join(f" - {part.label}" for part in parts if part.weight < 0)
    return f"{added}{taken} {'is' if outcome is Outcome.HOLDS else 'should be'} {whole.label}."
