"""Fiscal year and quarter of a report, by the filer's own naming."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date

from fin_agent.filings.identity.dates import printed_dates
from fin_agent.filings.identity.fiscal_naming import fiscal_quarter_of, fiscal_year_of, nominal_month

_DAYS_PER_QUARTER = 91.3


def year_and_quarter_of_quarterly(texts: Sequence[str], period_end: date) -> tuple[int, int, int]:
    """(fiscal year, quarter, month the fiscal year ends in) of a quarterly report.

    Taken from the last year's end that the text prints, else from `nine months ended`, else a calendar year is assumed.
    """
    month = _month_by_last_year_end(texts, period_end) or _month_by_length(texts, period_end) or 12
    quarter = fiscal_quarter_of(period_end, month)
    return named_year(texts, period_end, month), quarter, month


def named_year(texts: Sequence[str], period_end: date, year_end_month: int) -> int:
    """Fiscal year of `period_end`: the usual name, unless the text names such years otherwise.

    Best is a sentence that binds a name to a date (`fiscal 2023 ended January 28, 2023`). Where years end in winter
    and no sentence does, the years that the text speaks of decide: a filer whose current year is 2023 speaks more of
    fiscal 2023 than of fiscal 2021.
    """
    usual = fiscal_year_of(period_end, year_end_month)
    offsets = Counter(
        named - fiscal_year_of(end, year_end_month)
        for named, end in _names_with_dates(texts, year_end_month)
        if abs(named - fiscal_year_of(end, year_end_month)) <= 1 and abs((end - period_end).days) < 1200
    )
    if offsets:
        return usual + min(offsets, key=lambda offset: (-offsets[offset], abs(offset), offset))
    if year_end_month > 3:
        return usual
    spoken = Counter(int(year) for text in texts for year in _FISCAL_YEAR.findall(text))
    if year_end_month == 1:
        # Usually named after the year before; some are named after the year they close in.
        return usual + 1 if spoken[usual + 1] >= 2 and spoken[usual + 1] > spoken[usual - 1] else usual
    return usual - 1 if spoken[usual - 1] >= 2 and spoken[usual - 2] > spoken[usual] else usual


def newest_period_end(texts: Sequence[str], until: date | None = None) -> date | None:
    """The newest date printed right behind `ended`, at most 200 days before `until` where that is given.

    A date printed twice or more goes before newer ones that are printed once.
    """
    found: Counter[date] = Counter()
    for text in texts:
        for ended in _ENDED.finditer(text):
            dates = printed_dates(text, ended.end(), min(len(text), ended.end() + 40))
            some_days = "days" in text[max(0, ended.start() - 8) : ended.start()]
            if dates and dates[0].start == ended.end() and not some_days:
                found[dates[0].date] += 1
    near = [day for day in found if until is None or 0 <= (until - day).days <= 200]
    return max([day for day in near if found[day] > 1] or near, default=None)


_ENDED = re.compile(r"(?:nded|NDED):?\s+(?:on\s+)?(?=[A-Z\d])")
_FISCAL_YEAR = re.compile(r"iscal\s+(?:[Yy]ear\s+)?(20\d\d)\b")
_NAME_THEN_DATE = re.compile(
    r"iscal\s+(?:years?\s+)?(?P<year>20\d\d)(?:,? (?:20\d\d|and|or|,))*"
    r"[^.;:\d]{0,50}?\bend(?:ed|s|ing)\s+(?:on\s+)?(?=[A-Z\d])"
)
_DATE_THEN_NAME = re.compile(
    r"year\s+end(?:ed|ing)\s+(?:on\s+)?(?P<date>[A-Z][a-z]+\s+\d{1,2},?\s+20\d\d)\s*[,(]*\s*"
    r"(?:(?:or|the|referred\s+to(?:\s+herein)?\s+as|hereinafter)\s+)*[“\"(]\s*(?:[Ff]iscal|FY|[Yy]ear)\s*(?:[Yy]ear\s+)?(?P<year>20\d\d)"
)


def _names_with_dates(texts: Sequence[str], year_end_month: int) -> Iterator[tuple[int, date]]:
    """(name, end) pairs that sentences bind; ends of quarters count only where they are called quarters of the year."""
    for text in texts:
        if "iscal" in text:
            for found in _NAME_THEN_DATE.finditer(text):
                dates = printed_dates(text, found.end(), min(len(text), found.end() + 30))
                if not dates or dates[0].start != found.end():
                    continue
                of_quarter = text.endswith("uarter of ", 0, found.start() - 1)
                if of_quarter or nominal_month(dates[0].date)[1] == year_end_month:
                    yield int(found["year"]), dates[0].date
        if "ear end" in text:
            for found in _DATE_THEN_NAME.finditer(text):
                for one in printed_dates(found["date"]):
                    yield int(found["year"]), one.date


_YEAR_ENDED = re.compile(r"ears?\s+ended\s*:?\s+(?:on\s+)?(?=[A-Z])")
_LENGTHS = (
    (3, re.compile(r"(?:nine|39|40|36|thirty-nine)[\s-]+(?:months|weeks?)|\b9 months", re.IGNORECASE)),
    (2, re.compile(r"(?:six|26|27|24|twenty-six)[\s-]+(?:months|weeks?)|\b6 months", re.IGNORECASE)),
    (1, re.compile(r"(?:three|13|14|12|thirteen)[\s-]+(?:months|weeks?)|\b3 months", re.IGNORECASE)),
)


def _month_by_last_year_end(texts: Sequence[str], period_end: date) -> int | None:
    """Month of the last year's end before `period_end`: `the fiscal year ended December 2, 2022`."""
    votes: Counter[int] = Counter()
    for text in texts:
        if "nded" not in text:
            continue
        for found in _YEAR_ENDED.finditer(text):
            for one in printed_dates(text, found.end(), min(len(text), found.end() + 25))[:1]:
                quarters = (period_end - one.date).days / _DAYS_PER_QUARTER
                if 0.8 <= quarters <= 3.2 and abs(quarters - round(quarters)) < 0.2:
                    votes[nominal_month(one.date)[1]] += 1
    return min(votes, key=lambda month: (-votes[month], month)) if votes else None


def _month_by_length(texts: Sequence[str], period_end: date) -> int | None:
    """The longest span that the first pages report, `nine months ended`, says how far the year has gone."""
    for quarter, pattern in _LENGTHS:
        if sum(len(pattern.findall(text)) for text in texts[:10]) >= 2:
            month = nominal_month(period_end)[1]
            return (month - 3 * quarter - 1) % 12 + 1
    return None
