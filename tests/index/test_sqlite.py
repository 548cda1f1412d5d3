"""The embedded index: what goes in comes out, whole or not at all, and is found by its words."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fin_agent.errors import FilingIndexError
from fin_agent.evidence.filing_preparation import prepare
from fin_agent.index.protocol import PageKey
from fin_agent.index.sqlite import SqliteIndex, match_phrases
from fin_agent.vocabulary.filing import Filing
from fin_agent.vocabulary.place import Box
from tests.index.contract.samples import EVERYTHING, TAGS

MakeFiling = Callable[..., Filing]
Check = Callable[[SqliteIndex], None]


def test_everything_about_a_filing_comes_back(index: SqliteIndex, check_consistent: Check) -> None:
    index.add(EVERYTHING, ['{"a": 1}', '{"b": "é"}'], "summary")
    record = index.filing(EVERYTHING.doc_id)
    assert record.identity == EVERYTHING.identity
    assert (record.source, record.content_hash, record.summary) == (EVERYTHING.source, "ab" * 32, "summary")
    assert (record.page_count, record.passage_count, record.fact_count) == (3, 2, 2)
    assert record.items == EVERYTHING.items
    assert (record.notes, record.warnings) == (EVERYTHING.notes, EVERYTHING.warnings)
    keys = [PageKey(EVERYTHING.doc_id, number) for number in (1, 0, 9, 2)]
    assert [stored.page for stored in index.pages(keys)] == [EVERYTHING.pages[number] for number in (1, 0, 2)]
    assert index.tables(keys) == list(EVERYTHING.tables)
    assert index.tags(EVERYTHING.doc_id) == list(TAGS)
    assert index.tags(EVERYTHING.doc_id, page=1) == [TAGS[1]]
    stored = index.passages(keys)
    assert [(entry.passage, entry.card) for entry in stored] == [
        (EVERYTHING.passages[1], '{"b": "é"}'),
        (EVERYTHING.passages[0], '{"a": 1}'),
    ]
    facts = [sourced.fact for sourced in index.facts([EVERYTHING.doc_id])]
    assert facts == list(EVERYTHING.facts)
    assert [str(fact.amount) for fact in facts] == ["-1234.50", "0.10"]  # as printed, to the last zero
    outline = index.outline([EVERYTHING.doc_id])
    assert [(each.page.item, each.page.statement, each.page.title) for each in outline] == [
        ("cover", None, "Cover"),
        ("8", "balance", "CONSOLIDATED BALANCE SHEETS"),
        ("8", None, "Note 5"),
    ]
    assert index.page_count() == 3
    check_consistent(index)


def test_sample_filing_comes_back(index: SqliteIndex, sample_filings: Path, check_consistent: Check) -> None:
    prepared = prepare(sample_filings / "quillmark_2023_10k.pdf")
    filing = prepared.filing
    index.add(filing, prepared.cards, prepared.summary)
    assert index.filings()[0].identity == filing.identity
    keys = [PageKey(filing.doc_id, page.number) for page in filing.pages]
    assert tuple(stored.page for stored in index.pages(keys)) == filing.pages
    stored = index.passages(keys)
    assert [entry.card for entry in stored] == list(prepared.cards)
    assert [replace(entry.passage, box=None) for entry in stored] == [
        replace(passage, box=None) for passage in filing.passages
    ]
    assert len(filing.facts) > 100
    origin = Box(0, 0, 0, 0)
    facts = [sourced.fact for sourced in index.facts([filing.doc_id])]
    assert [replace(fact, box=origin) for fact in facts] == [replace(fact, box=origin) for fact in filing.facts]
    for fact, kept in zip(filing.facts, facts, strict=True):
        assert kept.box == pytest.approx(fact.box, abs=0.06)
    check_consistent(index)


def test_adding_again_replaces_everything(index: SqliteIndex, make_filing: MakeFiling, check_consistent: Check) -> None:
    index.add(EVERYTHING, ["{}", "{}"], "zeppelin maker")
    index.add(make_filing("other", "gyroscope"), ["{}"], "other")
    index.add(make_filing(EVERYTHING.doc_id, "gyroscope compass"), ['{"new": 1}'], "compass maker")
    assert index.search_pages(["cover"]) == []
    assert index.search_summaries(["zeppelin"]) == []
    assert dict(index.document_frequencies(["cover", "asset", "compass", "gyroscop"])) == {"compass": 1, "gyroscop": 2}
    assert [hit.key.doc_id for hit in index.search_pages(["compass"])] == [EVERYTHING.doc_id]
    assert index.facts([EVERYTHING.doc_id]) == []
    assert [entry.card for entry in index.passages([PageKey(EVERYTHING.doc_id, 0)])] == ['{"new": 1}']
    assert index.page_count() == 2
    check_consistent(index)


def test_removing(index: SqliteIndex, make_filing: MakeFiling, check_consistent: Check) -> None:
    index.add(EVERYTHING, ["{}", "{}"], "zeppelin maker")
    index.add(make_filing("other", "gyroscope"), ["{}"], "other")
    assert index.remove(EVERYTHING.doc_id)
    assert not index.remove(EVERYTHING.doc_id)
    assert [record.doc_id for record in index.filings()] == ["other"]
    assert index.search_pages(["assets"]) == [] == index.search_summaries(["zeppelin"])
    with pytest.raises(FilingIndexError, match=r"not in the index.*fin-agent filings"):
        index.filing(EVERYTHING.doc_id)
    check_consistent(index)


def test_exception_while_writing_leaves_nothing(
    index: SqliteIndex, make_filing: MakeFiling, check_consistent: Check
) -> None:
    index.add(make_filing("kept", "gyroscope"), ["{}"], "kept")
    before = index.filings()
    with pytest.raises(KeyboardInterrupt), index.writing() as connection:
        connection.execute("DELETE FROM cards")
        raise KeyboardInterrupt
    with pytest.raises(ValueError, match="1 cards for 2 passages"):
        index.add(make_filing("kept", "compass", "sextant"), ["{}"], "changed")
    with pytest.raises(UnicodeEncodeError):  # half a character in the last card: fails when the rest is written
        index.add(make_filing("kept", "compass", "sextant"), ["{}", "\ud835"], "changed")
    with pytest.raises(ZeroDivisionError), index.writing() as connection:
        connection.execute("DELETE FROM ingested_files")
        connection.execute("UPDATE filings SET company = 'Never'")
        assert index.filings()[0].identity.company == "Never"
        raise ZeroDivisionError
    assert index.filings() == before
    assert index.search_pages(["gyroscope"]) and not index.search_pages(["compass"])
    check_consistent(index)


def test_connections_of_ended_threads_are_closed(index: SqliteIndex) -> None:
    for _ in range(20):
        thread = threading.Thread(target=index.page_count)
        thread.start()
        thread.join()
    assert len(index._connections) <= 2


def test_search_within_very_many_filings(index: SqliteIndex, make_filing: MakeFiling) -> None:
    """More scattered filings than one SQLite expression takes."""
    filing = make_filing("template", "revenue")
    with index.writing() as connection:
        from fin_agent.index.stored_filing import StoredFiling, insert_filing

        for number in range(2600):
            insert_filing(connection, StoredFiling.of(replace(filing, doc_id=f"f{number}"), ["{}"], ""))
    odd = [f"f{number}" for number in range(1, 2600, 2)]
    hits = index.search_pages(["revenue"], doc_ids=odd, limit=5000)
    assert sorted(hit.key.doc_id for hit in hits) == sorted(odd)


def test_phrases_are_quoted_once() -> None:
    assert match_phrases(["net sales", "net  sales", 'R&D "cost"']) == ['"net sales"', '"R D cost"']
    assert match_phrases(["", "--", "$"]) == []


def test_figures_that_are_not_what_was_written_are_not_answered(sample_index: Path, tmp_path: Path) -> None:
    from fin_agent import AnswerContext, Workspace, answer_question

    folder = Path(shutil.copytree(sample_index, tmp_path / "copy"))
    question = "What were Quillmark's merchandise inventories at the end of fiscal 2023?"
    with SqliteIndex(folder) as index:
        answer = answer_question(question, AnswerContext.by_rules(Workspace(index)))
        with index.writing() as connection:
            connection.execute("UPDATE facts SET amount = '7' WHERE metric = 'inventories'")
        with pytest.raises(FilingIndexError, match=r"differ from what was written.*index repair") as raised:
            answer_question(question, AnswerContext.by_rules(Workspace(index)))
    assert raised.value.subject in {citation.doc_id for citation in answer.citations}


@pytest.mark.parametrize(
    ("statement", "read"),
    [
        ("UPDATE facts SET box = '38r.6'", lambda index: index.facts([EVERYTHING.doc_id])),
        ("UPDATE pages SET further_statements = '['", lambda index: index.outline([EVERYTHING.doc_id])),
        ("UPDATE page_tables SET tables = x'00'", lambda index: index.tables([PageKey(EVERYTHING.doc_id, 1)])),
        ("UPDATE filings SET form = '10-Z'", lambda index: index.entries()),
        ("UPDATE filing_details SET notes = '7'", lambda index: index.filing(EVERYTHING.doc_id)),
    ],
)
def test_a_row_that_nobody_wrote_so_is_told_as_damage(
    index: SqliteIndex, statement: str, read: Callable[[SqliteIndex], object]
) -> None:
    index.add(EVERYTHING, ["{}"] * 2, "")
    with index.writing() as connection:
        connection.execute(statement)
    with pytest.raises(FilingIndexError, match=r"damaged.*index repair"):
        read(index)
