"""A primary statement's columns: the consolidated figures printed below one period, top to bottom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.page import Statement


@dataclass(frozen=True, slots=True)
class Column:
    """One period of one statement."""

    period: FactPeriod
    facts: tuple[Fact, ...]
    """In the order of pages and lines; of the consolidated company only."""

    def named(self, *metrics: str) -> tuple[Fact, ...]:
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
