from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

import pytest

from fin_agent.filings.facts.row_periods import period_under, row_time
from fin_agent.filings.facts.table_facts import facts_of_tables
from fin_agent.filings.tables.reading import read_tables
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import PageContent, Statement
from tests.filings.typeset import Page

ANNUAL = Identity("Example Corp.", Form.TEN_K, 2022, None, date(2022, 12, 31), 12)
YEAR = FactPeriod(2022, None, 12, date(2022, 12, 31))
METRICS = {
    "net sales": "revenue",
    "dividends per share": "dividends_per_share",
    "operating leases": "lease_liabilities",
}
EDGES = [440.0, 540.0]


def metric_of(label: str, statement: Statement | None, section: Sequence[str]) -> str | None:
    return METRICS.get(label.lower())


def income_statement() -> Page:
    page = Page(0).text("Consolidated Statements of Income", x=240).text("(in millions)", x=260)
    page.header([("2022", 420.0), ("2021", 520.0)], stub="Years ended December 31,")
    for label in ("Net sales", "Costs", "Profit"):
        page.row(label, ["1,000", "900"], EDGES)
    return page


def facts(page: PageContent) -> list[Fact]:
    found = facts_of_tables(read_tables([income_statement().done(), page], ANNUAL), {0: Statement.INCOME}, metric_of)
    return [fact for fact in found if fact.page == 1]


@pytest.mark.parametrize("label", ["2021", "Fiscal 2023", "First Quarter", "Fourth quarter", "December 31, 2022", "Q1"])
def test_labels_that_name_a_time_and_nothing_else(label: str) -> None:
    assert row_time(label) is not None


@pytest.mark.parametrize(
    "label", ["2021 Notes", "Balance at December 31, 2022", "Net sales", "3.5% due 2031", "Quarterly dividend"]
)
def test_labels_that_say_more_are_none(label: str) -> None:
    assert row_time(label) is None


@pytest.mark.parametrize("label", ["2023", "Fiscal year 2024", "Thereafter", "2028 - 2032", "2028-2032"])
def test_years_to_come_are_no_part_of_the_columns_period(label: str) -> None:
    assert period_under(label, YEAR) is None


def test_a_quarter_under_a_year_is_that_quarter() -> None:
    assert period_under("Second Quarter", YEAR) == FactPeriod(2022, 2, 3, None)
    assert period_under("Fourth Quarter", YEAR) == FactPeriod(2022, 4, 3, date(2022, 12, 31))
    assert period_under("Net sales", YEAR) == YEAR


def test_years_down_the_page_date_their_rows() -> None:
    page = Page(1).header([("Net sales", 420.0), ("Dividends per share", 520.0)])
    for year, sales, dividends in (("2022", "$ 1,000", "$ 1.20"), ("2021", "900", "1.10"), ("2023", "1,100", "1.30")):
        page.row(year, [sales, dividends], EDGES)
    assert [(fact.metric, fact.value, fact.unit, fact.period.fiscal_year) for fact in facts(page.done())] == [
        ("revenue", 1_000_000_000, "USD", 2022),
        ("dividends_per_share", Decimal("1.20"), "USD per share", 2022),
        ("revenue", 900_000_000, "USD", 2021),
        ("dividends_per_share", Decimal("1.10"), "USD per share", 2021),
    ]


def test_months_down_the_page_are_of_a_quarter_and_what_remains_is_of_its_end() -> None:
    page = Page(1).header([("Price paid", 420.0), ("May yet be bought", 500.0)])
    months = ("October 1 - 31, 2022", "November 1 - 30, 2022", "December 1, 2022 – December 31, 2022", "Total")
    for label, price, left in zip(
        months, ("$ 9.50", "9.60", "9.70", "$ 9.60"), ("300", "200", "100", "100"), strict=True
    ):
        page.row(label, [price, left], EDGES)
    prices, remaining = facts(page.done())[::2], facts(page.done())[1::2]
    assert [(one.period.months, one.period.end) for one in prices] == [
        (1, date(2022, 10, 31)),
        (1, date(2022, 11, 30)),
        (1, date(2022, 12, 31)),
        (3, date(2022, 12, 31)),
    ]
    assert [one.amount for one in remaining if not one.period.months] == [100, 100]


def test_the_sum_of_years_to_come_is_no_figure_of_the_year() -> None:
    page = Page(1).text("Estimated future amortization").header([("Year ended December 31, 2022", 520.0)])
    for label, amount in (("2023", "12"), ("2024", "8"), ("Total", "20")):
        page.row(label, [amount], EDGES[1:])
    assert [(fact.label, fact.period.months) for fact in facts(page.done())][-1] == ("Total", 0)


def test_dues_of_years_to_come_carry_no_metric() -> None:
    page = Page(1).text("Maturities of lease liabilities as of December 31, 2022 are as follows:")
    page.header([("Operating Leases", 420.0), ("Finance Leases", 520.0)])
    for label in ("2023", "2024", "Thereafter"):
        page.row(label, ["$ 114", "$ 12"], EDGES)
    found = facts(page.done())
    assert {fact.metric for fact in found} == {None}
    assert found[-1].scope == "Finance Leases, After 2024"
    assert len(found) == 6


