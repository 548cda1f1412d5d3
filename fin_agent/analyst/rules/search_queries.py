"""Build search queries from an intent: everything in the first round, then what the ledger lacks."""

from __future__ import annotations

from collections import Counter
from itertools import compress
from operator import attrgetter

from fin_agent.analyst.rules.query_to_text import join_names
from fin_agent.evidence.expressions import resolve, slots_of
from fin_agent.evidence.intent import Intent, Relation
from fin_agent.evidence.plan import Plan, missing_slots, selected_terms
from fin_agent.evidence.slot_ledger import Ledger
from fin_agent.lexicon.company_mentions import CERTAIN
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.lexicon.slots import Slot, slot_metric, slot_names
from fin_agent.lexicon.words import finds
from fin_agent.retrieval.search_query import Query
from fin_agent.retrieval.search_terms import search_terms
from fin_agent.retrieval.slot_figures import printed_facts
from fin_agent.vocabulary.page import Statement
from fin_agent.workspace import Workspace


def build_query(intent: Intent, plan: Plan, ledger: Ledger | None, workspace: Workspace) -> Query:
    """Return the query of a round; `ledger` is that of the round before, None in the first."""
    planned = plan.slots()
    required = tuple(compress(planned, planned.values()))
    terms, expansions = search_terms(intent.keywords), search_terms(intent.expansions)
    if ledger is None:
        slots = () if intent.unsupported else required  # figures alone do not answer what was not understood
    elif slots := _empty_slots(intent, plan, ledger):
        labels = (label for slot in slots for label in slot_names(slot, workspace.lexicon.metrics)[:3])
        terms, expansions = search_terms(labels), terms
    else:
        terms, expansions = (*terms, *expansions), ()
    asked = tuple(company.key for company in intent.companies)
    topics = list(map(workspace.lexicon.topic_entries.__getitem__, intent.topics[:2]))
    return Query(
        text=intent.core if ledger is None else complementary_question(slots, intent),
        terms=terms,
        expansions=expansions,
        synonyms=search_terms(workspace.lexicon.filing_terms(intent.core)),
        companies=tuple(dict.fromkeys(slot.company for slot in slots)) or asked,
        unsure=tuple(company.key for company in intent.companies if company.confidence < CERTAIN),
        periods=_periods(intent, slots, workspace),
        dates=intent.dates,
        forms=intent.forms,
        statements=_statements(intent, slots, plan, workspace),
        items=tuple(item for topic in topics for item in topic.items),
        tables=tuple(kind for topic in topics for kind in topic.tables),
        slots=slots,
        printed=tuple(printed_facts(slots, workspace)),
        metrics=workspace.lexicon.metrics_in(intent.core),
        figures=intent.asks_figure and intent.relation is Relation.EACH and not (slots or required),
    )


def _empty_slots(intent: Intent, plan: Plan, ledger: Ledger) -> tuple[Slot, ...]:
    """Return empty slots, the most constraining first, by the filing that would fill most of them.

    Slots of alternatives are included if a term still needs one; those of companies that are not selected are not.
    """
    lacking = missing_slots(plan, intent, ledger)
    of_filing = attrgetter("company", "fiscal_year", "quarter")
    count = Counter(map(of_filing, lacking))
    first = sorted(lacking, key=lambda slot: -count[of_filing(slot)])
    known = ledger.figures
    terms = (*plan.ranked, *selected_terms(plan, intent, ledger))
    open_terms = [term for term in terms if resolve(term.tree, lambda slot: slot in known)[0] is None]
    wanted = {slot for term in open_terms for slot, _ in slots_of(term.tree)}
    return (*first, *(slot for slot in ledger.empty if slot in wanted and slot not in first))


def complementary_question(slots: tuple[Slot, ...], intent: Intent) -> str:
    """Return the next question: the missing figures, grouped by company and periods."""
    if not slots:
        return f"What else do the filings say about: {intent.core}"
    periods: dict[tuple[str, str], list[str]] = {}
    for slot in slots:
        periods.setdefault((slot.company_name, slot.label), []).append(slot.period)
    labels: dict[tuple[str, str], list[str]] = {}
    for (company, label), named in periods.items():
        labels.setdefault((company, join_names(sorted(set(named)))), []).append(label)
    parts = [f"the {join_names(names)} of {company} for {span}" for (company, span), names in labels.items()]
    return f"What are {join_names(parts)}?"


def _periods(intent: Intent, slots: tuple[Slot, ...], workspace: Workspace) -> tuple[FiscalPeriod, ...]:
    found = {FiscalPeriod(fiscal_year=slot.fiscal_year, quarter=slot.quarter) for slot in slots} or set(intent.periods)
    forward = asks_for_outlook(intent)
    for period in () if slots else intent.periods:
        for filed in (workspace.years[company.key] for company in intent.companies):
            meant = filed.resolve(period)[0]
            before = filed.latest_before(meant)
            if before and forward:
                found = (found - {period}) | {before}
            elif before and not filed.covers(meant):
                found |= {meant, before}
            else:
                found.add(meant)
    return tuple(sorted(found, key=lambda period: (period.fiscal_year, period.quarter or 5)))


def asks_for_outlook(intent: Intent) -> bool:
    """Return whether a future year is requested, as expected before it: the filing before it has the plans."""
    one_year = len(intent.periods) == 1 and intent.periods[0].quarter is None
    return one_year and not intent.dates and finds(intent.core, "plans") and not finds(intent.core, "as of")


def _statements(intent: Intent, slots: tuple[Slot, ...], plan: Plan, workspace: Workspace) -> tuple[Statement, ...]:
    """Return the statements that the question names or its slots are on.

    A rate or an amount printed by its name is on none: the inputs of its definition are.
    """
    metrics = workspace.lexicon.metrics
    homes = [slot_metric(slot, metrics).statement for slot in slots if slot.part is None]
    if slots and not any(homes):
        inputs = [metrics[name].statement for name in workspace.lexicon.metrics_in(intent.core) if name in metrics]
        homes += [slot_metric(slot, metrics).statement for slot in plan.slots()] + inputs * (len(inputs) > 1)
    return tuple(dict.fromkeys([*intent.statements, *(home for home in homes if home is not None)]))
