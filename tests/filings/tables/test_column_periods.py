from __future__ import annotations

import calendar
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_agent.filings.tables.column_periods import FiscalCalendar, time_words
from fin_agent.filings.tables.reading import read_tables
from fin_agent.vocabulary.fact import FactPeriod
from fin_agent.vocabulary.fiscal_calendar import fiscal_year_of
from fin_agent.vocabulary.identity import Form, Identity
from tests.filings.typeset import Page


@pytest.mark.parametrize(
    ("text", "months"),
    [
        ("Three Months Ended", 3),
        ("Nine months ended", 9),
        ("6 Months Ended", 6),
        ("Twelve Months Ended December 31,", 12),
        ("13 Weeks Ended", 3),
        ("Fourteen weeks ended", 3),
        ("Twelve Weeks Ended", 3),
        ("16 Weeks Ended", 3),
        ("Twenty-six weeks ended", 6),
        ("28 weeks ended", 6),
        ("Thirty-Nine Weeks Ended", 9),
        ("52 Weeks Ended", 12),
        ("Fifty-three weeks ended", 12),
        ("Five Months Ended December 31,", 5),
        ("Two months ended", 2),
        ("Year Ended", 12),
        ("Fiscal Years Ended", 12),
        ("Quarter Ended", 3),
        ("As of", 0),
        ("less than 12 months", None),
        ("18 months ended", None),
        ("Five months of rent", None),
        ("December 31,", None),
    ],
)
def test_lengths_that_headers_name(text: str, months: int | None) -> None:
    assert time_words(text).months == months


@pytest.mark.parametrize(
    ("text", "months", "end"),
    [
        ("For the period from August 1, 2022 to December 31, 2022", 5, date(2022, 12, 31)),
        ("Period from January 1, 2021 through January 30, 2021", 1, date(2021, 1, 30)),
        ("from July 1, 2020 to December 31, 2020 (Successor)", 6, date(2020, 12, 31)),
        ("October 1, 2022 – October 31, 2022", 1, date(2022, 10, 31)),
        ("November 28 to January 1, 2022", 1, date(2022, 1, 1)),
        ("April 1 - 30, 2021", 1, date(2021, 4, 30)),
        ("10/1/2016 thru 10/31/2016", 1, date(2016, 10, 31)),
    ],
)
def test_periods_named_by_their_first_and_last_day(text: str, months: int, end: date) -> None:
    said = time_words(text)
    assert (said.months, said.dates) == (months, (end,))


def test_a_transition_period_beside_years() -> None:
    page = Page().header([("Five Months Ended", 400.0), ("Year Ended", 520.0)])
    page.header([("December 31, 2022", 400.0), ("July 31, 2022", 520.0)])
    for label in ("Sales", "Costs", "Profit"):
        page.row(label, ["1,000", "2,400"], [420.0, 540.0])
    identity = Identity("Example", Form.TEN_K, 2022, None, date(2022, 12, 31), 12)
    periods = read_tables([page.done()], identity)[0].periods
    assert periods[0] == FactPeriod(2022, None, 5, date(2022, 12, 31))


def test_years_by_name_get_the_end_of_a_dated_column() -> None:
    page = Page().header([("January 28, 2023", 400.0), ("January 29, 2022", 520.0)])
    for label in ("Cash", "Inventories", "Total assets"):
        page.row(label, ["1,000", "2,400"], [420.0, 540.0])
    page.skip(60).header([("Fiscal 2022", 400.0), ("Fiscal 2021", 520.0)])
    for label in ("Sales", "Costs", "Profit"):
        page.row(label, ["1,000", "2,400"], [420.0, 540.0])
    retailer = Identity("Example Stores", Form.TEN_K, 2022, None, date(2023, 1, 28), 1)
    assert read_tables([page.done()], retailer)[1].periods == (
        FactPeriod(2022, None, 12, date(2023, 1, 28)),
        FactPeriod(2021, None, 12, date(2022, 1, 29)),
    )


