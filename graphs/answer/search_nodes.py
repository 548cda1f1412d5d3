"""The nodes that find: rewrite the question, search documents, pages and passages, fetch cards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from langgraph.runtime import Runtime

from fin_agent.analyst.events import StepEnded
from fin_agent.analyst.listening import told
from fin_agent.analyst.rules.dates import with_dated_periods
from fin_agent.analyst.rules.losses import with_losses
from fin_agent.analyst.rules.own_years import with_own_years
from fin_agent.analyst.rules.parts import of_a_part
from fin_agent.answering.answer import PagePlace
from fin_agent.evidence.evidence import RetrievedPassage
from fin_agent.evidence.intent import CompanyAsked, Intent
from fin_agent.evidence.trace import TraceStep
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.refusals import what_cannot_be_met
from fin_agent.graphs.answer.state import AnswerState
from fin_agent.index.protocol import PageKey
from fin_agent.lexicon.companies import Company
from fin_agent.lexicon.fiscal import FiscalPeriod
from fin_agent.retrieval.matching import same_part
from fin_agent.retrieval.query import Depth, Scope, SearchResult
from fin_agent.retrieval.strategies.protocol import Strategy
from fin_agent.retrieval.strategies.staged import Staged
from fin_agent.tools.card_extraction import made_cards
from fin_agent.tools.document_search import search_documents as find_documents
from fin_agent.tools.page_search import search_pages as find_pages
from fin_agent.tools.page_search import search_passages as find_passages
from fin_agent.vocabulary.ranked_group import RankedGroup
from fin_agent.workspace import Workspace

Update = dict[str, Any]


def rewrite_query(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
    """Read the question: its intent, what must be known, what to search for, and whether that can be here at all."""
    context = runtime.context
    intent = with_only_company(context.analyst.intent(state["question"]), context.workspace, state.get("doc_ids"))
    intent = with_losses(of_a_part(intent, context.workspace))
    missing = what_cannot_be_met(intent, context.workspace, state.get("doc_ids"))
    plan = context.analyst.plan(intent)
    query = context.analyst.query(intent, plan, None)
    selection = intent.selection
    step = TraceStep(
        node="rewrite_query",
        round=1,
        summary=f"{intent.relation.value} of {intent.measure or 'words'}: {intent.core}",
        details=(
            f"companies: {', '.join(company.name for company in intent.companies) or 'none named'}",
            f"periods: {', '.join(map(str, intent.periods)) or 'none named'}",
            f"expression: {intent.expression or 'none'}",
            *([f"of the one with the {selection.extreme.value} {selection.expression}"] if selection else []),
            *(f"needs {slot}" for slot, required in plan.slots().items() if required),
            *plan.notes,
            *(f"missing: {what}" for what in missing),
        ),
    )
    return emitted(
        step, {"intent": intent, "plan": plan, "query": query, "round": 1, "missing": missing, "evidence": []}
    )


def with_only_company(intent: Intent, workspace: Workspace, doc_ids: Sequence[str] | None) -> Intent:
    """A question that names no company is about the only one there is, in the index or among `doc_ids`.

    Its dates and years are then that company's. A name that is a segment, product or region of one company alone is no
    company: that one is asked about.
    """
    if not intent.companies:
        intent = _of_only_company(intent, workspace, doc_ids)
    return _of_only_filing(intent, workspace, doc_ids)


def _of_only_company(intent: Intent, workspace: Workspace, doc_ids: Sequence[str] | None) -> Intent:
    companies = workspace.directory.companies
    if doc_ids:
        owners = {workspace.directory.owners.get(doc_id) for doc_id in doc_ids}
        companies = tuple(company for company in companies if company.key in owners)
    names = intent.unknown_companies
    if names and len(companies) <= _MOST_COMPANIES:
        companies = tuple(company for company in companies if _divides_by(names, company, workspace))
    if len(companies) != 1:
        return intent
    (only,) = companies
    note = f"{' and '.join(names)} is a part of {only.name}" if names else ""
    of_it = intent.model_copy(
        update={
            "companies": (CompanyAsked(key=only.key, name=only.name),),
            "unknown_companies": (),
            "assumed": (*intent.assumed, note or f"no company was named: {only.name} is the only one searched"),
        }
    )
    return with_own_years(with_dated_periods(of_it, workspace), workspace)


_MOST_COMPANIES = 200
"""Among more than these it is not looked for whose part a name is."""


def _divides_by(names: Sequence[str], company: Company, workspace: Workspace) -> bool:
    """Whether the company's filings divide figures by parts of all these names."""
    parts = workspace.index.parts(company.doc_ids)
    return all(any(same_part(name, part) for part in parts) for name in names)


def _of_only_filing(intent: Intent, workspace: Workspace, doc_ids: Sequence[str] | None) -> Intent:
    """A question that names no period, asked of one filing, is about that filing's own period."""
    if intent.periods or not doc_ids or len(set(doc_ids)) != 1:
        return intent
    identity = workspace.index.filing(doc_ids[0]).identity
    if identity.fiscal_year is None:
        return intent
    period = FiscalPeriod(fiscal_year=identity.fiscal_year, quarter=identity.quarter)
    if identity.results is not None:
        period = FiscalPeriod(fiscal_year=identity.results.fiscal_year, quarter=identity.results.quarter)
    note = f"no period was named: {period} is that of the only filing searched"
    return intent.model_copy(update={"periods": (period,), "assumed": (*intent.assumed, note)})


