"""Words find passages and summaries: as far as asked, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fin_agent.index import rarity
from fin_agent.index.protocol import PageKey, PassageHit
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.vocabulary.filing import Filing, Passage, PassageKind

MakeFiling = Callable[..., Filing]
Check = Callable[[SqliteIndex], None]


def divided(filing: Filing, *passages: tuple[int, str]) -> Filing:
    """`filing` with these (page, text) passages."""
    return replace(
        filing,
        passages=tuple(Passage(page, at, PassageKind.TEXT, text) for at, (page, text) in enumerate(passages)),
    )


@pytest.fixture
def filled(index: SqliteIndex, make_filing: MakeFiling) -> SqliteIndex:
    """Three filings of two pages, with three passages each."""
    for doc_id, word in (("a", "gyroscope"), ("b", "compass"), ("c", "sextant")):
        filing = divided(
            make_filing(doc_id, "-", "-"), (0, f"{word} {word}"), (1, f"{word} revenue"), (1, "inventories")
        )
        index.add(filing, ["{}"] * 3, f"makes a {word}")
    return index


def places(hits: list[PassageHit]) -> list[tuple[str, int, int]]:
    return [(hit.doc_id, hit.page, hit.ordinal) for hit in hits]


def test_passages_are_found_by_stems_best_first(filled: SqliteIndex) -> None:
    hits = filled.search_passages(["Gyroscopes"])
    assert places(hits) == [("a", 0, 0), ("a", 1, 1)]
    assert hits[0].score > hits[1].score > 0
    assert hits[0].key == PageKey("a", 0)
    assert {place[0] for place in places(filled.search_passages(["inventory"]))} == {"a", "b", "c"}
    assert len(filled.search_passages(["inventory"], limit=2)) == 2
    assert filled.search_passages(["inventory"], limit=0) == filled.search_passages([]) == []


def test_passages_within_filings_and_pages(filled: SqliteIndex) -> None:
    terms = ["gyroscope", "compass", "sextant", "inventory"]
    everything = {hit.key: hit for hit in filled.search_passages(terms)}
    of_b = filled.search_passages(terms, doc_ids={"b", "unknown"})
    assert sorted(places(of_b)) == [("b", 0, 0), ("b", 1, 1), ("b", 1, 2)]
    assert {hit.key: hit for hit in of_b}.items() <= everything.items()  # BM25 over all, wherever is looked
    on_pages = filled.search_passages(terms, pages=[PageKey("a", 0), PageKey("c", 1), PageKey("c", 9)])
    assert sorted(places(on_pages)) == [("a", 0, 0), ("c", 1, 1), ("c", 1, 2)]
    both = filled.search_passages(terms, doc_ids=["c"], pages=[PageKey("a", 0), PageKey("c", 0)])
    assert places(both) == [("c", 0, 0)]
    for nowhere in ({"doc_ids": []}, {"pages": []}, {"pages": [PageKey("x", 0)]}, {"doc_ids": ["'"]}):
        assert filled.search_passages(terms, **nowhere) == []


def test_passages_follow_their_filing(filled: SqliteIndex, make_filing: MakeFiling, check_consistent: Check) -> None:
    filled.add(divided(make_filing("a", "-"), (0, "astrolabe"), (0, "astrolabe astrolabe")), ["{}"] * 2, "")
    filled.remove("b")
    assert filled.search_passages(["gyroscope", "compass"]) == []
    assert places(filled.search_passages(["astrolabe"])) == [("a", 0, 1), ("a", 0, 0)]
    assert len(filled.search_passages(["sextant"], doc_ids=["a", "c"])) == 2
    check_consistent(filled)


def test_equal_passages_are_ordered_by_content(tmp_path: Path, make_filing: MakeFiling) -> None:
    orders = []
    for attempt, sequence in enumerate((["e", "b", "d", "a", "c"], ["a", "b", "c", "d", "e"])):
        with SqliteIndex.create(tmp_path / str(attempt)) as index:
            for at, content in enumerate(sequence):
                index.add(make_filing(f"{at}-{attempt}", "sales", "sales", content_hash=content), ["{}"] * 2, "")
            hashes = {entry.doc_id: entry.content_hash for entry in index.entries()}
            orders.append([(hashes[hit.doc_id], hit.ordinal) for hit in index.search_passages(["sales"], limit=5)])
    assert orders == [[("a", 0), ("a", 1), ("b", 0), ("b", 1), ("c", 0)]] * 2


def test_summaries_within_filings(filled: SqliteIndex) -> None:
    everything = dict(filled.search_summaries(["makes", "compass"]))
    assert next(iter(everything)) == "b" and len(everything) == 3
    assert dict(filled.search_summaries(["makes"], doc_ids=["a", "c", "x"])).keys() == {"a", "c"}
    assert filled.search_summaries(["makes"], doc_ids=[]) == filled.search_summaries(["makes"], limit=0) == []


class TestAmongVeryMany:
    """Summaries beyond what one search may score; here that is six."""

    @pytest.fixture
    def many(self, index: SqliteIndex, make_filing: MakeFiling, monkeypatch: pytest.MonkeyPatch) -> SqliteIndex:
        """Twelve summaries that say `annual report`, five of 2022, one of a gyroscope, one that never says report."""
        monkeypatch.setattr(rarity, "MOST_MATCHES", 6)
        for number in range(12):
            words = ["annual report" if number else "annual", "2022" * (number < 5), "gyroscopes" * (number == 7)]
            index.add(make_filing(f"f{number:02}", "x", content_hash=f"{99 - number}"), ["{}"], " ".join(words))
        return index

    def test_rarer_terms_take_the_place_of_common_ones(self, many: SqliteIndex) -> None:
        found = many.search_summaries(["annual", "gyroscope", "2022", "report", "annual report"])
        assert found[0][0] == "f07"
        assert {doc_id for doc_id, _ in found} == {"f07", "f00", "f01", "f02", "f03", "f04"}
        assert all(score > 0 for _, score in found)

    def test_terms_that_nothing_holds_do_not_count_as_rare(self, many: SqliteIndex) -> None:
        assert len(many.search_summaries(["sextant", "annual"], limit=20)) == 12
        assert many.search_summaries(["sextant", "\ud800", ""]) == []

    def test_where_all_are_common_the_rarest_is_found_in_order_of_content(self, many: SqliteIndex) -> None:
        found = many.search_summaries(["annual", "report"], limit=3)
        assert found == [("f11", 0.0), ("f10", 0.0), ("f09", 0.0)]
        assert "f00" not in dict(many.search_summaries(["annual", "report"], limit=20))

    def test_counts_follow_the_index(self, many: SqliteIndex, make_filing: MakeFiling) -> None:
        assert len(many.search_summaries(["gyroscope", "2022"], limit=20)) == 6
        for number in range(20, 26):
            many.add(make_filing(f"f{number}", "x"), ["{}"], "gyroscope")
        assert {doc_id for doc_id, _ in many.search_summaries(["gyroscope", "2022"], limit=20)} == {
            "f00", "f01", "f02", "f03", "f04",
        }  # fmt: skip
