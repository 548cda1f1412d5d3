"""Documents, then pages, then passages, over the sample filings."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.retrieval.document_ranking import rank_filings
from fin_agent.retrieval.search_query import EVERYTHING, Depth, Query, Scope, SearchResult
from fin_agent.retrieval.strategies.one_pass import Staged
from fin_agent.vocabulary.filing import PassageKind
from fin_agent.vocabulary.identity import Form
from fin_agent.workspace import Workspace


def query(workspace: Workspace, question: str) -> Query:
    analyst = RulesAnalyst(workspace)
    intent = analyst.intent(question)
    return analyst.query(intent, analyst.plan(intent), None)


def found(workspace: Workspace, question: str, within: list[str] | None = None) -> SearchResult:
    scope = EVERYTHING if within is None else Scope(doc_ids=tuple(within))
    return Staged(workspace).search(query(workspace, question), scope)


def key_of(workspace: Workspace, name: str) -> str:
    return workspace.directory.mentions(name)[0].company.key


@pytest.mark.parametrize(
    ("question", "doc_id"),
    [
        ("What was Harborlight's revenue in 2024?", "harborlight_2024_10k"),
        ("What was Harborlight's revenue in 2023?", "harborlight_2023_10k"),
        ("What was Harborlight's revenue in 2021?", "harborlight_2022_10k"),
        ("What was Tellurond's revenue in Q2 of fiscal 2024?", "tellurond_2024q2_10q"),
        ("What were Quillmark's total assets at the end of fiscal 2021?", "quillmark_2022_10k"),
        ("Who was appointed chief executive officer of Tellurond?", "tellurond_2024_8k"),
        ("What does Harborlight's 8-K of June 2024 say?", "harborlight_2024_8k"),
        ("What happened at Quillmark on May 20, 2024?", "quillmark_2024_8k"),
    ],
)
def test_the_filing_that_answers_comes_first(workspace: Workspace, question: str, doc_id: str) -> None:
    assert found(workspace, question).filings[0].doc_id == doc_id


def test_only_the_companies_asked_about_are_searched(workspace: Workspace) -> None:
    filings = found(workspace, "What was Harborlight's goodwill in 2023?").filings
    assert {filing.doc_id.split("_")[0] for filing in filings} == {"harborlight"}


def test_each_companys_best_filing_comes_before_any_second_one(workspace: Workspace) -> None:
    filings = found(workspace, "Which had the higher revenue in 2023, Harborlight, Tellurond or Quillmark?").filings
    assert {filing.doc_id for filing in filings[:3]} == {
        "harborlight_2023_10k", "tellurond_2023_10k", "quillmark_2023_10k",
    }  # fmt: skip


def test_a_search_stays_within_the_filings_given(workspace: Workspace) -> None:
    only = found(workspace, "What was Harborlight's revenue in 2024?", ["harborlight_2022_10k"])
    assert [filing.doc_id for filing in only.filings] == ["harborlight_2022_10k"]
    assert {page.key.doc_id for page in only.pages} == {"harborlight_2022_10k"}
    assert {passage.stored.doc_id for passage in only.passages} == {"harborlight_2022_10k"}
    assert found(workspace, "What was Harborlight's revenue in 2024?", []).filings == ()


def test_without_a_company_the_words_decide(workspace: Workspace) -> None:
    assert found(workspace, "Which filing tells of Fernhollow furniture?").filings[0].doc_id == "quillmark_2024_8k"


def test_the_features_of_a_filing_say_why_it_stands_where_it_stands(workspace: Workspace) -> None:
    for filing in found(workspace, "What was Harborlight's revenue in 2024?").filings:
        assert dict(filing.features)["period"] <= 1
        assert {"period", "date", "form", "words", "summary"} <= set(dict(filing.features))


def test_a_date_near_a_filings_own_counts_half_of_the_same_day(workspace: Workspace) -> None:
    base = Query(text="", terms=("agreement",), companies=(key_of(workspace, "Harborlight"),))

    def date_of(day: date) -> float:
        ranked = rank_filings(replace(base, dates=(day,)), workspace, limit=9)
        return next(dict(filing.features)["date"] for filing in ranked if filing.doc_id == "harborlight_2024_8k")

    assert (date_of(date(2024, 6, 18)), date_of(date(2024, 6, 15)), date_of(date(2024, 1, 1))) == (1.0, 0.5, 0.0)


def test_the_form_named_is_preferred(workspace: Workspace) -> None:
    base = Query(
        text="", terms=("revenue",), companies=(key_of(workspace, "Tellurond"),),
        periods=(FiscalPeriod(fiscal_year=2024),),
    )  # fmt: skip
    for form, doc_id in ((Form.TEN_Q, "tellurond_2024q2_10q"), (Form.TEN_K, "tellurond_2024_10k")):
        asked = replace(base, forms=(form,))
        ranked = rank_filings(asked, workspace)
        assert ranked[0].doc_id == doc_id


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("What was Harborlight's gross profit in 2024?", 8),
        ("What was Harborlight's comprehensive income in 2024?", 9),
        ("What were Harborlight's total assets in 2024?", 10),
        ("What was Harborlight's capital expenditure in 2024?", 11),
        ("What was Harborlight's effective tax rate in 2024?", 14),
        ("What were Harborlight's net sales in Europe in 2024?", 15),
        ("Which patent suit did Harborlight settle in 2024?", 4),
        ("What drove the change in Harborlight's net sales in 2024?", 5),
    ],
)
def test_the_page_that_answers_comes_first(workspace: Workspace, question: str, page: int) -> None:
    best = found(workspace, question).pages[0].key
    assert (best.doc_id, best.page) == ("harborlight_2024_10k", page)


def test_the_first_pages_hold_all_figures_together_rather_than_one_of_them_often(workspace: Workspace) -> None:
    result = found(workspace, "What was Harborlight's inventory turnover in 2024?")
    assert {page.key.page for page in result.pages[:2]} == {8, 10}
    assert {page.key.doc_id for page in result.pages[:2]} == {"harborlight_2024_10k"}


def test_a_figures_table_is_the_passage_read(workspace: Workspace) -> None:
    for question, page in (
        ("What was Harborlight's gross profit in 2024?", 8),
        ("What were Harborlight's net sales in Europe in 2024?", 15),
    ):
        best = found(workspace, question).passages[0].stored
        assert (best.doc_id, best.passage.page, best.passage.kind) == ("harborlight_2024_10k", page, PassageKind.TABLE)


def test_words_are_read_in_running_text(workspace: Workspace) -> None:
    best = found(workspace, "Which patent suit did Harborlight settle in 2024?").passages[0].stored.passage
    assert best.kind is PassageKind.TEXT
    assert "Corvane" in best.text


def test_limits_are_kept_and_scores_fall(workspace: Workspace) -> None:
    asked = query(workspace, "What was Harborlight's revenue in 2024?")
    result = Staged(workspace, 2, 4).search(asked, depth=Depth(2, 4, 3))
    assert (len(result.filings), len(result.pages), len(result.passages)) == (2, 4, 3)
    scores = [passage.score for passage in result.passages]
    assert scores == sorted(scores, reverse=True)
    assert Staged(workspace, 2, 4).search(asked, depth=Depth(2, 4, 3)) == result


def test_nothing_asked_finds_something_all_the_same(workspace: Workspace) -> None:
    assert len(Staged(workspace).search(Query(text="", terms=())).filings) == 5
