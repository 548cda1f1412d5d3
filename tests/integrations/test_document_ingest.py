"""Filings from other loaders' documents: the same who, what and when; figures only where their columns are known."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_core.documents import Document

from fin_agent import AnswerContext, FinAgentRetriever, SqliteIndex, answer_question, ingest_documents
from fin_agent.errors import ReadError
from fin_agent.filings.readers.protocol import pdf_reader
from fin_agent.index.ingest import Outcome
from fin_agent.index.protocol import PageKey
from fin_agent.workspace import Workspace

FILINGS = ("harborlight_2023_10k", "quillmark_2024q3_10q", "tellurond_2024_8k")


def loaded_pages(path: Path) -> Iterator[Document]:
    """A document a page, with its text and nothing else, as PDF loaders give them."""
    for page in pdf_reader("mupdf").read_pdf(path):
        yield Document(page_content=page.text, metadata={"source": str(path), "page": page.number})


@pytest.fixture(scope="module")
def loaded(sample_filings: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteIndex]:
    """Three filings as the documents of a loader."""
    with SqliteIndex.create(tmp_path_factory.mktemp("loaded")) as index:
        report = ingest_documents(
            (page for name in FILINGS for page in loaded_pages(sample_filings / f"{name}.pdf")), index
        )
        assert [(file.doc_id, file.outcome) for file in report.files] == [(name, Outcome.ADDED) for name in FILINGS]
        yield index


@pytest.mark.parametrize("name", FILINGS)
def test_who_what_and_when_are_read_from_the_text(loaded: SqliteIndex, workspace: Workspace, name: str) -> None:
    ours, read = loaded.filing(name), workspace.index.filing(name)
    fields = ("company", "ticker", "form", "fiscal_year", "quarter", "period_end", "file_number")
    assert {field: getattr(ours.identity, field) for field in fields} == {
        field: getattr(read.identity, field) for field in fields
    }
    assert ours.page_count == read.page_count
    assert [item.item for item in ours.items] == [item.item for item in read.items]


def test_no_figure_is_read_from_text_alone(loaded: SqliteIndex) -> None:
    """Text alone has the amounts of its sentences; the rows of its statements have no columns, so they are no facts."""
    assert {sourced.fact.source for sourced in loaded.facts(FILINGS)} == {"text"}
    answer = answer_question("What was Harborlight's net income in FY2023?", AnswerContext.by_rules(Workspace(loaded)))
    assert answer.refused
    assert answer.answer.value is None


def test_questions_in_words_are_answered_with_the_page(loaded: SqliteIndex) -> None:
    context = AnswerContext.by_rules(Workspace(loaded))
    answer = answer_question("Who was appointed CEO of Tellurond in 2024?", context)
    assert "Ines K. Calloway" in answer.answer.text
    assert [(cited.doc_id, cited.page, cited.box) for cited in answer.citations] == [("tellurond_2024_8k", 1, None)]


def test_pages_are_found_by_company_and_period_and_have_no_boxes(loaded: SqliteIndex) -> None:
    retriever = FinAgentRetriever(workspace=Workspace(loaded), k=5)
    found = retriever.invoke("What drove Harborlight's net sales in 2023?", company="HLGT", fiscal_year=2023)
    assert {each.metadata["doc_id"] for each in found} == {"harborlight_2023_10k"}
    assert all(each.metadata["box"] is None for each in found)
    statement = FinAgentRetriever(workspace=Workspace(loaded), level="page", k=1).invoke(
        "Harborlight's income statement of FY2023"
    )
    assert (statement[0].metadata["page"], statement[0].metadata["statement"]) == (8, "income")


def test_the_same_documents_again_change_nothing(loaded: SqliteIndex, sample_filings: Path) -> None:
    again = ingest_documents(loaded_pages(sample_filings / f"{FILINGS[0]}.pdf"), loaded)
    assert [file.outcome for file in again.files] == [Outcome.UNCHANGED]


def pages(source: str = "a.pdf", **numbered: int) -> list[Document]:
    """Two pages; `numbered` says under which name, and from which number, they are counted."""
    texts = ("FORM 10-K\nAcme Corp.", "Net sales rose.")
    return [
        Document(page_content=text, metadata={"source": source, **{key: at + first for key, first in numbered.items()}})
        for at, text in enumerate(texts)
    ]


@pytest.mark.parametrize("numbered", [{"page": 0}, {"page_number": 1}, {}])
def test_pages_are_numbered_as_their_loader_does(tmp_path: Path, numbered: dict[str, int]) -> None:
    with SqliteIndex.create(tmp_path) as index:
        assert ingest_documents(reversed(pages(**numbered)) if numbered else pages(), index).count(Outcome.ADDED) == 1
        assert [page.page.text for page in index.pages([PageKey("a", 0), PageKey("a", 1)])] == [
            "FORM 10-K\nAcme Corp.",
            "Net sales rose.",
        ]


def test_a_form_feed_ends_a_page_and_chunks_of_one_page_are_one_page(tmp_path: Path) -> None:
    whole = Document(page_content="One.\fTwo.", metadata={"source": "b.txt"})
    parts = [Document(page_content=text, metadata={"source": "c.md", "page": 3}) for text in ("Three.", "Four.")]
    with SqliteIndex.create(tmp_path) as index:
        ingest_documents([whole, *parts], index)
        assert (index.filing("b").page_count, index.filing("c").page_count) == (2, 4)


@pytest.mark.parametrize(
    ("documents", "reason"),
    [
        ([Document(page_content="  ", metadata={"source": "a.pdf"})], "no page has text"),
        ([*pages(page=0), Document(page_content="x", metadata={"source": "a.pdf"})], "only some of its documents have"),
        ([Document(page_content="x", metadata={"source": "a.pdf", "page": -1})], "-1 is not a page"),
        ([Document(page_content="x", metadata={"source": "a.pdf", "page": 10**9})], "is not a page"),
        ([Document(page_content="x \ud800", metadata={"source": "a.pdf"})], "the reader failed"),
    ],
)
def test_what_cannot_be_read_is_reported_and_the_rest_goes_on(
    tmp_path: Path, documents: list[Document], reason: str
) -> None:
    with SqliteIndex.create(tmp_path) as index:
        report = ingest_documents([*documents, *pages("good.pdf")], index)
        assert [file.outcome for file in report.files] == [Outcome.FAILED, Outcome.ADDED]
        assert reason in report.failures[0].reason
        assert report.failures[0].remedy
        assert [entry.doc_id for entry in index.entries()] == ["good"]


def test_a_document_from_nowhere_is_refused(tmp_path: Path) -> None:
    with SqliteIndex.create(tmp_path) as index, pytest.raises(ReadError, match="`source`"):
        ingest_documents([Document(page_content="Net sales")], index)


def test_two_sources_of_one_name_and_a_name_of_one_s_own(tmp_path: Path) -> None:
    with SqliteIndex.create(tmp_path) as index:
        report = ingest_documents([*pages("x/a.pdf"), *pages("https://y.example/a.htm?z=1")], index)
        assert [file.outcome for file in report.files] == [Outcome.ADDED, Outcome.FAILED]
        assert "is that of another filing, from x/a.pdf" in report.failures[0].reason
        named = ingest_documents(pages("https://y.example/a.htm"), index, doc_id=lambda source: "ACME_2023")
        assert named.files[0].doc_id == "ACME_2023"


def test_loading_brings_in_no_loader() -> None:
    code = "import sys, fin_agent.integrations.document_ingest; print('langchain_community' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
