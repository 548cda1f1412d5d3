"""Build a plan from an intent: the figures that must be known and how they are combined."""

from __future__ import annotations

import operator
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, DecimalException
from fractions import Fraction

from fin_agent.evidence.expressions import (
    Constant,
    Function,
    Node,
    Operation,
    Quantity,
    SlotReference,
    assumes_zero,
    bind,
    leaves_of,
    parse_formula,
    resolve,
    slots_of,
    years_of,
)
from fin_agent.evidence.intent import Comparison, Intent, Relation, RequestedCompany
from fin_agent.evidence.slot_ledger import Ledger
from fin_agent.lexicon.fiscal_periods import FiscalPeriod, FiscalYears, with_those_between
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.slots import Slot
from fin_agent.vocabulary.runs import grouped

_BETWEEN_TWO = (Relation.GROWTH, Relation.CHANGE, Relation.ANNUAL_GROWTH)
_OVER_TIME = (*_BETWEEN_TWO, Relation.TREND, Relation.EVERY_YEAR, Relation.YEARS_COUNTED)


@dataclass(frozen=True, slots=True)
class Term:
    """A measure of one company in one period."""

    company: RequestedCompany
    period: FiscalPeriod
    tree: Node
    measure: int = 0
    """Index of the measure in the intent's measures."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The terms of an answer by measure and company, each in ascending periods."""

    terms: tuple[Term, ...]
    notes: tuple[str, ...]
    """Assumptions: the period that a year means, or the period used where none is named."""
    ranked: tuple[Term, ...] = ()
    """Terms of the ranking that selects one company, whose `terms` alone are needed then; empty if all are needed."""

    @property
    def companies(self) -> list[str]:
        """Names of the companies of `terms`, in order."""
        return list(dict.fromkeys(term.company.name for term in self.terms))

    @property
    def periods(self) -> list[str]:
        """The periods of `terms`, in order."""
        return list(dict.fromkeys(str(term.period) for term in self.terms))

    def slots(self) -> dict[Slot, bool]:
        """Return every slot and whether it is required, in the order of the terms.

        If a ranking selects one company, its slots are required and those of the terms are not, since only the selected
        company's figures are needed.
        """
        found: dict[Slot, bool] = {}
        for terms, wanted in ((self.ranked, True), (self.terms, not self.ranked)):
            for slot, required in (pair for term in terms for pair in slots_of(term.tree)):
                found[slot] = found.get(slot, False) or (required and wanted)
        return found


def by_company(terms: Sequence[Term]) -> dict[str, list[Term]]:
    """Group terms by company key, in order; by part where parts are compared."""
    of_part = (f": {term.company.part}" if term.company.part is not None else "" for term in terms)
    return grouped((f"{term.company.key}{part}", term) for term, part in zip(terms, of_part, strict=True))


def by_measure(terms: Sequence[Term]) -> list[list[Term]]:
    """Group terms by measure, in order."""
    return list(grouped((term.measure, term) for term in terms).values())


def build_plan(intent: Intent, lexicon: Lexicon, years: Mapping[str, FiscalYears]) -> Plan:
    """Build the plan of an intent, empty unless it is numeric; `years` has the fiscal years that each company filed."""
    if not intent.numeric:
        return Plan((), intent.assumed)
    notes: list[str] = list(intent.assumed)
    ranked: list[Term] = []
    if (by := intent.selection) is not None:
        ranking = {"expression": by.expression, "relation": by.relation, "periods": by.periods or intent.periods}
        ranked = _terms(intent.model_copy(update=ranking), lexicon, years, notes)
    terms = [
        replace(term, measure=place)
        for place, measure in enumerate(intent.measures)
        for term in _terms(intent.of_measure(measure), lexicon, years, notes)
    ]
    return Plan(tuple(terms), tuple(dict.fromkeys(notes)), tuple(ranked))


def _terms(intent: Intent, lexicon: Lexicon, years: Mapping[str, FiscalYears], notes: list[str]) -> list[Term]:
    root = parse_formula(intent.expression)
    terms: list[Term] = []
    names = {company.key: company.name for company in intent.companies if company.part is None}
    for company in intent.companies[:1] if any(one.company for one in leaves_of(root)) else intent.companies:
        filed = years[company.key]
        asked = (company.period,) if company.period else _periods(intent, filed, notes)
        whole = {period.fiscal_year for period in asked if not period.quarter}
        named = _fiscal_years_as_filed(whole | years_of(root), filed, notes)
        for period in asked:
            meant = period if period.quarter else FiscalPeriod(fiscal_year=named[period.fiscal_year])
            part = company.part or next(iter(intent.parts), None)
            terms.append(Term(company, meant, _bound(root, company, meant, named, lexicon, filed.company, part, names)))
    return terms


