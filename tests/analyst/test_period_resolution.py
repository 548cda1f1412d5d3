"""Dates of a question as the fiscal periods that its companies' filings call them."""

from __future__ import annotations

import pytest

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.evidence.intent import Relation
from fin_agent.workspace import Workspace


@pytest.mark.parametrize(
    ("question", "periods"),
    [
        ("What were Quillmark's total assets as of February 1, 2025?", ["FY2024"]),
        ("What were Quillmark's total assets as of January 28, 2023?", ["FY2022"]),
        ("What were Quillmark's total assets as of January 29, 2022?", ["FY2021"]),
        ("What was Quillmark's revenue for the year ended February 3, 2024?", ["FY2023"]),
        ("What was Tellurond's revenue for the quarter ended March 30, 2024?", ["Q2 FY2024"]),
        ("What was Tellurond's revenue for the quarter ended April 1, 2023?", ["Q2 FY2023"]),
        ("What was Quillmark's revenue for the quarter ended November 2, 2024?", ["Q3 FY2024"]),
        ("What were Harborlight's inventories at December 31, 2023?", ["FY2023"]),
        ("What were Harborlight's inventories at December 31, 2022 and December 31, 2023?", ["FY2022", "FY2023"]),
        ("What was Harborlight's goodwill at September 30, 2024?", ["Q3 FY2024"]),
    ],
)
def test_a_date_is_the_end_of_the_filers_own_period(workspace: Workspace, question: str, periods: list[str]) -> None:
    assert [str(period) for period in RulesAnalyst(workspace).intent(question).periods] == periods


def test_a_date_that_ends_no_period_on_file_is_not_taken_for_one_that_does(workspace: Workspace) -> None:
    found = RulesAnalyst(workspace).intent("What was Harborlight's cash as of March 31, 2021?")
    assert [str(period) for period in found.periods] == ["Q1 FY2021"]


@pytest.mark.parametrize(
    ("question", "period"),
    [
        ("What was Quillmark's revenue for the quarter ended July 29, 2023?", "Q2 FY2023"),
        ("What was Quillmark's revenue for the quarter ended July 2023?", "Q2 FY2023"),
        ("What was Tellurond's revenue for the quarter ended December 30, 2023?", "Q1 FY2024"),
        ("What was Tellurond's revenue for the year ended September 26, 2015?", "FY2015"),
        ("What was Quillmark's revenue in the year that ended in January 2023?", "FY2022"),
    ],
)
def test_a_quarter_that_is_not_on_file_has_the_filers_own_name(
    workspace: Workspace, question: str, period: str
) -> None:
    assert [str(found) for found in RulesAnalyst(workspace).intent(question).periods] == [period]


def test_years_named_beside_a_date_stay(workspace: Workspace) -> None:
    found = RulesAnalyst(workspace).intent("What was Harborlight's FY2023 revenue as of December 31, 2024?")
    assert "FY2023" in [str(period) for period in found.periods]


def test_companies_with_other_year_ends_keep_what_the_words_say(workspace: Workspace) -> None:
    question = "Which had more inventories at December 31, 2023, Harborlight or Quillmark?"
    asked = [str(period) for period in RulesAnalyst(workspace).intent(question).periods]
    assert "Q4 FY2023" not in asked


@pytest.mark.parametrize(
    ("question", "periods"),
    [
        ("What was Tellurond's revenue in the most recent quarter?", ["Q2 FY2024"]),
        ("What drove Quillmark's sales in the last quarter?", ["Q3 FY2024"]),
        ("What was Harborlight's average capex over the last two years?", ["FY2023", "FY2024"]),
        ("How has Harborlight's revenue grown since 2022?", ["FY2022", "FY2023", "FY2024"]),
        ("What does Harborlight say of legal proceedings in its most recent fiscal year?", ["FY2024"]),
        ("What drove Harborlight's sales in the quarter ended September 30, 2024?", ["Q3 FY2024"]),
        ("What drove Tellurond's sales in the quarter ended March 2024?", ["Q2 FY2024"]),
        ("What drove Quillmark's sales in the year ended February 1, 2025?", ["FY2024"]),
        ("What drove Tellurond's sales in the first half of fiscal 2024?", ["Q2 FY2024"]),
        ("What drove Tellurond's sales in H2 2023?", ["FY2023"]),
        ("What drove Harborlight's sales in the nine months ended September 30, 2024?", ["Q3 FY2024"]),
        ("What drove Quillmark's sales in the first nine months of 2024?", ["Q3 FY2024"]),
        ("What drove Tellurond's sales in the six months ended March 30, 2024?", ["Q2 FY2024"]),
    ],
)
def test_periods_are_counted_from_what_is_filed(workspace: Workspace, question: str, periods: list[str]) -> None:
    found = RulesAnalyst(workspace).intent(question)
    assert [str(period) for period in found.periods] == periods


def test_the_first_half_of_a_year_is_the_six_months_that_its_second_quarter_reports(workspace: Workspace) -> None:
    found = RulesAnalyst(workspace).intent("What was Tellurond's revenue in the first half of fiscal 2024?")
    assert [str(period) for period in found.periods] == ["six months to Q2 FY2024"]
    assert (found.expression, found.relation, found.unsupported) == ("revenue", Relation.EACH, ())


@pytest.mark.parametrize("half", ["the second half of fiscal 2023", "H2 2023"])
def test_the_second_half_of_a_year_is_told_of_but_not_computed(workspace: Workspace, half: str) -> None:
    found = RulesAnalyst(workspace).intent(f"What was Tellurond's revenue in {half}?")
    assert any("figures for this span" in what for what in found.unsupported)


def test_a_period_counted_from_what_is_filed_is_said(workspace: Workspace) -> None:
    found = RulesAnalyst(workspace).intent("What was Tellurond's revenue in the most recent quarter?")
    assert any("Q2 FY2024" in note for note in found.assumed)


def test_companies_whose_newest_quarters_differ_keep_what_the_words_say(workspace: Workspace) -> None:
    question = "Which had the higher revenue in the most recent quarter, Tellurond or Quillmark?"
    assert RulesAnalyst(workspace).intent(question).periods == ()


def test_an_average_over_years_counted_back_is_an_average(workspace: Workspace) -> None:
    found = RulesAnalyst(workspace).intent("What was Harborlight's average capex over the last three years?")
    assert found.relation is Relation.AVERAGE
