"""Exact dates in a question's words, what each is said to be, and the length of the period that it ends."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date
from typing import Literal, NamedTuple

from fin_agent.lexicon.period_words import AS_OF, JOINING, YEAR, number_of, stands_before, touches
from fin_agent.vocabulary.dates import MONTH_NAME, PrintedDate, month_number, printed_dates

DateRole = Literal["ended", "as of", "filed", "on"]


class SpokenDate(NamedTuple):
    """An exact date, what it is said to be, and the length of the period that it ends (0: none)."""

    start: int
    end: int
    date: date
    role: DateRole
    months: int = 0
    fiscal: bool = False
    lead: int = 0
    """Where the words begin that say what it is: those of `third quarter ended October 29, 2022`."""
    quarter: int | None = None
    """3 in `third quarter ended October 29, 2022`."""


def spoken_dates(text: str) -> list[SpokenDate]:
    """Exact dates in `text`, in order. `years ended June 30, 2020 and 2019` gives both years' ends.

    A month that ends a period stands for its last day: `the quarter ended June 2023`, `the June 2023 quarter`.
    """
    found: list[SpokenDate] = []
    for printed in _with_short_dates(text, printed_dates(text)):
        before = stands_before(_LENGTH, text, printed.start)
        if before is not None:
            found.append(_end_of_period(text, printed, before))
        elif found and found[-1].role == "ended" and JOINING.fullmatch(text, found[-1].end, printed.start):
            found.append(
                found[-1]._replace(start=printed.start, end=printed.end, date=printed.date, lead=printed.start)
            )
        elif stands_before(AS_OF, text, printed.start):
            found.append(SpokenDate(*printed, "as of", lead=printed.start))
        elif stands_before(_FILED, text, printed.start):
            found.append(SpokenDate(*printed, "filed", lead=printed.start))
        else:
            found.append(SpokenDate(*printed, "on", lead=printed.start))
    found += _month_ends(text, [(one.start, one.end) for one in found])
    return sorted([*found, *(later for one in found for later in _same_day_of_other_years(text, one))])


def _end_of_period(text: str, printed: PrintedDate, before: re.Match[str]) -> SpokenDate:
    months = next(_MONTHS[name] for name, value in before.groupdict().items() if value)
    fiscal = "fiscal" in text[max(0, before.start() - 7) : printed.start].lower()
    counted = stands_before(_COUNTED_QUARTER, text, before.start() + len("quarter")) if months == 3 else None
    quarter = number_of(counted["q"]) if counted else None
    lead = counted.start() if counted else before.start()
    return SpokenDate(*printed, "ended", months, fiscal, lead, quarter)


def _month_ends(text: str, taken: list[tuple[int, int]]) -> Iterator[SpokenDate]:
    for found in _MONTH_OF_YEAR.finditer(text):
        start, end = found.span()
        if touches(start, end, taken):
            continue
        before = stands_before(_LENGTH, text, start)
        if before is not None:
            yield _end_of_period(text, PrintedDate(start, end, _last_day(found["month"], found["year"])), before)
    for found in _MONTH_QUARTER.finditer(text):
        year = found["year"] or found["later"]
        if year and not touches(*found.span(), taken):
            day = _last_day(found["month"], year)
            yield SpokenDate(found.start(), found.end(), day, "ended", 3, lead=found.start())


def _last_day(month: str, year: str) -> date:
    number = month_number(month)
    return date(int(year), number, monthrange(int(year), number)[1])


def _same_day_of_other_years(text: str, one: SpokenDate) -> Iterator[SpokenDate]:
    """`and 2021` behind `December 31, 2022`."""
    if one.role not in ("ended", "as of"):
        return
    place = one.end
    while (later := _ANOTHER_YEAR.match(text, place)) is not None:
        year = int(later["year"])
        day = date(year, one.date.month, min(one.date.day, monthrange(year, one.date.month)[1]))
        start, place = later.span("year")
        yield one._replace(start=start, end=place, date=day, lead=start)


_FILED = re.compile(
    r"\b(?:filed|dated|filing date|released|published|issued)\s+(?:on\s+|of\s+|as of\s+)?(?:the\s+)?$", re.IGNORECASE
)
_LENGTH = re.compile(
    r"(?:\b(?:(?P<year>years?|(?:twelve|12)[- ]months?|5[23][ -]weeks?|fifty-(?:two|three)[ -]weeks?|fiscal|fye?)"
    r"|(?P<quarter>quarter(?:s|ly)?|(?:three|3)[- ]months?|1[34][ -]weeks?|(?:thir|four)teen[ -]weeks?)"
    r"|(?P<half>(?:six|6)[- ]months?|half(?:[ -]years?)?|2[67][ -]weeks?|twenty-(?:six|seven)[ -]weeks?)"
    r"|(?P<three_quarters>(?:nine|9)[- ]months?|(?:39|40)[ -]weeks?|thirty-nine[ -]weeks?|forty[ -]weeks?)"
    r"|(?P<some>(?<!month )(?<!months )(?<!week )(?<!weeks )(?<!quarterly )(?<!year )periods?))"
    r"(?:\s+(?:fiscal\s+)?periods?)?"
    r"\s*\(?,?\s*(?:(?:that|which)\s+)?(?:end(?:ed|ing|s)?|to|through)\s+(?:on\s+|in\s+)?(?:the\s+)?"
    r"|\b(?P<fye>fye)[ :]\s*)$",
    re.IGNORECASE,
)
_MONTHS = {"year": 12, "fye": 12, "quarter": 3, "half": 6, "three_quarters": 9, "some": 12}
_COUNTED_QUARTER = re.compile(
    r"\b(?P<q>first|second|third|fourth|final|1st|2nd|3rd|4th)[ -](?:fiscal[ -])?quarter$", re.IGNORECASE
)
_MONTH_OF_YEAR = re.compile(
    rf"(?<![a-z])(?P<month>{MONTH_NAME})\s*(?:of\s+)?(?P<year>{YEAR})(?![0-9%]|[.,][0-9])", re.IGNORECASE
)
_MONTH_QUARTER = re.compile(
    rf"(?<![a-z])(?P<month>{MONTH_NAME})(?:\s+(?P<year>{YEAR}))?[ -]quarter(?:,?\s+(?:of\s+|in\s+)?(?P<later>{YEAR}))?"
    r"(?![0-9a-z])",
    re.IGNORECASE,
)
_ANOTHER_YEAR = re.compile(rf"(?:{JOINING.pattern})(?P<year>{YEAR})(?![0-9a-z%-]|[.,/][0-9])", re.IGNORECASE)
_SHORT_DATE = re.compile(rf"(?<![a-z])(?P<month>{MONTH_NAME})\s*(?P<day>[0-3]?[0-9])(?![0-9])", re.IGNORECASE)
_YEAR_LATER = re.compile(
    rf"(?:\s*(?:,\s*and|,|and|to|through|-|or)\s*(?:the\s+)?{MONTH_NAME}\s*[0-3]?[0-9])*"
    rf"\s*,?\s*(?:in|of)?\s*(?P<year>{YEAR})",
    re.IGNORECASE,
)


def _with_short_dates(text: str, dates: list[PrintedDate]) -> list[PrintedDate]:
    """Adds days whose year is printed with a later one: `July 27 and April 27 in 2019`."""
    found = list(dates)
    for short in _SHORT_DATE.finditer(text):
        if touches(short.start(), short.end(), [(one.start, one.end) for one in dates]):
            continue
        later = _YEAR_LATER.match(text, short.end())
        if later is not None:
            try:
                day = date(int(later["year"]), month_number(short["month"]), int(short["day"]))
            except ValueError:
                continue
            found.append(PrintedDate(short.start(), short.end(), day))
    return sorted(found)