def test_columns_of_years_to_come_carry_no_metric() -> None:
    page = Page(1).header([("2023", 420.0), ("2022", 520.0)], stub="Payments due by year")
    page.row("Operating leases", ["$ 114", "$ 12"], EDGES).row("Net sales", ["5", "1,000"], EDGES)
    assert [(fact.period.fiscal_year, fact.metric) for fact in facts(page.done())] == [
        (2023, None),
        (2022, "lease_liabilities"),
        (2023, None),
        (2022, "revenue"),
    ]


def test_what_falls_due_after_the_years_named_and_all_of_it_are_owed_on_the_same_day() -> None:
    edges = [300.0, 380.0, 460.0, 540.0]
    page = Page(1).text("Payments due by year as of December 31, 2022 (in millions)")
    page.header([("2023", 280.0), ("2024", 360.0), ("Thereafter", 415.0), ("Total", 515.0)])
    page.row("Operating leases", ["114", "12", "300", "426"], edges).row("Debt", ["10", "20", "30", "60"], edges)
    assert [(fact.scope, fact.period.fiscal_year, fact.period.months) for fact in facts(page.done())[:4]] == [
        ("2023", 2022, 0),
        ("2024", 2022, 0),
        ("After 2024", 2022, 0),
        (None, 2022, 0),
    ]


def test_years_below_a_measure_are_of_it_and_their_columns_of_parts() -> None:
    page = Page(1).header([("Express Segment", 400.0), ("Consolidated Total", 500.0)])
    page.row("Net sales 2022", ["$ 420", "$ 900"], EDGES).row("2021", ["410", "850"], EDGES)
    page.row("Segment assets (4) 2022", ["70", "95"], EDGES).row("2021", ["60", "85"], EDGES)
    found = [
        (*fact.row_path, fact.period.fiscal_year, fact.metric, fact.scope)
        for fact in facts(page.done())
        if fact.column.startswith("Express")
    ]
    assert found == [
        ("Net sales", "2022", 2022, "revenue", "Express Segment"),
        ("Net sales", "2021", 2021, "revenue", "Express Segment"),
        ("Segment assets (4)", "2022", 2022, None, None),
        ("Segment assets (4)", "2021", 2021, None, None),
    ]


def test_grants_between_two_balances_of_long_names_are_of_the_time_between() -> None:
    page = Page(1).text("Restricted stock (shares in thousands)")
    page.header([("Shares", 410.0), ("Grant-date", 495.0)])
    page.row("Non-vested shares and share units as of December 31, 2021", ["11,299", "$ 29.19"], EDGES)
    page.row("Granted", ["7,105", "35.07"], EDGES)
    page.row("Non-vested shares and share units as of December 31, 2022", ["18,404", "$ 33.92"], EDGES)
    granted = [fact for fact in facts(page.done()) if fact.label == "Granted"]
    assert [(fact.value, fact.unit, fact.period.months) for fact in granted] == [
        (7_105_000, "shares", 12),
        (Decimal("35.07"), "USD per share", 12),
    ]


def test_a_table_that_repeats_the_balance_sheet_is_true_at_its_days() -> None:
    balance = Page(0).text("Consolidated Balance Sheets", x=240).text("(in millions)", x=260)
    balance.header([("2022", 420.0), ("2021", 520.0)], stub="December 31,")
    balance.row("Cash", ["1,500", "1,400"], EDGES).row("Machinery, net", ["5,000", "4,200"], EDGES)
    balance.row("Total assets", ["6,500", "5,600"], EDGES).row("Total liabilities", ["6,500", "5,600"], EDGES)
    note = Page(1).header([("2022", 420.0), ("2021", 520.0)]).row("Presses", ["4,000", "3,000"], EDGES)
    note.row("Lathes", ["1,000", "1,200"], EDGES).row("Total machinery", ["5,000", "4,200"], EDGES)
    statements = {0: Statement.BALANCE_SHEET}
    found = facts_of_tables(read_tables([balance.done(), note.done()], ANNUAL), statements, metric_of)
    assert {fact.period.months for fact in found if fact.page == 1} == {0}
    alone = facts_of_tables(
        read_tables(
            [
                balance.done(),
                Page(1)
                .header([("2022", 420.0), ("2021", 520.0)])
                .row("Presses", ["4,000", "3,000"], EDGES)
                .row("Lathes", ["900", "800"], EDGES)
                .done(),
            ],
            ANNUAL,
        ),
        statements,
        metric_of,
    )
    assert {fact.period.months for fact in alone if fact.page == 1} == {12}


def test_what_stands_at_the_end_of_a_period_is_of_a_day() -> None:
    page = Page(1).text("Members", x=60).header([("2022", 420.0), ("2021", 520.0)], stub="Years ended December 31,")
    page.row("Members added", ["7,000", "6,000"], EDGES).row("Members at end of period", ["90,000", "83,000"], EDGES)
    found = {(fact.label, fact.period.months) for fact in facts(page.done())}
    assert found == {("Members added", 12), ("Members at end of period", 0)}
