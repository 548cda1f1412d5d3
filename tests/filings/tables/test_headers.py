from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pytest

from fin_agent.filings.tables.cells import lines_of
from fin_agent.filings.tables.column_periods import FiscalCalendar, time_words
from fin_agent.filings.tables.headers import is_header_line
from fin_agent.filings.tables.reading import read_tables
from fin_agent.vocabulary.fact import FactPeriod
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.table import Table
from tests.filings.typeset import Page

CALENDAR_YEAR = Identity("Example Corp.", Form.TEN_K, 2022, None, date(2022, 12, 31), 12)
RETAILER = Identity("Example Stores", Form.TEN_K, 2022, None, date(2023, 1, 28), 1)
SECOND_QUARTER = Identity("Example plc", Form.TEN_Q, 2023, 2, date(2022, 12, 31), 6)
EDGES = {2: [400.0, 540.0], 3: [360.0, 450.0, 540.0], 4: [330.0, 400.0, 470.0, 540.0]}
"""Right edges of so many columns."""


def with_rows(page: Page, columns: int, labels: Sequence[str] = ("Sales", "Costs", "Profit")) -> Page:
    for label in labels:
        page.row(label, ["$ 1,000"] * columns, EDGES[columns])
    return page


def periods(page: Page, identity: Identity | None = CALENDAR_YEAR) -> list[FactPeriod | None]:
    tables: list[Table] = read_tables([page.done()], identity)
    assert len(tables) == 1
    return list(tables[0].periods)


def over(*names: str) -> list[tuple[str, float]]:
    return [(name, edge - 14) for name, edge in zip(names, EDGES[len(names)], strict=True)]


def test_years_beside_their_day() -> None:
    page = Page().header(over("2022", "2021", "2020"), stub="Years ended December 31,")
    assert periods(with_rows(page, 3)) == [
        FactPeriod(year, None, 12, date(year, 12, 31)) for year in (2022, 2021, 2020)
    ]


def test_a_date_split_over_two_lines() -> None:
    page = Page().header(over("December 31,", "December 25,")).header(over("2022", "2021"))
    identity = Identity("Example", Form.TEN_K, 2022, None, date(2022, 12, 31), 12)
    assert periods(with_rows(page, 2), identity) == [
        FactPeriod(2022, None, 0, date(2022, 12, 31)),
        FactPeriod(2021, None, 0, date(2021, 12, 25)),
    ]


def test_dates_of_a_title_are_meant_by_years_below() -> None:
    page = Page().text("Fiscal years ended December 31, 2022 and December 25, 2021", x=170)
    page.header(over("2022", "2021"))
    assert periods(with_rows(page, 2)) == [
        FactPeriod(2022, None, 12, date(2022, 12, 31)),
        FactPeriod(2021, None, 12, date(2021, 12, 25)),
    ]


def test_lengths_that_span_column_groups() -> None:
    page = Page().header([("Three Months Ended", 350.0), ("Six Months Ended", 490.0)])
    page.header([("December 31,", 350.0), ("December 31,", 490.0)])
    page.header(over("2022", "2021", "2022", "2021"))
    assert periods(with_rows(page, 4), SECOND_QUARTER) == [
        FactPeriod(2023, 2, 3, date(2022, 12, 31)),
        FactPeriod(2022, 2, 3, date(2021, 12, 31)),
        FactPeriod(2023, None, 6, date(2022, 12, 31)),
        FactPeriod(2022, None, 6, date(2021, 12, 31)),
    ]


def test_headings_over_groups_of_different_sizes() -> None:
    page = Page().header([("Total Assets", 300.0), ("Spending", 456.0)])
    edges = [280.0, 340.0, 410.0, 470.0, 530.0]
    page.header([(year, edge - 14) for year, edge in zip(("2022", "2021", "2022", "2021", "2020"), edges, strict=True)])
    for label in ("Snacks", "Drinks"):
        page.row(label, ["11,042", "9,763", "1,464", "1,411", "1,189"], edges)
    (table,) = read_tables([page.done()], CALENDAR_YEAR)
    heads = [table.column_path(index)[0] for index in range(5)]
    assert heads == ["Total Assets", "Total Assets", "Spending", "Spending", "Spending"]


def test_weeks_over_all_columns() -> None:
    page = Page().header([("13 Weeks Ended", 470.0)]).header(over("April 29,", "April 30,"))
    page.header(over("2023", "2022"))
    quarterly = Identity("Example Stores", Form.EARNINGS, 2023, 1, date(2023, 4, 29), 1)
    assert periods(with_rows(page, 2), quarterly) == [
        FactPeriod(2023, 1, 3, date(2023, 4, 29)),
        FactPeriod(2022, 1, 3, date(2022, 4, 30)),
    ]


def test_balances_of_a_quarterly_report() -> None:
    page = Page().header(over("October 29, 2022", "January 29, 2022"))
    quarterly = Identity("Example Stores", Form.TEN_Q, 2022, 3, date(2022, 10, 29), 1)
    assert periods(with_rows(page, 2), quarterly) == [
        FactPeriod(2022, 3, 0, date(2022, 10, 29)),
        FactPeriod(2021, None, 0, date(2022, 1, 29)),
    ]


