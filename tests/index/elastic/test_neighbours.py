"""Nearest neighbours on a cluster: what may not be found is left out before they are looked for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("elasticsearch")

from fin_agent.errors import FilingIndexError
from fin_agent.index.elastic.index import ElasticIndex
from fin_agent.index.protocol import VectorUnit
from fin_agent.vocabulary.filing import Filing
from tests.index.contract.test_vectors import dense

MakeFiling = Callable[..., Filing]

EAST, NORTH, WEST = (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)
NORTH_EAST = (0.5, 0.5)


@pytest.fixture
def filled(index: ElasticIndex, make_filing: MakeFiling) -> ElasticIndex:
    """Two filings with pages that look into different directions."""
    for doc_id, content in (("a", "2"), ("b", "1")):
        index.add(make_filing(doc_id, "x", "y", "z", content_hash=content), ["{}"] * 3, "")
    index.add_vectors("m", VectorUnit.PAGE, dense("a", EAST, NORTH, WEST))
    index.add_vectors("m", VectorUnit.PAGE, dense("b", NORTH_EAST, EAST, NORTH))
    return index


def places(found: list[tuple[str, int, float]]) -> list[tuple[str, int]]:
    return [(doc_id, place) for doc_id, place, _ in found]


def test_best_first_and_equals_by_content(filled: ElasticIndex) -> None:
    found = filled.nearest("m", VectorUnit.PAGE, EAST, 4)
    assert places(found) == [("b", 1), ("a", 0), ("b", 0), ("a", 1)] or places(found)[3] == ("b", 2)
    assert [round(score, 4) for _, _, score in found] == [1.0, 1.0, 0.7071, 0.0]
    assert len(filled.nearest("m", VectorUnit.PAGE, EAST, 100)) == 6
    assert filled.nearest("m", VectorUnit.PAGE, EAST, 0) == filled.nearest("m", VectorUnit.PAGE, (0.0, 0.0), 5) == []


def test_within_filings_and_places(filled: ElasticIndex) -> None:
    assert places(filled.nearest("m", VectorUnit.PAGE, EAST, 2, doc_ids=["a"])) == [("a", 0), ("a", 1)]
    only = filled.nearest("m", VectorUnit.PAGE, EAST, 5, places=[("a", 2), ("b", 2), ("unknown", 0)])
    assert places(only) == [("b", 2), ("a", 2)]
    both = filled.nearest("m", VectorUnit.PAGE, EAST, 5, doc_ids=["b"], places=[("a", 2), ("b", 2)])
    assert places(both) == [("b", 2)]
    assert filled.nearest("m", VectorUnit.PAGE, EAST, 5, doc_ids=[]) == []


def test_a_place_with_several_vectors_counts_by_its_nearest(index: ElasticIndex, make_filing: MakeFiling) -> None:
    index.add(make_filing("a", "x"), ["{}"], "")
    index.add_vectors("m", VectorUnit.WINDOW, dense("a", EAST, NORTH, EAST, WEST, places=(0, 0, 0, 1)))
    found = index.nearest("m", VectorUnit.WINDOW, EAST, 2)
    assert [(place, round(score, 4)) for _, place, score in found] == [(0, 1.0), (1, -1.0)]


def test_they_follow_the_index(filled: ElasticIndex, make_filing: MakeFiling) -> None:
    filled.remove("b")
    filled.add_vectors("m", VectorUnit.PAGE, dense("a", WEST))
    assert places(filled.nearest("m", VectorUnit.PAGE, EAST, 9)) == [("a", 0)]
    filled.add(make_filing("a", "other"), ["{}"], "")
    with pytest.raises(FilingIndexError, match="fin-agent embed"):
        filled.nearest("m", VectorUnit.PAGE, EAST, 9)


def test_vectors_that_do_not_fit(filled: ElasticIndex) -> None:
    with pytest.raises(FilingIndexError, match="vectors of 2 dimensions"):
        filled.nearest("m", VectorUnit.PAGE, (1.0, 0.0, 0.0), 3)
    filled.add_vectors("m", VectorUnit.PAGE, dense("a", (1.0, 0.0, 0.0)))  # a model made anew with other lengths
    assert filled.vector_models()[0].rows == 4


def test_stores_ask_the_index_where_there_are_too_many_to_read(
    filled: ElasticIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    numpy = pytest.importorskip("numpy")
    from fin_agent.retrieval.dense import store

    pages = store.VectorStore(filled, "m", VectorUnit.PAGE)
    asked = numpy.array([0.6, 0.8], dtype=numpy.float32)
    # Vectors of length 1, as encoders make them: then products are cosines.
    filled.add_vectors("m", VectorUnit.PAGE, dense("b", (0.8, 0.6), EAST, NORTH))
    exact = [pages.search(asked, 6), pages.search(asked, 2, doc_ids=["a"]), pages.search(asked, 3, places=[("b", 1)])]
    monkeypatch.setattr(store, "MOST_IN_MEMORY", 5)
    near = [pages.search(asked, 6), pages.search(asked, 2, doc_ids=["a"]), pages.search(asked, 3, places=[("b", 1)])]
    for hits, others in zip(exact, near, strict=True):
        assert [(hit.doc_id, hit.place) for hit in hits] == [(hit.doc_id, hit.place) for hit in others]
        assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in others], abs=2e-3)
    assert len(exact[0]) == 6
