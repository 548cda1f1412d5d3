"""Which report a question wants its figures from, and what is left of the question without saying so."""

from __future__ import annotations

import pytest

from fin_agent.analyst.rules.words_to_intent import asks_about_restatement, parse_intent, split_report_request
from fin_agent.evidence.report_selection import ReportChoice
from fin_agent.vocabulary.identity import Form
from fin_agent.workspace import Workspace


@pytest.mark.parametrize(
    ("question", "rest", "which", "year"),
    [
        (
            "What was Acme's FY2017 revenue as originally reported?",
            "What was Acme's FY2017 revenue ?",
            "original",
            None,
        ),
        (
            "Before restatement, what was Acme's FY2017 net income?",
            "what was Acme's FY2017 net income?",
            "original",
            None,
        ),
        ("Acme's FY2017 revenue, using the figures first reported", "Acme's FY2017 revenue ", "original", None),
        (
            "Acme's FY2017 revenue (original figures, not restated): amount",
            "Acme's FY2017 revenue : amount",
            "original",
            None,
        ),
        ("What was Acme's restated revenue for FY2017?", "What was Acme's revenue for FY2017?", "restated", None),
        ("What was Acme's revenue for FY2017, as revised?", "What was Acme's revenue for FY2017 ?", "restated", None),
        ("Acme's FY2017 revenue as restated in the 2018 annual report?", "Acme's FY2017 revenue ?", "named", 2018),
        ("Acme's FY2017 revenue (as restated in FY2018)?", "Acme's FY2017 revenue ?", "named", 2018),
        ("What was Acme's FY2018 revenue as reported in FY2018?", "What was Acme's FY2018 revenue ?", "named", 2018),
        ("According to the 2018 10-K, what was FY2017 revenue?", "what was FY2017 revenue?", "named", 2018),
        ("In Acme's 2018 10-K, what was FY2017 revenue?", "of Acme , what was FY2017 revenue?", "named", 2018),
        (
            "Revenue of Acme for 2017 per its annual report for fiscal 2018?",
            "Revenue of Acme for 2017 ?",
            "named",
            2018,
        ),
    ],
)
def test_the_report_is_told_apart_from_what_is_asked(question: str, rest: str, which: str, year: int | None) -> None:
    told = split_report_request(question)
    assert told is not None
    assert told.rest == rest
    assert (told.report.which.value, told.report.fiscal_year) == (which, year)


def test_a_quarterly_report_and_a_year_of_filing() -> None:
    told = split_report_request("Total assets at December 31, 2022 as shown in the Q2 2023 10-Q of Acme?")
    assert told is not None
    assert (told.report.form, told.report.fiscal_year, told.report.quarter) == (Form.TEN_Q, 2023, 2)
    told = split_report_request("What was FY2016 revenue according to the 10-K filed in 2018?")
    assert told is not None
    assert (told.report.which, told.report.filed_in) == (ReportChoice.NAMED, 2018)


@pytest.mark.parametrize(
    "question",
    [
        "What was Acme's revenue in FY2017?",
        "What was Acme's revenue in the FY2018 10-K?",  # those of 2018
        "What was the difference between Acme's 2018 10-K revenue and its 2017 revenue?",
        "Was Acme's FY2017 revenue restated?",
        "By how much was Acme's FY2017 revenue restated?",
        "Using the 2017 10-K and the 2018 10-K, what was revenue growth from 2016 to 2018?",
        "What was the FY2017 revenue of Acme, as originally reported and as restated?",
    ],
)
def test_no_report_in_particular(question: str) -> None:
    assert split_report_request(question) is None


def test_how_much_was_restated_is_not_computed() -> None:
    assert asks_about_restatement("By how much was Acme's FY2017 revenue restated?")
    assert not asks_about_restatement("How much was Acme's FY2017 revenue as restated?")


def test_the_years_of_the_report_are_none_of_the_question(workspace: Workspace) -> None:
    question = "According to the 2024 10-K, what was Harborlight's revenue in 2022?"
    intent = parse_intent(question, workspace.directory, workspace.lexicon)
    assert [period.fiscal_year for period in intent.periods] == [2022]
    assert intent.question == question
    assert intent.report is not None
    assert intent.report.fiscal_year == 2024
