"""Exact search among vectors: the nearest places, in a total order, as far as asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fin_agent.errors import FilingIndexError
from fin_agent.index.protocol import FilingVectors, VectorUnit
from fin_agent.index.sqlite import SqliteIndex
from tests.retrieval.dense.conftest import WordEncoder

np = pytest.importorskip("numpy", reason="vectors need the extra `dense`")

from fin_agent.retrieval.dense import store as searching  # noqa: E402
from fin_agent.retrieval.dense.encoder import SparseRow  # noqa: E402
from fin_agent.retrieval.dense.store import (  # noqa: E402
    VectorHit,
    VectorStore,
    embed,
    pack_vectors,
)

Add = Callable[..., None]
REVENUE = np.array([1, 0, 0, 0], dtype=np.float32)
DEBT = np.array([0, 1, 0, 0], dtype=np.float32)


@pytest.fixture
def filled(index: SqliteIndex, add: Add, encoder: WordEncoder) -> SqliteIndex:
    """Listed in the order b, a."""
    add("a", "revenue", "revenue debt", "debt", content_hash="2")
    add("b", "revenue", "assets", "litigation debt revenue revenue", content_hash="1")
    embed(index, encoder, tuple(VectorUnit))
    return index


def places(hits: list[VectorHit]) -> list[tuple[str, int]]:
    return [(hit.doc_id, hit.place) for hit in hits]


def test_nearest_first_and_equals_by_content(filled: SqliteIndex) -> None:
    store = VectorStore(filled, "words", VectorUnit.PASSAGE)
    hits = store.search(REVENUE, 4)
    assert places(hits) == [("b", 0), ("a", 0), ("b", 2), ("a", 1)]
    assert [round(hit.score, 3) for hit in hits] == [1.0, 1.0, 0.816, 0.707]
    assert places(store.search(REVENUE, 1)) == [("b", 0)]  # of equals, the same one is cut off every time
    assert len(store.search(REVENUE, 100)) == 6
    assert store.search(REVENUE, 0) == []


def test_within_filings_and_places(filled: SqliteIndex) -> None:
    store = VectorStore(filled, "words", VectorUnit.PASSAGE)
    assert places(store.search(DEBT, 2, doc_ids={"a", "unknown"})) == [("a", 2), ("a", 1)]
    chosen = {("a", 0), ("b", 2), ("b", 9), ("x", 0)}
    assert places(store.search(DEBT, 9, places=chosen)) == [("b", 2), ("a", 0)]
    assert places(store.search(DEBT, 9, doc_ids=["a"], places=chosen)) == [("a", 0)]
    for nowhere in ({"doc_ids": ()}, {"places": ()}, {"doc_ids": ["unknown"]}):
        assert store.search(DEBT, 9, **nowhere) == []
    everything = {hit[:2]: hit.score for hit in store.search(DEBT, 9)}
    assert all(everything[hit[:2]] == hit.score for hit in store.search(DEBT, 9, doc_ids=["b"]))


def test_a_passage_counts_by_its_nearest_window(filled: SqliteIndex) -> None:
    hits = VectorStore(filled, "words", VectorUnit.WINDOW).search(REVENUE, 9)
    assert sorted(places(hits)) == [(doc_id, place) for doc_id in "ab" for place in range(3)]
    assert {hit[:2]: round(hit.score, 3) for hit in hits}["b", 2] == 1.0


def test_large_matrices_are_multiplied_in_blocks(filled: SqliteIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = VectorStore(filled, "words", VectorUnit.PASSAGE).search(REVENUE, 9)
    monkeypatch.setattr(searching, "_BLOCK", 2)
    assert VectorStore(filled, "words", VectorUnit.PASSAGE).search(REVENUE, 9) == whole
    store = VectorStore(filled, "words", VectorUnit.PASSAGE)
    assert store.search(REVENUE, 9, doc_ids=["a", "b"]) == whole


def test_the_store_follows_the_index(filled: SqliteIndex, add: Add, encoder: WordEncoder) -> None:
    store = VectorStore(filled, "words", VectorUnit.PASSAGE)
    assert places(store.search(DEBT, 1)) == [("a", 2)]
    add("c", "debt", content_hash="0")
    assert places(store.search(DEBT, 1)) == [("a", 2)]
    assert filled.without_vectors("words", VectorUnit.PASSAGE) == ("c",)
    with SqliteIndex(filled.folder) as other:
        embed(other, encoder, [VectorUnit.PASSAGE])
    assert places(store.search(DEBT, 1)) == [("c", 0)]
    filled.remove("c")
    assert places(store.search(DEBT, 1)) == [("a", 2)]


def test_read_once(filled: SqliteIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    store = VectorStore(filled, "words", VectorUnit.PASSAGE)
    store.search(DEBT, 1)
    monkeypatch.setattr(filled, "vectors", lambda *_: pytest.fail("read again"))
    assert places(store.search(REVENUE, 1)) == [("b", 0)]


def test_what_is_missing_is_told(filled: SqliteIndex, tmp_path: Path) -> None:
    with pytest.raises(FilingIndexError, match=r"fin-agent embed --model other --units summaries"):
        VectorStore(filled, "other", VectorUnit.SUMMARY).search(REVENUE, 1)
    store = VectorStore(filled, "words", VectorUnit.PASSAGE)
    with pytest.raises(FilingIndexError, match="does not fit"):
        store.search(REVENUE[:2], 1)
    with pytest.raises(FilingIndexError, match="does not fit"):
        store.search(SparseRow(np.array([1], np.uint32), np.array([1], np.float32)), 1)


def test_a_filing_without_passages(index: SqliteIndex, add: Add) -> None:
    add("a", "revenue")
    index.add_vectors("m", VectorUnit.PASSAGE, FilingVectors("a", (), 4, b""))
    assert VectorStore(index, "m", VectorUnit.PASSAGE).search(REVENUE, 3) == []


def row(**weights: float) -> SparseRow:
    terms = {"revenue": 7, "debt": 3, "assets": 900}
    weighed = sorted((terms[word], weight) for word, weight in weights.items())
    return SparseRow(np.array([t for t, _ in weighed], np.uint32), np.array([w for _, w in weighed], np.float32))


def test_sparse_rows_are_found_by_the_terms_they_share(index: SqliteIndex, add: Add) -> None:
    add("a", "one", "two", content_hash="2")
    add("b", "one", "two", content_hash="1")
    index.add_vectors("s", VectorUnit.PASSAGE, pack_vectors("a", (0, 1), [row(revenue=2.0), row()], 1000))
    index.add_vectors(
        "s", VectorUnit.PASSAGE, pack_vectors("b", (0, 1), [row(debt=1.0), row(revenue=1.5, debt=0.5)], 1000)
    )
    store = VectorStore(index, "s", VectorUnit.PASSAGE)
    hits = store.search(row(revenue=1.0, debt=2.0), 9)
    assert hits == [VectorHit("b", 1, 2.5), VectorHit("b", 0, 2.0), VectorHit("a", 0, 2.0)]  # no term shared, not found
    assert places(store.search(row(assets=1.0, revenue=1.0), 1, doc_ids=["b"])) == [("b", 1)]
