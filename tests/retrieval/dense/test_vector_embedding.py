"""Vectors are made of what filings hold, once, and can be stopped at any filing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fin_agent.index.protocol import VectorUnit
from fin_agent.index.sqlite import SqliteIndex
from tests.retrieval.dense.conftest import WordEncoder

pytest.importorskip("numpy", reason="vectors need the extra `dense`")

from fin_agent.retrieval.dense.store import EmbeddedFiling, embed, unpack_dense

Add = Callable[..., None]
EVERY_UNIT = tuple(VectorUnit)


def test_each_unit_is_made_of_its_own_texts(index: SqliteIndex, add: Add, encoder: WordEncoder) -> None:
    add("a", "revenue debt", "assets", "litigation debt revenue")
    written = embed(index, encoder, EVERY_UNIT)
    assert encoder.seen == [
        "summary of a: revenue debt",
        "revenue debt assets", "litigation debt revenue",
        "revenue debt", "assets", "litigation debt revenue",
        "revenue debt", "assets", "litigation debt", "revenue",
    ]  # fmt: skip
    places = {unit: next(index.vectors("words", unit)).places for unit in EVERY_UNIT}
    assert places == {
        VectorUnit.SUMMARY: (0,),
        VectorUnit.PAGE: (0, 1),
        VectorUnit.PASSAGE: (0, 1, 2),
        VectorUnit.WINDOW: (0, 1, 2, 2),
    }
    assert written[2] == EmbeddedFiling("a", VectorUnit.PASSAGE, 3, 3 * 4 * 2 + 3 * 4)
    kept = unpack_dense(next(index.vectors("words", VectorUnit.PASSAGE)))
    assert kept.tolist()[1] == [0.0, 0.0, 1.0, 0.0]


def test_a_filing_added_later_is_all_that_is_done(index: SqliteIndex, add: Add, encoder: WordEncoder) -> None:
    add("a", "revenue")
    embed(index, encoder, EVERY_UNIT)
    add("b", "debt")
    encoder.seen.clear()
    told: list[EmbeddedFiling] = []
    embed(index, encoder, [VectorUnit.PASSAGE], told.append)
    assert encoder.seen == ["debt"]
    assert [filing.doc_id for filing in told] == ["b"]
    assert embed(index, encoder, [VectorUnit.PASSAGE]) == []


def test_stopped_and_run_again_it_goes_on(index: SqliteIndex, add: Add, encoder: WordEncoder) -> None:
    for name in "abc":
        add(name, "revenue")

    def stop(filing: EmbeddedFiling) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embed(index, encoder, [VectorUnit.PASSAGE], stop)
    assert index.without_vectors("words", VectorUnit.PASSAGE) == ("b", "c")
    assert [filing.doc_id for filing in embed(index, encoder, [VectorUnit.PASSAGE])] == ["b", "c"]
    assert index.without_vectors("words", VectorUnit.PASSAGE) == ()


@pytest.mark.parametrize("removed", [True, False])
def test_a_filing_that_changes_meanwhile_is_left(
    index: SqliteIndex, add: Add, encoder: WordEncoder, removed: bool
) -> None:
    add("a", "revenue")
    before = encoder.encode_passages

    def slow(texts: list[str]) -> object:
        if removed:
            index.remove("a")
        else:
            add("a", "debt")
        return before(texts)

    encoder.encode_passages = slow  # type: ignore[method-assign]
    assert embed(index, encoder, [VectorUnit.PASSAGE]) == []
    encoder.encode_passages = before  # type: ignore[method-assign]
    assert len(embed(index, encoder, [VectorUnit.PASSAGE])) == (0 if removed else 1)
