"""Strategies are built by name, and say what they lack when they are built."""

from __future__ import annotations

import sys

import pytest

from fin_agent.config import Settings
from fin_agent.errors import FinAgentError
from fin_agent.retrieval.strategies.protocol import Models, StrategyError
from fin_agent.retrieval.strategies.registry import build_strategy
from fin_agent.workspace import Workspace
from tests.retrieval.strategies.conftest import Script


@pytest.mark.parametrize("name", ["hyde:bm25", "multi-hyde:bm25", "ircot", "rerank:ircot:bm25"])
def test_without_a_chat_model_it_says_how_to_give_one(workspace: Workspace, name: str) -> None:
    models = Models(scorer=_NoScorer().score)
    with pytest.raises(StrategyError, match=rf"'{name}': it needs a chat model.*FIN_AGENT_CHAT_MODEL=openai"):
        build_strategy(name, workspace, models=models)


def test_what_is_no_strategy_is_told(workspace: Workspace) -> None:
    with pytest.raises(StrategyError, match="no strategy 'best'"):
        build_strategy("best", workspace)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("bm25", "bm25"),
        (" Query_Expansion", "query-expansion"),
        ("rerank:query-expansion:BM25", "rerank:query-expansion:bm25"),
    ],
)
def test_a_strategy_is_called_as_it_is_written(workspace: Workspace, written: str, name: str) -> None:
    assert build_strategy(written, workspace, models=Models(scorer=_NoScorer().score)).name == name


@pytest.mark.parametrize("name", ["dense", "hybrid", "parent-child", "hhr", "page-then-chunk", "hyde", "splade"])
def test_without_the_extra_it_says_what_to_install(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, script: type[Script], name: str
) -> None:
    for module in ("sentence_transformers", "torch", "numpy"):
        monkeypatch.setitem(sys.modules, module, None)
    settings = Settings(sparse_encoder="/nowhere")
    with pytest.raises(FinAgentError, match=r"pip install .\.\[dense\]"):
        build_strategy(name, workspace, settings, Models(writer=script("x").write))


def test_a_sparse_encoder_has_to_be_given(workspace: Workspace) -> None:
    with pytest.raises(StrategyError, match=r"'splade': it needs a sparse encoder.*FIN_AGENT_SPARSE_ENCODER"):
        build_strategy("splade", workspace)


def test_word_strategies_load_nothing_heavy(workspace: Workspace) -> None:
    loaded = set(sys.modules)
    build_strategy("query-expansion:page-then-chunk:bm25", workspace)
    assert not {"torch", "numpy", "sentence_transformers"} & (set(sys.modules) - loaded)


class _NoScorer:
    def score(self, query: str, texts: object) -> list[float]:
        raise AssertionError("nothing is searched")
