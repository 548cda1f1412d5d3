"""The figures that the annual reports of an index state on their primary statements: what questions are made from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.fiscal import ANNUAL_FORMS
from fin_agent.lexicon.metrics import Metric
from fin_agent.vocabulary.fact import FactPeriod
from fin_agent.vocabulary.identity import Form
from fin_agent.workspace import Workspace

_QUARTERLY_FORMS = (Form.TEN_Q,)


@dataclass(frozen=True, slots=True)
class StatedFigure:
    """A figure of one company and period, and every filing that states it on the metric's statement."""

    company: str
    metric: str
    fiscal_year: int
    quarter: int | None
    value: Decimal
    """In base units, as people name it: outflows and costs are positive."""
    scale: int
    """The coarsest rounding it is printed in."""
    doc_ids: tuple[str, ...]
    """The filing whose own year is closest comes first."""


class StatedFigures:
    """Figures by company, metric and period.

    A figure that filings disagree on, or that one filing states twice with different values, is left out: a question
    about it would have two answers.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._lexicon = workspace.lexicon
        self._owners = workspace.directory.owners
        self._own_year = {entry.doc_id: entry.identity.fiscal_year or 0 for entry in workspace.index.entries()}
        self._by_slot: dict[tuple[str, str, int, int | None], StatedFigure] = {}
        self._named: set[tuple[str, str, int, int | None]] = set()
        self._metrics: dict[str, set[str]] = {}
        self._collect(workspace)
        self._years: dict[tuple[str, str], list[int]] = {}
        for company, metric, year, quarter in sorted(self._by_slot, key=str):
            if quarter is None:
                self._years.setdefault((company, metric), []).append(year)

    def figure(self, company: str, metric: str, year: int, quarter: int | None = None) -> StatedFigure | None:
        """The figure that the filings agree on; None where none states it."""
        return self._by_slot.get((company, metric, year, quarter))

    def years(self, company: str, metric: str) -> tuple[int, ...]:
        """Fiscal years with a figure, ascending."""
        return tuple(sorted(self._years.get((company, metric), ())))

    def quarters(self, company: str, metric: str) -> tuple[tuple[int, int], ...]:
        """(fiscal year, quarter) pairs with a figure, ascending."""
        return tuple(sorted((y, q) for c, m, y, q in self._by_slot if (c, m) == (company, metric) and q is not None))

    def is_named(self, company: str, metric: str, year: int, quarter: int | None = None) -> bool:
        """Whether any figure of the metric and period was read, on whatever page and of whatever part."""
        return (company, metric, year, quarter) in self._named

    def metrics(self, company: str) -> frozenset[str]:
        """Metrics that any figure of the company's filings was read as."""
        return frozenset(self._metrics.get(company, ()))

    def _collect(self, workspace: Workspace) -> None:
        stated: dict[tuple[str, str, int, int | None], list[SourcedFact]] = {}
        for entry in workspace.index.entries():
            form = entry.identity.form
            company = self._owners.get(entry.doc_id)
            if company is None:
                continue
            for sourced in workspace.index.facts([entry.doc_id]):
                name, period = sourced.fact.metric, sourced.fact.period
                if name is None or name not in self._lexicon.metrics:
                    continue
                key = (company, name, period.fiscal_year, period.quarter)
                self._named.add(key)
                self._metrics.setdefault(company, set()).add(name)
                annual = form in ANNUAL_FORMS and period.quarter is None
                quarterly = form in _QUARTERLY_FORMS and period.quarter is not None
                if (annual or quarterly) and _on_its_statement(sourced, self._lexicon.metrics[name]):
                    stated.setdefault(key, []).append(sourced)
        for key, facts in stated.items():
            agreed = self._agreed(key, facts)
            if agreed is not None:
                self._by_slot[key] = agreed

    def _agreed(self, key: tuple[str, str, int, int | None], facts: list[SourcedFact]) -> StatedFigure | None:
        company, name, year, quarter = key
        metric = self._lexicon.metrics[name]
        ordered = sorted(facts, key=lambda sourced: (abs(self._own_year[sourced.doc_id] - year), sourced.doc_id))
        values = [_as_named(sourced, metric) for sourced in ordered]
        scale = max(sourced.fact.scale for sourced in ordered)
        if metric.unit != "USD per share" and any(abs(value - values[0]) > scale for value in values):
            return None
        if metric.unit == "USD per share" and len(set(values)) > 1:
            return None
        doc_ids = tuple(dict.fromkeys(sourced.doc_id for sourced in ordered))
        return StatedFigure(company, name, year, quarter, values[0], scale, doc_ids)


def fewest_filings(figures: list[StatedFigure]) -> tuple[str, ...]:
    """Filings that state all `figures` together, chosen greedily: each states as many of the rest as any."""
    left = list(figures)
    chosen: list[str] = []
    while left:
        counts = {doc_id: sum(doc_id in figure.doc_ids for figure in left) for doc_id in _doc_ids(left)}
        best = min(counts, key=lambda doc_id: (-counts[doc_id], doc_id))
        chosen.append(best)
        left = [figure for figure in left if best not in figure.doc_ids]
    return tuple(chosen)


def _doc_ids(figures: list[StatedFigure]) -> Iterator[str]:
    for figure in figures:
        yield from figure.doc_ids


def _on_its_statement(sourced: SourcedFact, metric: Metric) -> bool:
    fact = sourced.fact
    at_home = metric.statement is not None and fact.statement is metric.statement
    return at_home and fact.tied and fact.scope is None and fact.unit == metric.unit and _whole(fact.period, metric)


def _whole(period: FactPeriod, metric: Metric) -> bool:
    if metric.period == "instant":
        return period.months == 0
    return period.months == (3 if period.quarter else 12)


def _as_named(sourced: SourcedFact, metric: Metric) -> Decimal:
    value = sourced.fact.value
    return abs(value) if metric.sign in ("outflow", "expense") else value
