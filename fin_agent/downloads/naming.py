"""Which year and quarter a filing is of, from what EDGAR lists, and what its file is called."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from fin_agent.downloads.submissions import Listed

_QUARTER = 91.3
_SLACK = timedelta(days=20)
"""Fiscal years of 52 and 53 weeks end some days before or after the day that EDGAR knows."""


@dataclass(frozen=True, slots=True)
class FiscalPlace:
    """A year, and for quarterly reports the quarter."""

    year: int
    quarter: int | None = None


def place_of(listed: Listed, year_end: tuple[int, int] | None) -> FiscalPlace:
    """Year (the calendar year in which the fiscal year ends) and quarter of a report; of others, the year of their day.

    >>> place_of(Listed("0000320193-23-000064", "10-Q", date(2023, 5, 5), date(2023, 4, 1), "a.htm"), (9, 28))
    FiscalPlace(year=2023, quarter=2)
    """
    form = listed.form.upper().removesuffix("/A")
    if not form.startswith(("10-K", "10-Q", "20-F", "40-F")):
        return FiscalPlace(listed.day.year)
    end = _year_end_after(listed.day - _SLACK, year_end or (12, 31))
    if not form.startswith("10-Q"):
        return FiscalPlace(end.year if abs((end - listed.day).days) <= _SLACK.days else listed.day.year)
    quarter = 4 - round((end - listed.day).days / _QUARTER)
    return FiscalPlace(end.year, quarter if 1 <= quarter <= 3 else None)


def name_of(handle: str, listed: Listed, place: FiscalPlace) -> str:
    """`AAPL_2023_10K`, `AAPL_2023Q2_10Q`, `AAPL_2023-05-04_8K`: the doc_id that the file will have."""
    form = re.sub(r"[^A-Z0-9]", "", listed.form.upper())[:12] or "FORM"
    when = str(place.year)
    if place.quarter is not None:
        when = f"{place.year}Q{place.quarter}"
    elif not form.startswith(("10K", "10Q", "20F", "40F")):
        when = listed.day.isoformat()
    return f"{handle}_{when}_{form}"


def _year_end_after(day: date, year_end: tuple[int, int]) -> date:
    for year in (day.year, day.year + 1):
        end = _last_valid(year, *year_end)
        if end >= day:
            return end
    raise AssertionError("one of two years ends after any of their days")


def _last_valid(year: int, month: int, day: int) -> date:
    while True:
        try:
            return date(year, month, day)
        except ValueError:  # 29 February
            day -= 1
