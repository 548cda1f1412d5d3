"""The search graph, the first steps of the answer graph, and the rerank graph, a tournament of candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.typing import ContextT
from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from fin_agent.analyst.strategy_adapters import CardTournament, judge_for, strategy_for
from fin_agent.config import Settings
from fin_agent.errors import QuestionError
from fin_agent.evidence.evidence import FoundPassage, RetrievedPassage
from fin_agent.evidence.tournament.judge import TournamentSettings
from fin_agent.evidence.trace import TraceStep
from fin_agent.graphs.answer import search_nodes
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import Around, add_node
from fin_agent.graphs.answer.search_nodes import Update, emit_step, rewrite_query
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


SearchGraph = CompiledStateGraph[AnswerState, AnswerContext, QuestionInput, SearchOutput]


@lru_cache(maxsize=1)
def build_search_graph() -> SearchGraph:
    """Return the compiled graph; it is stateless and can be shared."""
    return search_builder(AnswerContext, lambda context: context).compile(name="search")


def search_builder(
    context_schema: type[ContextT],
    context_of: Callable[[ContextT], AnswerContext],
    around: Around[ContextT] = lambda node: node,
) -> StateGraph[AnswerState, ContextT, QuestionInput, SearchOutput]:
    """Return the graph, to be compiled.

    Args:
        context_schema: Type of a run's context.
        context_of: Converts a run's context to an AnswerContext.
        around: Wraps every node.
    """
    builder: StateGraph[AnswerState, ContextT, QuestionInput, SearchOutput] = StateGraph(
        AnswerState, context_schema=context_schema, input_schema=QuestionInput, output_schema=SearchOutput
    )
    nodes = (
        search_nodes.rewrite_query,
        search_nodes.search_documents,
        search_nodes.search_pages,
        search_nodes.search_passages,
    )
    for node in nodes:
        add_node(builder, node, context_of, around)
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
class RerankContext:
    """Dependencies and limits of the nodes."""

    answer: AnswerContext
    candidates: int = 60
    """Number of passages to find, if none are given."""
    kept: int = 10
    """Number of passages returned."""
    rounds: int = 5
    seed: int = 0

    @property
    def settings(self) -> Settings:
        """Settings of the run."""
        return self.answer.settings


RerankGraph = CompiledStateGraph[RerankState, RerankContext, RerankInput, RerankOutput]


@lru_cache(maxsize=1)
def build_rerank_graph() -> RerankGraph:
    """Return the compiled graph; it is stateless and can be shared."""
    return rerank_builder(RerankContext, lambda context: context).compile(name="rerank")


def rerank_builder(
    context_schema: type[ContextT],
    context_of: Callable[[ContextT], RerankContext],
    around: Callable[[Any], Any] = lambda node: node,
) -> StateGraph[RerankState, ContextT, RerankInput, RerankOutput]:
    """Return the graph, to be compiled.

    Args:
        context_schema: Type of a run's context.
        context_of: Converts a run's context to a RerankContext.
        around: Wraps every node.
    """
    builder: StateGraph[RerankState, ContextT, RerankInput, RerankOutput] = StateGraph(
        RerankState, context_schema=context_schema, input_schema=RerankInput, output_schema=RerankOutput
    )
    add_node(builder, rewrite_query, lambda given: context_of(given).answer, around, RerankState)
    add_node(builder, find_candidates, context_of, around, RerankState)
    add_node(builder, hold_tournament, context_of, around, RerankState)
    for before, after in pairwise((START, "rewrite_query", "find_candidates", "hold_tournament", END)):
        builder.add_edge(before, after)
    return builder


def find_candidates(state: RerankState, runtime: Runtime[RerankContext]) -> Update:
    """Find passages to rank, unless they are given."""
    context = runtime.context.answer
    given = state.get("candidates")
    if given:
        step = TraceStep(node="find_candidates", round=1, summary=f"{len(given)} passages were given")
        return emit_step(step, {})
    strategy = context.strategy or strategy_for(context.settings, context.workspace)
    most = runtime.context.candidates
    depth = Depth(context.settings.documents, max(most, context.settings.pages), most)
    found = strategy.search(state["query"], state["asked"].scope, depth)
    places = [
        FoundPassage(each.stored.doc_id, each.stored.passage.page, each.stored.passage.ordinal)
        for each in found.passages
    ]
    step = TraceStep(node="find_candidates", round=1, summary=f"{len(places)} passages by {strategy.name}")
    return emit_step(step, {"candidates": places})


def hold_tournament(state: RerankState, runtime: Runtime[RerankContext]) -> Update:
    """Rank the passages by their cards in a tournament: groups select finalists, rounds settle the order."""
    context = runtime.context.answer
    places = list(dict.fromkeys(state["candidates"]))
    stored = _stored(places, context.workspace.index)
    settings = TournamentSettings(rounds=runtime.context.rounds, seed=runtime.context.seed)
    arena = CardTournament(context.analyst, context.workspace, settings, judge=judge_for(context.settings))
    ordering = arena.order(state["query"], [RankedPassage(passage, 0.0) for passage in stored])
    before = {(place.doc_id, place.ordinal): rank for rank, place in enumerate(places, start=1)}
    ranked = [_candidate(each, before) for each in ordering.passages[: runtime.context.kept]]
    summary = f"the first {len(ranked)} of {len(stored)} passages, {len(ordering.groups)} lists ranked"
    step = TraceStep(node="hold_tournament", round=1, summary=summary)
    # Reset, so that the thread's next question finds its own candidates.
    return emit_step(step, {"ranked": ranked, "groups": list(ordering.groups), "candidates": None})


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


def _candidate(ranked: RankedPassage, before: dict[tuple[str, int], int]) -> RankedCandidate:
    passage = ranked.stored.passage
    return RankedCandidate(
        doc_id=ranked.stored.doc_id,
        page=passage.page,
        ordinal=passage.ordinal,
        before=before[ranked.stored.doc_id, passage.ordinal],
        score=round(ranked.score, 6),
        text=passage.text,
    )