def search_documents(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
    """Rank filings; the first few are searched, all are listed as retrieved.

    A strategy other than the default finds pages and passages in the same go: they are kept for the nodes after this.
    """
    context = runtime.context
    settings = context.settings
    listed = max(settings.listed, settings.documents)
    update: Update = {}
    groups: tuple[RankedGroup, ...] = ()
    strategy = _at_once(state, context)
    if strategy is None:
        ranked = find_documents(state["query"], context.workspace, doc_ids=state.get("doc_ids"), limit=listed)
        searched = [filing for filing in ranked[: settings.documents] if filing.score > 0] or ranked[:1]
        summary = f"{len(ranked)} filings, searching the first {len(searched)}"
    else:
        depth = Depth(listed, settings.pages, max(settings.listed, settings.passages))
        result = strategy.search(state["query"], scope_of(state), depth)
        ranked, searched = list(result.filings), list(result.filings[: settings.documents])
        update["found_at_once"] = result
        groups = result.groups
        summary = f"{len(ranked)} filings by {strategy.name}"
        summary += f" in {result.rounds} rounds" if result.rounds > 1 else ""
    step = TraceStep(
        node="search_documents",
        round=state["round"],
        summary=summary,
        details=tuple(f"{filing.doc_id} {filing.score:.3f}" for filing in ranked),
        groups=groups,
    )
    return emitted(
        step,
        {**update, "documents": searched, "found_documents": [filing.doc_id for filing in ranked]},
    )


def search_pages(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
    """Rank the pages of the filings searched."""
    context = runtime.context
    if _at_once(state, context) is None:
        ranked = find_pages(state["query"], state["documents"], context.workspace, limit=context.settings.pages)
    else:
        ranked = list(_found_at_once(state).pages)
    step = TraceStep(
        node="search_pages",
        round=state["round"],
        summary=f"{len(ranked)} pages",
        details=tuple(f"{page.key.doc_id} page {page.key.page + 1} {page.score:.3f}" for page in ranked),
    )
    found = [PagePlace(doc_id=page.key.doc_id, page=page.key.page) for page in ranked]
    # What a score is made of would be most of the state: `fin-agent search --explain` tells it.
    kept = [replace(page, features=()) for page in ranked]
    return emitted(step, {"pages": kept, "found_pages": found})


def search_passages(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
    """Rank the passages of those pages; the first few are read, all are listed as retrieved."""
    context = runtime.context
    settings = context.settings
    read = settings.passages
    update: Update = {}
    if _at_once(state, context) is None:
        ranked = find_passages(
            state["query"], state["pages"], context.workspace, limit=max(settings.listed, settings.passages)
        )
    else:
        at_once = _found_at_once(state)
        ranked = list(at_once.passages)
        read = at_once.kept or read
        update["found_at_once"] = None
    found = [RetrievedPassage.of(entry.stored, entry.score, state["round"]) for entry in ranked]
    step = TraceStep(
        node="search_passages",
        round=state["round"],
        summary=f"{len(found)} passages, reading the first {min(read, len(found))}",
        details=tuple(
            f"{passage.doc_id} page {passage.page + 1} passage {passage.ordinal} ({passage.kind.value})"
            for passage in found
        ),
    )
    places = [passage.found for passage in found]
    return emitted(step, {**update, "passages": found[:read], "found_passages": places})


def _found_at_once(state: AnswerState) -> SearchResult:
    found = state["found_at_once"]
    assert found is not None, "search_documents of this round has put it there"
    return found


def _at_once(state: AnswerState, context: AnswerContext) -> Strategy | None:
    """What searches documents, pages and passages in one go; None where they are searched one after the other."""
    if context.strategy is None and state.get("only_pages"):
        return Staged(context.workspace, context.settings.documents, context.settings.pages)
    return context.strategy


def scope_of(state: AnswerState) -> Scope:
    """What may be retrieved in this run."""
    doc_ids, pages = state.get("doc_ids"), state.get("only_pages")
    return Scope(
        tuple(dict.fromkeys(doc_ids)) if doc_ids else None,
        tuple(PageKey(place.doc_id, place.page) for place in pages) if pages else None,
    )


def extract_cards(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
    """Cards of the passages to be judged."""
    context = runtime.context
    made = made_cards(state["passages"], context.workspace, context.card_maker)
    cards = [one.card for one in made]
    by_model = sum(one.by_model for one in made)
    who = f", {by_model} by the chat model, {len(made) - by_model} by rules"
    step = TraceStep(
        node="extract_cards",
        round=state["round"],
        summary=f"{len(cards)} cards" + (who if context.card_maker is not None else ""),
        details=(
            *(
                f"{card.identity.doc_id} page {card.identity.page + 1}:"
                f" {card.role.value}, {card.evidence_type.value}, {len(card.metrics)} metrics"
                for card in cards
            ),
            *(
                f"{one.card.identity.doc_id} page {one.card.identity.page + 1}"
                f" passage {one.card.identity.ordinal}: {note}"
                for one in made
                for note in one.notes
            ),
        ),
    )
    return emitted(step, {"cards": cards})


def emitted(step: TraceStep, update: Update) -> Update:
    """Tell whoever listens, and put the step on the audit trace."""
    told(StepEnded(node=step.node, round=step.round, summary=step.summary))
    return {**update, "trace": [step]}
