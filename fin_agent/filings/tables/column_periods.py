"""Parse the time in a column header or sentence, and model the filer's fiscal calendar."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from fin_agent.lexicon.periods import parse_number
from fin_agent.lexicon.text_normalization import mask_spans
from fin_agent.lexicon.words import load_yaml, patterns
from fin_agent.vocabulary.dates import MONTH_NAME, month_end, month_number, printed_dates
from fin_agent.vocabulary.fact import FactPeriod
from fin_agent.vocabulary.fiscal_calendar import fiscal_year_of
from fin_agent.vocabulary.identity import Identity

_PATTERNS = patterns("table_patterns")


@dataclass(frozen=True, slots=True)
class FiscalCalendar:
    """Maps dates to fiscal years and quarters, as one filer names them."""

    year: int
    """Fiscal year of the filing."""
    year_end: date
    """Last day of that fiscal year: exact in an annual report, within two weeks in a quarterly one."""
    quarter: int | None
    period_end: date | None

    @classmethod
    def of(cls, identity: Identity | None) -> FiscalCalendar | None:
        """Return the calendar of a filing; None where it names neither a fiscal year nor a period end."""
        if identity is None or (identity.fiscal_year is None and identity.period_end is None):
            return None
        end, year, quarter = identity.period_end, identity.fiscal_year, identity.quarter
        if identity.results is not None:
            end, year, quarter = identity.results.end, identity.results.fiscal_year, identity.results.quarter
        if end is None:
            assert year is not None
            month = identity.fiscal_year_end_month or 12
            return cls(year, month_end(year + (month == 1), month), quarter, None)
        year_end = end
        if identity.fiscal_year_end_month and (quarter or year is None):
            ends = (month_end(year_of, identity.fiscal_year_end_month) for year_of in (end.year, end.year + 1))
            year_end = next(each for each in ends if each + timedelta(days=_DRIFT) >= end)
        elif quarter:
            year_end = end + timedelta(days=round(91.31 * (4 - quarter)))
        return cls(year if year is not None else fiscal_year_of(year_end), year_end, quarter, end)

    @classmethod
    def known_from(cls, periods: Iterable[FactPeriod | None]) -> FiscalCalendar | None:
        """Return the calendar implied by dated columns: the latest year whose end most of them agree on, or None."""
        seen = Counter(
            (period.fiscal_year, period.end)
            for period in periods
            if period and period.end and period.quarter is None and period.months in (0, 12)
        )
        if not seen:
            return None
        often = [found for found in seen if 4 * seen[found] >= max(seen.values())]
        year, end = max(often)
        return cls(year, end, None, end)

    def fiscal_year_of(self, day: date) -> int:
        """Return the fiscal year that contains `day`; its end may vary by two weeks (52- and 53-week years)."""
        return self.year - int(((self.year_end - day).days + _DRIFT) // 365.25)

    def quarter_of(self, day: date) -> int:
        """Return the fiscal quarter that ends nearest to `day`, 1 to 4."""
        left = (self.year_end - day).days + 365.25 * (self.fiscal_year_of(day) - self.year)
        return max(1, min(4, 4 - round(left / 91.31)))

    def end_of(self, year: int) -> date | None:
        """Return the last day of fiscal `year` if it ends with a calendar month; None where the end varies."""
        if year == self.year and not self.quarter and self.period_end:
            return self.period_end
        known = self.period_end if self.quarter else self.year_end
        if known is not None and not is_month_end(known):
            return None
        return month_end(self.year_end.year + year - self.year, self.year_end.month)

    def end_of_quarter(self, year: int, quarter: int) -> date | None:
        """Return the last day of a quarter of fiscal `year` if years end with a calendar month, otherwise None."""
        end = self.end_of(year)
        if end is None or not is_month_end(end):
            return None
        months = end.year * 12 + end.month - 1 - 3 * (4 - quarter)
        return month_end(months // 12, months % 12 + 1)

    def may_end_year(self, day: date) -> bool:
        """Return whether a fiscal year may end on `day`, within the variation of 52- and 53-week years."""
        away = abs((self.year_end - day).days) % 365.25
        return min(away, 365.25 - away) <= 2 * _DRIFT

    def instant(self, day: date) -> FactPeriod:
        """Return the period of a balance at `day`."""
        quarter = self.quarter_of(day)
        return FactPeriod(self.fiscal_year_of(day), None if quarter == 4 else quarter, 0, day)

    def duration(self, day: date, months: int) -> FactPeriod:
        """Return the period of `months` months that ends on `day`."""
        return FactPeriod(self.fiscal_year_of(day), self.quarter_of(day) if months == 3 else None, months, day)


CALENDAR_YEARS = FiscalCalendar(2000, date(2000, 12, 31), None, None)
"""Used where nothing is known of the filer's years."""