def _fiscal_years_as_filed(asked: Collection[int], filed: FiscalYears, notes: list[str]) -> dict[int, int]:
    """Return year in the question -> the filer's own fiscal year.

    If one year can only be the year that ended in it, all are, unless the filer's years end about New Year.
    """
    meant = {year: filed.resolve(FiscalPeriod(fiscal_year=year)) for year in sorted(asked)}
    shifts = {period.fiscal_year - year for year, (period, _) in meant.items()}
    distinct = len({period.fiscal_year for period, _ in meant.values()}) == len(meant)
    at_new_year = any(day.month == 1 and day.day <= _DAYS_AROUND_NEW_YEAR for day in filed.closes.values())
    if len(shifts) < 2 or (distinct and at_new_year):
        notes += [note for _, note in meant.values() if note]
        return {year: period.fiscal_year for year, (period, _) in meant.items()}
    shift = max(shifts, key=abs)
    listed = ", ".join(f"FY{year}" for year in meant)
    lower = "lower" if shift < 0 else "higher"
    notes.append(f"{listed} are taken as the years that ended in them, which {filed.company} numbers one year {lower}")
    return {year: year + shift for year in meant}


_DAYS_AROUND_NEW_YEAR = 7
"""A year of 52 or 53 weeks ends on a weekday near the last day of December."""


def _periods(intent: Intent, filed: FiscalYears, notes: list[str]) -> Sequence[FiscalPeriod]:
    periods = intent.periods or tuple(filter(None, [filed.latest()]))
    if not periods:
        return ()
    if not intent.periods:
        notes.append(f"no period was named: {periods[0]}, the latest year filed by {filed.company}, is used")
    if len(periods) == 1 and intent.relation in _OVER_TIME:
        last = periods[0]
        return (last.model_copy(update={"fiscal_year": last.fiscal_year - 1}), last)
    if intent.relation in _BETWEEN_TWO or (intent.relation is Relation.TREND and intent.claim is not None):
        return (periods[0], periods[-1])
    of_all = intent.relation in (Relation.AVERAGE, Relation.TOTAL)
    return with_those_between(periods, intent.core) if of_all else periods


def _bound(
    root: Node,
    company: RequestedCompany,
    period: FiscalPeriod,
    named: Mapping[int, int],
    lexicon: Lexicon,
    filer: str,
    part: str | None,
    names: Mapping[str, str],
) -> Node:
    def slot_of(asked: Quantity) -> Slot:
        fiscal_year = period.fiscal_year + asked.shift if asked.year is None else named.get(asked.year, asked.year)
        of_part = None if asked.whole else asked.part or part
        at_end = not asked.printed and lexicon.metrics[asked.name].period == "instant"
        quarter = period.quarter if asked.year is None and not (asked.shift and at_end) else asked.quarter
        own = asked.company or company.key
        return Slot(
            company=own,
            company_name=names.get(own, company.name) if own != company.key or company.part is None else filer,
            metric="" if asked.printed else asked.name,
            phrase=asked.name if asked.printed else asked.words,
            label=_label(asked.name if asked.printed else asked.name.replace("_", " "), of_part),
            fiscal_year=fiscal_year,
            quarter=quarter,
            months=None if at_end or asked.year is not None else period.months,
            part=of_part,
            table=asked.table,
        )

    def formula_of(name: str) -> Node | None:
        entry = lexicon.formulas.get(name)
        return parse_formula(entry.expression) if entry else None

    def derive_of(asked: Quantity) -> Node | None:
        of_part = bool(asked.part or part) and not asked.whole
        if of_part and (own := metric_of_parts(asked.name, lexicon)) is not None:
            return Quantity(own)
        entry = lexicon.metrics.get(asked.name)
        derived = parse_formula(entry.derive) if entry and entry.derive else None
        # An item that a filing does not report for a part does not count as zero: only the whole may have it.
        return None if of_part and derived is not None and assumes_zero(derived) else derived

    return bind(root, slot_of=slot_of, formula_of=formula_of, derive_of=derive_of)


