"""`rerank`: the first passages of another strategy in a new order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import pytest

from fin_agent.config import Settings
from fin_agent.errors import FinAgentError
from fin_agent.retrieval.search_query import Depth, Query, Scope
from fin_agent.retrieval.strategies.protocol import Models, StrategyError
from fin_agent.retrieval.strategies.registry import build_strategy
from fin_agent.workspace import Workspace
from tests.retrieval.strategies.conftest import SUIT, key_of


class Longest:
    """Likes long texts."""

    def __init__(self) -> None:
        self.given: list[tuple[str, int]] = []

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        self.given.append((query, len(texts)))
        return [float(len(text)) for text in texts]


@pytest.mark.parametrize("base", ["bm25", "page-then-chunk:bm25", "default"])
def test_the_first_fifty_are_ordered_anew(workspace: Workspace, asked: Callable[[str], Query], base: str) -> None:
    scorer, query = Longest(), asked(SUIT)
    first = build_strategy(base, workspace).search(query, depth=Depth(5, 20, 50))
    found = build_strategy(f"rerank:{base}", workspace, models=Models(scorer=scorer.score)).search(query)
    assert scorer.given == [(query.text, len(first.passages))]
    assert len(found.passages) == 10
    by_length = sorted(first.passages, key=lambda passage: -len(passage.stored.passage.text))
    assert [key_of(passage) for passage in found.passages] == [key_of(passage) for passage in by_length[:10]]
    assert found.pages[0].key == by_length[0].stored.key
    assert found.filings[0].doc_id == by_length[0].stored.doc_id
    assert (len(found.pages), len(found.filings)) == (20, 5)


def test_what_comes_behind_the_fiftieth_stays(workspace: Workspace, asked: Callable[[str], Query]) -> None:
    query = asked("How did net sales change?")
    base = build_strategy("bm25", workspace).search(query, depth=Depth(5, 20, 60))
    found = build_strategy("rerank:bm25", workspace, models=Models(scorer=Longest().score)).search(
        query, depth=Depth(5, 20, 60)
    )
    assert [key_of(passage) for passage in found.passages[50:]] == [key_of(passage) for passage in base.passages[50:]]
    assert {key_of(passage) for passage in found.passages} == {key_of(passage) for passage in base.passages}


def test_it_stays_in_scope(workspace: Workspace, asked: Callable[[str], Query]) -> None:
    reranked = build_strategy("rerank:bm25", workspace, models=Models(scorer=Longest().score))
    found = reranked.search(asked(SUIT), Scope(doc_ids=("quillmark_2023_10k",)))
    assert {passage.stored.doc_id for passage in found.passages} == {"quillmark_2023_10k"}
    assert reranked.search(Query("?", terms=())).passages == ()


def test_without_a_cross_encoder_it_says_how_to_give_one(workspace: Workspace) -> None:
    with pytest.raises(StrategyError, match=r"'rerank:bm25': it needs a cross-encoder.*FIN_AGENT_RERANKER"):
        build_strategy("rerank:bm25", workspace)


def test_without_the_library_it_says_what_to_install(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(FinAgentError, match=r"\.\[dense\]"):
        build_strategy("rerank:bm25", workspace, Settings(reranker="/nowhere"))


def test_as_many_are_ordered_anew_as_the_settings_say(workspace: Workspace, asked: Callable[[str], Query]) -> None:
    scorer = Longest()
    settings, models = Settings(rerank_candidates=20), Models(scorer=scorer.score)
    build_strategy("rerank:bm25", workspace, settings, models).search(asked(SUIT))
    assert [count for _, count in scorer.given] == [20]