def test_no_calendar_tells_the_end_of_a_year_that_drifts() -> None:
    page = Page().header([("May 31, 2020", 400.0), ("May 26, 2019", 520.0)])
    for label in ("Cash", "Inventories", "Total assets"):
        page.row(label, ["1,000", "2,400"], [420.0, 540.0])
    page.skip(60).header([("Fiscal 2019", 400.0), ("Fiscal 2018", 520.0)])
    for label in ("Sales", "Costs", "Profit"):
        page.row(label, ["1,000", "2,400"], [420.0, 540.0])
    filer = Identity("Example Mills", Form.TEN_K, 2020, None, date(2020, 5, 31), 5)
    assert [period.end for period in read_tables([page.done()], filer)[1].periods if period] == [
        date(2019, 5, 26),
        None,
    ]


def month_end(year: int, month: int) -> date:
    return date(year, month, calendar.monthrange(year, month)[1])


def year_end(rule: str, year: int, month: int, weekday: int) -> date:
    """Last day of the year that ends in (or, for `nearest`, within three days of) a month."""
    end = month_end(year, month)
    if rule == "month end":
        return end
    last = end - timedelta(days=(end.weekday() - weekday) % 7)
    return last + timedelta(days=7) if rule == "nearest" and (end - last).days > 3 else last


rules = st.tuples(
    st.sampled_from(["month end", "last", "nearest"]),
    st.integers(min_value=1, max_value=12),
    st.integers(min_value=0, max_value=6),
)


@given(rules, st.integers(min_value=2005, max_value=2030), st.integers(min_value=-9, max_value=9))
def test_ends_of_years_are_named_right_whatever_the_rule(rule: tuple[str, int, int], year: int, away: int) -> None:
    kind, month, weekday = rule
    name = fiscal_year_of(month_end(year, month))
    own = year_end(kind, year, month, weekday)
    fiscal = FiscalCalendar.of(Identity("Example", Form.TEN_K, name, None, own, month))
    assert fiscal is not None
    other = year_end(kind, year + away, month, weekday)
    assert fiscal.instant(other) == FactPeriod(name + away, None, 0, other)
    assert fiscal.duration(other, 12) == FactPeriod(name + away, None, 12, other)
    assert fiscal.may_end_year(other)
    assert fiscal.end_of(name) == own


@given(rules, st.integers(min_value=2005, max_value=2030), st.integers(1, 3), st.integers(-3, 3), st.booleans())
def test_quarters_are_named_right_whatever_the_rule(
    rule: tuple[str, int, int], year: int, quarter: int, away: int, annual: bool
) -> None:
    kind, month, weekday = rule
    name = fiscal_year_of(month_end(year, month))

    def quarter_end(of: int) -> date:
        if kind == "month end":
            months = of * 12 + month - 1 - 3 * (4 - quarter)
            return month_end(months // 12, months % 12 + 1)
        return year_end(kind, of - 1, month, weekday) + timedelta(weeks=13 * quarter)

    if annual:
        identity = Identity("Example", Form.TEN_K, name, None, year_end(kind, year, month, weekday), month)
    else:
        identity = Identity("Example", Form.TEN_Q, name, quarter, quarter_end(year), month)
    fiscal = FiscalCalendar.of(identity)
    assert fiscal is not None
    day = quarter_end(year + away)
    assert fiscal.duration(day, 3) == FactPeriod(name + away, quarter, 3, day)
    assert fiscal.instant(day) == FactPeriod(name + away, quarter, 0, day)


@given(
    st.dates(min_value=date(1990, 1, 1), max_value=date(2049, 12, 31)),
    st.sampled_from(["%B %d, %Y", "%b. %d, %Y", "%m/%d/%Y", "%d %B %Y"]),
)
def test_a_date_survives_printing(day: date, style: str) -> None:
    assert time_words(day.strftime(style)).dates == (day,)


@given(st.text(max_size=30))
def test_any_text_is_read_without_an_error(text: str) -> None:
    time_words(text)
