"""The document stage over made-up filings: sure and unsure companies, none at all, periods that must all be covered."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

import pytest

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.evidence.filing_preparation import summary_of
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.retrieval import document_ranking
from fin_agent.retrieval.document_ranking import (
    FILING_FEATURES,
    SearchCost,
    affordable_terms,
    date_fit,
    form_fits,
    period_fit,
    phrases_of,
    rank_filings,
)
from fin_agent.retrieval.search_query import Query, RankedFiling
from fin_agent.vocabulary.filing import Filing
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Page
from fin_agent.workspace import Workspace

OTHER = ("other company", 1.0)


def filing(
    company: str, form: Form, year: int, *texts: str, quarter: int | None = None, end: date | None = None
) -> Filing:
    doc_id = f"{company.split()[0]}_{year}{f'Q{quarter}' if quarter else ''}_{form.value}" + (
        f"_{end:%m%d}" if form is Form.EIGHT_K and end else ""
    )
    end = end or date(year, 3 * quarter if quarter else 12, 28)
    pages = tuple(Page(number, text) for number, text in enumerate(texts or ("Nothing to tell.",)))
    digest = hashlib.sha256(doc_id.encode()).hexdigest()
    month = end.month if form is not Form.EIGHT_K and quarter is None else 12
    identity = Identity(company, form, year, quarter, end, month)
    return Filing(doc_id, f"{doc_id}.pdf", digest, identity, pages, (), ())


LOOMS = "Tellwick Looms, Inc."
TOOLS = "Harborstone Tools Corporation"
SHOPS = "Merridale Shops, Inc."
"""Calls the year that ended in January 2023 fiscal 2022."""

FILINGS = (
    *(filing(LOOMS, Form.TEN_K, year, f"Revenue of fiscal {year} rose.") for year in range(2014, 2024)),
    *(
        filing(LOOMS, Form.TEN_Q, 2022, "Revenue revenue revenue rose.", quarter=quarter)
        for quarter in (1, 2, 3)
    ),
    filing(LOOMS, Form.EIGHT_K, 2022, "The board met.", end=date(2022, 6, 14)),
    filing(LOOMS, Form.EIGHT_K, 2022, "The board met again.", end=date(2022, 9, 14)),
    filing(
        TOOLS, Form.TEN_K, 2022, "Zirconium freight tariffs weighed on margins.",
        "Repair shops bought sales kits; a net was sold. Expense as a rule rose with sales. Net of tax.",
    ),
    filing(TOOLS, Form.ANNUAL_REPORT, 2022, "To our shareholders: zirconium freight tariffs weighed on margins."),
    filing(TOOLS, Form.TEN_K, 2021, "Zirconium was cheap."),
    filing(
        SHOPS, Form.EARNINGS, 2022, "Selling expense decreased to 23.9% of net sales from lower wages.",
        end=date(2023, 1, 28),
    ),
    filing(SHOPS, Form.TEN_K, 2022, "Net sales rose with new shops.", end=date(2023, 1, 28)),
)  # fmt: skip


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    folder: Path = tmp_path_factory.mktemp("made-up")
    with SqliteIndex.create(folder) as index:
        for one in FILINGS:
            index.add(one, [], summary_of(one))
        yield Workspace(index)


def ranked(workspace: Workspace, query: Query, **more: object) -> list[RankedFiling]:
    return rank_filings(query, workspace, **more)  # type: ignore[arg-type]


def asked(workspace: Workspace, question: str, **more: object) -> list[RankedFiling]:
    analyst = RulesAnalyst(workspace)
    intent = analyst.intent(question)
    return ranked(workspace, analyst.query(intent, analyst.plan(intent), None), **more)


def ids(filings: Sequence[RankedFiling]) -> list[str]:
    return [one.doc_id for one in filings]


def test_a_sure_company_s_filings_stand_alone(workspace: Workspace) -> None:
    found = asked(workspace, "What drove Harborstone's tariffs in FY2022?")
    assert ids(found) == ["Harborstone_2022_10-K", "Harborstone_2022_annual-report", "Harborstone_2021_10-K"]


def test_behind_an_unsure_company_those_that_fit_by_their_words_stay_candidates(workspace: Workspace) -> None:
    found = asked(workspace, "What did Tellwik say of zirconium freight tariffs in FY2022?")
    assert [one.doc_id.split("_")[0] for one in found] == ["Tellwick"] * 4 + ["Harborstone"]
    assert found[0].doc_id == "Tellwick_2022_10-K"
    assert [OTHER in one.features for one in found] == [False] * 4 + [True]
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    assert 0 < scores[-1] <= scores[-2] / 2


def test_what_an_unsure_company_leaves_free_goes_to_others(workspace: Workspace) -> None:
    found = asked(workspace, "What did Harborstne say of revenue in FY2022?")
    assert [OTHER in one.features for one in found] == [False] * 3 + [True] * 2
    assert len(set(ids(found))) == 5
    assert ids(asked(workspace, "What did Harborstne say of revenue in FY2022?", limit=1)) == ["Harborstone_2022_10-K"]


def test_a_company_that_the_text_does_not_name_is_sure(workspace: Workspace) -> None:
    (company,) = (one for one in workspace.directory.companies if one.name == SHOPS)
    found = ranked(workspace, Query(text="What drove it?", terms=("tariffs",), companies=(company.key,)))
    assert {one.doc_id.split("_")[0] for one in found} == {"Merridale"}


def test_without_a_company_each_one_s_best_filing_comes_before_any_second(workspace: Workspace) -> None:
    found = ids(asked(workspace, "What weighed on margins in FY2022: zirconium freight tariffs?"))
    assert found[0] == "Harborstone_2022_10-K"
    assert "Harborstone_2022_annual-report" not in found[:2]
    assert {one.split("_")[0] for one in found[:2]} == {"Harborstone", "Tellwick"}


def test_words_that_stand_together_count_for_more_than_words_apart(workspace: Workspace) -> None:
    found = asked(workspace, "What drove the decrease in selling expense as a percent of net sales in FY2022?")
    assert found[0].doc_id == "Merridale_2022_earnings"
    by_name = {one.doc_id: dict(one.features) for one in found}
    assert 0 < by_name["Merridale_2022_earnings"]["phrases"] < 1  # the words alone fit better, once they are counted
    assert by_name["Harborstone_2022_10-K"]["phrases"] == 0 < by_name["Harborstone_2022_10-K"]["words"]


def test_phrases_are_of_neighbouring_search_terms_of_one_clause() -> None:
    text = "What drove the net sales growth, selling expense and tax?"
    terms = ("net", "sales", "growth", "selling", "expense", "tax")
    assert phrases_of(Query(text=text, terms=terms)) == ("net sales", "sales growth", "selling expense")
    assert phrases_of(Query(text=text, terms=("net", "growth"))) == ()


def test_a_year_may_be_called_by_its_end_where_no_company_is_named(workspace: Workspace) -> None:
    shops = FILINGS[-1].identity
    assert (shops.fiscal_year, shops.ending_year) == (2022, 2023)
    year = {asked: period_fit(FiscalPeriod(fiscal_year=asked), shops) for asked in (2022, 2023)}
    by_end = {asked: period_fit(FiscalPeriod(fiscal_year=asked), shops, by_end_too=True) for asked in (2022, 2023)}
    assert by_end[2022] == year[2022] == 1
    assert year[2023] < by_end[2023] < 1
    assert ids(asked(workspace, "Which shops had lower wages in FY2023?"))[0] == "Merridale_2022_earnings"


def test_the_first_filings_cover_all_periods_asked_about(workspace: Workspace) -> None:
    key = workspace.directory.mentions("Tellwick")[0].company.key
    years = (2014, 2017, 2022, 2023)
    periods = tuple(FiscalPeriod(fiscal_year=year) for year in years)
    query = Query(text="", terms=("revenue", "rose"), companies=(key,), periods=periods)
    found = ids(ranked(workspace, query))
    assert len(found) == 5
    assert ids(ranked(workspace, query, limit=10))[:5] == found
    for year in years:
        assert {f"Tellwick_{near}_10-K" for near in (year, year + 1)} & set(found), year


def test_figures_of_many_years_are_covered_by_few_filings(workspace: Workspace) -> None:
    found = ids(asked(workspace, "What was Tellwick's average revenue from FY2014 to FY2023?"))
    held = {
        year - ago for one in found if one.endswith("10-K") for year in [int(one.split("_")[1])] for ago in range(3)
    }
    assert held >= set(range(2014, 2024))


def test_a_filing_of_that_day_comes_first(workspace: Workspace) -> None:
    assert ids(asked(workspace, "What does Tellwick's 8-K dated June 14, 2022 say?"))[0] == "Tellwick_2022_8-K_0614"
    assert ids(asked(workspace, "What happened at Tellwick on September 14, 2022?"))[0] == "Tellwick_2022_8-K_0914"
    assert (
        "Tellwick_2022_8-K_0614" in ids(asked(workspace, "What does the 8-K dated June 14, 2022 say of zirconium?"))[:1]
    )
    identity = FILINGS[13].identity
    assert [date_fit([date(2022, 6, day)], identity) for day in (14, 17, 28)] == [1.0, 0.5, 0.0]
    assert date_fit([], identity) == 0


def test_among_very_many_filings_those_of_a_day_are_found_though_they_hold_none_of_the_words(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_ranking, "_ALL_LOOKED_AT", 0)
    day = Query(text="", terms=("zirconium",), dates=(date(2022, 6, 15),))
    assert ids(ranked(workspace, day, limit=2))[0].startswith("Harborstone")  # the same week, and none of the words
    assert "Tellwick_2022_8-K_0614" in ids(ranked(workspace, day))
    assert "Tellwick_2022_8-K_0614" not in ids(ranked(workspace, Query(text="", terms=("zirconium",)), limit=3))


def test_an_annual_report_holds_the_10_k() -> None:
    annual = next(one.identity for one in FILINGS if one.identity.form is Form.ANNUAL_REPORT)
    assert form_fits([Form.TEN_K], annual)
    assert not form_fits([Form.TEN_Q], annual)


def test_every_feature_is_documented(workspace: Workspace) -> None:
    for question in ("What did Tellwik say in 2022?", "What drove tariffs?", "What was Tellwick's revenue in FY2022?"):
        for one in asked(workspace, question, others_too=True, limit=30):
            assert dict(one.features).keys() <= FILING_FEATURES.keys()


def test_within_some_filings_all_of_them_are_ranked(workspace: Workspace) -> None:
    some = ["Tellwick_2015_10-K", "Harborstone_2021_10-K"]
    found = asked(workspace, "What weighed on margins: zirconium?", within=some)
    assert ids(found) == some[::-1]
    assert asked(workspace, "What weighed on margins: zirconium?", within=[]) == []
    assert ids(asked(workspace, "What was Tellwick's revenue in FY2022?", within=some)) == some[:1]


def test_filings_of_other_companies_fill_up_a_list_with_nothing(workspace: Workspace) -> None:
    found = asked(workspace, "What drove Harborstone's tariffs in FY2022?", others_too=True)
    assert [(one.score, one.features) for one in found[3:]] == [(0.0, (OTHER,))] * 2
    only = ["Harborstone_2021_10-K", "Tellwick_2015_10-K"]
    assert ids(asked(workspace, "What drove Harborstone's tariffs?", others_too=True, within=only)) == only


def test_of_very_many_pages_only_the_rarer_words_are_looked_for(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = Query(text="", terms=("wages", "zirconium"))

    def fitting() -> set[str]:
        words = {one.doc_id: dict(one.features)["words"] for one in ranked(workspace, query, limit=30)}
        return {doc_id.split("_")[0] for doc_id, score in words.items() if score}

    assert fitting() == {"Harborstone", "Merridale"}
    monkeypatch.setattr(document_ranking, "_COST_OF_ALL", SearchCost(1.0, most=3.0))
    assert fitting() == {"Merridale"}
    monkeypatch.setattr(document_ranking, "_COST_OF_ALL", SearchCost(1.0, most=0.1))
    assert fitting() == set()


def test_a_search_affords_its_rarest_terms(workspace: Workspace) -> None:
    """Zirconium stands on three pages, tariffs on two, revenue on 13; no page has a unicorn."""
    terms = ("revenue", "unicorn", "zirconium", "freight tariffs")

    def afforded(most: float, of_phrase: float = 1.0) -> tuple[str, ...]:
        return affordable_terms(terms, workspace.index, SearchCost(of_phrase, most))

    assert afforded(100) == terms
    assert afforded(7) == ("unicorn", "zirconium", "freight tariffs")
    assert afforded(3.5) == ("unicorn", "zirconium")
    assert afforded(1) == ("unicorn", "zirconium")  # one is kept though it costs more
    assert afforded(1, of_phrase=0.1) == ("unicorn", "freight tariffs")
    assert afforded(0.01) == ("unicorn",)


def test_of_very_many_pages_words_that_most_hold_are_left_out(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    cost = SearchCost(1.0, 1_000.0)
    monkeypatch.setattr(document_ranking, "_VERY_MANY", 10)
    assert affordable_terms(("revenue", "zirconium", "revenue rose"), workspace.index, cost) == (
        "zirconium", "revenue rose",
    )  # fmt: skip
    assert affordable_terms(("revenue",), workspace.index, cost) == ("revenue",)


def test_pages_are_counted_anew_when_the_index_changes(tmp_path: Path) -> None:
    cost = SearchCost(1.0, most=2.0)
    with SqliteIndex.create(tmp_path) as index:
        index.add(filing(TOOLS, Form.TEN_K, 2020, "Tariffs on freight."), [], "")
        assert affordable_terms(("tariffs", "freight"), index, cost) == ("tariffs", "freight")
        index.add(filing(TOOLS, Form.TEN_K, 2021, "Tariffs once more."), [], "")
        assert affordable_terms(("tariffs", "freight"), index, cost) == ("freight",)


def test_nothing_to_go_by_lists_something_in_one_order(workspace: Workspace) -> None:
    found = ranked(workspace, Query(text="", terms=()))
    assert len(found) == 5
    assert found == ranked(workspace, Query(text="", terms=()))
    assert ranked(workspace, Query(text="", terms=("revenue",), companies=("gone",))) == []
