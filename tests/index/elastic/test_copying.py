"""Filings brought from the embedded index to a cluster: all of them, the same, found and answered from alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("elasticsearch")

from fin_agent.errors import FilingIndexError
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import answer_question
from fin_agent.index.copying import CopiedFiling, CopyOutcome, copy_filings
from fin_agent.index.elastic.index import ElasticIndex
from fin_agent.index.opening import ConnectionSettings
from fin_agent.index.protocol import FilingIndex, PageKey, VectorUnit
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.vocabulary.filing import Filing
from fin_agent.workspace import Workspace
from tests.index.contract.samples import EVERYTHING
from tests.index.contract.test_vectors import dense
from tests.index.elastic_server.refusal import RefusalError
from tests.index.elastic_server.server import ElasticServer

MakeFiling = Callable[..., Filing]

QUESTIONS = (
    "What were Quillmark's merchandise inventories at the end of fiscal 2023?",
    "Which company had the higher average inventory turnover over FY2022 - FY2024, Harborlight or Tellurond?",
    "What did Quillmark spend on research and development in fiscal 2024?",
    "What are Tellurond's main risks?",
)


@pytest.fixture(scope="module")
def both(sample_index: Path) -> Iterator[tuple[SqliteIndex, ElasticIndex]]:
    """The sample filings, embedded and copied."""
    with (
        ElasticServer() as server,
        SqliteIndex(sample_index) as embedded,
        ElasticIndex(f"{server.url}/samples", ConnectionSettings(checked_every=0.2), create=True) as cluster,
    ):
        report = copy_filings(embedded, cluster, jobs=3)
        assert report.count(CopyOutcome.COPIED) == len(embedded.entries()) > 10
        yield embedded, cluster


def test_everything_is_there(both: tuple[SqliteIndex, ElasticIndex]) -> None:
    embedded, cluster = both
    assert cluster.filings() == embedded.filings()
    assert cluster.entries() == embedded.entries()
    for record in embedded.filings():
        doc_ids = [record.doc_id]
        keys = [PageKey(record.doc_id, number) for number in range(record.page_count)]
        for each in (
            lambda index, keys=keys: index.pages(keys),
            lambda index, keys=keys: index.passages(keys),
            lambda index, keys=keys: index.tables(keys),
            lambda index, doc_ids=doc_ids: index.facts(doc_ids),
            lambda index, doc_ids=doc_ids: index.facts(doc_ids, metrics=["inventories", "net_income"]),
            lambda index, doc_ids=doc_ids: index.outline(doc_ids),
            lambda index, doc_ids=doc_ids: index.parts(doc_ids),
            lambda index, doc_ids=doc_ids: index.tags(doc_ids[0]),
            lambda index, doc_ids=doc_ids: index.row_labels(doc_ids, holding=["inven", "TOTAL"]),
        ):
            assert each(cluster) == each(embedded)


def test_words_are_the_same_words(both: tuple[SqliteIndex, ElasticIndex]) -> None:
    embedded, cluster = both
    with embedded.reading() as connection:
        stems = [row[0] for row in connection.execute("SELECT term FROM pages_vocabulary")]
    assert len(stems) > 1_000
    assert cluster.document_frequencies(stems) == embedded.document_frequencies(stems)


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_are_the_same(both: tuple[SqliteIndex, ElasticIndex], question: str) -> None:
    def answered(index: FilingIndex) -> str:
        answer = answer_question(question, AnswerContext.by_rules(Workspace(index)))
        return answer.model_dump_json(include={"text", "value", "unit", "citations", "refusal", "program"})

    embedded, cluster = map(answered, both)
    assert cluster == embedded


def test_a_copy_goes_on_where_it_was(
    index: ElasticIndex, server: ElasticServer, sqlite: SqliteIndex, make_filing: MakeFiling
) -> None:
    for doc_id in "abcd":
        sqlite.add(make_filing(doc_id, "x"), ["{}"], "")
    sqlite.add(EVERYTHING, ["{}"] * 2, "")
    with (
        server.failing("PUT /test-filings/_doc", RefusalError(500, "internal", "no"), times=99) as fault,
        pytest.raises(FilingIndexError),
    ):
        fault.left = 0
        copy_filings(sqlite, index, ["a", "b"])
        fault.left = 99
        copy_filings(sqlite, index)
    assert {entry.doc_id for entry in index.entries()} == {"a", "b"}
    sqlite.add(make_filing("b", "another text"), ["{}"], "")  # the same file
    told: list[CopiedFiling] = []
    report = copy_filings(sqlite, index, on_filing=told.append)
    outcomes = {filing.doc_id: filing.outcome.value for filing in report.filings}
    assert outcomes == {"a": "unchanged", "b": "copied", "c": "copied", "d": "copied", EVERYTHING.doc_id: "copied"}
    assert told == report.filings
    assert index.facts([EVERYTHING.doc_id]) == sqlite.facts([EVERYTHING.doc_id])
    assert [stored.page.text for stored in index.pages([PageKey("b", 0)])] == ["another text"]
    again = copy_filings(sqlite, index)
    assert again.count(CopyOutcome.UNCHANGED) == 5


def test_vectors_go_along(index: ElasticIndex, sqlite: SqliteIndex, make_filing: MakeFiling) -> None:
    for doc_id in "ab":
        sqlite.add(make_filing(doc_id, "x"), ["{}"], "")
        sqlite.add_vectors("m", VectorUnit.PAGE, dense(doc_id, (1.0, 0.5)))
    assert copy_filings(sqlite, index).count(CopyOutcome.COPIED) == 2
    assert list(index.vectors("m", VectorUnit.PAGE)) == list(sqlite.vectors("m", VectorUnit.PAGE))
    sqlite.add_vectors("m", VectorUnit.SUMMARY, dense("a", (1.0,)))
    report = copy_filings(sqlite, index)
    assert [(each.doc_id, each.outcome, each.vectors) for each in report.filings] == [
        ("a", CopyOutcome.COPIED, 1),
        ("b", CopyOutcome.UNCHANGED, 0),
    ]
    assert [held.unit for held in index.vector_models()] == [VectorUnit.PAGE, VectorUnit.SUMMARY]


def test_a_filing_that_is_refused_costs_itself(
    index: ElasticIndex, server: ElasticServer, sqlite: SqliteIndex, make_filing: MakeFiling
) -> None:
    for doc_id in "abc":
        sqlite.add(make_filing(doc_id, "x"), ["{}"], "")
    wrong = RefusalError(400, "document_parsing_exception", "failed to parse")
    server.items_refused.append(("test-pages/", wrong, 1))
    report = copy_filings(sqlite, index)
    assert report.count(CopyOutcome.FAILED) == 1 and report.count(CopyOutcome.COPIED) == 2
    (reason,) = (each.reason for each in report.filings if each.reason)
    assert reason.startswith("pages 0 was rejected")


def test_a_filing_that_is_damaged_is_not_carried_on(index: ElasticIndex, sqlite: SqliteIndex) -> None:
    sqlite.add(EVERYTHING, ["{}"] * 2, "")
    with sqlite.writing() as connection:
        connection.execute("UPDATE facts SET amount = amount || '0'")
    (copied,) = copy_filings(sqlite, index).filings
    assert copied.outcome is CopyOutcome.FAILED and "damaged" in copied.reason
    assert index.entries() == ()


def test_back_to_this_machine(index: ElasticIndex, sqlite: SqliteIndex) -> None:
    index.add(EVERYTHING, ["{}"] * 2, "summary")
    copy_filings(index, sqlite)
    assert sqlite.filings() == index.filings()
    assert sqlite.facts([EVERYTHING.doc_id]) == index.facts([EVERYTHING.doc_id])


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[SqliteIndex]:
    """An empty index on this machine."""
    with SqliteIndex.create(tmp_path / "embedded") as made:
        yield made
