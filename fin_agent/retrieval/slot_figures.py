"""Find the figures that fill slots: by words, in a given table, or at a given place."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace

from fin_agent.index.protocol import FilingIndex, PageKey, SourcedFact
from fin_agent.lexicon.slots import Slot
from fin_agent.retrieval.fact_search import (
    FactHit,
    FactQuery,
    FactSearchResult,
    find_facts,
    is_of_two_countries,
    kept_once,
    matches_period,
    with_own_unit,
)
from fin_agent.retrieval.fact_terms import OF_TIME, address_of, words_of
from fin_agent.retrieval.nearest_figure import LIKELY_ENOUGH, FigureTarget, find_nearest_figure, other_phrases
from fin_agent.retrieval.search_query import EVERYTHING, Scope
from fin_agent.retrieval.sibling_cells import Siblings, matching_siblings, may_span_pages, siblings_of
from fin_agent.retrieval.slot_matching import same_part
from fin_agent.workspace import Workspace


def printed_facts(slots: Iterable[Slot], workspace: Workspace, scope: Scope = EVERYTHING) -> list[SourcedFact]:
    """Return the facts that fact search finds for slots of printed lines; slots of plain metrics are skipped.

    Each fact carries the slot's `fact_name` as its metric, so that `fills_slot` recognizes it. Close matches with other
    values are included, so that the caller can refuse to choose between them.
    """
    return [
        SourcedFact(hit.sourced.doc_id, replace(hit.sourced.fact, metric=slot.fact_name))
        for slot in slots
        if slot.is_searched
        for hit in facts_for(slot, workspace, scope).matches
    ]


def facts_for(slot: Slot, workspace: Workspace, scope: Scope = EVERYTHING) -> FactSearchResult:
    """Return what fact search finds for a slot, cached until the list of filings changes."""

    def search() -> FactSearchResult:
        if slot.table:
            return _figure_in_table(slot, workspace, scope)
        found = find_facts(workspace, query_for(slot), company=slot.company, scope=scope, limit=_MAX_PRINTS)
        return found if found.matches else _most_likely(slot, workspace, scope) or found

    return kept_once(workspace.index, "figures", (slot, scope), search, most=_MAX_FIGURES)


def _most_likely(slot: Slot, workspace: Workspace, scope: Scope) -> FactSearchResult | None:
    """Return the figure of a table that is nearest to the words of a slot, if it is likely enough to be meant.

    It has to name the part that the slot asks for; without one, it is a part of the metric's printed total.
    """
    if words_of(slot.phrase) <= words_of(slot.part or ""):
        return None  # the part's own words say nothing of what is measured
    text, lexicon = f"{slot.part or ''} {slot.phrase}", workspace.lexicon
    target = FigureTarget(
        words=words_of(text) - OF_TIME,
        metrics=tuple((words_of(one.phrase), one.id) for one in lexicon.mentions(text) if one.id in lexicon.metrics),
        phrases=other_phrases(text),
        fiscal_year=slot.fiscal_year,
        quarter=slot.quarter,
        months=slot.months,
    )
    near = find_nearest_figure(workspace, target, company=slot.company, of_totals=slot.part is None)
    if near is None or near.chance < LIKELY_ENOUGH or not scope.holds(near.sourced.key):
        return None
    fact = near.sourced.fact
    found = address_of(fact)
    named = words_of(slot.part or "") <= found.line | found.heads | found.column | found.members
    named = (named or same_part(fact.scope, slot.part)) and not is_of_two_countries(fact, words_of(slot.part or ""))
    known = [one.id for one in lexicon.mentions(fact.label) if one.phrase.lower() == fact.label.lower()]
    of_another = slot.metric and known and slot.metric not in known  # `Gross profit` is no operating income
    fits = named and not of_another and fact.source != "text" and matches_period(fact, query_for(slot))
    return FactSearchResult((FactHit(near.sourced, 1.0),)) if fits else None


def _figure_in_table(slot: Slot, workspace: Workspace, scope: Scope) -> FactSearchResult:
    """Return the figure of a slot with a given table, that of its part or the total, or the one at a given place."""
    query, index = query_for(slot), workspace.index
    if slot.table.startswith(_ONE_FIGURE):
        doc_id, page = slot.table.removeprefix(_ONE_FIGURE).split("#")[:2]
        on_page = index.facts([doc_id], pages=[PageKey(doc_id, int(page))])
        held = (each for each in on_page if figure_place(each) == slot.table)
    else:
        tables = itertools.chain.from_iterable(_tables_of(slot.table, index, others=one) for one in (False, True))
        members = (member for siblings in tables if (member := siblings.member_named(slot.part)) is not None)
        figures = (each for member in members for each in member.facts.values())
        held = (each for each in figures if matches_period(each.fact, query))
    found = next((each for each in held if scope.holds(each.key)), None)
    return FactSearchResult(() if found is None else (FactHit(with_own_unit(found), 1.0),))


def figure_place(sourced: SourcedFact) -> str:
    """Return the place of one figure in the form of a slot's `table`."""
    fact = sourced.fact
    return f"{_ONE_FIGURE}{sourced.doc_id}#{fact.page}#{fact.line}#{fact.box.x0:.1f}#{fact.amount}"


_ONE_FIGURE = "figure:"
_MAX_PRINTS = 60
_MAX_TABLES, _MAX_FIGURES = 32, 4096
_TOLD = 3


def _tables_of(anchor: str, index: FilingIndex, *, others: bool) -> list[Siblings]:
    """Return the siblings of an anchor; with `others`, those in other tables of the filing, as for other years."""

    def read() -> list[Siblings]:
        doc_id, page = anchor.split("#")[:2]
        pages = None if others or may_span_pages(anchor) else [PageKey(doc_id, int(page))]
        facts = index.facts([doc_id], pages=pages)
        if not others:
            return siblings_of(anchor, facts)
        return [each for one in _tables_of(anchor, index, others=False)[:1] for each in matching_siblings(one, facts)]

    return kept_once(index, "tables", (anchor, others), read, most=_MAX_TABLES)


def ambiguity_reason(slot: Slot, workspace: Workspace, scope: Scope = EVERYTHING) -> str:
    """Return why no fact that was found may fill the slot; empty where one may, or where none is close."""
    found = facts_for(slot, workspace, scope)
    if found.rivals:
        told = [f"{_candidate_places(hit)} {hit.sourced.fact.amount:,}" for hit in found.rivals[:_TOLD]]
        return f"several lines fit: {'; '.join(told)}"
    if found.best is None or found.is_sure:
        return ""
    lacks = f", which does not mention {', '.join(found.best.missing)}" if found.best.missing else ""
    return f"the nearest line is {_candidate_places(found.best)}{lacks}"


def _candidate_places(hit: FactHit) -> str:
    fact = hit.sourced.fact
    return f"{' > '.join(fact.row_path)!r} ({hit.sourced.doc_id} page {fact.page + 1})"


def query_for(slot: Slot) -> FactQuery:
    """Return the fact search query for a slot."""
    return FactQuery(slot.phrase, slot.fiscal_year, slot.quarter, slot.months, slot.part, slot.metric or None)
