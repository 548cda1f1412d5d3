"""The light list of filings: what tells them apart, in an order no file name decides, read once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from fin_agent.index.protocol import FilingVectors, VectorUnit
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.vocabulary.fact import FactPeriod
from fin_agent.vocabulary.filing import Filing
from fin_agent.vocabulary.identity import FieldSource, Form, Identity, Origin

MakeFiling = Callable[..., Filing]


def test_entries_are_the_filings_without_what_is_long(index: SqliteIndex, make_filing: MakeFiling) -> None:
    sources = (FieldSource("company", "Acme Corp", Origin.COVER, "ACME", 0.9, 0),)
    identity = Identity(
        "Acme Corp", Form.EIGHT_K, 2023, 2, other_names=("Old “Acme”",), results=FactPeriod(2023, 2, 3), sources=sources
    )
    index.add(replace(make_filing("b", "x", content_hash="1"), identity=identity), ["{}"], "")
    index.add(make_filing("a", "x", "y", content_hash="2"), ["{}"] * 2, "")
    index.add(make_filing("0", "x", content_hash="2"), ["{}"], "")
    entries = index.entries()
    assert [entry.doc_id for entry in entries] == [record.doc_id for record in index.filings()] == ["b", "0", "a"]
    assert entries[0].identity == replace(identity, sources=())
    assert [(entry.content_hash, entry.page_count) for entry in entries] == [("1", 1), ("2", 1), ("2", 2)]


def test_entries_are_read_once_until_the_list_changes(index: SqliteIndex, make_filing: MakeFiling) -> None:
    index.add(make_filing("a", "text"), ["{}"], "")
    seen = [index.entries()]
    thread = threading.Thread(target=lambda: seen.append(index.entries()))
    thread.start()
    thread.join()
    index.add_vectors("m", VectorUnit.SUMMARY, FilingVectors("a", (0,), 1, b"\0\0"))  # a write, but not to the list
    index.search_pages(["text"])
    seen.append(index.entries())
    assert seen[0] is seen[1] is seen[2]
    with SqliteIndex(index.folder) as other:
        other.add(make_filing("b", "text"), ["{}"], "")
    assert {entry.doc_id for entry in index.entries()} == {"a", "b"}


def test_what_is_not_committed_is_not_kept(index: SqliteIndex, make_filing: MakeFiling) -> None:
    index.add(make_filing("a", "text"), ["{}"], "")
    before = index.entries()
    with pytest.raises(ZeroDivisionError), index.writing() as connection:
        connection.execute("UPDATE filings SET company = 'Never'")
        assert index.entries()[0].identity.company == "Never"
        raise ZeroDivisionError
    assert index.entries() is before