def test_bare_years_over_balances_are_instants() -> None:
    page = Page().text("Consolidated Balance Sheets", x=240).header(over("2022", "2021"))
    read = periods(with_rows(page, 2, ("Total assets", "Total liabilities", "Total equity")))
    assert [period.months for period in read if period] == [0, 0]


@pytest.mark.parametrize(
    ("header", "year", "end"),
    [
        ("January 29, 2022", 2021, date(2022, 1, 29)),
        ("January 28, 2023", 2022, date(2023, 1, 28)),
        ("Fiscal 2021", 2021, None),
        ("2021", 2021, None),
        ("FY22", 2022, date(2023, 1, 28)),
    ],
)
def test_the_filers_own_naming_of_years(header: str, year: int, end: date | None) -> None:
    page = Page().header([("Year Ended", 500.0)]).header(over(header, "2019"))
    first = periods(with_rows(page, 2), RETAILER)[0]
    assert first == FactPeriod(year, None, 12, end)


def test_changes_have_no_period() -> None:
    page = Page().header(over("2022", "2021", "$ Change", "% Change"), stub="Year ended December 31,")
    read = periods(with_rows(page, 4))
    assert [period.fiscal_year if period else None for period in read] == [2022, 2021, None, None]


def test_a_comparison_of_years_has_no_period() -> None:
    page = Page().header(over("2022", "2021", "2022 vs. 2021"), stub="Year ended December 31,")
    assert periods(with_rows(page, 3))[2] is None


def test_signs_of_rows_do_not_undate_their_column() -> None:
    page = Page().header([("Increase/(Decrease)", 500.0)], stub="").header(over("December 2, 2022", "December 3, 2021"))
    assert all(periods(with_rows(page, 2)))


def test_quarters_by_name() -> None:
    page = Page().header(over("Q2 2022", "Q1 2022"))
    assert periods(with_rows(page, 2)) == [
        FactPeriod(2022, 2, 3, date(2022, 6, 30)),
        FactPeriod(2022, 1, 3, date(2022, 3, 31)),
    ]


def test_quarters_under_their_year() -> None:
    page = Page().header([("Year Ended December 31, 2021", 435.0)])
    page.header(over("First Quarter", "Second Quarter", "Third Quarter"))
    assert periods(with_rows(page, 3)) == [
        FactPeriod(2021, quarter, 3, date(2021, 3 * quarter, 31 if quarter == 1 else 30)) for quarter in (1, 2, 3)
    ]


def test_own_words_go_before_shared_ones() -> None:
    page = Page().text("Fourth Quarter and Full-Year 2022 Results", x=330).header(over("Fourth Quarter", "Full-Year"))
    read = periods(with_rows(page, 2))
    assert [(period.quarter, period.months) for period in read if period] == [(4, 3), (None, 12)]


def test_without_identity_calendar_years_are_assumed() -> None:
    page = Page().header(over("December 31, 2022", "September 30, 2021"))
    assert periods(with_rows(page, 2), None) == [
        FactPeriod(2022, None, 0, date(2022, 12, 31)),
        FactPeriod(2021, 3, 0, date(2021, 9, 30)),
    ]


def test_a_unit_line_in_the_header_is_no_name() -> None:
    page = Page().header(over("2022", "2021"), stub="(In millions)")
    table = read_tables([with_rows(page, 2).done()], CALENDAR_YEAR)[0]
    assert table.unit_line == "(In millions)"
    assert table.columns == ("2022", "2021")


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("2022 2021 2020", True),
        ("For the Years Ended December 31,", True),
        ("12/31/2022 12/25/2021", True),
        ("2023 $ 1,234", False),
        ("Net sales rose in 2022 because of prices and in 2021 because of volume", False),
        ("Balance at December 31, 2022 1,234 5,678", False),
        ("Goodwill", False),
    ],
)
def test_header_lines_are_told_from_rows(text: str, header: bool) -> None:
    assert is_header_line(lines_of(Page().text(text).done().words)[0]) is header


def test_a_quarters_year_end_may_drift() -> None:
    calendar = FiscalCalendar.of(Identity("Example", Form.TEN_Q, 2022, 3, date(2022, 10, 29), 1))
    assert calendar is not None
    assert calendar.instant(date(2022, 1, 29)) == FactPeriod(2021, None, 0, date(2022, 1, 29))
    assert calendar.instant(date(2021, 10, 30)) == FactPeriod(2021, 3, 0, date(2021, 10, 30))


def test_an_impossible_date_is_passed_over() -> None:
    assert time_words("February 31, 2022").dates == ()


def test_days_of_one_year_are_the_ends_of_its_quarters() -> None:
    page = Page().header([("2015", 420.0)])
    page.header([("Dec. 26", 300.0), ("Sep. 26", 380.0), ("Jun. 27", 460.0), ("Mar. 28", 540.0)])
    for label in ("Net revenue", "Net loss", "Basic"):
        page.row(label, ["958", "1,061", "942", "1,030"], [315.0, 395.0, 475.0, 555.0])
    (table,) = read_tables([page.done()], Identity("Acme", Form.TEN_K, 2015, None, date(2015, 12, 26), 12))
    assert [period and (period.months, period.end and period.end.month) for period in table.periods] == [
        (3, 12), (3, 9), (3, 6), (3, 3),
    ]  # fmt: skip