def _label(metric: str, part: str | None) -> str:
    """Return a label such as `Data Center revenue`; `Bitcoin revenue` for the part of that name."""
    if part is None:
        return metric
    return part if part.casefold().endswith(f" {metric}") else f"{part} {metric}"


def metric_of_parts(metric: str, lexicon: Lexicon) -> str | None:
    """Return the metric reported for parts in place of `metric`, such as `segment_operating_income`, or None."""
    named = f"segment_{metric}"
    return named if named in lexicon.metrics else None


def selected_terms(plan: Plan, intent: Intent, ledger: Ledger) -> tuple[Term, ...]:
    """Return the terms from which the answer is computed: all, or those of the selected company.

    Empty while the company cannot be determined.
    """
    if not plan.ranked or intent.selection is None:
        return plan.terms
    chosen = selected_company(plan, intent, ledger)
    return tuple(term for term in plan.terms if term.company.key == chosen)


def missing_slots(plan: Plan, intent: Intent, ledger: Ledger) -> tuple[Slot, ...]:
    """Return the slots to fill before the answer can be computed; empty if it can be."""
    known = ledger.figures
    return _missing(plan.ranked, known) or _missing(selected_terms(plan, intent, ledger), known)


def with_required_options(plan: Plan, intent: Intent, ledger: Ledger) -> Ledger:
    """Return the ledger with the slots on which the answer depends marked as required.

    Of a choice, these are the slots of the option that is computed.
    """
    known = ledger.figures
    needed: set[Slot] = set()
    for term in (*plan.ranked, *selected_terms(plan, intent, ledger)):
        tree, _ = resolve(term.tree, lambda slot: slot in known)
        needed |= {slot for slot, required in slots_of(tree or term.tree) if required}
    entries = (entry.model_copy(update={"required": entry.slot in needed}) for entry in ledger.entries)
    return Ledger(entries=tuple(entries))


def selected_company(plan: Plan, intent: Intent, ledger: Ledger) -> str | None:
    """Return the key of the company that the selection picks; None if a figure is missing or two are level."""
    if intent.selection is None or _missing(plan.ranked, ledger.figures):
        return None
    relation = intent.selection.relation
    try:
        values = {
            key: _over_time([_value(term, ledger) for term in terms], relation)
            for key, terms in by_company(plan.ranked).items()
        }
    except (ZeroDivisionError, DecimalException, ValueError):
        return None
    pick = max if intent.selection.extreme is Comparison.HIGHEST else min
    best = pick(values.values())
    chosen = [key for key, value in values.items() if value == best]
    return chosen[0] if len(chosen) == 1 else None


def _missing(terms: Sequence[Term], known: Container[Slot]) -> tuple[Slot, ...]:
    lacking = [slot for term in terms for slot in resolve(term.tree, lambda slot: slot in known)[1]]
    return tuple(dict.fromkeys(lacking))


def _value(term: Term, ledger: Ledger) -> Fraction:
    figures = ledger.figures
    tree, missing = resolve(term.tree, lambda slot: slot in figures)
    if tree is None:
        raise ValueError(f"not filled: {', '.join(map(str, missing))}")
    return _computed(tree, {slot: figure.value for slot, figure in figures.items()})


_APPLIED = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def _computed(node: Node, known: dict[Slot, Decimal]) -> Fraction:
    match node:
        case Constant(value):
            return Fraction(repr(value))
        case SlotReference(slot):
            return Fraction(known[slot])
        case Operation(sign, left, right):
            found: Fraction = _APPLIED[sign](_computed(left, known), _computed(right, known))
            return found
        case Function("mean", parts):
            return sum((_computed(part, known) for part in parts), Fraction()) / len(parts)
        case Function("abs", (of,)):
            return abs(_computed(of, known))
        case _:
            raise ValueError("the tree is not resolved")


def _over_time(values: Sequence[Fraction], relation: Relation) -> Fraction:
    first, last = values[0], values[-1]
    match relation:
        case Relation.GROWTH | Relation.ANNUAL_GROWTH:
            return (last - first) / abs(first)
        case Relation.CHANGE:
            return last - first
        case Relation.AVERAGE:
            return sum(values, Fraction()) / len(values)
        case Relation.TOTAL:
            return sum(values, Fraction())
        case _ if len(values) == 1:
            return first
        case _:
            raise ValueError(f"{len(values)} figures of a company, and no way to put them together")
