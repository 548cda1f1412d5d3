"""The retriever: three levels, what narrows, the metadata, sync and async, alone and in a chain."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from pydantic import ValidationError

from fin_agent import FinAgentRetriever
from fin_agent.errors import FilingIndexError
from fin_agent.index.protocol import PageKey
from fin_agent.retrieval.strategies.protocol import StrategyError
from fin_agent.tools.errors import ToolInputError
from fin_agent.workspace import Workspace

QUESTION = "What was Harborlight's net income in FY2023?"
OF_A_FILING = {"doc_id", "company", "ticker", "form", "fiscal_year", "quarter", "period_end", "level", "score"}
OF_A_PAGE = OF_A_FILING | {"page", "page_number"}


def found(workspace: Workspace, level: str, **given: object) -> list[Document]:
    return FinAgentRetriever.model_validate({"workspace": workspace, "level": level, **given}).invoke(QUESTION)


def test_passages_with_their_place(workspace: Workspace) -> None:
    best = found(workspace, "passage", k=3)[0]
    assert set(best.metadata) == OF_A_PAGE | {"ordinal", "kind", "box"}
    named = {name: best.metadata[name] for name in ("doc_id", "page", "page_number", "ticker", "form", "fiscal_year")}
    assert named == {
        "doc_id": "harborlight_2023_10k", "page": 8, "page_number": 9, "ticker": "HLGT", "form": "10-K",
        "fiscal_year": 2023,
    }  # fmt: skip
    (stored,) = [
        each
        for each in workspace.index.passages([PageKey("harborlight_2023_10k", 8)])
        if each.passage.ordinal == best.metadata["ordinal"]
    ]
    assert best.page_content == stored.passage.text
    assert best.id == f"harborlight_2023_10k/9/{stored.passage.ordinal}"


def test_boxes_are_those_of_tables(workspace: Workspace) -> None:
    passages = found(workspace, "passage", k=20)
    tables = [each for each in passages if each.metadata["kind"] == "table"]
    assert tables
    for each in passages:
        assert (each.metadata["box"] is not None) == (each.metadata["kind"] == "table")
    assert all(len(each.metadata["box"]) == 4 for each in tables)


def test_pages_with_what_they_are(workspace: Workspace) -> None:
    pages = found(workspace, "page", k=4)
    assert len(pages) == 4
    assert set(pages[0].metadata) == OF_A_PAGE | {"title", "item", "statement"}
    assert (pages[0].metadata["doc_id"], pages[0].metadata["page"]) == ("harborlight_2023_10k", 8)
    assert pages[0].metadata["statement"] == "income"
    assert "Net income" in pages[0].page_content


def test_filings_by_their_summary(workspace: Workspace) -> None:
    filings = found(workspace, "document", k=2)
    assert set(filings[0].metadata) == OF_A_FILING | {"pages"}
    assert filings[0].metadata["doc_id"] == "harborlight_2023_10k"
    assert filings[0].metadata["period_end"] == "2023-12-31"
    assert "Harborlight" in filings[0].page_content


@pytest.mark.parametrize("level", ["document", "page", "passage"])
def test_best_first_and_always_the_same(workspace: Workspace, level: str) -> None:
    first, second = found(workspace, level, k=5), found(workspace, level, k=5)
    scores = [each.metadata["score"] for each in first]
    assert first == second
    assert scores == sorted(scores, reverse=True)
    assert len({each.id for each in first}) == len(first)
    json.dumps([each.metadata for each in first])


def test_k_and_what_narrows_can_be_given_with_the_call(workspace: Workspace) -> None:
    retriever = FinAgentRetriever(workspace=workspace, k=2)
    assert len(retriever.invoke(QUESTION)) == 2
    narrowed = retriever.invoke("net income", k=4, company="Quillmark", form="10K", fiscal_year=2023)
    assert len(narrowed) == 4
    assert {each.metadata["doc_id"] for each in narrowed} == {"quillmark_2023_10k"}
    assert len(retriever.invoke(QUESTION)) == 2


def test_what_narrows_it_from_the_start(workspace: Workspace) -> None:
    retriever = FinAgentRetriever(workspace=workspace, company="TUND", form="8-K", k=3)
    assert {each.metadata["doc_id"] for each in retriever.invoke("new chief executive")} == {"tellurond_2024_8k"}


def test_awaited_and_in_batches_it_finds_the_same(workspace: Workspace) -> None:
    retriever = FinAgentRetriever(workspace=workspace, k=3)
    questions = [QUESTION, "restructuring of Quillmark", "Tellurond segments", "dividends of Harborlight"]
    alone = [retriever.invoke(question) for question in questions]
    assert asyncio.run(retriever.abatch(questions)) == alone
    assert retriever.batch(questions * 3) == alone * 3


def test_in_a_chain(workspace: Workspace) -> None:
    chain = FinAgentRetriever(workspace=workspace, k=1) | RunnableLambda(
        lambda documents: documents[0].metadata["page"]
    )
    assert chain.invoke(QUESTION) == 8
    assert isinstance(FinAgentRetriever(workspace=workspace), BaseRetriever)


@pytest.mark.parametrize("strategy", ["bm25", "query-expansion", "tournament:bm25", "default"])
def test_any_strategy_searches(workspace: Workspace, strategy: str) -> None:
    passages = found(workspace, "passage", k=3, strategy=strategy)
    assert len(passages) == 3
    assert all(each.metadata["company"] for each in passages)


def test_what_is_wrong_is_said(workspace: Workspace, sample_index: Path, tmp_path: Path) -> None:
    with pytest.raises(StrategyError, match="there is no strategy 'best'"):
        FinAgentRetriever(workspace=workspace, strategy="best")
    with pytest.raises(FilingIndexError, match="there is no index here"):
        FinAgentRetriever(index=tmp_path)
    with pytest.raises(ValidationError, match="not both"):
        FinAgentRetriever(index=sample_index, workspace=workspace)
    with pytest.raises(ToolInputError, match="Harborlight"):
        FinAgentRetriever(workspace=workspace, company="Harborligt").invoke("net income")
    with pytest.raises(ValidationError, match="companies"):
        FinAgentRetriever(workspace=workspace).invoke("net income", companies=["Harborlight"])
