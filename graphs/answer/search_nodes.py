"""The search nodes: rewrite the question, search documents, pages and passages, extract cards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from langgraph.runtime import Runtime

from fin_agent.analyst.events import StepEnded, emit
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.rules.curation import cards_of
from fin_agent.answering.answer import PagePlace
from fin_agent.errors import QuestionError
from fin_agent.evidence.evidence import RetrievedPassage, TraceStep
from fin_agent.evidence.intent import Intent
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.question_scope import (
    company_clarification,
    intent_in,
    measure_clarification,
    unmet_requirements,
)
from fin_agent.graphs.answer.state import AnswerState, AskedQuestion
from fin_agent.retrieval.document_ranking import rank_filings
from fin_agent.retrieval.page_ranking import rank_pages, rank_passages
from fin_agent.retrieval.search_query import Depth, Query
from fin_agent.retrieval.strategies.one_pass import Staged
from fin_agent.retrieval.strategies.protocol import Strategy
from fin_agent.vocabulary.ranked_group import RankedGroup
from fin_agent.workspace import Workspace

Update = dict[str, Any]


def rewrite_query(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
    """Read the question: its intent, plan and query, and what the index cannot provide."""
    context = runtime.context
    asked = _validated_question(state)
    intent = intent_in(asked.doc_ids, asked.question, context.analyst, context.workspace)
    intent = _with_clarification(intent, asked, context)
    missing = unmet_requirements(intent, context.workspace, asked.doc_ids)
    asks = list(context.analyst.split_asks(intent))
    plan = context.analyst.plan(intent)
    searching = RulesAnalyst(context.workspace) if missing else context.analyst  # no model call if nothing is searched
    query = searching.query(intent, plan, None)
    selection = intent.selection
    begun = {"asked": asked, "intent": intent, "plan": plan, "query": query, "round": 1, "asks": asks}
    return end_step(
        state,
        "rewrite_query",
        f"{intent.relation.value} of {intent.measure or 'words'}: {intent.core}",
        {**begun, "missing": missing, "evidence": []},
        round=1,
        details=(
            f"companies: {', '.join(company.name for company in intent.companies) or 'none named'}",
            f"periods: {', '.join(map(str, intent.periods)) or 'none named'}",
            f"expression: {intent.expression or 'none'}",
            *([f"of the one with the {selection.extreme.value} {selection.expression}"] if selection else []),
            *(f"needs {slot}" for slot, required in plan.slots().items() if required),
            *(f"asks: {ask}" for ask in asks if len(asks) > 1),
            *plan.notes,
            *(f"missing: {what}" for what in missing),
        ),
    )


def _with_clarification(intent: Intent, asked: AskedQuestion, context: AnswerContext) -> Intent:
    """Ask back about open points if a model answers a person, else note them as assumptions."""
    workspace, analyst = context.workspace, context.analyst
    left_open = [point for point in (intent.ask_back, measure_clarification(intent, workspace)) if point]
    ask_back = ""
    if context.asks_back and not analyst.has_free_judging:
        ask_back = next(iter(left_open), company_clarification(intent, workspace, asked.doc_ids))
    assumed = [f"the question leaves open: {point}" for point in left_open if point != ask_back]
    return intent.model_copy(update={"ask_back": ask_back, "assumed": (*intent.assumed, *assumed)})


def _validated_question(state: AnswerState) -> AskedQuestion:
    """Return the input of the run. Raises QuestionError if it is no valid question."""
    question, doc_ids, pages = state.get("question"), state.get("doc_ids"), state.get("only_pages")
    if not isinstance(question, str):
        raise QuestionError("there is no question", remedy='Give one: {"question": "..."}')
    return AskedQuestion(
        question=question,
        id=state.get("id"),
        doc_ids=tuple(dict.fromkeys(doc_ids)) if doc_ids else None,
        pages=tuple(pages) if pages else None,
    )


def with_search_words(query: Query, words: str, workspace: Workspace) -> Query:
    """Return the query for `words`, read as a question; companies and periods default to those of `query`."""
    analyst = RulesAnalyst(workspace)
    intent = analyst.intent(words)
    read = analyst.query(intent, analyst.plan(intent), None)
    return replace(read, companies=read.companies or query.companies, periods=read.periods or query.periods)


def search_documents(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
    """Rank filings; the first few are searched, all are listed as retrieved.

    A strategy other than the default also finds pages and passages here, which the next nodes use.
    """
    context = runtime.context
    settings = context.settings
    listed = max(settings.listed, settings.documents)
    update: Update = {}
    groups: tuple[RankedGroup, ...] = ()
    stages: tuple[str, ...] = ()
    strategy = context.strategy
    if strategy is None and state["asked"].pages:
        strategy = Strategy("default", Staged(context.workspace, settings.documents, settings.pages).search)
    if strategy is None:
        # Filings of other companies come last with a score of 0: they are listed, not searched.
        within = state["asked"].doc_ids
        ranked = rank_filings(state["query"], context.workspace, within=within, limit=listed, others_too=True)
        searched = [filing for filing in ranked[: settings.documents] if filing.score > 0] or ranked[:1]
        summary = f"{len(ranked)} filings, searching the first {len(searched)}"
    else:
        depth = Depth(listed, settings.pages, max(settings.listed, settings.passages))
        result = strategy.search(state["query"], state["asked"].scope, depth)
        ranked, searched = list(result.filings), list(result.filings[: settings.documents])
        update |= {"found_at_once": result, "curated": result.curated}
        groups, stages = result.groups, tuple(map(str, result.steps))
        summary = f"{len(ranked)} filings by {strategy.name}"
        summary += f" in {result.rounds} rounds" if result.rounds > 1 else ""
    return end_step(
        state,
        "search_documents",
        summary,
        {**update, "documents": searched, "found_documents": [filing.doc_id for filing in ranked]},
        details=(*(f"{filing.doc_id} {filing.score:.3f}" for filing in ranked), *stages),
        groups=groups,
    )


def search_pages(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
    """Rank the pages of the filings searched."""
    context, at_once = runtime.context, state.get("found_at_once")
    if at_once is None:
        ranked = rank_pages(state["query"], state["documents"], context.workspace, limit=context.settings.pages)
    else:
        ranked = list(at_once.pages)
    found = [PagePlace(doc_id=page.key.doc_id, page=page.key.page) for page in ranked]
    # The terms of the scores would dominate the state: `fin-agent search --explain` shows them.
    kept = [replace(page, features=()) for page in ranked]
    return end_step(
        state,
        "search_pages",
        f"{len(ranked)} pages",
        {"pages": kept, "found_pages": found},
        details=tuple(f"{page.key.doc_id} page {page.key.page + 1} {page.score:.3f}" for page in ranked),
    )


_MAX_ON_PAGES = 1_000
"""Most passages on the pages of a round."""


def search_passages(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
    """Rank the passages of those pages; the first few are read, all are listed as retrieved."""
    context = runtime.context
    settings = context.settings
    how = ""
    read, at_once = settings.passages, state.get("found_at_once")
    if at_once is None:
        ranked = rank_passages(state["query"], state["pages"], context.workspace, limit=_MAX_ON_PAGES)
        if state["round"] == 1:
            ordered = context.analyst.ranked(state["intent"], state["plan"], state["query"], ranked)
            how = "" if ordered is ranked else ", as the chat model ranks their cards"
            ranked = list(ordered)
        ranked = ranked[: max(settings.listed, settings.passages)]
    else:
        ranked = list(at_once.passages)
        read = at_once.kept or read
    dropped = {tuple(key) for key in state.get("dropped", [])}
    ranked = [entry for entry in ranked if (entry.stored.doc_id, entry.stored.passage.ordinal) not in dropped]
    found = [RetrievedPassage.of(entry.stored, entry.score, state["round"]) for entry in ranked]
    return end_step(
        state,
        "search_passages",
        f"{len(found)} passages, reading the first {min(read, len(found))}{how}",
        {"passages": found[:read], "found_passages": [passage.found for passage in found], "found_at_once": None},
        details=tuple(
            f"{passage.doc_id} page {passage.page + 1} passage {passage.ordinal} ({passage.kind.value})"
            for passage in found
        ),
    )


def extract_cards(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
    """Extract the cards of the passages to be judged."""
    context, passages = runtime.context, state["passages"]
    cards = cards_of(passages, context.workspace.index)
    summary = f"{len(cards)} cards"
    notes: list[str] = []
    if context.card_maker is not None:
        stored, cards = cards, []
        for base, passage in zip(stored, passages, strict=True):
            card, rejected = context.card_maker.make(base, passage.text)
            cards.append(card)
            place = f"{passage.doc_id} page {passage.page + 1} passage {passage.ordinal}"
            notes += [f"{place}: {note}" for note in rejected]
        by_rules = sum(card is base for card, base in zip(cards, stored, strict=True))
        summary += f", {len(cards) - by_rules} by the chat model, {by_rules} by rules"
    return end_step(
        state,
        "extract_cards",
        summary,
        {"cards": cards},
        details=(
            *(
                f"{card.identity.doc_id} page {card.identity.page + 1}:"
                f" {card.role.value}, {card.evidence_type.value}, {len(card.metrics)} metrics"
                for card in cards
            ),
            *notes,
        ),
    )


def end_step(state: AnswerState, node: str, summary: str, update: Update, **noted: Any) -> Update:
    """Emit the end of a step, and return its update with the step, which has `noted` as well, in its trace."""
    noted = {"round": state.get("round", 1), **noted}
    step = TraceStep(node=node, summary=summary, **noted)
    emit(StepEnded(node=step.node, round=step.round, summary=step.summary))
    return {**update, "trace": [step]}
