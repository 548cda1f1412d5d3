"""Closing, opening and average balances in turnovers, days and returns."""

from __future__ import annotations

import pytest

from fin_agent.analyst.rules.balances import balance_asked, on_balances
from fin_agent.analyst.rules.measures import measure_of
from fin_agent.lexicon.lexicon import load_lexicon


def taken(question: str) -> str | None:
    """The expression; None where the formula cannot be taken so. The question says something of balances."""
    lexicon = load_lexicon()
    balance = balance_asked(question, lexicon)
    assert balance is not None
    measure = measure_of(balance.question, (), lexicon)
    assert measure is not None
    read = on_balances(measure, balance, lexicon)
    return read.expression if read else None


@pytest.mark.parametrize(
    ("question", "expression"),
    [
        ("the inventory turnover using ending inventory", "cost_of_revenue / inventories"),
        ("the inventory turnover on year-end inventory", "cost_of_revenue / inventories"),
        ("the inventory turnover with closing inventory instead of average", "cost_of_revenue / inventories"),
        ("the inventory turnover based on opening inventory", "cost_of_revenue / prior(inventories)"),
        ("the DSO using the ending balance of accounts receivable", "365 * accounts_receivable / revenue"),
        ("the DSO with ending receivables and a 360-day year", "360 * accounts_receivable / revenue"),
        ("the DIO (closing inventory, not average)", "365 * inventories / cost_of_revenue"),
        ("the asset turnover, not averaged", "revenue / total_assets"),
        ("the asset turnover using the assets at the end of the year", "revenue / total_assets"),
        ("the return on assets with beginning-of-year total assets",
         "net_income_attributable_to_parent / prior(total_assets)"),
        ("the return on average total assets", "return_on_assets"),
        ("the asset turnover with average total assets in the denominator", "asset_turnover"),
        ("the current ratio on closing balances", "current_ratio"),
        ("the inventory turnover using the average of beginning and ending inventory", "inventory_turnover"),
    ],
)  # fmt: skip
def test_the_formula_takes_the_balance_that_is_named(question: str, expression: str) -> None:
    assert taken(f"What was {question}?") == expression


def test_return_on_ending_equity_is_a_return_on_equity() -> None:
    read = taken("What was the return on ending equity?")
    assert read is not None
    assert "avg(" not in read
    assert "/ shareholders_equity" in read


@pytest.mark.parametrize(
    "question",
    [
        "the debt to equity on opening equity",
        "the cash conversion cycle on closing inventory",
        "the current ratio with 360 days",
        "the inventory turnover with inventory averaged over five quarters",
        "the average inventory used for inventory turnover",
    ],
)
def test_what_a_formula_does_not_have_is_not_applied(question: str) -> None:
    assert taken(f"What was {question}?") is None


@pytest.mark.parametrize(
    "question",
    [
        "What was the ending inventory?",
        "What was the average inventory turnover?",
        "What was the average collection period?",
        "What was the inventory turnover at year end 2021?",
        "What was the debt to equity at the end of the year?",
    ],
)
def test_words_that_are_no_qualifier_stay(question: str) -> None:
    assert balance_asked(question, load_lexicon()) is None
