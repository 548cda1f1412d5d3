"""The nodes of a reranking: find candidates, hold the tournament. The question is read as the answer graph reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from langgraph.runtime import Runtime

from fin_agent.analyst.strategies import CardArena, judge_for, strategy_for
from fin_agent.config import Settings
from fin_agent.errors import QuestionError
from fin_agent.evidence.evidence import FoundPassage
from fin_agent.evidence.tournament.judge import TournamentSettings
from fin_agent.evidence.trace import TraceStep
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.search_nodes import emitted, scope_of
from fin_agent.graphs.answer.state import AnswerState
from fin_agent.graphs.rerank.state import RankedCandidate, RerankState
from fin_agent.index.protocol import FilingIndex, PageKey, StoredPassage
from fin_agent.retrieval.query import Depth, RankedPassage

Update = dict[str, Any]


@dataclass(frozen=True)
class RerankContext:
    """What the nodes depend on, and how far they go."""

    answer: AnswerContext
    candidates: int = 60
    """Passages found, where none are given."""
    kept: int = 10
    """Passages returned."""
    rounds: int = 5
    seed: int = 0

    @property
    def settings(self) -> Settings:
        """Those of the run."""
        return self.answer.settings


def find_candidates(state: RerankState, runtime: Runtime[RerankContext]) -> Update:
    """Find passages to put into order, unless they were given."""
    context = runtime.context.answer
    given = state.get("candidates")
    if given:
        step = TraceStep(node="find_candidates", round=1, summary=f"{len(given)} passages were given")
        return emitted(step, {})
    strategy = context.strategy or strategy_for(context.settings, context.workspace)
    most = runtime.context.candidates
    depth = Depth(context.settings.documents, max(most, context.settings.pages), most)
    found = strategy.search(state["query"], scope_of(cast(AnswerState, state)), depth)
    places = [
        FoundPassage(each.stored.doc_id, each.stored.passage.page, each.stored.passage.ordinal)
        for each in found.passages
    ]
    step = TraceStep(node="find_candidates", round=1, summary=f"{len(places)} passages by {strategy.name}")
    return emitted(step, {"candidates": places})


def hold_tournament(state: RerankState, runtime: Runtime[RerankContext]) -> Update:
    """Rank the passages by their cards: groups send finalists on, rounds settle the order."""
    context = runtime.context.answer
    places = list(dict.fromkeys(state["candidates"]))
    stored = _stored(places, context.workspace.index)
    settings = TournamentSettings(rounds=runtime.context.rounds, seed=runtime.context.seed)
    arena = CardArena(context.analyst, context.workspace, settings, judge=judge_for(context.settings))
    ordering = arena.order(state["query"], [RankedPassage(passage, 0.0) for passage in stored])
    before = {(place.doc_id, place.ordinal): rank for rank, place in enumerate(places, start=1)}
    ranked = [_candidate(each, before) for each in ordering.passages[: runtime.context.kept]]
    summary = f"the first {len(ranked)} of {len(stored)} passages, {len(ordering.groups)} lists ranked"
    step = TraceStep(node="hold_tournament", round=1, summary=summary)
    return emitted(step, {"ranked": ranked, "groups": list(ordering.groups)})


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
