"""Which fiscal year and quarter a period end belongs to."""

from __future__ import annotations

import math
from datetime import date, timedelta

_WEEK = 7
_DRIFT_DAYS = 10
"""Ends of 52/53-week years wander by up to a week."""
DAYS_PER_QUARTER = 91.3
_MIN_QUARTER_LENGTH = 50
"""Days; a quarter that the change of a fiscal year cuts shorter counts with the one before."""


def fiscal_year_of(end: date, year_end_month: int | None = None, anchor: tuple[int, date] | None = None) -> int:
    """Fiscal year, by the filer's naming, of a period that ends on `end`.

    `anchor` is (fiscal year, its last day) where one is known: other years are counted from it. Without an anchor the
    year is named after the calendar year it ends in, except that years which end in January (retailers) carry the
    year before. `year_end_month` is the month of the fiscal year's end; without it `end` is taken as a year's end.

    >>> fiscal_year_of(date(2023, 1, 28))
    2022
    >>> fiscal_year_of(date(2022, 10, 29), anchor=(2023, date(2023, 1, 28)))
    2023
    >>> fiscal_year_of(date(2022, 12, 31), year_end_month=6)
    2023
    """
    if anchor is not None:
        named, last_day = anchor
        return named + math.ceil(((end - last_day).days - _DRIFT_DAYS) / 365.25)
    year, month = nominal_month(end)
    closing = year_end_month or month
    ends_in = year if month <= closing else year + 1
    return ends_in - 1 if closing == 1 else ends_in


def fiscal_quarter_of(end: date, year_end_month: int) -> int:
    """1 to 4: the fiscal quarter that a period end closes, or falls in."""
    _, month = nominal_month(end)
    return ((month - year_end_month - 1) % 12) // 3 + 1


def closed_quarter(end: date, year_end_month: int) -> int:
    """1 to 4: the fiscal quarter that ends on `end`, also where quarters have 12 or 16 weeks.

    >>> closed_quarter(date(2023, 5, 20), 1)
    1
    >>> closed_quarter(date(2023, 1, 28), 1)
    4
    """
    closes = (_last_day(end.year - before, year_end_month) for before in (0, 1, 2))
    last_close = next(close for close in closes if (end - close).days > _MIN_QUARTER_LENGTH)
    return min(4, round((end - last_close).days / DAYS_PER_QUARTER))


def nominal_month(end: date) -> tuple[int, int]:
    """(year, month) that a period end stands for: a 52/53-week period closed on January 1 to 7 is December's.

    >>> nominal_month(date(2022, 1, 1))
    (2021, 12)
    """
    nominal = end - timedelta(days=_WEEK) if end.day <= _WEEK else end
    return nominal.year, nominal.month


def _last_day(year: int, month: int) -> date:
    return date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
