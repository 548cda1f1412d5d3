"""The fact that a name stands for."""

from __future__ import annotations

from decimal import Decimal

from fin_agent.filings.facts.fact_selection import facts_named, similar_names, years_of
from fin_agent.vocabulary.fact import FactPeriod, Tag
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Statement
from tests.presentation.figures import fact

ANNUAL = Identity("Acme", Form.TEN_K, fiscal_year=2023)
TAG = Tag("us-gaap:Revenues", Decimal(1), "1", "c", None)
SALES = fact("Total net sales", metric="revenue", statement=Statement.INCOME, tag=TAG)
BEFORE = fact("Total net sales", metric="revenue", statement=Statement.INCOME, period=FactPeriod(2022, None, 12))
EUROPE = fact("Net sales", metric="revenue", scope="Europe", page=1)
GROWTH = fact("Growth of total net sales", unit="percent", page=2)
FACTS = [EUROPE, GROWTH, BEFORE, SALES]


def test_a_metric_of_the_own_year_and_the_whole_company_comes_first() -> None:
    assert facts_named(FACTS, "Revenue", None, ANNUAL) == [SALES, BEFORE, EUROPE]
    assert facts_named(FACTS, "revenue", 2022, ANNUAL) == [BEFORE]


def test_concepts_with_and_without_prefix() -> None:
    assert facts_named(FACTS, "us-gaap:revenues", None, ANNUAL) == [SALES]
    assert facts_named(FACTS, "Revenues", None, ANNUAL) == [SALES]


def test_words_within_a_label_count_only_where_nothing_is_called_so() -> None:
    assert facts_named(FACTS, "total net sales", None, ANNUAL) == [SALES, BEFORE]
    assert facts_named(FACTS, "growth", None, ANNUAL) == [GROWTH]
    assert facts_named(FACTS, "grow", None, ANNUAL) == []
    assert facts_named(FACTS, " ", None, ANNUAL) == []


def test_a_quarterly_report_means_its_quarter() -> None:
    quarter = fact(metric="revenue", period=FactPeriod(2023, 2, 3))
    half = fact(metric="revenue", period=FactPeriod(2023, None, 6))
    filed = Identity("Acme", Form.TEN_Q, fiscal_year=2023, quarter=2)
    assert facts_named([half, quarter], "revenue", None, filed)[0] is quarter


def test_what_is_near() -> None:
    assert similar_names(FACTS, "revenues of")[0] == "revenue"
    assert years_of(FACTS, "total net sales") == [2023, 2022]
