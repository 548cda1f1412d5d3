"""The answer graph with a strategy other than its own staged search."""

from __future__ import annotations

import pytest

from fin_agent.config import Settings
from fin_agent.graphs.answer import AnswerContext, answer_question
from fin_agent.retrieval.strategies.protocol import StrategyError
from fin_agent.workspace import Workspace

CHIEF = "Who was appointed chief executive officer of Tellurond?"


def context(workspace: Workspace, strategy: str) -> AnswerContext:
    return AnswerContext.by_rules(workspace, Settings(strategy=strategy))


@pytest.mark.parametrize(
    "strategy",
    [
        "bm25",
        "hhr:bm25",
        "page-then-chunk:bm25",
        "query-expansion",
        "hirec-no-document-reranker-no-passage-reranker:bm25",
    ],
)
def test_a_strategy_serves_documents_pages_and_passages(workspace: Workspace, strategy: str) -> None:
    answer = answer_question(CHIEF, context(workspace, strategy))
    assert not answer.refused and answer.citations[0].doc_id == "tellurond_2024_8k"
    assert answer.retrieved.documents[0] == "tellurond_2024_8k"
    assert (answer.retrieved.pages[0].doc_id, answer.retrieved.pages[0].page) == ("tellurond_2024_8k", 1)
    searched = next(step for step in answer.trace if step.node == "search_documents")
    assert f"by {strategy}" in searched.summary


def test_the_filings_given_are_all_that_is_searched(workspace: Workspace) -> None:
    answer = answer_question(CHIEF, context(workspace, "bm25"), doc_ids=["tellurond_2023_10k"])
    assert set(answer.retrieved.documents) == {"tellurond_2023_10k"}


def test_each_round_searches_anew_with_what_is_lacking(workspace: Workspace) -> None:
    answer = answer_question("What was Harborlight's inventory turnover in 2024?", context(workspace, "bm25"))
    searched = [step for step in answer.trace if step.node == "search_documents"]
    assert answer.rounds == len(searched) > 1
    assert len({step.details for step in searched}) > 1


def test_what_a_strategy_kept_is_what_is_read(workspace: Workspace) -> None:
    answer = answer_question(CHIEF, context(workspace, "hirec-no-document-reranker-no-passage-reranker:bm25"))
    read = next(step for step in answer.trace if step.node == "search_passages")
    assert "reading the first 1" in read.summary


def test_rounds_are_not_held_around_those_of_a_strategy_that_curates(workspace: Workspace) -> None:
    question = "What was Harborlight's inventory turnover in 2024?"
    answer = answer_question(question, context(workspace, "hirec-no-document-reranker-no-passage-reranker:bm25"))
    searched = [step for step in answer.trace if step.node == "search_documents"]
    assert len(searched) == 1 and "in 4 rounds" in searched[0].summary
    assert sum(detail.startswith("passages: ") for detail in searched[0].details) == 4
    assert any(detail.startswith("curation: none, merged") for detail in searched[0].details)


def test_the_default_is_the_staged_search(workspace: Workspace) -> None:
    assert context(workspace, " Default ").strategy is None
    plain = AnswerContext.by_rules(workspace)
    assert answer_question(CHIEF, plain).trace == answer_question(CHIEF, context(workspace, "default")).trace


def test_what_cannot_be_built_is_told_before_any_question(workspace: Workspace) -> None:
    with pytest.raises(StrategyError, match="no strategy 'best'"):
        context(workspace, "best")
