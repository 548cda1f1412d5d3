"""Determine the fiscal year and quarter of a period end."""

from __future__ import annotations

from datetime import date, timedelta

from fin_agent.vocabulary.dates import month_end

_WEEK = 7
DAYS_PER_QUARTER = 91.3
_MIN_QUARTER_LENGTH = 50
"""In days; a shorter quarter, cut by a change of the fiscal year, counts with the one before."""


def fiscal_year_of(end: date, year_end_month: int | None = None) -> int:
    """Return the usual name of the fiscal year of a period that ends on `end`.

    A year is named after the calendar year in which it ends, except that a year ending in January (retailers) has the
    number of the year before.

    Args:
        end: Last day of the period.
        year_end_month: Month in which the fiscal year ends; without it, `end` is taken as the end of a year.

    >>> fiscal_year_of(date(2023, 1, 28))
    2022
    >>> fiscal_year_of(date(2022, 12, 31), year_end_month=6)
    2023
    """
    year, month = nominal_month(end)
    closing = year_end_month or month
    ends_in = year if month <= closing else year + 1
    return ends_in - 1 if closing == 1 else ends_in


def fiscal_quarter_of(end: date, year_end_month: int) -> int:
    """Return the fiscal quarter, 1 to 4, that contains a period end."""
    _, month = nominal_month(end)
    return ((month - year_end_month - 1) % 12) // 3 + 1


def closed_quarter(end: date, year_end_month: int) -> int:
    """Return the fiscal quarter, 1 to 4, that ends on `end`, including quarters of 12 or 16 weeks.

    >>> closed_quarter(date(2023, 5, 20), 1)
    1
    >>> closed_quarter(date(2023, 1, 28), 1)
    4
    """
    closes = (month_end(end.year - before, year_end_month) for before in (0, 1, 2))
    last_close = next(close for close in closes if (end - close).days > _MIN_QUARTER_LENGTH)
    return min(4, round((end - last_close).days / DAYS_PER_QUARTER))


def nominal_month(end: date) -> tuple[int, int]:
    """Return (year, month) of a period end; a 52/53-week period that ends on January 1 to 7 counts as December.

    >>> nominal_month(date(2022, 1, 1))
    (2021, 12)
    """
    nominal = end - timedelta(days=_WEEK) if end.day <= _WEEK else end
    return nominal.year, nominal.month
