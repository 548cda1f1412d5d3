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
