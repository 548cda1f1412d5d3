"""Vectors beside the filings, in every kind of index: what goes in comes out, and goes when the filing goes."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import pytest

from fin_agent.errors import FilingIndexError
from fin_agent.index.protocol import FilingVectors, VectorUnit
from fin_agent.vocabulary.filing import Filing

MakeFiling = Callable[..., Filing]
Index = Any


def dense(doc_id: str, *rows: tuple[float, ...], places: tuple[int, ...] | None = None) -> FilingVectors:
    numbers = [number for row in rows for number in row]
    at = tuple(range(len(rows))) if places is None else places
    return FilingVectors(doc_id, at, len(rows[0]) if rows else 2, struct.pack(f"<{len(numbers)}e", *numbers))


def add(index: Index, filing: Filing) -> None:
    index.add(filing, ["{}"] * len(filing.passages), "summary")


@pytest.fixture
def filled(index: Index, make_filing: MakeFiling) -> Index:
    """Three filings, listed in the order c, a, b."""
    for doc_id, content in (("a", "2"), ("b", "3"), ("c", "1")):
        add(index, make_filing(doc_id, "one", "two", content_hash=content))
    return index


def test_what_goes_in_comes_out_in_the_order_of_the_entries(filled: Index) -> None:
    of_a = dense("a", (1.0, -0.5), (0.25, 0.0), (7.0, 1.0), places=(0, 0, 1))
    of_c = dense("c", (1.0, 0.0))
    filled.add_vectors("m", VectorUnit.WINDOW, of_a)
    filled.add_vectors("m", VectorUnit.WINDOW, of_c)
    filled.add_vectors("m", VectorUnit.SUMMARY, dense("a", (9.0,)))
    filled.add_vectors("other", VectorUnit.WINDOW, dense("a", (8.0,)))
    assert list(filled.vectors("m", VectorUnit.WINDOW)) == [of_c, of_a]
    assert list(filled.vectors("m", VectorUnit.WINDOW, {"a", "b", "unknown"})) == [of_a]
    assert list(filled.vectors("m", VectorUnit.PAGE)) == []
    assert filled.without_vectors("m", VectorUnit.WINDOW) == ("b",)
    assert filled.without_vectors("m", VectorUnit.PAGE) == ("c", "a", "b")
    assert [(held.model, held.unit, held.dimensions, held.filings, held.rows) for held in filled.vector_models()] == [
        ("m", VectorUnit.SUMMARY, 1, 1, 1),
        ("m", VectorUnit.WINDOW, 2, 2, 4),
        ("other", VectorUnit.WINDOW, 1, 1, 1),
    ]


def test_adding_again_replaces(filled: Index) -> None:
    filled.add_vectors("m", VectorUnit.PAGE, dense("a", (1.0,), (2.0,)))
    before = filled.vector_models()
    filled.add_vectors("m", VectorUnit.PAGE, dense("a", (3.0,), (4.0,)))
    assert list(filled.vectors("m", VectorUnit.PAGE)) == [dense("a", (3.0,), (4.0,))]
    after = filled.vector_models()
    assert after != before and after[0].latest > before[0].latest  # whoever keeps a copy sees that it is old


def test_vectors_go_with_their_filing(filled: Index, make_filing: MakeFiling) -> None:
    for doc_id in "abc":
        filled.add_vectors("m", VectorUnit.PAGE, dense(doc_id, (1.0,)))
    newest = filled.vector_models()[0].latest
    filled.remove("c")
    add(filled, make_filing("b", "another text", content_hash="3"))
    assert [vectors.doc_id for vectors in filled.vectors("m", VectorUnit.PAGE)] == ["a"]
    assert filled.without_vectors("m", VectorUnit.PAGE) == ("b",)
    filled.add_vectors("m", VectorUnit.PAGE, dense("b", (2.0,)))
    assert filled.vector_models()[0].latest > newest


def test_a_filing_without_units_is_done(filled: Index) -> None:
    filled.add_vectors("m", VectorUnit.PASSAGE, dense("a"))
    assert "a" not in filled.without_vectors("m", VectorUnit.PASSAGE)
    assert [vectors.places for vectors in filled.vectors("m", VectorUnit.PASSAGE)] == [()]


def test_sparse_rows_come_back(filled: Index) -> None:
    values = struct.pack("<2I3I3e", 1, 2, 30_000, 5, 9, 0.5, 1.0, 2.0)
    stored = FilingVectors("a", (0, 1), 30_522, values, sparse=True)
    filled.add_vectors("splade", VectorUnit.PASSAGE, stored)
    assert list(filled.vectors("splade", VectorUnit.PASSAGE)) == [stored]
    assert filled.vector_models()[0].sparse


def test_vectors_of_an_unknown_filing_are_not_kept(filled: Index) -> None:
    with pytest.raises(FilingIndexError, match="unknown"):
        filled.add_vectors("m", VectorUnit.PAGE, dense("unknown", (1.0,)))
    assert filled.vector_models() == ()


def test_a_new_summary_drops_the_vectors_of_the_old_one(filled: Index) -> None:
    for unit in (VectorUnit.SUMMARY, VectorUnit.PAGE):
        filled.add_vectors("m", unit, dense("a", (1.0,)))
    assert filled.replace_summary("a", "other words")
    assert filled.without_vectors("m", VectorUnit.SUMMARY) == ("c", "a", "b")
    assert [vectors.doc_id for vectors in filled.vectors("m", VectorUnit.PAGE)] == ["a"]
