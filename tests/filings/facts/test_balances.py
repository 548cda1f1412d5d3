from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from fin_agent.filings.facts.row_periods import with_balances
from fin_agent.filings.tables.column_periods import FiscalCalendar
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box


def fact(label: str, end: date, months: int = 12, statement: Statement | None = Statement.CASH_FLOW) -> Fact:
    period = FactPeriod(end.year, None, months, end)
    return Fact(label, Decimal(1), 1, "USD", period, 0, Box(0, 0, 1, 1), statement=statement)


def dated(facts: list[Fact], year_end: date, quarter: int | None = None) -> list[tuple[int, date | None]]:
    calendar = FiscalCalendar(year_end.year, year_end, quarter, facts[0].period.end)
    return [(found.period.months, found.period.end) for found in with_balances(facts, calendar)]


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("Cash and cash equivalents at end of year", (0, date(2024, 12, 31))),
        ("Cash and cash equivalents at beginning of year", (0, date(2023, 12, 31))),
        ("CASH, CASH EQUIVALENTS, AND RESTRICTED CASH, END OF PERIOD", (0, date(2024, 12, 31))),
        ("Cash and restricted cash, beginning balances", (0, date(2023, 12, 31))),
        ("Net increase in cash and cash equivalents during the year", (12, date(2024, 12, 31))),
        ("Cash paid for interest", (12, date(2024, 12, 31))),
        ("Net income", (12, date(2024, 12, 31))),
    ],
)
def test_rows_that_state_a_balance(label: str, expected: tuple[int, date]) -> None:
    assert dated([fact(label, date(2024, 12, 31))], date(2024, 12, 31)) == [expected]


def test_the_income_statement_states_no_balance() -> None:
    facts = [fact("Cash at end of year", date(2024, 12, 31), statement=None)]
    assert dated(facts, date(2024, 12, 31)) == [(12, date(2024, 12, 31))]


@pytest.mark.parametrize(
    ("end", "months", "expected"),
    [
        (date(2024, 2, 29), 12, date(2023, 2, 28)),
        (date(2025, 2, 28), 12, date(2024, 2, 29)),
        (date(2024, 6, 30), 6, date(2023, 12, 31)),
        (date(2024, 9, 30), 9, date(2023, 12, 31)),
        (date(2024, 9, 28), 12, date(2023, 9, 30)),
        (date(2024, 6, 29), 9, date(2023, 9, 30)),
        (date(2024, 4, 27), 3, date(2024, 1, 27)),
    ],
)
def test_a_period_begins_a_day_after(end: date, months: int, expected: date) -> None:
    assert dated([fact("Cash, beginning of period", end, months)], end)[0] == (0, expected)


def test_days_that_the_filing_prints_go_before_reckoning() -> None:
    facts = [
        fact("Cash at beginning of year", date(2023, 9, 30)),  # a year of 53 weeks
        fact("Net income", date(2022, 9, 24)),
    ]
    assert dated(facts, date(2023, 9, 30))[0] == (0, date(2022, 9, 24))


def test_without_a_calendar_nothing_is_dated() -> None:
    facts = [fact("Cash at end of year", date(2024, 12, 31))]
    assert with_balances(facts, None) == facts
