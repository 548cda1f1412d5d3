"""The strategies that need words alone: bm25, query-expansion, and the stages over them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from fin_agent.config import settings_from
from fin_agent.index.protocol import PageKey, VectorUnit
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.retrieval.search_query import EVERYTHING, Depth, Query, Scope
from fin_agent.retrieval.strategies.one_pass import Place, Wording, expand_question, rank_by_words, rarest_terms
from fin_agent.retrieval.strategies.protocol import Strategy
from fin_agent.retrieval.strategies.registry import build_strategy
from fin_agent.workspace import Workspace
from tests.retrieval.strategies.conftest import CHIEF, CHIEF_PAGE, SUIT, SUIT_PAGES

NAMES = ("bm25", "query-expansion", "hhr:bm25", "page-then-chunk:bm25", "query-expansion:page-then-chunk:bm25")


@pytest.fixture(params=NAMES)
def strategy(request: pytest.FixtureRequest, workspace: Workspace) -> Strategy:
    built = build_strategy(request.param, workspace)
    assert built.name == request.param
    return built


def test_the_right_filing_and_page_come_first(strategy: Strategy, asked: Callable[[str], Query]) -> None:
    found = strategy.search(asked(CHIEF))
    assert found.filings[0].doc_id == CHIEF_PAGE.doc_id
    assert found.pages[0].key == CHIEF_PAGE
    assert found.passages[0].stored.key == CHIEF_PAGE
    found = strategy.search(asked(SUIT))
    assert found.filings[0].doc_id == "harborlight_2024_10k"
    assert found.pages[0].key.page in SUIT_PAGES
    assert found.rounds == 1 and found.kept is None


@pytest.mark.parametrize("pages", [1, 2, 5])
def test_passages_are_of_the_first_pages_as_many_as_the_settings_say(
    workspace: Workspace, asked: Callable[[str], Query], monkeypatch: pytest.MonkeyPatch, pages: int
) -> None:
    monkeypatch.setenv("FIN_AGENT_PAGES", str(pages))
    found = build_strategy("page-then-chunk:bm25", workspace, settings_from()).search(
        asked(SUIT), depth=Depth(5, 20, 50)
    )
    assert len(found.pages) == 20, "pages are listed whatever is looked at"
    first = {page.key for page in found.pages[:pages]}
    assert {passage.stored.key for passage in found.passages} == first


def test_only_the_filings_in_scope_are_found(strategy: Strategy, asked: Callable[[str], Query]) -> None:
    found = strategy.search(asked(CHIEF), Scope(doc_ids=("tellurond_2023_10k",)))
    assert [filing.doc_id for filing in found.filings] == ["tellurond_2023_10k"]
    assert {page.key.doc_id for page in found.pages} == {"tellurond_2023_10k"}
    assert {passage.stored.doc_id for passage in found.passages} == {"tellurond_2023_10k"}
    assert len(found.pages) > 3
    nothing = strategy.search(asked(CHIEF), Scope(doc_ids=()))
    assert (nothing.filings, nothing.pages, nothing.passages) == ((), (), ())


def test_only_the_pages_in_scope_are_found(strategy: Strategy, asked: Callable[[str], Query]) -> None:
    pages = (PageKey("harborlight_2024_10k", 4), PageKey("harborlight_2024_10k", 5), CHIEF_PAGE)
    found = strategy.search(asked(SUIT), Scope(pages=pages))
    assert found.pages[0].key == pages[0]
    assert {page.key for page in found.pages} <= set(pages)
    assert {passage.stored.key for passage in found.passages} <= set(pages)
    both = strategy.search(asked(SUIT), Scope(doc_ids=("tellurond_2024_8k",), pages=pages))
    assert {page.key for page in both.pages} <= {CHIEF_PAGE}


def test_as_many_are_listed_as_the_depth_says_each_once(strategy: Strategy, asked: Callable[[str], Query]) -> None:
    found = strategy.search(asked("How did net sales and operating income change?"), depth=Depth(3, 12, 7))
    assert (len(found.filings), len(found.pages), len(found.passages)) == (3, 12, 7)
    assert len({page.key for page in found.pages}) == 12
    scores = [passage.score for passage in found.passages]
    assert scores == sorted(scores, reverse=True)
    deep = strategy.search(asked("How did net sales and operating income change?"), depth=Depth(5, 20, 12))
    assert deep.passages[:7] == found.passages and deep.pages[:12] == found.pages


def test_the_same_is_found_again_and_by_many_at_once(workspace: Workspace, asked: Callable[[str], Query]) -> None:
    for name in NAMES:
        strategy, query = build_strategy(name, workspace), asked(SUIT)
        once = strategy.search(query)
        assert build_strategy(name, workspace).search(query) == once
        with ThreadPoolExecutor(4) as pool:
            assert all(found == once for found in pool.map(strategy.search, [query] * 8))


def test_companies_periods_and_figures_are_not_read(strategy: Strategy, asked: Callable[[str], Query]) -> None:
    query = asked("What was Harborlight's gross profit in 2024?")
    plain = Query(query.text, terms=(), expansions=query.expansions, synonyms=query.synonyms)
    other = replace(query, companies=("someone else",), periods=(FiscalPeriod(fiscal_year=1999),), terms=("mining",))
    assert strategy.search(query) == strategy.search(plain) == strategy.search(other)


def test_pages_and_filings_stand_in_the_order_of_their_best_passage(
    workspace: Workspace, asked: Callable[[str], Query]
) -> None:
    found = build_strategy("bm25", workspace).search(asked(SUIT), depth=Depth(5, 5, 60))
    best = dict.fromkeys(passage.stored.key for passage in found.passages)
    assert [page.key for page in found.pages] == list(best)[:5]
    assert [filing.doc_id for filing in found.filings] == list(dict.fromkeys(key.doc_id for key in best))[:5]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?!...",
        "the of",
        '"NEAR( OR ^ *',
        " ".join(f"revenue{n}" for n in range(2000)) + " revenue",
        "Qu'est-ce que le goodwill ?",
    ],
)
def test_odd_questions_are_no_error(strategy: Strategy, text: str) -> None:
    found = strategy.search(Query(text, terms=()))
    assert bool(found.passages) == ("revenue" in text or "goodwill" in text)


def test_synonyms_are_searched_for_as_phrases() -> None:
    query = Query("What was the capex of Acme?", terms=(), expansions=("capital expenditures", "purchases of property"))
    assert Wording.of(query).terms() == expand_question(query).terms() == ("capex", "Acme")
    assert expand_question(query).synonyms == ("capital expenditures", "purchases of property")
    assert expand_question(query).passages() == (
        "What was the capex of Acme? (capital expenditures; purchases of property)",
    )


def test_expansions_and_synonyms_are_added_to_all_words_of_the_question_each_once() -> None:
    query = Query(
        "What was Acme's net revenue in 2021?",
        terms=("net", "revenue"),
        expansions=("Net sales", "net sale", "Total revenues"),
        synonyms=("net sales", "turnover"),
    )
    assert expand_question(query).terms() == Wording.of(query).terms() == ("Acme", "net", "revenue", "2021")
    assert expand_question(query).synonyms == ("Net sales", "Total revenues", "turnover")


def test_a_word_counts_once_however_it_is_written() -> None:
    text = "Fixed asset turnover: fixed assets over assets, and the ratio's RATIO"
    assert Wording((text,)).terms() == ("Fixed", "asset", "turnover", "ratio")


def test_words_of_the_question_count_double(workspace: Workspace) -> None:
    index = workspace.index
    own, other = ("inventories",), ("income taxes",)
    scores = dict(rank_by_words(index, VectorUnit.PASSAGE, Wording(own, other), EVERYTHING, 100))
    of_own, of_other = (
        {Place(hit.doc_id, hit.page, hit.ordinal): hit.score for hit in index.search_passages(terms, limit=1000)}
        for terms in (own, other)
    )
    assert any(key in of_own and key in of_other for key in scores)
    for key, score in scores.items():
        assert score == pytest.approx(of_own.get(key, 0.0) + of_other.get(key, 0.0) / 2)


def test_of_very_many_terms_the_rarest_are_searched_for(workspace: Workspace) -> None:
    common, rare, nowhere = ("sales", "income", "cash"), ("appointed", "patent"), ("qwertz", "日本")
    assert rarest_terms((*common, *rare, *nowhere), workspace.index, most=2) == rare
    assert rarest_terms((*nowhere, *rare, *common), workspace.index, most=5) == (*rare, *common)
    assert rarest_terms(common, workspace.index, most=3) == common
    assert rarest_terms(("patent suit", "cash"), workspace.index, most=1) == ("patent suit",)


def test_synonyms_find_what_the_question_calls_otherwise(workspace: Workspace) -> None:
    query = Query("capex", terms=(), expansions=("purchases of property and equipment",))
    assert build_strategy("bm25", workspace).search(query).passages == ()
    assert (
        "urchases of property"
        in build_strategy("query-expansion", workspace).search(query).passages[0].stored.passage.text
    )


def test_only_the_filings_chosen_first_are_searched(workspace: Workspace) -> None:
    query = Query("Quillmark net sales by region", terms=())
    flat = build_strategy("bm25", workspace).search(query)
    staged = build_strategy("hhr:bm25", workspace).search(query)
    assert {passage.stored.doc_id.split("_")[0] for passage in flat.passages} != {"quillmark"}
    assert {passage.stored.doc_id.split("_")[0] for passage in staged.passages} == {"quillmark"}
    assert {passage.stored.doc_id for passage in staged.passages} <= {filing.doc_id for filing in staged.filings}


def test_only_the_pages_chosen_first_are_searched(workspace: Workspace, asked: Callable[[str], Query]) -> None:
    from fin_agent.config import Settings

    narrow = build_strategy("page-then-chunk:bm25", workspace, Settings(pages=3))
    found = narrow.search(asked("How did net sales and operating income change?"))
    assert len(found.pages) == 20
    assert {passage.stored.key for passage in found.passages} == {page.key for page in found.pages[:3]}


def test_short_years_are_written_out() -> None:
    made = expand_question(Query("Margin in FY18 and FY2019, not in 2020?", terms=()))
    assert made.synonyms == ("fiscal year 2018", "fiscal year 2019")
    assert expand_question(Query("Margin in 2020?", terms=())).synonyms == ()
