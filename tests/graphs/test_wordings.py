"""What analysts write beside a measure: years of their own, what covers what, lists in formulas, asides, constants."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fin_agent.answering.answer import Answer

Ask = Callable[..., Answer]


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("Net margin: Harborlight FY23 vs Tellurond FY24 - who is higher?", ("Tellurond", "15.4%")),
        ("Did Harborlight's operating income cover its capex in FY2024?", ("Yes: operating income / capex",)),
        ("Were Harborlight's dividends covered by net income in FY2024?", ("Yes: net income / dividends",)),
        ("Was Harborlight's net income a $600mm+ figure in FY2024, yes or no?", ("Yes", "$641 million")),
        ("Harborlight's days of inventory in FY2024, using year-end inventory, cost of sales and 365 days?", ("days",)),
        ("Harborlight's operating income before restructuring charges in FY2023", ("714 + 46 = $760 million",)),
        ("Harborlight's net income (incl all the dragons) as % of revenue, FY2024", ("17.0%",)),
        ("Harborlight's return on equity in FY2024?", ("20.3% (0.20)",)),
        ("Harborlight's payout ratio in FY2024?", ("28.5% (0.29)",)),
        ("Harborlight's current ratio in FY2024?", ("/ 978 = 2.63.",)),
        ("Harborlight's accounts payable and accrued liabilities at the end of FY2024?", ("269 + 459 = $728 million",)),
        ("Harborlight's short-term investments and marketable securities, end of FY2024?", ("$167 million",)),
    ],
)
def test_it_is_read_as_it_is_meant(ask: Ask, question: str, texts: tuple[str, ...]) -> None:
    answer = ask(question)
    assert not answer.refused, answer.answer.text
    for text in texts:
        assert text in answer.answer.text


def test_words_in_brackets_that_are_passed_over_are_told(ask: Ask) -> None:
    answer = ask("Harborlight's net income (incl all the dragons) as % of revenue, FY2024")
    assert any("dragons" in note for note in answer.assumptions)


def test_and_in_a_formula_adds(ask: Ask) -> None:
    listed = ask("Harborlight's FCF in FY2024 (revenue less net income and capex)?").answer.value
    summed = ask("Harborlight's revenue - (net income + capex) in FY2024?").answer.value
    assert listed == summed is not None


def test_year_end_balances_are_not_averaged(ask: Ask) -> None:
    named = ask("Harborlight's days of inventory in FY2024, using year-end inventory, cost of sales and 365 days?")
    spelt = ask("Harborlight's 365 * inventories / cost of sales in FY2024?")
    averaged = ask("Harborlight's days of inventory in FY2024?")
    assert named.answer.value == pytest.approx(spelt.answer.value)
    assert named.answer.value != pytest.approx(averaged.answer.value)


def test_a_capitalised_word_behind_a_preposition_is_a_name(ask: Ask) -> None:
    answer = ask("How dependent is Harborlight on Delta for its revenue in FY2024?")
    assert "hange in revenue" not in answer.answer.text and "rowth of revenue" not in answer.answer.text


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("(net income + capex / revenue of Harborlight in FY2024", "bracket"),
        ("net income / diluted shares + revenue of Harborlight in FY2024", "do not share one"),
    ],
)
def test_a_sign_of_a_formula_joins_no_two_requests(ask: Ask, question: str, said: str) -> None:
    answer = ask(question)
    assert answer.refused
    assert said in answer.answer.text


@pytest.mark.parametrize(
    "question",
    [
        "Harborlight inventories, opening vs closing balance, FY2024",
        "From the beginning of FY2024 to the end of FY2024, how did Harborlight's inventories move?",
        "Change in Harborlight's inventories from the start of FY2024 to December 31, 2024",
        "Harborlight's inventories at December 31, 2024, against the start of the year",
    ],
)
def test_the_beginning_of_a_time_is_the_balance_sheet_before_it(ask: Ask, question: str) -> None:
    assert "from $496 million in FY2023 to $484 million in FY2024" in ask(question).answer.text


def test_a_flow_has_no_beginning(ask: Ask) -> None:
    assert ask("Change in Harborlight's revenue from the start of FY2024 to December 31, 2024").refused


@pytest.mark.parametrize(
    "question",
    ["Harborlight revenue through the third quarter of FY2024", "Year-to-date revenue at Harborlight, Q3 FY2024"],
)
def test_the_year_to_date_ends_with_the_quarter_that_is_named(ask: Ask, question: str) -> None:
    assert "nine months to Q3 FY2024: $2,776 million" in ask(question).answer.text


@pytest.mark.parametrize(
    "question",
    [
        "By what amount did Harborlight's FY2024 revenue exceed that of FY2023?",
        "By how much was Harborlight's revenue higher in FY2024 than in FY2023?",
    ],
)
def test_a_later_period_compared_with_an_earlier_one_is_a_change(ask: Ask, question: str) -> None:
    assert "$230 million (from $3,533 million in FY2023" in ask(question).answer.text


@pytest.mark.parametrize(
    "question",
    [
        "Harborlight's gross margin lower by how many basis points in FY2024?",
        "How many bps of gross margin did Harborlight lose in FY2024?",
        "Harborlight FY2024 gross margin erosion, bps",
    ],
)
def test_basis_points_are_counted_of_a_movement(ask: Ask, question: str) -> None:
    assert "123 basis points (from 53.0% in FY2023 to 54.2% in FY2024)" in ask(question).answer.text
