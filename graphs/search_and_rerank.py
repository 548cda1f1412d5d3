"""The search graph, the first steps of the answer graph, and the rerank graph, a tournament of candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.typing import ContextT
from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from fin_agent.analyst.strategy_adapters import CardTournament, judge_for, strategy_for
from fin_agent.errors import QuestionError
from fin_agent.evidence.evidence import FoundPassage, RetrievedPassage, TraceStep
from fin_agent.evidence.tournament.tournament import TournamentSettings
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import Around, add_node
from fin_agent.graphs.answer.search_nodes import (
    Update,
    end_step,
    rewrite_query,
    search_documents,
    search_pages,
    search_passages,
)
from fin_agent.graphs.answer.state import AnswerState, QuestionInput
from fin_agent.graphs.channels import Kept
from fin_agent.index.protocol import FilingIndex, PageKey, StoredPassage
from fin_agent.retrieval.search_query import Depth, RankedFiling, RankedPage, RankedPassage
from fin_agent.vocabulary.ranked_group import RankedGroup


class SearchOutput(TypedDict):
    """Output of a search, each list best first."""

    documents: list[RankedFiling]
    """Filings searched."""
    pages: list[RankedPage]
    passages: list[RetrievedPassage]
    missing: list[str]
    """Requirements that no filing of the index meets: companies and periods that are not indexed."""
    warnings: list[str]
    trace: list[TraceStep]


def chain_builder(
    nodes: Sequence[Callable[[Any, Runtime[Any]], Update]],
    schemas: tuple[type[Any], type[Any], type[Any]],
    context_schema: type[ContextT],
    context_of: Callable[[ContextT], AnswerContext],
    around: Around[ContextT],
) -> StateGraph[Any, ContextT, Any, Any]:
    """Return a graph of nodes that follow each other, to be compiled.

    Args:
        nodes: The nodes in order.
        schemas: Types of state, input and output.
        context_schema: Type of a run's context.
        context_of: Converts a run's context to that of the nodes.
        around: Wraps every node.
    """
    state, given, output = schemas
    builder: StateGraph[Any, ContextT, Any, Any] = StateGraph(
        state, context_schema=context_schema, input_schema=given, output_schema=output
    )
    for node in nodes:
        add_node(builder, node, context_of, around, state)
    for before, after in pairwise((START, *(node.__name__ for node in nodes), END)):
        builder.add_edge(before, after)
    return builder


class RerankInput(QuestionInput, total=False):
    """A question and the passages to rank; without passages, those that a search finds."""

    candidates: Annotated[list[FoundPassage], Kept]


class RankedCandidate(BaseModel):
    """A passage with its new rank."""

    model_config = ConfigDict(frozen=True)

    doc_id: str
    page: int
    """0-based."""
    ordinal: int
    before: int
    """Its rank among the candidates, from 1."""
    score: float
    """Score of the tournament, 0 to 1; 0 for passages that were no finalists."""
    text: str


class RerankState(AnswerState, total=False):
    """State passed between the nodes."""

    candidates: Annotated[list[FoundPassage], Kept]
    ranked: Annotated[list[RankedCandidate], Kept]
    groups: Annotated[list[RankedGroup], Kept]


class RerankOutput(TypedDict):
    """Output of a reranking."""

    ranked: list[RankedCandidate]
    """Best first."""
    groups: list[RankedGroup]
    """The groups of the tournament, in order."""
    warnings: list[str]
    trace: list[TraceStep]


@dataclass(frozen=True)
class RerankContext(AnswerContext):
    """Dependencies and limits of the nodes."""

    candidates: int = 60
    """Number of passages to find, if none are given."""
    kept: int = 10
    """Number of passages returned."""
    tournament: TournamentSettings = field(default_factory=TournamentSettings)


def find_candidates(state: RerankState, runtime: Runtime[RerankContext]) -> Update:
    """Find passages to rank, unless they are given."""
    context = runtime.context
    given = state.get("candidates")
    if given:
        return end_step(state, "find_candidates", f"{len(given)} passages were given", {})
    strategy = context.strategy or strategy_for(context.settings, context.workspace)
    most = context.candidates
    depth = Depth(context.settings.documents, max(most, context.settings.pages), most)
    found = strategy.search(state["query"], state["asked"].scope, depth)
    places = [
        FoundPassage(each.stored.doc_id, each.stored.passage.page, each.stored.passage.ordinal)
        for each in found.passages
    ]
    summary = f"{len(places)} passages by {strategy.name}"
    return end_step(state, "find_candidates", summary, {"candidates": places})


def hold_tournament(state: RerankState, runtime: Runtime[RerankContext]) -> Update:
    """Rank the passages by their cards in a tournament: groups select finalists, rounds settle the order."""
    context = runtime.context
    places = list(dict.fromkeys(state["candidates"]))
    stored = _stored(places, context.workspace.index)
    judge = judge_for(context.settings)
    arena = CardTournament(context.analyst, context.workspace, context.tournament, judge=judge)
    ordered, groups = arena.order(state["query"], [RankedPassage(passage, 0.0) for passage in stored])
    before = {(place.doc_id, place.ordinal): rank for rank, place in enumerate(places, start=1)}
    ranked = [
        RankedCandidate(
            doc_id=each.stored.doc_id,
            page=each.stored.passage.page,
            ordinal=each.stored.passage.ordinal,
            before=before[each.stored.doc_id, each.stored.passage.ordinal],
            score=round(each.score, 6),
            text=each.stored.passage.text,
        )
        for each in ordered[: context.kept]
    ]
    summary = f"the first {len(ranked)} of {len(stored)} passages, {len(groups)} lists ranked"
    # Reset, so that the thread's next question finds its own candidates.
    update: Update = {"ranked": ranked, "groups": list(groups), "candidates": None}
    return end_step(state, "hold_tournament", summary, update)


def _stored(places: Sequence[FoundPassage], index: FilingIndex) -> list[StoredPassage]:
    pages = list(dict.fromkeys(PageKey(place.doc_id, place.page) for place in places))
    stored = {(each.doc_id, each.passage.page, each.passage.ordinal): each for each in index.passages(pages)}
    for place in places:
        if place not in stored:
            raise QuestionError(
                f"passage {place.ordinal} on page {place.page + 1} is not in the index",
                subject=place.doc_id,
                remedy="Give passages as a search returns them, or none",
            )
    return [stored[place] for place in places]


SEARCH = (rewrite_query, search_documents, search_pages, search_passages), (AnswerState, QuestionInput, SearchOutput)
RERANK = (rewrite_query, find_candidates, hold_tournament), (RerankState, RerankInput, RerankOutput)
"""Nodes and schemas of the two graphs."""
