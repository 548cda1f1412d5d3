"""From an intent to what must be known and how it is put together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fin_agent.evidence.expressions import Node, bind, parse_formula, slots_of
from fin_agent.evidence.intent import CompanyAsked, Intent, Relation
from fin_agent.lexicon.fiscal import FiscalPeriod, FiscalYears
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.slots import Slot

_BETWEEN_TWO = (Relation.GROWTH, Relation.CHANGE, Relation.ANNUAL_GROWTH)
_OVER_TIME = (*_BETWEEN_TWO, Relation.TREND)


@dataclass(frozen=True, slots=True)
class Term:
    """The measure of one company in one period."""

    company: CompanyAsked
    period: FiscalPeriod
    tree: Node


@dataclass(frozen=True, slots=True)
class Plan:
    """The terms of an answer, company by company, each in ascending periods."""

    terms: tuple[Term, ...]
    notes: tuple[str, ...]
    """What was assumed: which period a year means, which period where none was named."""

    def slots(self) -> dict[Slot, bool]:
        """Every slot and whether it is required, in the order of the terms."""
        found: dict[Slot, bool] = {}
        for term in self.terms:
            for slot, required in slots_of(term.tree):
                found[slot] = found.get(slot, False) or required
        return found

    def by_company(self) -> Mapping[str, list[Term]]:
        """Terms of each company, by its key."""
        grouped: dict[str, list[Term]] = {}
        for term in self.terms:
            grouped.setdefault(term.company.key, []).append(term)
        return grouped


def plan_of(intent: Intent, lexicon: Lexicon, years: Mapping[str, FiscalYears]) -> Plan:
    """The plan of a numeric intent; `years` tells per company key what its filings call their years."""
    if not intent.numeric:
        return Plan((), intent.assumed)
    root = parse_formula(intent.expression)
    terms: list[Term] = []
    notes: list[str] = list(intent.assumed)
    for company in intent.companies:
        filed = years[company.key]
        for asked in _periods(intent, filed, notes):
            meant, note = filed.meant(asked)
            notes += [note] if note else []
            terms.append(Term(company, meant, _bound(root, company, meant, filed, lexicon)))
    return Plan(tuple(terms), tuple(dict.fromkeys(notes)))


def _periods(intent: Intent, filed: FiscalYears, notes: list[str]) -> Sequence[FiscalPeriod]:
    periods = intent.periods
    if not periods:
        latest = filed.latest()
        if latest is None:
            return ()
        notes.append(f"no period was named: {latest}, the latest year filed by {filed.company}, is used")
        periods = (latest,)
    if len(periods) == 1 and intent.relation in _OVER_TIME:
        last = periods[0]
        return (last.model_copy(update={"fiscal_year": last.fiscal_year - 1}), last)
    if intent.relation in _BETWEEN_TWO:
        return (periods[0], periods[-1])
    if intent.relation in (Relation.AVERAGE, Relation.TOTAL):
        return tuple(_filled(periods))
    return periods


def _filled(periods: Sequence[FiscalPeriod]) -> Iterator[FiscalPeriod]:
    """All years from the first to the last: an average over FY2017 - FY2019 takes FY2018 in."""
    if any(period.quarter for period in periods):
        yield from periods
        return
    for year in range(periods[0].fiscal_year, periods[-1].fiscal_year + 1):
        yield FiscalPeriod(fiscal_year=year)


def _bound(root: Node, company: CompanyAsked, period: FiscalPeriod, filed: FiscalYears, lexicon: Lexicon) -> Node:
    def slot_of(metric: str, shift: int, year: int | None) -> Slot:
        fiscal_year = period.fiscal_year + shift
        if year is not None:
            fiscal_year = filed.meant(FiscalPeriod(fiscal_year=year))[0].fiscal_year
        entry = lexicon.metrics[metric]
        return Slot(
            company=company.key,
            company_name=company.name,
            metric=metric,
            label=metric.replace("_", " "),
            fiscal_year=fiscal_year,
            quarter=period.quarter if year is None and not (shift and entry.period == "instant") else None,
        )

    def formula_of(name: str) -> Node | None:
        entry = lexicon.formulas.get(name)
        return parse_formula(entry.expression) if entry else None

    def derive_of(name: str) -> Node | None:
        entry = lexicon.metrics.get(name)
        return parse_formula(entry.derive) if entry and entry.derive else None

    return bind(root, slot_of=slot_of, formula_of=formula_of, derive_of=derive_of)
