"""Facts are listed with value, unit, period and place."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from fin_agent.presentation.filings import facts_view, value_words
from fin_agent.vocabulary.fact import FactPeriod, Tag
from tests.presentation.figures import fact, record, shown

TAG = Tag("us-gaap:Revenues", Decimal(5_000_000), "5", "c-1", None)


def test_periods_of_a_row_share_its_label() -> None:
    this = fact("Net sales", "5", metric="revenue", line=6, tag=TAG, section=("Income",))
    last = replace(this, amount=Decimal("-4.5"), period=FactPeriod(2022, None, 12))
    lines = shown(facts_view(record(), [this, last]), width=100)
    assert sum("Income › Net sales" in line for line in lines) == 1
    assert "5,000,000  USD" in lines[4] and "FY2023" in lines[4] and lines[4].split()[-2:] == ["5", "7"]
    assert lines[5].split() == ["revenue", "-4,500,000.0", "FY2022"]
    assert lines[6].split() == ["us-gaap:Revenues"]
    assert lines[-1] == "2 figures, values in base units"


def test_wide_terminals_have_a_column_for_each() -> None:
    lines = shown(facts_view(record(), [fact(metric="revenue", tag=TAG, scope="Europe")]), width=200)
    assert lines[2].split() == ["Figure", "Value", "Unit", "Period", "Metric", "Scope", "Concept", "Page", "Line"]
    assert "revenue" in lines[4] and "Europe" in lines[4] and "us-gaap:Revenues" in lines[4]


def test_none() -> None:
    assert "No figures" in "\n".join(shown(facts_view(record(), [])))


def test_value_words() -> None:
    assert value_words(fact(value="66608")) == "66,608,000,000 USD"
    assert value_words(fact(value="1E+3")) == "1,000,000,000 USD"
    assert value_words(fact(value="12.5", scale=1, unit="percent")) == "12.5%"
    assert value_words(fact(value="-8.30", scale=1, unit="USD per share")) == "-8.30 USD per share"
