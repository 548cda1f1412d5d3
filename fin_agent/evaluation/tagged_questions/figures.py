"""The figures of whole companies that tags state, year by year and quarter by quarter."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache

from fin_agent.evaluation.generated.figures import StatedFigure, StatedFigures
from fin_agent.evaluation.tagged_questions.filings import StatedTag, TaggedFiling
from fin_agent.lexicon.fiscal import YEARS_IN_AN_ANNUAL_REPORT
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.vocabulary.page import Statement

Period = tuple[int, int | None]
"""Fiscal year by the filer's own naming, and quarter."""
_Key = tuple[str, str, int, int | None]


class TaggedFigures(StatedFigures):
    """Figures by company, metric and period, from tags without members and from nothing that was read of tables.

    Signed as tagged: costs and payments are positive. A figure that two tags, of one filing or of two, state with
    different values is left out, also where their concepts differ and stand for one metric. So are zeros, which people
    do not ask for, what the metric's statement does not print (under its concept a note may give a part of it), and the
    end of a year that only a quarterly report gives.
    """

    def __init__(
        self,
        filings: Sequence[TaggedFiling],
        owners: Mapping[str, str],
        lexicon: Lexicon,
        stands_in: Mapping[str, str],
        in_notes: Collection[str],
    ) -> None:
        """`owners` gives the company of a doc_id; `stands_in` what a metric is taken from where no tag states it.

        The metrics of `in_notes` are asked for although no statement prints them.
        """
        self._lexicon = lexicon
        self._in_notes = frozenset(in_notes)
        self._figures: dict[_Key, StatedFigure] = {}
        self._stated: set[_Key] = set()
        self._collect_tags(filings, owners)
        for name, other in stands_in.items():
            for company, metric, year, quarter in sorted(self._figures, key=str):
                key = (company, name, year, quarter)
                if metric == other and key not in self._stated:
                    self._figures[key] = self._figures[company, metric, year, quarter]

    def figure(self, company: str, metric: str, year: int, quarter: int | None = None) -> StatedFigure | None:
        """The figure that all tags agree on; None where none states it."""
        return self._figures.get((company, metric, year, quarter))

    def years(self, company: str, metric: str) -> tuple[int, ...]:
        """Fiscal years with a figure, ascending."""
        return tuple(sorted(y for c, m, y, q in self._figures if (c, m) == (company, metric) and q is None))

    def quarters(self, company: str, metric: str) -> tuple[tuple[int, int], ...]:
        """(fiscal year, quarter) pairs with a figure, ascending."""
        return tuple(sorted((y, q) for c, m, y, q in self._figures if (c, m) == (company, metric) and q is not None))

    def is_named(self, company: str, metric: str, year: int, quarter: int | None = None) -> bool:
        """Whether any tag states the metric and period, agreed on or not."""
        return (company, metric, year, quarter) in self._stated

    def metrics(self, company: str) -> frozenset[str]:
        """Metrics that any tag of the company's filings states."""
        return frozenset(m for c, m, _, _ in self._stated if c == company)

    def _collect_tags(self, filings: Sequence[TaggedFiling], owners: Mapping[str, str]) -> None:
        stated: dict[_Key, list[tuple[TaggedFiling, StatedTag]]] = {}
        for filing in filings:
            for tag in filing.tags:
                name = None if tag.members else self._lexicon.metric_of_concept(f"{tag.taxonomy}:{tag.concept}")
                metric = self._lexicon.metrics[name] if name else None
                if metric is None or tag.unit != metric.unit or (tag.start is None) is not (metric.period == "instant"):
                    continue
                period = period_of(tag.start, tag.end, filing)
                if period is not None:
                    stated.setdefault((owners[filing.doc_id], metric.id, *period), []).append((filing, tag))
        self._stated = set(stated)
        for key, found in stated.items():
            first = min((tag for _, tag in found), key=lambda tag: tag.step)
            if key[3] is None and all(filing.quarter for filing, _ in found):
                continue
            if first.value and all(first.agrees(tag) for _, tag in found) and self._is_printed_at_home(key[1], found):
                doc_ids = sorted({(abs(filing.fiscal_year - key[2]), filing.doc_id) for filing, _ in found})
                self._figures[key] = StatedFigure(
                    *key,
                    value=first.value,
                    scale=max((1, *(int(tag.step) for _, tag in found if tag.table is not None))),
                    doc_ids=tuple(doc_id for _, doc_id in doc_ids),
                )

    def _is_printed_at_home(self, name: str, found: Sequence[tuple[TaggedFiling, StatedTag]]) -> bool:
        metric = self._lexicon.metrics[name]
        if metric.statement is None or name in self._in_notes:
            return True
        homes = {metric.statement, *metric.also}
        return any(tag.table in set(_tables_of(homes, filing)) for filing, tag in found)


def period_of(start: date | None, end: date, filing: TaggedFiling) -> Period | None:
    """The full year or quarter that a tag of `filing` is of, or whose end it is of; None for any other span."""
    days = 0 if start is None else (end - start).days + 1
    ago = (filing.end - end).days
    if filing.quarter is None:
        years = round(ago / _YEAR)
        whole = start is None or abs(days - _YEAR) <= _DRIFT
        shown = 0 <= years < YEARS_IN_AN_ANNUAL_REPORT and _near(ago, years * _YEAR)
        return (filing.fiscal_year - years, None) if whole and shown else None
    if start is None:
        if ago == 0:
            return filing.fiscal_year, filing.quarter
        return (filing.fiscal_year - 1, None) if _near(ago, filing.quarter * _QUARTER) else None
    if abs(days - _QUARTER) > _DRIFT:
        return None
    if ago == 0:
        return filing.fiscal_year, filing.quarter
    return (filing.fiscal_year - 1, filing.quarter) if _near(ago, _YEAR) else None


@lru_cache(maxsize=256)
def _concepts_by_table(filing: TaggedFiling) -> Mapping[int, frozenset[str]]:
    concepts: dict[int, set[str]] = {}
    for tag in filing.tags:
        if tag.table is not None and not tag.members:
            concepts.setdefault(tag.table, set()).add(tag.concept)
    return {table: frozenset(names) for table, names in concepts.items()}


def _tables_of(statements: Collection[Statement], filing: TaggedFiling) -> Iterator[int]:
    for table, names in _concepts_by_table(filing).items():
        if any(_ANCHORS[statement] <= names for statement in statements if statement in _ANCHORS):
            yield table


_ANCHORS = {
    Statement.INCOME: frozenset({"IncomeTaxExpenseBenefit", "EarningsPerShareDiluted"}),
    Statement.BALANCE_SHEET: frozenset({"Assets", "LiabilitiesAndStockholdersEquity"}),
    Statement.CASH_FLOW: frozenset(
        {"NetCashProvidedByUsedInInvestingActivities", "NetCashProvidedByUsedInFinancingActivities"}
    ),
}
"""Concepts that stand together in the table of a statement and in no other."""
_YEAR = 365.25
_QUARTER = 91.3
_DRIFT = 10
"""Days by which years and quarters of whole weeks may differ."""


def _near(days: int, wanted: float) -> bool:
    return abs(days - wanted) <= _DRIFT
