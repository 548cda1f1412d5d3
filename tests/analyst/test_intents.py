"""A question as the engine understands it."""

from __future__ import annotations

from datetime import date

import pytest

from fin_agent.analyst.rules.intents import LONGEST_QUESTION, intent_of
from fin_agent.errors import QuestionError
from fin_agent.evidence.intent import Comparison, Intent, Relation
from fin_agent.lexicon.companies import CompanyDirectory
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
    return intent_of(question, DIRECTORY, load_lexicon())


def names(found: Intent) -> list[str]:
    return [company.name for company in found.companies]


@pytest.mark.parametrize(
    "question",
    [
        "What was Acmeton's revenue in FY2022?",
        "How much revenue did Acmeton Tools, Inc. report in fiscal 2022?",
        "What is the FY2022 revenue for ACMT?",
        "What was the total revenue of Acmeton in 2022?",
        "acmeton tools revenue fy22",
        "Give me ACMT's revenue for fiscal year 2022.",
        "You are an analyst. Using only the income statement, what is Acmeton's FY2022 revenue? Answer in words.",
    ],
)
def test_the_same_question_in_many_words(question: str) -> None:
    found = intent(question)
    assert names(found) == ["Acmeton Tools, Inc."]
    assert [str(period) for period in found.periods] == ["FY2022"]
    assert (found.expression, found.relation, found.comparison) == ("revenue", Relation.EACH, Comparison.NONE)
    assert found.numeric


@pytest.mark.parametrize("question", ["", "   ", "???", "…"])
def test_nothing_asked_is_an_error(question: str) -> None:
    with pytest.raises(QuestionError, match="words"):
        intent(question)


