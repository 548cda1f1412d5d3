"""The period that a report is about: its last day, its quarter, and the month the fiscal year ends in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from fin_agent.filings.identity.print_repair import PlainPage
from fin_agent.filings.identity.readings import (
    ASSUMED,
    COUNTED,
    FROM_END,
    FROM_LENGTH,
    FROM_YEAR_END,
    reading,
)
from fin_agent.vocabulary.dates import printed_dates
from fin_agent.vocabulary.fiscal_naming import DAYS_PER_QUARTER, closed_quarter, nominal_month
from fin_agent.vocabulary.identity import FieldSource


def quarter_readings(
    pages: Sequence[PlainPage], period_end: date, stated_month: int | None = None
) -> Iterator[FieldSource]:
    """Readings of `quarter` and `fiscal_year_end_month` of a quarterly report, surest first.

    From the last year's end that the text prints, from the month the year ends in where that is stated elsewhere
    (`stated_month`), from `nine months ended`; where there is none of them a calendar year is assumed.
    """
    found = False
    year_end = _last_year_end(pages, period_end)
    if year_end is not None:
        found = True
        last, words, page = year_end
        quarter = round((period_end - last).days / DAYS_PER_QUARTER)
        yield reading("quarter", quarter, FROM_YEAR_END, words, page)
        yield reading("fiscal_year_end_month", nominal_month(last)[1], FROM_YEAR_END, words, page)
    elif stated_month is not None:
        found = True
        words = f"year ends in month {stated_month}"
        yield reading("quarter", closed_quarter(period_end, stated_month), FROM_END, words)
    span = _longest_span(pages)
    if span is not None and (span.quarters > 1 or not found):
        yield reading("quarter", span.quarters, FROM_LENGTH, span.printed, span.page)
        if not found:
            month = nominal_month(period_end - timedelta(weeks=span.weeks))[1] if span.weeks else None
            month = month or month_of_year_end(period_end, span.quarters)
            yield reading("fiscal_year_end_month", month, FROM_LENGTH, span.printed, span.page)
        found = True
    if not found:
        words = f"period ended {period_end.isoformat()}"
        yield reading("quarter", closed_quarter(period_end, 12), ASSUMED, words)
        yield reading("fiscal_year_end_month", 12, ASSUMED, words)


def month_of_year_end(period_end: date, quarter: int) -> int:
    """1 to 12: the month in which a fiscal year ends whose `quarter` (1 to 4) ends on `period_end`."""
    return (nominal_month(period_end)[1] + 3 * (4 - quarter) - 1) % 12 + 1


def newest_period_end(pages: Sequence[PlainPage], until: date | None = None) -> FieldSource | None:
    """The newest date printed right behind `ended`, at most 200 days before `until` where that is given.

    A date printed twice or more goes before newer ones that are printed once.
    """
    found: Counter[date] = Counter()
    places: dict[date, tuple[str, int]] = {}
    for number, text in pages:
        for ended in _ENDED.finditer(text):
            dates = printed_dates(text, ended.end(), min(len(text), ended.end() + 40))
            some_days = "days" in text[max(0, ended.start() - 8) : ended.start()]
            if dates and dates[0].start == ended.end() and not some_days:
                found[dates[0].date] += 1
                words = text[max(0, text.rfind("\n", 0, ended.start()) + 1, ended.start() - 40) : dates[0].end]
                places.setdefault(dates[0].date, (words, number))
    near = [day for day in found if until is None or 0 <= (until - day).days <= 200]
    newest = max([day for day in near if found[day] > 1] or near, default=None)
    return None if newest is None else reading("period_end", newest, COUNTED, *places[newest])


_ENDED = re.compile(r"(?:nded|NDED):?\s+(?:on\s+)?(?=[A-Z\d])")


_YEAR_ENDED = re.compile(r"ears?\s+ended\s*:?\s+(?:on\s+)?(?=[A-Z])")


def _last_year_end(pages: Sequence[PlainPage], period_end: date) -> tuple[date, str, int] | None:
    """The last year's end before `period_end`, `the fiscal year ended December 2, 2022`, with its words and page."""
    votes: Counter[int] = Counter()
    places: dict[int, tuple[date, str, int]] = {}
    for number, text in pages:
        if "nded" not in text:
            continue
        for found in _YEAR_ENDED.finditer(text):
            for one in printed_dates(text, found.end(), min(len(text), found.end() + 25))[:1]:
                quarters = (period_end - one.date).days / DAYS_PER_QUARTER
                # First quarters of sixteen weeks and of twelve are 1.23 and 0.92 of a quarter long.
                if 0.8 <= quarters <= 3.3 and abs(quarters - round(quarters)) < 0.26:
                    month = nominal_month(one.date)[1]
                    votes[month] += 1
                    places.setdefault(month, (one.date, text[found.start() - 1 : one.end], number))
    return places[min(votes, key=lambda month: (-votes[month], month))] if votes else None


class _Span(NamedTuple):
    quarters: int
    weeks: int
    """0 where the length is printed in months."""
    printed: str
    page: int


def _longest_span(pages: Sequence[PlainPage]) -> _Span | None:
    """The longest part of a year that the first pages report twice or more: `nine months`, `28 weeks`."""
    spans: dict[int, list[_Span]] = {}
    for number, text in pages[:10]:
        for found in _LENGTH.finditer(text):
            count = (found["months"] or found["weeks"]).lower()
            length = _NUMBERS.get(count) or int(count)
            weeks = length if found["weeks"] else 0
            quarters = round(weeks * 7 / DAYS_PER_QUARTER) if weeks else length // 3
            spans.setdefault(quarters, []).append(_Span(quarters, weeks, found.group(), number))
    often = [quarters for quarters, found in spans.items() if len(found) >= 2]
    return spans[max(often)][0] if often else None


_NUMBERS = {
    "three": 3, "six": 6, "nine": 9, "twelve": 12, "thirteen": 13, "fourteen": 14, "sixteen": 16, "twenty-four": 24,
    "twenty-six": 26, "twenty-eight": 28, "thirty-six": 36, "thirty-nine": 39, "forty": 40,
}  # fmt: skip
_LENGTH = re.compile(
    r"\b(?:(?P<months>three|six|nine|[369])[\s-]+months?\b"
    r"|(?P<weeks>(?:1[2346]|2[4678]|3[69]|40)|(?:twelve|thirteen|fourteen|sixteen|twenty-(?:four|six|eight)"
    r"|thirty-(?:six|nine)|forty))[\s-]+weeks?\b)",
    re.IGNORECASE,
)
