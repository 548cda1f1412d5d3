"""A subtotal without a label is gross profit only where the statement's own arithmetic says so."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

import pytest

from fin_agent.filings.facts.table_facts import with_unlabelled_gross_profit
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box

REVENUE, PRODUCTS, SERVICES = ("revenue", "120 100"), ("cost_of_products", "-70 -60"), ("cost_of_services", "-20 -15")
INTEREST, TOTAL = ("", "-5 -4"), ("total_costs_and_expenses", "-95 -79")
LEFT, SELLING, RESULT = (None, "25 21"), ("selling_expense", "-10 -9"), ("operating_income", "15 12")
Row = tuple[str | None, str]


def statement(*rows: Row) -> list[Fact]:
    """Rows of (metric, amounts of 2022 and 2021); an empty metric is a row with a label, None one without."""
    return [
        Fact(
            label="" if metric is None else (metric or "other_cost").replace("_", " ").capitalize(),
            amount=Decimal(amount),
            scale=1_000_000,
            unit="USD",
            period=FactPeriod(year, None, 12, date(year, 12, 31)),
            page=4,
            box=Box(260.0 + 100 * column, 12.0 * line, 300.0 + 100 * column, 12.0 * line + 10),
            metric=metric or None,
            line=line,
            statement=Statement.INCOME,
        )
        for line, (metric, amounts) in enumerate(rows)
        for column, (year, amount) in enumerate(zip((2022, 2021), amounts.split(), strict=True))
    ]


def read(rows: Sequence[Row]) -> tuple[dict[int, int], dict[int, int]]:
    """Gross profit and cost of revenue by year."""
    facts = with_unlabelled_gross_profit(statement(*rows))
    profit, cost = (
        {fact.period.fiscal_year: int(fact.amount) for fact in facts if fact.metric == metric}
        for metric in ("gross_profit", "cost_of_revenue")
    )
    return profit, cost


def test_what_is_left_below_a_total_of_costs_is_gross_profit_and_the_total_their_cost() -> None:
    profit, cost = read([REVENUE, PRODUCTS, SERVICES, INTEREST, TOTAL, LEFT, SELLING, RESULT])
    assert profit == {2022: 25, 2021: 21}
    assert cost == {2022: -95, 2021: -79}


def test_its_place_is_said_where_a_label_would_stand() -> None:
    facts = with_unlabelled_gross_profit(statement(REVENUE, PRODUCTS, SERVICES, INTEREST, TOTAL, LEFT, SELLING, RESULT))
    labels = {fact.label for fact in facts if fact.metric == "gross_profit"}
    assert labels == {"(no label below Total costs and expenses)"}


@pytest.mark.parametrize("sign", ["-", ""])
def test_without_a_total_every_cost_above_counts_however_it_is_printed(sign: str) -> None:
    costs = [(metric, amounts.replace("-", sign)) for metric, amounts in (PRODUCTS, SERVICES, INTEREST)]
    profit, cost = read([REVENUE, *costs, LEFT, SELLING, RESULT])
    assert profit == {2022: 25, 2021: 21}
    assert cost == {}


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([REVENUE, PRODUCTS, SERVICES, TOTAL, (None, "26 21"), SELLING, RESULT], id="one column is off"),
        pytest.param([REVENUE, PRODUCTS, SERVICES, INTEREST, TOTAL, LEFT], id="no operating income follows"),
        pytest.param([REVENUE, PRODUCTS, TOTAL, LEFT, ("operating_income", "25 21")], id="it is operating income"),
        pytest.param([REVENUE, INTEREST, TOTAL, LEFT, SELLING, RESULT], id="no cost of revenue above"),
        pytest.param([PRODUCTS, SERVICES, TOTAL, LEFT, REVENUE, RESULT], id="revenue is not above"),
        pytest.param([REVENUE, PRODUCTS, SERVICES, INTEREST, TOTAL, LEFT, ("gross_profit", "25 21"), RESULT],
                     id="gross profit has a label"),
    ],
)  # fmt: skip
def test_else_it_stays_without_a_name(rows: Sequence[Row]) -> None:
    before = statement(*rows)
    assert with_unlabelled_gross_profit(before) == before
