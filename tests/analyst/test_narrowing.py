"""What a metric's name is only a part of: parts of the company, and longer names."""

from __future__ import annotations

import pytest

from fin_agent.analyst.rules.measures import measure_of
from fin_agent.analyst.rules.narrowing import moves_cash
from fin_agent.lexicon.lexicon import load_lexicon


def expression(text: str) -> str:
    found = measure_of(text, (), load_lexicon())
    return found.expression if found else ""


@pytest.mark.parametrize(
    "text",
    [
        "What were the sales and profits of HLGT's segments?",
        "What were sales by region?",
        "What was the profit of each segment?",
        "What was the revenue of its geographic areas?",
        "What was the operating income for the divisions?",
        "What was revenue per division?",
        "What was revenue, by segment?",
        "What was revenue, broken down by region?",
        "What was revenue across its geographies?",
        "What were each segment's sales?",
        "Which segment had the highest revenue?",
        "For each of its segments, what was the operating income?",
        "How much revenue did its business units make?",
        "What was revenue from services?",
        "How did revenue split across customers?",
        "Which product lines contributed the most revenue?",
        "What was revenue generated in China?",
        "What was revenue outside the United States?",
    ],
)
def test_parts_of_the_company_anywhere_in_the_clause(text: str) -> None:
    assert not expression(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("What was revenue, as shown in the segment note?", "revenue"),
        ("What was revenue in the segment note?", "revenue"),
        ("According to the segment disclosures, what was total revenue?", "revenue"),
        ("What was revenue in the segment table of the filing?", "revenue"),
        ("What was revenue in units of USD millions?", "revenue"),
        ("What was revenue in its Form 10-K?", "revenue"),
        ("What was revenue per the income statement?", "revenue"),
        ("What was the cost of products?", "cost_of_products"),
        ("The company has segments. What was revenue?", "revenue"),
    ],
)
def test_a_part_that_is_only_spoken_of_narrows_nothing(text: str, wanted: str) -> None:
    assert expression(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "What was the gain on revaluation of equity investments?",
        "What was the loss on sale/disposal of property and equipment?",
        "What was the amortization of inventory fair value adjustment?",
        "What was the customer financing valuation benefit?",
        "What were property and equipment acquired under finance leases?",
        "What was the reclassification of net losses to net income?",
        "What were settlements included in net income?",
        "What was the increase (decrease) in notes payable?",
        "What was cost of sales—online?",
        "What were equity in losses of affiliated companies?",
        "How much debt did it repay?",
        "How much long-term debt did it issue?",
        "How much inventory did it write down?",
        "How much cash did it burn?",
        "What were deferred income taxes?",
        "How much did it report in income taxes payable?",
    ],
)
def test_a_name_inside_a_longer_one_is_not_what_is_asked(text: str) -> None:
    assert not expression(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("What were payments for capital expenditures?", "capital_expenditures"),
        ("What was the amount of total debt?", "total_debt"),
        ("What was the growth in revenue?", "revenue"),
        ("What was the reduction in inventories?", "inventories"),
        ("How much did it spend on research and development?", "research_and_development"),
        ("What was net income attributable to the company?", "net_income_attributable_to_parent"),
    ],
)
def test_words_that_leave_a_metric_what_it_is(text: str, wanted: str) -> None:
    assert expression(text) == wanted


@pytest.mark.parametrize("text", ["cash from selling bonds", "cash paid to suppliers", "cash raised by new shares"])
def test_cash_that_moved_is_no_balance(text: str) -> None:
    lexicon = load_lexicon()
    found = [mention for mention in lexicon.mentions(text) if mention.id == "cash_and_cash_equivalents"]
    assert all(moves_cash(text, mention) for mention in found)
    balance = "cash and cash equivalents at the end of the year"
    (mention,) = (one for one in lexicon.mentions(balance) if one.id == "cash_and_cash_equivalents")
    assert not moves_cash(balance, mention)


@pytest.mark.parametrize(
    "question",
    [
        "What was the exchange rate impact on revenue?",
        "What was the effect of tariffs on its total revenue?",
        "How did exchange rates affect revenue?",
        "What are the maturities of long-term debt?",
        "What are the maturities of           long-term debt?",
    ],
)
def test_an_effect_on_a_metric_and_a_schedule_of_debt_are_no_figure_of_it(question: str) -> None:
    assert measure_of(question, (), load_lexicon()) is None
