"""Words find passages and summaries: as far as asked, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from fin_agent.index import sqlite
from fin_agent.index.protocol import Hit
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


def places(hits: list[Hit]) -> list[tuple[str, int, int]]:
    return [(hit.doc_id, hit.page, hit.ordinal) for hit in hits]


def test_passages_follow_their_filing(filled: SqliteIndex, make_filing: MakeFiling, check_consistent: Check) -> None:
    filled.add(divided(make_filing("a", "-"), (0, "astrolabe"), (0, "astrolabe astrolabe")), ["{}"] * 2, "")
    filled.remove("b")
    assert filled.search_passages(["gyroscope", "compass"]) == []
    assert places(filled.search_passages(["astrolabe"])) == [("a", 0, 1), ("a", 0, 0)]
    assert len(filled.search_passages(["sextant"], doc_ids=["a", "c"])) == 2
    check_consistent(filled)


class TestAmongVeryMany:
    """Summaries beyond what one search may score; here that is six."""

    @pytest.fixture
    def many(self, index: SqliteIndex, make_filing: MakeFiling, monkeypatch: pytest.MonkeyPatch) -> SqliteIndex:
        """Twelve summaries that say `annual report`, five of 2022, one of a gyroscope, one that never says report."""
        monkeypatch.setattr(sqlite, "MAX_MATCHES", 6)
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

    def test_where_all_are_common_one_is_found_in_order_of_content(self, many: SqliteIndex) -> None:
        found = many.search_summaries(["annual", "report"], limit=3)
        assert [doc_id for doc_id, _ in found] == ["f11", "f10", "f09"]

    def test_counts_follow_the_index(self, many: SqliteIndex, make_filing: MakeFiling) -> None:
        assert len(many.search_summaries(["gyroscope", "2022"], limit=20)) == 6
        for number in range(20, 26):
            many.add(make_filing(f"f{number}", "x"), ["{}"], "gyroscope")
        assert {doc_id for doc_id, _ in many.search_summaries(["gyroscope", "2022"], limit=20)} == {
            "f00", "f01", "f02", "f03", "f04",
        }  # fmt: skip
