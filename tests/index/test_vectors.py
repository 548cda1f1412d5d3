"""Vectors beside the filings: what goes in comes out, and goes when the filing goes."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Callable

import pytest

from fin_agent.index.protocol import FilingVectors, VectorUnit
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.vocabulary.filing import Filing

MakeFiling = Callable[..., Filing]
Check = Callable[[SqliteIndex], None]


def dense(doc_id: str, *rows: tuple[float, ...], places: tuple[int, ...] | None = None) -> FilingVectors:
    numbers = [number for row in rows for number in row]
    at = tuple(range(len(rows))) if places is None else places
    return FilingVectors(doc_id, at, len(rows[0]) if rows else 2, struct.pack(f"<{len(numbers)}e", *numbers))


def add(index: SqliteIndex, filing: Filing) -> None:
    index.add(filing, ["{}"] * len(filing.passages), "summary")


@pytest.fixture
def filled(index: SqliteIndex, make_filing: MakeFiling) -> SqliteIndex:
    """Three filings, listed in the order c, a, b."""
    for doc_id, content in (("a", "2"), ("b", "3"), ("c", "1")):
        add(index, make_filing(doc_id, "one", "two", content_hash=content))
    return index


def test_what_goes_in_comes_out_in_the_order_of_the_entries(filled: SqliteIndex, check_consistent: Check) -> None:
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
    check_consistent(filled)


def test_vectors_go_with_their_filing(filled: SqliteIndex, make_filing: MakeFiling, check_consistent: Check) -> None:
    for doc_id in "abc":
        filled.add_vectors("m", VectorUnit.PAGE, dense(doc_id, (1.0,)))
    newest = filled.vector_models()[0].latest
    filled.remove("c")
    add(filled, make_filing("b", "another text", content_hash="3"))
    assert [vectors.doc_id for vectors in filled.vectors("m", VectorUnit.PAGE)] == ["a"]
    assert filled.without_vectors("m", VectorUnit.PAGE) == ("b",)
    filled.add_vectors("m", VectorUnit.PAGE, dense("b", (2.0,)))
    assert filled.vector_models()[0].latest > newest
    check_consistent(filled)


def test_an_index_needs_no_numpy() -> None:
    program = "import sys; import fin_agent.index.sqlite; sys.exit('numpy' in sys.modules or 'torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
