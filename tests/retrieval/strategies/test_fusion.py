"""Rankings fused by rank."""

from __future__ import annotations

from fin_agent.index.protocol import VectorUnit
from fin_agent.retrieval.search_query import EVERYTHING
from fin_agent.retrieval.strategies.one_pass import Place, Ranker, Scored, Wording, rank_fused


def fixed(found: Scored) -> Ranker:
    """A ranker that always finds the same."""
    return lambda unit, wording, scope, limit: found


def fused(*rankings: Scored) -> Scored:
    return rank_fused([*map(fixed, rankings)], VectorUnit.PASSAGE, Wording(("x",)), EVERYTHING, 9)


def test_ranks_are_fused_as_published() -> None:
    a, b, c, d = map(Place, "abcd")
    first, second = [(a, 9.0), (b, 8.0), (c, 7.0)], [(c, 0.9), (b, 0.8), (d, 0.7)]
    # 1/61 + 1/63 for c, 2/62 for b, 1/61 for a, 1/63 for d
    assert fused(first, second) == [(c, 1), (b, 1 / 2), (a, 1 / 3), (d, 1 / 4)]


def test_of_equals_the_one_the_first_ranking_names_comes_first() -> None:
    assert [place.doc_id for place, _ in fused([(Place("b"), 1.0)], [(Place("a"), 1.0)])] == ["b", "a"]
    assert fused([], []) == []
