"""What goes into an index comes out of it, whole or not at all, whichever kind of index it is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fin_agent.errors import FilingIndexError
from fin_agent.evidence.filing_preparation import prepare
from fin_agent.index.protocol import PageKey, RowLabel
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.filing import Filing
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box
from tests.index.contract.samples import EVERYTHING, TAGS

MakeFiling = Callable[..., Filing]
Index = Any
Backend = Any


def test_everything_about_a_filing_comes_back(index: Index) -> None:
    index.add(EVERYTHING, ['{"a": 1}', '{"b": "é"}'], "summary")
    record = index.filing(EVERYTHING.doc_id)
    assert record.identity == EVERYTHING.identity
    assert (record.source, record.content_hash, record.summary) == (EVERYTHING.source, "ab" * 32, "summary")
    assert (record.page_count, record.passage_count, record.fact_count) == (3, 2, 2)
    assert record.items == EVERYTHING.items
    assert (record.notes, record.warnings) == (EVERYTHING.notes, EVERYTHING.warnings)
    assert index.filings() == (record,)
    keys = [PageKey(EVERYTHING.doc_id, number) for number in (1, 0, 9, 2)]
    assert [stored.page for stored in index.pages(keys)] == [EVERYTHING.pages[number] for number in (1, 0, 2)]
    assert index.tables(keys) == list(EVERYTHING.tables)
    assert index.tags(EVERYTHING.doc_id) == list(TAGS)
    assert index.tags(EVERYTHING.doc_id, page=1) == [TAGS[1]]
    assert index.tags(EVERYTHING.doc_id, page=-1) == index.tags("unknown") == []
    assert [(entry.passage, entry.card) for entry in index.passages(keys)] == [
        (EVERYTHING.passages[1], '{"b": "é"}'),
        (EVERYTHING.passages[0], '{"a": 1}'),
    ]
    facts = [sourced.fact for sourced in index.facts([EVERYTHING.doc_id])]
    assert facts == list(EVERYTHING.facts)
    assert [str(fact.amount) for fact in facts] == ["-1234.50", "0.10"]  # as printed, to the last zero
    outline = [stored.page for stored in index.outline([EVERYTHING.doc_id])]
    assert [(entry.item, entry.statement, entry.title) for entry in outline] == [
        ("cover", None, "Cover"),
        ("8", "balance", "CONSOLIDATED BALANCE SHEETS"),
        ("8", None, "Note 5"),
    ]
    assert {page.text for page in outline} == {""}
    assert (outline[2].kind, outline[2].note, outline[2].further_statements) == ("segment", "5", ("equity",))
    (entry,) = index.entries()
    assert entry.identity == replace(EVERYTHING.identity, sources=())
    assert index.page_count() == entry.page_count == 3


def test_sample_filing_comes_back(index: Index, sample_filings: Path) -> None:
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


def test_facts_by_metric_and_page(index: Index) -> None:
    index.add(EVERYTHING, ["{}", "{}"], "")
    doc_id = EVERYTHING.doc_id
    assert [s.fact.label for s in index.facts([doc_id], metrics=["total_assets"])] == ["Total assets"]
    assert index.facts([doc_id], metrics=[]) == []
    assert index.facts([doc_id], pages=[PageKey(doc_id, 0), PageKey("other", 1)]) == []
    assert len(index.facts([doc_id], pages=[PageKey(doc_id, 1)])) == 2
    assert index.facts([doc_id], pages=[]) == index.facts([]) == index.facts(["unknown"]) == []


def test_facts_come_by_content_of_filings_then_as_they_were_found(index: Index, make_filing: MakeFiling) -> None:
    facts = tuple(replace(EVERYTHING.facts[1], page=page, label=f"row {page}") for page in (2, 0, 1))
    for doc_id, content in (("a", "2"), ("b", "1")):
        filing = replace(make_filing(doc_id, "x", "y", "z", content_hash=content), facts=facts)
        index.add(filing, ["{}"] * 3, "")
    found = [(sourced.doc_id, sourced.fact.label) for sourced in index.facts(["a", "b"])]
    assert found == [(doc_id, f"row {page}") for doc_id in "ba" for page in (2, 0, 1)]


def test_row_labels_and_parts(index: Index, make_filing: MakeFiling) -> None:
    row: Fact = replace(EVERYTHING.facts[0], scope=None, page=0, tag=None)
    facts = (
        row,
        replace(row, amount=row.amount + 1),  # the same row and period: told once
        replace(row, label="ÉQUITY of others", statement=None),
        replace(row, label="in Europe", scope="Europe"),
        replace(row, label="in shares", scope="Common stock", statement=Statement.EQUITY),
        replace(row, label="Services", statement=Statement.INCOME, section=("Net Revenues",)),
        replace(row, label="Phones", scope="Products", tag=TAGS[1], page=1),
        replace(row, label="nameless", scope="Region", metric=None),
    )
    index.add(replace(make_filing("a", "x", "y"), facts=facts, tags=TAGS), ["{}"] * 2, "")
    assert index.parts(["a", "unknown"]) == {"Europe", "Services", "Products", "Phones"}
    assert index.parts([]) == frozenset()
    texts = index.address_texts(["a"])
    assert texts == {
        text
        for sourced in index.facts(["a"])
        for text in (sourced.fact.label, *sourced.fact.section, *sourced.fact.column_path, sourced.fact.caption)
    }
    assert texts and index.address_texts([]) == frozenset()
    assert index.row_labels(["a"], holding=["TOTAL a"]) == {RowLabel("a", 0, "Total assets", "balance", 2022, 3)}
    assert [found.label for found in index.row_labels(["a"], holding=["quity"])] == ["ÉQUITY of others"]
    assert index.row_labels(["a"], holding=["phones"]) == index.row_labels(["a"], holding=[]) == frozenset()
    assert index.facts(["a"])[6].fact.tag == TAGS[1]


def test_adding_again_replaces_everything(index: Index, make_filing: MakeFiling) -> None:
    index.add(EVERYTHING, ["{}", "{}"], "zeppelin maker")
    index.add(make_filing("other", "gyroscope"), ["{}"], "other")
    index.add(make_filing(EVERYTHING.doc_id, "gyroscope compass"), ['{"new": 1}'], "compass maker")
    assert index.search_pages(["cover"]) == []
    assert index.search_summaries(["zeppelin"]) == []
    assert dict(index.document_frequencies(["cover", "asset", "compass", "gyroscop"])) == {"compass": 1, "gyroscop": 2}
    assert [hit.key.doc_id for hit in index.search_pages(["compass"])] == [EVERYTHING.doc_id]
    assert index.facts([EVERYTHING.doc_id]) == [] == index.tags(EVERYTHING.doc_id)
    assert [entry.card for entry in index.passages([PageKey(EVERYTHING.doc_id, 0)])] == ['{"new": 1}']
    assert index.pages([PageKey(EVERYTHING.doc_id, 1)]) == []
    assert index.page_count() == 2


def test_removing(index: Index, make_filing: MakeFiling) -> None:
    index.add(EVERYTHING, ["{}", "{}"], "zeppelin maker")
    index.add(make_filing("other", "gyroscope"), ["{}"], "other")
    assert index.remove(EVERYTHING.doc_id)
    assert not index.remove(EVERYTHING.doc_id)
    assert [record.doc_id for record in index.filings()] == ["other"]
    assert index.search_pages(["assets"]) == [] == index.search_summaries(["zeppelin"])
    assert index.pages([PageKey(EVERYTHING.doc_id, 0)]) == [] == index.outline([EVERYTHING.doc_id])
    with pytest.raises(FilingIndexError, match=r"not in the index.*fin-agent filings"):
        index.filing(EVERYTHING.doc_id)
    index.add(EVERYTHING, ["{}", "{}"], "zeppelin maker")
    assert len(index.facts([EVERYTHING.doc_id])) == 2


@pytest.mark.parametrize("wrong", ["too few cards", "half a character"])
def test_what_cannot_be_written_changes_nothing(index: Index, make_filing: MakeFiling, wrong: str) -> None:
    index.add(make_filing("kept", "gyroscope"), ["{}"], "kept")
    before = index.filings()
    with pytest.raises(ValueError, match=r"argument|cards|surrogates"):
        if wrong == "too few cards":
            index.add(make_filing("kept", "compass", "sextant"), ["{}"], "changed")
        else:
            index.add(make_filing("kept", "compass", "sextant"), ["{}", "{}"], "half \ud835")
    assert index.filings() == before
    assert index.search_pages(["gyroscope"]) and not index.search_pages(["compass"])


def test_a_summary_is_replaced(index: Index, make_filing: MakeFiling) -> None:
    index.add(make_filing("a", "gyroscope"), ["{}"], "of old")
    assert index.replace_summary("a", "brand-new words")
    assert index.filing("a").summary == "brand-new words" == index.filings()[0].summary
    assert [doc_id for doc_id, _ in index.search_summaries(["new"])] == ["a"]
    assert index.search_summaries(["old"]) == []
    assert not index.replace_summary("unknown", "x")
    assert index.search_pages(["gyroscope"])


def test_list_follows_changes_by_others(backend: Backend, make_filing: MakeFiling) -> None:
    index = backend.made()
    assert index.filings() == ()
    other = backend.again()
    other.add(make_filing("b", "text", content_hash="1"), ["{}"], "")
    other.add(make_filing("a", "text", content_hash="2"), ["{}"], "")
    assert [record.doc_id for record in index.filings()] == ["b", "a"]  # by content, not by name
    assert index.entries() is index.entries()
    other.remove("b")
    assert [entry.doc_id for entry in index.entries()] == ["a"]
    assert index.search_pages(["text"], doc_ids=["b"]) == []


def test_every_thread_gets_the_same_list(index: Index, make_filing: MakeFiling) -> None:
    index.add(make_filing("a", "text"), ["{}"], "")
    seen = [index.entries()]
    thread = threading.Thread(target=lambda: seen.append(index.entries()))
    thread.start()
    thread.join()
    assert seen[0] is seen[1]


def test_reading_in_threads_while_another_writes(index: Index, make_filing: MakeFiling) -> None:
    """A reader sees a filing whole or not at all, and never an error."""
    stop = threading.Event()
    faults: list[object] = []

    def read() -> None:
        while not stop.is_set():
            try:
                for record in index.filings():
                    outline = index.outline([record.doc_id])
                    if len(outline) not in (0, 5):
                        faults.append(len(outline))
                hits = index.search_pages(["gyroscope"], limit=1000)
                if len(hits) % 5:
                    faults.append(len(hits))
            except Exception as error:
                faults.append(error)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for count in range(60):
        index.add(make_filing(f"f{count % 7}", *["gyroscope " + "word " * count] * 5), ["{}"] * 5, "s")
        if count % 5 == 0:
            index.remove(f"f{(count + 3) % 7}")
    stop.set()
    for thread in threads:
        thread.join()
    assert faults == []
