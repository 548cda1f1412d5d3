"""What whoever reads a computed answer should know: how it is defined, what counts as zero, when its years ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from fin_agent.evidence.choosing import wanted_terms
from fin_agent.evidence.expressions import counted_as_zero, parse_formula, quantities_of
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.ledger import Ledger
from fin_agent.evidence.plan import Plan, Term, by_company
from fin_agent.lexicon.fiscal import FiscalYears
from fin_agent.lexicon.metrics import Formula

_DECEMBER = 12


def assumptions(
    plan: Plan, intent: Intent, ledger: Ledger, years: Mapping[str, FiscalYears], formulas: Mapping[str, Formula]
) -> tuple[str, ...]:
    """Sentences without a full stop: definitions, parts that are not reported and count as zero, years of their own.

    `years` tells, by company key, when the periods of a filer ended; `formulas` are the lexicon's, by id. Where the
    question gives a formula itself, none is told.
    """
    terms = (*plan.ranked, *wanted_terms(plan, intent, ledger))
    defined = () if intent.formulas else _definitions(intent, formulas)
    return (*defined, *_zeros(terms, ledger), *_years_of_their_own(terms, years))


def _definitions(intent: Intent, formulas: Mapping[str, Formula]) -> Iterator[str]:
    """`gross margin is gross profit as a percentage of revenue`."""
    chosen_by = (intent.selection.expression,) if intent.selection else ()
    expressions = (*(measure.expression for measure in intent.measures if measure.expression), *chosen_by)
    names = (name for expression in expressions for name in sorted(quantities_of(parse_formula(expression))))
    for name in dict.fromkeys(names):
        if name in formulas:
            yield f"{formulas[name].words[0]} is {formulas[name].meaning}"


def _zeros(terms: Sequence[Term], ledger: Ledger) -> list[str]:
    known = ledger.figures
    slots = [slot for term in terms for slot in counted_as_zero(term.tree, lambda slot: slot in known)]
    return [f"{slot} is not reported and counts as zero" for slot in dict.fromkeys(slots)]


def _years_of_their_own(terms: Sequence[Term], years: Mapping[str, FiscalYears]) -> Iterator[str]:
    """`FY2021 of NIKE, Inc. ended on May 31, 2021`: of filers whose years are not the calendar's."""
    for key, asked in by_company(terms).items():
        filed = years.get(key)
        periods = dict.fromkeys(term.period for term in asked)
        ends = {period: filed.closes[period] for period in periods if period in filed.closes} if filed else {}
        if any(end.month != _DECEMBER for period, end in ends.items() if not period.quarter):
            (first, first_end), *others = sorted(ends.items(), key=_by_end)
            said = [f"{first} of {asked[0].company.name} ended on {_written(first_end)}"]
            yield ", ".join([*said, *(f"{period} on {_written(end)}" for period, end in others)])


def _by_end(entry: tuple[object, date]) -> date:
    return entry[1]


def _written(day: date) -> str:
    return f"{day:%B} {day.day}, {day.year}"
