"""A question as the engine understands it."""

from __future__ import annotations

from datetime import date

import pytest

from fin_agent.analyst.rules.words_to_intent import MAX_QUESTION_LENGTH, parse_intent
from fin_agent.errors import QuestionError
from fin_agent.evidence.cards.card import Use
from fin_agent.evidence.intent import Intent, Relation
from fin_agent.lexicon.company_mentions import CompanyDirectory
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Statement

DIRECTORY = CompanyDirectory(
    (doc_id, Identity(company=name, form=Form.TEN_K, fiscal_year=2023, ticker=ticker))
    for doc_id, name, ticker in (
        ("acme", "Acmeton Tools, Inc.", "ACMT"),
        ("bell", "Bellwick Stores Corporation", "BWK"),
        ("general", "General Looms Inc", "GLM"),
    )
)


def intent(question: str) -> Intent:
    return parse_intent(question, DIRECTORY, load_lexicon())


def names(found: Intent) -> list[str]:
    return [company.name for company in found.companies]


@pytest.mark.parametrize("question", ["", "   ", "???", "…"])
def test_nothing_asked_is_an_error(question: str) -> None:
    with pytest.raises(QuestionError, match="words"):
        intent(question)


def test_a_text_too_long_to_be_a_question_is_an_error_with_its_length() -> None:
    with pytest.raises(QuestionError, match="10,001"):
        intent("a" * (MAX_QUESTION_LENGTH + 1))
    assert intent("revenue " * (MAX_QUESTION_LENGTH // 8))


def test_a_company_that_is_not_indexed_is_named() -> None:
    found = intent("What was Zebracorp's revenue in FY2022?")
    assert (names(found), found.unknown_companies) == ([], ("Zebracorp",))


def test_periods_are_taken_from_the_instructions_where_the_question_names_none() -> None:
    found = intent("What was Acmeton's revenue? Answer for fiscal 2021.")
    assert [str(period) for period in found.periods] == ["FY2021"]


@pytest.mark.parametrize(
    ("words", "periods"),
    [
        ("in FY2019", ["FY2019"]),
        ("from FY2019 to FY2021", ["FY2019", "FY2020", "FY2021"]),
        ("between 2019 and 2021", ["FY2019", "FY2021"]),
        ("in Q2 of FY2023", ["Q2 FY2023"]),
        ("in the third quarter of 2022", ["Q3 FY2022"]),
        ("for the year ended January 28, 2023", ["FY2022"]),
        ("", []),
    ],
)
def test_periods_are_ascending(words: str, periods: list[str]) -> None:
    assert [str(period) for period in intent(f"What was Acmeton's revenue {words}?").periods] == periods


@pytest.mark.parametrize(
    "question",
    [
        "How does Q4 compare with FY2022 for Acmeton's revenue, in Q4 FY2022 and FY2022?",
    ],
)
def test_a_quarter_against_its_year_is_left_to_words(question: str) -> None:
    assert not intent(question).numeric


def test_rounding_statements_forms_and_dates_are_read() -> None:
    found = intent(
        "Using the balance sheet of the 10-K filed on March 1, 2023: what was Acmeton's goodwill? Round to one decimal."
    )
    assert found.decimals == 1
    assert found.statements == (Statement.BALANCE_SHEET,)
    assert found.dates == (date(2023, 3, 1),)
    assert intent("What did Acmeton's 8-K of June 2023 say?").forms == (Form.EIGHT_K,)


def test_a_question_of_words_has_its_topic_company_relation_period_and_keywords() -> None:
    trend = intent("By how much did Acmeton's net income change between FY2021 and FY2022?")
    assert names(trend) == ["Acmeton Tools, Inc."] and [str(period) for period in trend.periods] == ["FY2021", "FY2022"]
    assert (trend.measure, trend.relation, trend.use) == ("net income", Relation.EACH, Use.TREND)
    why = intent("What drove Acmeton's gross margin in FY2022?")
    assert (why.measure, why.relation, why.use) == ("gross margin", Relation.EXPLANATION, Use.EXPLANATION)
    assert not why.numeric and {"drove", "gross", "margin"} <= set(why.keywords)


def test_keywords_leave_out_companies_periods_and_forms() -> None:
    found = intent("In its 10-K for fiscal 2022, what does Acmeton say about export controls?")
    assert "acmeton" not in found.keywords
    assert "2022" not in found.keywords
    assert {"export", "controls"} <= set(found.keywords)


def test_a_narrowed_figure_is_asked_for_in_words() -> None:
    found = intent("What was Acmeton's iPhone revenue in 2022?")
    assert found.expression == ""
    assert found.asks_figure


def test_three_months_are_a_quarter() -> None:
    found = intent("What was Acmeton's revenue in the three months ended March 31, 2022?")
    assert found.unsupported == ()
