"""Dates of a question as the fiscal periods that its companies' filings call them."""

from __future__ import annotations

import pytest

from fin_agent.analyst.rules.analyst import RulesAnalyst
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


def test_years_named_beside_a_date_stay(workspace: Workspace) -> None:
    found = RulesAnalyst(workspace).intent("What was Harborlight's FY2023 revenue as of December 31, 2024?")
    assert "FY2023" in [str(period) for period in found.periods]


def test_companies_with_other_year_ends_keep_what_the_words_say(workspace: Workspace) -> None:
    question = "Which had more inventories at December 31, 2023, Harborlight or Quillmark?"
    asked = [str(period) for period in RulesAnalyst(workspace).intent(question).periods]
    assert "Q4 FY2023" not in asked
