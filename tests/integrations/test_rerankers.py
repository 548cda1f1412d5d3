"""Retrieved documents in a better order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from langchain_core.documents import Document
from langchain_core.documents.compressor import BaseDocumentCompressor

from fin_agent import FinAgentRetriever, TournamentCompressor
from fin_agent.integrations.rerankers import CompressionError
from fin_agent.workspace import Workspace

QUESTION = "What was Quillmark's net income in FY2023?"


class ByLength:
    """Scores the shortest text best."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        self.asked.append(query)
        return [-float(len(text)) for text in texts]


def retrieved(workspace: Workspace, level: str, k: int = 12) -> list[Document]:
    settings = {"workspace": workspace, "level": level, "strategy": "bm25", "k": k}
    return FinAgentRetriever.model_validate(settings).invoke(QUESTION)


@pytest.mark.parametrize("level", ["passage", "page"])
def test_a_tournament_puts_the_statement_of_the_year_first(workspace: Workspace, level: str) -> None:
    given = retrieved(workspace, level)
    compressor = TournamentCompressor(workspace=workspace)
    assert isinstance(compressor, BaseDocumentCompressor)
    ordered = list(compressor.compress_documents(given, QUESTION))
    assert sorted(str(each.id) for each in ordered) == sorted(str(each.id) for each in given)
    assert ordered[0].metadata["doc_id"] == "quillmark_2023_10k"
    scores = [each.metadata["score"] for each in ordered]
    assert scores == sorted(scores, reverse=True)
    assert [each.page_content for each in ordered] != [each.page_content for each in given]
    assert given == retrieved(workspace, level), "what was given is left as it was"


def test_no_more_than_k_and_the_same_when_awaited(workspace: Workspace) -> None:
    given = retrieved(workspace, "passage")
    all_of_them = list(TournamentCompressor(workspace=workspace).compress_documents(given, QUESTION))
    few = TournamentCompressor(workspace=workspace, k=3)
    assert list(few.compress_documents(given, QUESTION)) == all_of_them[:3]
    assert list(asyncio.run(few.acompress_documents(given, QUESTION))) == all_of_them[:3]
    assert list(few.compress_documents([], QUESTION)) == []


def test_documents_without_cards_are_refused(workspace: Workspace) -> None:
    compressor = TournamentCompressor(workspace=workspace)
    with pytest.raises(CompressionError, match="only documents of FinAgentRetriever have cards"):
        compressor.compress_documents([Document(page_content="Net income was 5.")], QUESTION)
    gone = Document(page_content="Net income was 5.", metadata={"doc_id": "quillmark_2023_10k", "page": 400})
    with pytest.raises(CompressionError, match="quillmark_2023_10k page 401"):
        compressor.compress_documents([gone], QUESTION)
