"""Words find pages, passages and summaries: best first, as far as asked and nowhere else, in every kind of index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import log
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fin_agent.index.protocol import Hit, PageKey
from fin_agent.vocabulary.filing import Filing, Passage, PassageKind

MakeFiling = Callable[..., Filing]
Index = Any
Backend = Any


def divided(filing: Filing, *passages: tuple[int, str]) -> Filing:
    """`filing` with these (page, text) passages."""
    return replace(
        filing,
        passages=tuple(Passage(page, at, PassageKind.TEXT, text) for at, (page, text) in enumerate(passages)),
    )


@pytest.fixture
def filled(index: Index, make_filing: MakeFiling) -> Index:
    """Three filings of two pages, with three passages each."""
    for doc_id, word in (("a", "gyroscope"), ("b", "compass"), ("c", "sextant")):
        filing = divided(
            make_filing(doc_id, "-", "-"), (0, f"{word} {word}"), (1, f"{word} revenue"), (1, "inventories")
        )
        index.add(filing, ["{}"] * 3, f"makes a {word}")
    return index


def places(hits: list[Hit]) -> list[tuple[str, int, int]]:
    return [(hit.doc_id, hit.page, hit.ordinal) for hit in hits]


def test_search_finds_stems_and_ranks_by_words(index: Index, make_filing: MakeFiling) -> None:
    index.add(make_filing("a", "receivables and inventories", "nothing here", "Café revenue"), ["{}"] * 3, "first")
    index.add(make_filing("b", "inventory " * 9), ["{}"], "second")
    assert [hit.key for hit in index.search_pages(["Inventory"])] == [PageKey("b", 0), PageKey("a", 0)]
    assert [hit.key for hit in index.search_pages(["CAFE"])] == [PageKey("a", 2)]
    assert index.search_pages(["nothing here"])[0].key == PageKey("a", 1)
    assert index.search_pages(["here nothing"]) == []  # a term of several words is a phrase
    scores = [hit.score for hit in index.search_pages(["inventory", "revenue", "nothing"])]
    assert scores == sorted(scores, reverse=True) and scores[-1] > 0
    assert [doc_id for doc_id, _ in index.search_summaries(["second"])] == ["b"]


@pytest.mark.parametrize(
    ("text", "asked", "others"),
    [
        ("as filed on Form 10-K for 2023", ["10-K", "10 k", "10-k", "2023"], ["10K", "k-10", "202"]),
        ("net sales of $1,234.5 million", ["1,234.5", "1 234", "$1,234.5", "sale"], ["12345", "5 234"]),
        ("class BRK.B shares", ["BRK.B", "brk b", "share"], ["BRKB"]),
        ("R&D and sell\u00adthrough\u00a0rates", ["R&D", "r d", "through rate"], ["RD", "sellthrough"]),
        ("Nestlé’s technologies, possibly", ["nestle", "technology", "possible", "nestlé's"], ["nest", "techno"]),
        ("note_5 (unaudited)", ["note 5", "note_5", "unaudited"], ["note5"]),
    ],
)
def test_numbers_tickers_and_hyphens(
    index: Index, make_filing: MakeFiling, text: str, asked: list[str], others: list[str]
) -> None:
    index.add(make_filing("a", text), ["{}"], text)
    for term in asked:
        assert [hit.key.doc_id for hit in index.search_pages([term])] == ["a"], term
        assert [doc_id for doc_id, _ in index.search_summaries([term])] == ["a"], term
    for term in others:
        assert index.search_pages([term]) == [], term


def test_search_within_filings(index: Index, make_filing: MakeFiling) -> None:
    for name in "abcd":
        index.add(make_filing(name, "revenue one", "revenue two"), ["{}"] * 2, name)
    index.add(make_filing("b", "revenue", "revenue", "revenue"), ["{}"] * 3, "b")
    found = {hit.key for hit in index.search_pages(["revenue"], doc_ids=["b", "d", "unknown"])}
    assert found == {("b", 0), ("b", 1), ("b", 2), ("d", 0), ("d", 1)}
    assert index.search_pages(["revenue"], doc_ids=[]) == []
    assert index.search_pages(["revenue"], doc_ids=["unknown"]) == []
    assert len(index.search_pages(["revenue"], limit=3)) == 3
    assert index.search_pages(["revenue"], limit=0) == []


def test_passages_are_found_by_stems_best_first(filled: Index) -> None:
    hits = filled.search_passages(["Gyroscopes"])
    assert places(hits) == [("a", 0, 0), ("a", 1, 1)]
    assert hits[0].score > hits[1].score > 0
    assert hits[0].key == PageKey("a", 0)
    assert {place[0] for place in places(filled.search_passages(["inventory"]))} == {"a", "b", "c"}
    assert len(filled.search_passages(["inventory"], limit=2)) == 2
    assert filled.search_passages(["inventory"], limit=0) == filled.search_passages([]) == []


def test_passages_within_filings(filled: Index) -> None:
    terms = ["gyroscope", "compass", "sextant", "inventory"]
    everything = {hit.key: hit for hit in filled.search_passages(terms)}
    of_b = filled.search_passages(terms, doc_ids={"b", "unknown"})
    assert sorted(places(of_b)) == [("b", 0, 0), ("b", 1, 1), ("b", 1, 2)]
    assert {hit.key: hit for hit in of_b}.items() <= everything.items()  # BM25 over all, wherever is looked
    assert filled.search_passages(terms, doc_ids=[]) == filled.search_passages(terms, doc_ids=["'"]) == []


def test_passages_follow_their_filing(filled: Index, make_filing: MakeFiling) -> None:
    filled.add(divided(make_filing("a", "-"), (0, "astrolabe"), (0, "astrolabe astrolabe")), ["{}"] * 2, "")
    filled.remove("b")
    assert filled.search_passages(["gyroscope", "compass"]) == []
    assert places(filled.search_passages(["astrolabe"])) == [("a", 0, 1), ("a", 0, 0)]
    assert len(filled.search_passages(["sextant"], doc_ids=["a", "c"])) == 2


def test_equals_are_ordered_by_content_and_cut_by_it(backend: Backend, make_filing: MakeFiling) -> None:
    """Names and the order of ingest must not decide which of equal pages falls off the end."""
    orders = []
    hashes = ["e", "b", "d", "a", "c"]
    for attempt, sequence in enumerate((hashes, hashes[::-1], sorted(hashes))):
        index = backend.made(str(attempt))
        for at, content in enumerate(sequence):
            index.add(make_filing(f"{at}-{attempt}", "sales", "sales", content_hash=content), ["{}"] * 2, "same")
        hash_of = {entry.doc_id: entry.content_hash for entry in index.entries()}
        orders.append(
            (
                [hash_of[hit.key.doc_id] for hit in index.search_pages(["sales"], limit=3)],
                [(hash_of[hit.doc_id], hit.ordinal) for hit in index.search_passages(["sales"], limit=5)],
                [hash_of[doc_id] for doc_id, _ in index.search_summaries(["same"], limit=3)],
            )
        )
    assert orders == [(["a", "a", "b"], [("a", 0), ("a", 1), ("b", 0), ("b", 1), ("c", 0)], ["a", "b", "c"])] * 3


def test_long_texts_are_ranked_by_how_much_of_them_is_what_was_asked(backend: Backend, make_filing: MakeFiling) -> None:
    """BM25, k1 1.2, b 0.75; scores are each kind's own: Lucene keeps lengths above 40 words roughly."""
    index = backend.made()
    pages = [
        " ".join([*["gyroscope"] * times, *["compass rose"] * phrases, *["filler"] * (length - times - 2 * phrases)])
        for times, phrases in ((1, 0), (1, 1), (3, 0), (4, 2))
        for length in range(200, 240)
    ]
    blank = ["", "sextant", ""] * 80
    index.add(make_filing("a", *pages, *blank), ["{}"] * (len(pages) + len(blank)), "")
    asked = ["gyroscope", "compass rose"]
    held = [page.split() for page in pages]
    average = (sum(map(len, held)) + 80) / (len(pages) + len(blank))
    expected = {}
    for number, words in enumerate(held):
        counts = [words.count("gyroscope"), words.count("rose")]
        norm = 1.2 * (0.25 + 0.75 * len(words) / average)
        score = 0.0
        for times, holding in zip(counts, (len(pages), len(pages) // 2), strict=True):
            weight = log((len(pages) + len(blank) - holding + 0.5) / (holding + 0.5))
            score += weight * times * 2.2 / (times + norm)
        expected[number] = score
    hits = index.search_pages(asked, limit=30)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert [hit.key.page for hit in hits] == sorted(expected, key=lambda number: -expected[number])[:30]
    if backend.kind == "embedded":
        assert [hit.score for hit in hits] == pytest.approx([expected[hit.key.page] for hit in hits], rel=1e-9)


def test_summaries_within_filings(filled: Index) -> None:
    everything = dict(filled.search_summaries(["makes", "compass"]))
    assert next(iter(everything)) == "b" and len(everything) == 3
    assert dict(filled.search_summaries(["makes"], doc_ids=["a", "c", "x"])).keys() == {"a", "c"}
    assert filled.search_summaries(["makes"], doc_ids=[]) == filled.search_summaries(["makes"], limit=0) == []


HOSTILE = (
    '"', '""', 'a"b', '" OR "', "NEAR(revenue grew)", "AND", "OR NOT", "*", "rev*", "-revenue", "text:revenue",
    "{text} : revenue", "^revenue", "(((", "revenue)", "+", ";DROP TABLE filings", "'", "\\", "\x00", "a\x00b", "",
    " ", "_", "__ _", "\ud800", "💰", "１２３", "²", "ﬁ", "é", "\u0301", "revenue~2",
    "rev?nue", "/reven.e/", "_exists_:text",
)  # fmt: skip


def test_hostile_terms_are_only_words(index: Index, make_filing: MakeFiling) -> None:
    index.add(make_filing("a", "compass revenue grew"), ["{}"], "compass")
    for hostile in HOSTILE:
        index.search_summaries([hostile])
        assert [hit.key.doc_id for hit in index.search_pages([hostile, "compass"])] == ["a"], hostile
        alone = {hit.key.doc_id for hit in index.search_pages([hostile])}
        assert alone == ({"a"} if hostile in _WORDS_OF_IT else set()), hostile


_WORDS_OF_IT = ("-revenue", "^revenue", "revenue)")


def test_any_text_can_be_searched(index: Index) -> None:
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
    @given(st.lists(st.text(max_size=12), max_size=6))
    def search(terms: list[str]) -> None:
        assert index.search_pages(terms) == []

    search()


def test_very_long_queries(index: Index, make_filing: MakeFiling) -> None:
    index.add(make_filing("a", "w77 w78"), ["{}"], "")
    terms = [f"w{number}" for number in range(2500)]
    assert [hit.key.doc_id for hit in index.search_pages([*terms, " ".join(terms)])] == ["a"]
    assert dict(index.document_frequencies(terms)) == {"w77": 1, "w78": 1}


def test_more_hits_than_one_answer_holds(index: Index, make_filing: MakeFiling) -> None:
    index.add(make_filing("many", *["revenue"] * 1_100), ["{}"] * 1_100, "")
    assert [hit.key.page for hit in index.search_pages(["revenue"], limit=1_050)] == list(range(1_050))
    assert [page.key.page for page in index.outline(["many"])] == list(range(1_100))
    keys = [PageKey("many", number) for number in range(1_050)]
    assert [stored.key for stored in index.pages(keys)] == keys
    assert [stored.key for stored in index.passages(keys)] == keys
