"""Rankings fused by rank."""

from __future__ import annotations

import sys

import pytest

from fin_agent.retrieval.strategies.protocol import StrategyError
from fin_agent.retrieval.strategies.rank_fusion import fused, reciprocal_rank_fusion


def test_ranks_are_fused_as_published() -> None:
    pytest.importorskip("langchain_classic", reason="fusing needs langchain-classic")
    first = [("a", 9.0), ("b", 8.0), ("c", 7.0)]
    second = [("c", 0.9), ("b", 0.8), ("d", 0.7)]
    # 1/61 + 1/63 for c, 2/62 for b, 1/61 for a, 1/63 for d
    assert [key for key, _ in fused([first, second], reciprocal_rank_fusion(2))] == ["c", "b", "a", "d"]
    assert [score for _, score in fused([first, second], reciprocal_rank_fusion(2))] == [1, 1 / 2, 1 / 3, 1 / 4]


def test_of_equals_the_one_the_first_ranking_names_comes_first() -> None:
    pytest.importorskip("langchain_classic", reason="fusing needs langchain-classic")
    assert [key for key, _ in fused([[("b", 1.0)], [("a", 1.0)]], reciprocal_rank_fusion(2))] == ["b", "a"]
    assert fused([[], []], reciprocal_rank_fusion(2)) == []


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain_classic", None)
    monkeypatch.setitem(sys.modules, "langchain_classic.retrievers.ensemble", None)
    with pytest.raises(StrategyError, match=r"langchain-classic.*pip install \"\.\[dense\]\""):
        reciprocal_rank_fusion(2)