@dataclass(frozen=True, slots=True)
class TimeWords:
    """The time expressions in a text."""

    months: int | None = None
    """Length stated (`Three Months Ended`: 3); 0 for `As of`; None where nothing is stated."""
    dates: tuple[date, ...] = ()
    day: tuple[int, int] | None = None
    """(month, day) without a year: `December 31,`."""
    years: tuple[int, ...] = ()
    quarter: int | None = None
    fiscal: bool = False
    """Whether years are named as fiscal years: `Fiscal 2022`, `FY23`."""

    @property
    def names_time(self) -> bool:
        """Whether the text names any time."""
        return bool(self.months is not None or self.dates or self.day or self.years or self.quarter)


@lru_cache(maxsize=32_768)
def time_words(text: str) -> TimeWords:
    """Parse the time named by `text`, a header or part of one."""
    low = " ".join(text.lower().replace("\u2019", "'").split())
    low = _PATTERNS["spaced year"].sub(lambda year: year.group().replace(" ", ""), low)
    low = _DAYS_OF_A_MONTH.sub(r"\g<month> \g<first> - \g<month> \g<last>,", low)
    months = _months(low)
    printed = printed_dates(low)
    dates = [one.date for one in printed]
    rest = mask_spans(low, [(one.start, one.end) for one in printed])
    partial = _MONTH_DAY.search(rest)
    day = (month_number(partial["month"]), int(partial["day"])) if partial else None
    rest = _MONTH_DAY.sub(" ", rest)
    years = [2000 + int(found[-2:]) for found in _PATTERNS["short year"].findall(rest)]
    match = _PATTERNS["quarter"].search(rest)
    quarter = parse_number(next(filter(None, match.groups()))) if match else None
    years += [int(found) for found in _PATTERNS["year of a column"].findall(rest)]
    fiscal = bool(_PATTERNS["fiscal"].search(low))
    if len(dates) == 2 and dates[0] < dates[1] and _PATTERNS["from to"].search(low):
        # A period named by its first and last day, such as a transition period.
        months = max(1, round((dates[1] - dates[0]).days / 30.44))
        dates = dates[1:]
    elif months is None and _is_a_month(day, dates):
        months, day, dates = 1, None, dates[-1:]
    return TimeWords(months, tuple(dates), day, tuple(years), quarter, fiscal)


def _is_a_month(day: tuple[int, int] | None, dates: Sequence[date]) -> bool:
    """Return whether (month, day) and a date, or two dates, are the first and the last day of four or five weeks."""
    if day is not None and len(dates) == 1 and day != (2, 29):
        first = date(dates[0].year, *day)
        dates = (first if first < dates[0] else same_day(first, first.year - 1), dates[0])
    return len(dates) == 2 and _WEEKS_OF_A_MONTH[0] <= (dates[1] - dates[0]).days <= _WEEKS_OF_A_MONTH[1]


_WEEKS_OF_A_MONTH = 26, 39
"""Days from the first to the last day of a month, or of the four to five weeks that a filer calls one."""


def is_change(text: str) -> bool:
    """Return whether a header names a difference between periods, which has no period of its own."""
    return bool(_PATTERNS["change"].search(text.lower()))


def is_month_end(day: date) -> bool:
    """Return whether `day` is the last of its month."""
    return day == month_end(day.year, day.month)


def same_day(day: date, year: int) -> date:
    """Return the day in another year; 29 February becomes the 28th."""
    return day.replace(year=year, day=28) if (day.month, day.day) == (2, 29) else day.replace(year=year)


_DRIFT = 14
_DAYS_OF_A_MONTH = re.compile(
    rf"\b(?P<month>{MONTH_NAME})\s*(?P<first>\d{{1,2}})\s*[-–—]\s*(?P<last>\d{{1,2}})\b,?(?!\s*[/.]?\d{{1,2}}\b)"
)
_MONTH_DAY = re.compile(rf"\b(?P<month>{MONTH_NAME})\s*(?P<day>\d{{1,2}})\b(?!\s*[,.]?\d)")
_LENGTHS = load_yaml("period_lengths")
_COUNTS: dict[str, int] = _LENGTHS["counts"]
_WEEKS: dict[int, int] = {count: months for months, counts in _LENGTHS["weeks"].items() for count in counts}
_SPAN = re.compile(
    r"\b(?P<count>"
    + "|".join(sorted((name.replace("-", "[ -]") for name in _COUNTS), key=len, reverse=True))
    + r"|\d{1,2})[\s-]+(?P<unit>months?|weeks?)\b(?P<ended> (?:period )?end(?:ed|ing)\b|$)?"
)


def _months(low: str) -> int | None:
    if (match := _SPAN.search(low)) and not _PATTERNS["bound"].search(low[: match.start()]):
        count = parse_number(match["count"].replace(" ", "-"))
        if match["unit"].startswith("week"):
            months = _WEEKS.get(count)
        else:
            # Other lengths are those of transition periods, and count only where a period is named.
            months = count if count in (3, 6, 9, 12) or (count < 12 and match["ended"] is not None) else None
        if months:
            return months
    spans = (("year span", 12), ("quarter span", 3), ("instant", 0))
    return next((months for kind, months in spans if _PATTERNS[kind].search(low)), None)
