"""What a question names: metrics, formulas, statements, topics."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.vocabulary.page import Statement


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("What is the FY2021 net PP&E?", ["property_plant_equipment_net"]),
        ("net property, plant, and equipment at year end", ["property_plant_equipment_net"]),
        ("net property plant and equipment", ["property_plant_equipment_net"]),
        ("SG&A expense as a percent of net sales", ["selling_general_and_administrative", "revenue"]),
        ("the capital expenditure amount", ["capital_expenditures"]),
        ("unadjusted EBITDA less capex", ["ebitda_less_capex"]),
        ("unadjusted operating income % margin", ["operating_income"]),
        ("operating margin and net profit margin", ["operating_margin", "net_margin"]),
        ("days payables outstanding (DPO)", ["days_payable_outstanding"] * 2),
        ("spent on repurchasing its own common stock", ["repurchases_of_common_stock"]),
        ("spent on purchasing property, plant and equipment", ["capital_expenditures"]),
        ("proceeds of issuing long-term debt", ["proceeds_from_debt"]),
        ("repurchasing, as it said, stock", []),
        ("average inventory / COGS", ["inventories", "cost_of_revenue"]),
        ("net income attributable to shareholders", ["net_income_attributable_to_parent"]),
        (
            "net income attributable to noncontrolling interests",
            ["net_income_attributable_to_noncontrolling_interests"],
        ),
        ("cash flow from operating activities", ["cash_from_operations"]),
        ("Free cashflow conversion", ["free_cash_flow_conversion"]),
        ("D&A from the cash flow statement", ["depreciation_and_amortization"]),
        ("revenue, net income and total assets", ["revenue", "net_income", "total_assets"]),
        ("sales, net income", ["revenue", "net_income"]),
        ("the company's acid-test ratio", ["quick_ratio"]),
        ("non-interest income", ["noninterest_income"]),
        ("the non-income tax disputes and income taxes", ["income_tax_expense"]),
        ("adjusted non-GAAP EBITDA", ["adjusted_ebitda"]),
        ("an investment banking analyst earning a living", []),
        ("an equity research analyst reads a balance sheet", []),
        ("Which debt securities are registered?", []),
    ],
)
def test_mentions(text: str, named: list[str]) -> None:
    assert [mention.id for mention in load_lexicon().mentions(text)] == named


def test_a_mention_says_where_it_stands_and_what_it_is() -> None:
    text = "Compare Acme's Quick Ratio with its total current assets."
    ratio, assets = load_lexicon().mentions(text)
    assert (ratio.kind, ratio.phrase) == ("formula", "Quick Ratio")
    assert (assets.kind, assets.phrase) == ("metric", "total current assets")
    assert text[assets.start : assets.end] == assets.phrase


@given(st.lists(st.sampled_from(["revenue", "COGS", "and", ",", "(", ")", "PP&E", "’s", "%", "/", "İ", "\n", "net"])))
def test_mentions_never_overlap_and_quote_the_text(words: list[str]) -> None:
    text = " ".join(words)
    end = 0
    for mention in load_lexicon().mentions(text):
        assert mention.start >= end
        assert text[mention.start : mention.end] == mention.phrase
        end = mention.end


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("the P&L statement and the statement of cash flows", [Statement.INCOME, Statement.CASH_FLOW]),
        ("only the statement of financial position", [Statement.BALANCE_SHEET]),
        ("the income statement, then the income statements", [Statement.INCOME]),
        ("the statement of comprehensive income", [Statement.COMPREHENSIVE_INCOME]),
        ("a statement made by the chairman", []),
    ],
)
def test_statements_named_in_a_question(text: str, statements: list[Statement]) -> None:
    assert load_lexicon().statement_mentions(text) == statements


@pytest.mark.parametrize(
    ("title", "statement"),
    [
        ("CONSOLIDATED STATEMENTS OF OPERATIONS", Statement.INCOME),
        ("Consolidated Statement of Financial Position", Statement.BALANCE_SHEET),
        ("Consolidated Statements of Comprehensive Income (Loss)", Statement.COMPREHENSIVE_INCOME),
        ("Consolidated Statements of Changes in Shareholders’ Equity", Statement.EQUITY),
        ("Consolidated Balance Sheets (Parenthetical)", None),
        ("Condensed Statements of Cash Flows (Parent Company Only)", None),
        ("Item 1A. Risk Factors", None),
    ],
)
def test_titles_of_statements(title: str, statement: Statement | None) -> None:
    assert load_lexicon().statement_of_title(title) == statement


@pytest.mark.parametrize(
    ("text", "topic", "item"),
    [
        ("Has the company reported any ongoing legal battles?", "legal-proceedings", "10-K.3"),
        ("Is the business subject to cyclicality?", "cyclicality", "10-K.1A"),
        ("What was the outcome of the shareholder vote at the AGM?", "shareholder-vote", "8-K.5.07"),
        ("Who is the new CEO?", "directors-and-officers", "8-K.5.02"),
        ("Which debt securities are registered to trade on a national securities exchange?", None, "10-K.cover"),
        ("How much may be borrowed under its revolving credit agreement?", "credit-agreement", "8-K.1.01"),
    ],
)
def test_topics_lead_to_items(text: str, topic: str | None, item: str) -> None:
    best = load_lexicon().topics(text)[0]
    assert topic is None or best.id == topic
    assert best.items[0] == item


def test_the_topic_with_more_triggers_comes_first() -> None:
    topics = load_lexicon().topics("Did the lawsuit, the litigation and the settlement touch a customer?")
    assert [topic.id for topic in topics] == ["legal-proceedings", "customers"]


def test_expand_gives_the_filers_terms() -> None:
    lexicon = load_lexicon()
    expanded = lexicon.expand(["capex", "cyclicality"])
    assert expanded[0] == "capex"
    assert "Capital expenditures" in expanded
    assert "seasonality" in expanded
    assert len(expanded) == len(set(expanded))
    assert "Net sales" in lexicon.expand(["revenue"])
    assert lexicon.expand(["xyzzy"]) == ("xyzzy",)


def test_a_phrase_that_names_nothing_gives_way_to_a_longer_one_that_begins_in_it() -> None:
    lexicon = load_lexicon()
    assert [each.id for each in lexicon.mentions("growth in cash and cash equivalents")] == [
        "cash_and_cash_equivalents"
    ]
    assert lexicon.mentions("how much of it was paid in cash") == []


def test_no_phrase_goes_across_the_gap_that_a_name_left() -> None:
    lexicon = load_lexicon()
    with_gap = lexicon.mentions("change in          cash flow from operations")
    assert [each.id for each in with_gap] == ["cash_from_operations"]


def test_total_takes_no_word_away_from_a_name_that_goes_on() -> None:
    lexicon = load_lexicon()
    assert [each.id for each in lexicon.mentions("the highest total capital spending")] == ["capital_expenditures"]
    assert lexicon.mentions("total current assets")[0].phrase == "total current assets"