def test_a_text_too_long_to_be_a_question_is_an_error_with_its_length() -> None:
    with pytest.raises(QuestionError, match="10,001"):
        intent("a" * (LONGEST_QUESTION + 1))
    assert intent("revenue " * (LONGEST_QUESTION // 8))


def test_a_company_that_is_not_indexed_is_named() -> None:
    found = intent("What was Zebracorp's revenue in FY2022?")
    assert (names(found), found.unknown_companies) == ([], ("Zebracorp",))


def test_an_unknown_company_counts_in_a_comparison() -> None:
    found = intent("Which company had the higher revenue in 2022, Acmeton or Zebracorp?")
    assert found.unknown_companies == ("Zebracorp",)
    assert found.comparison is Comparison.HIGHEST
    assert found.numeric


def test_a_companys_name_does_not_hide_in_a_metric() -> None:
    found = intent("What were General Looms' general and administrative expenses in 2022?")
    assert names(found) == ["General Looms Inc"]
    assert found.expression == "general_and_administrative"


def test_periods_of_the_definition_are_not_asked_about() -> None:
    found = intent(
        "What is Acmeton's FY2022 inventory turnover? Inventory turnover is defined as: "
        "(FY2022 COGS) / (average inventory between FY2021 and FY2022)."
    )
    assert [str(period) for period in found.periods] == ["FY2022"]
    assert "mean(inventories[2021], inventories[2022])" in found.expression


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


@pytest.mark.parametrize(
    "question",
    [
        "What was Acmeton's net income for the six months ended June 30, 2023?",
        "What was Acmeton's revenue in the first half of 2023?",
        "What was Acmeton's revenue in the first nine months of 2023?",
    ],
)
def test_parts_of_a_year_without_a_slot_are_said_to_be_unsupported(question: str) -> None:
    assert "months" in " ".join(intent(question).unsupported)


@pytest.mark.parametrize(
    ("question", "unit"),
    [
        ("What was Acmeton's revenue in 2022 in USD millions?", "USD millions"),
        ("What was Acmeton's gross margin in 2022 in USD millions?", None),
        ("What was Acmeton's return on assets in 2022, in percent?", "percent"),
        ("What was Acmeton's revenue growth in 2022 (in millions)?", "percent"),
        ("What was Acmeton's revenue in 2022, as a %?", None),
    ],
)
def test_a_unit_that_does_not_fit_the_measure_is_not_taken(question: str, unit: str | None) -> None:
    assert intent(question).unit == unit


def test_rounding_statements_forms_and_dates_are_read() -> None:
    found = intent(
        "Using the balance sheet of the 10-K filed on March 1, 2023: what was Acmeton's goodwill? Round to one decimal."
    )
    assert found.decimals == 1
    assert found.statements == (Statement.BALANCE_SHEET,)
    assert found.dates == (date(2023, 3, 1),)
    assert intent("What did Acmeton's 8-K of June 2023 say?").forms == (Form.EIGHT_K,)


def test_totals_over_periods_are_of_flows_only() -> None:
    assert intent("What were Acmeton's total dividends paid over 2020 to 2022?").relation is Relation.TOTAL
    assert intent("What were Acmeton's total current assets over 2020 to 2022?").relation is Relation.EACH


def test_an_increase_in_a_balance_is_a_change_of_it() -> None:
    found = intent("What was the increase in Acmeton's inventory in 2022?")
    assert (found.expression, found.relation) == ("inventories", Relation.CHANGE)


def test_a_printed_change_is_a_figure_of_its_own() -> None:
    found = intent("What was the net increase in cash of Acmeton in 2022?")
    assert (found.expression, found.relation) == ("net_change_in_cash", Relation.EACH)


def test_keywords_leave_out_companies_periods_and_forms() -> None:
    found = intent("In its 10-K for fiscal 2022, what does Acmeton say about export controls?")
    assert "acmeton" not in found.keywords
    assert "2022" not in found.keywords
    assert {"export", "controls"} <= set(found.keywords)


def test_a_narrowed_figure_is_asked_for_in_words() -> None:
    found = intent("What was Acmeton's iPhone revenue in 2022?")
    assert found.expression == ""
    assert found.asks_figure


def test_two_companies_in_the_order_they_are_named() -> None:
    found = intent("What is the difference in revenue between Bellwick and Acmeton in 2022?")
    assert names(found) == ["Bellwick Stores Corporation", "Acmeton Tools, Inc."]
    assert found.comparison is Comparison.DIFFERENCE


@pytest.mark.parametrize(
    ("question", "span"),
    [
        ("What was Acmeton's revenue YTD 2022?", "YTD"),
        ("What was Acmeton's year-to-date revenue in 2022?", "year-to-date"),
        ("What was Acmeton's revenue for the year to date in Q3 2022?", "year to date"),
        ("What was Acmeton's revenue for the first half of 2022?", "6 months"),
        ("What was Acmeton's revenue in the first half?", "first half"),
        ("What was Acmeton's revenue in the last six months of FY2022?", "six months"),
        ("What was Acmeton's revenue in the first four months of FY2022?", "four months"),
        ("What was Acmeton's half-year net income in 2022?", "half-year"),
        ("What was Acmeton's revenue so far in 2022?", "so far in"),
    ],
)
def test_spans_that_are_neither_a_year_nor_a_quarter_are_said_not_to_be_computed(question: str, span: str) -> None:
    found = intent(question)
    assert found.numeric
    assert any(span in said and "full years and single quarters" in said for said in found.unsupported)


def test_three_months_are_a_quarter() -> None:
    found = intent("What was Acmeton's revenue in the three months ended March 31, 2022?")
    assert found.unsupported == ()


@pytest.mark.parametrize(
    ("question", "wanted", "relation"),
    [
        ("What was Acmeton's change in inventories in FY2022?", "inventories", Relation.CHANGE),
        ("According to the cash flow statement, what was Acmeton's change in inventories in FY2022?",
         "change_in_inventories", Relation.EACH),
        ("What was Acmeton's (increase) decrease in inventories in FY2022?", "change_in_inventories", Relation.EACH),
        ("How did Acmeton's inventories change from FY2021 to FY2022 in the cash flow statement?", "inventories",
         Relation.CHANGE),
        ("What was the reduction in Acmeton's inventories in FY2022?", "inventories", Relation.CHANGE),
    ],
)  # fmt: skip
def test_changes_of_balances_and_rows_that_are_changes(question: str, wanted: str, relation: Relation) -> None:
    found = intent(question)
    assert (found.expression, found.relation) == (wanted, relation)
