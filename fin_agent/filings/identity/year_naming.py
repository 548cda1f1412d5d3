"""The fiscal year of a period, by the filer's own naming."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import NamedTuple

from fin_agent.filings.identity.print_repair import PlainPage
from fin_agent.filings.identity.readings import COUNTED, FROM_END, FROM_WINTER_END, SENTENCE, reading
from fin_agent.vocabulary.dates import printed_dates
from fin_agent.vocabulary.fiscal_naming import fiscal_year_of, nominal_month
from fin_agent.vocabulary.identity import FieldSource


def year_readings(
    pages: Sequence[PlainPage],
    period_end: date,
    year_end_month: int,
    further: Iterable[PlainPage] = (),
    named: bool = False,
) -> list[FieldSource]:
    """Readings of the fiscal year of `period_end`, surest first.

    Best is a sentence that binds a name to a date (`fiscal 2023 ended January 28, 2023`); where several bind
    differently, what most of them say. Where years end in winter and no sentence does, `further` pages are searched
    for one, and the years that the text speaks of count: a filer whose current year is 2023 speaks more of fiscal
    2023 than of fiscal 2021. Last comes the usual name; of a year that ends in winter only where nothing else, and
    nobody before (`named`), names it, since filers differ there.
    """
    usual = fiscal_year_of(period_end, year_end_month)
    found = []
    winter = FROM_WINTER_END.get(year_end_month)
    bound = _bound_by_a_sentence(pages, period_end, year_end_month)
    if bound is None and winter is not None:
        bound = _bound_by_a_sentence(further, period_end, year_end_month)
    if bound is not None:
        offset, words, page = bound
        found.append(reading("fiscal_year", usual + offset, SENTENCE, words, page))
    elif winter is not None:
        spoken = _spoken_of(pages, usual, year_end_month)
        if spoken is not None:
            found.append(spoken)
    if winter is None or not (found or named):
        found.append(reading("fiscal_year", usual, winter or FROM_END, f"period ended {period_end.isoformat()}"))
    return found


def _bound_by_a_sentence(pages: Iterable[PlainPage], period_end: date, month: int) -> tuple[int, str, int] | None:
    """(years from the usual name, the words, their page), by most of the sentences that bind a name to a date."""
    bound = []
    for one in _names_with_dates(pages, month):
        offset = one.year - fiscal_year_of(one.end, month)
        if abs(offset) <= 1 and abs((one.end - period_end).days) < _YEARS_COUNTED:
            bound.append((offset, one))
    if not bound:
        return None
    offsets = Counter(offset for offset, _ in bound)
    best = min(offsets, key=lambda offset: (-offsets[offset], abs(offset), offset))
    sentence = min((one for offset, one in bound if offset == best), key=lambda one: abs(one.end - period_end))
    return best, sentence.printed, sentence.page


_YEARS_COUNTED = 1200
"""Days around the period's end within which names of years are taken as named the same way."""


def _spoken_of(pages: Sequence[PlainPage], usual: int, month: int) -> FieldSource | None:
    places: dict[int, tuple[str, int]] = {}
    spoken: Counter[int] = Counter()
    for page, text in pages:
        for found in _FISCAL_YEAR.finditer(text):
            year = int(found[1])
            spoken[year] += 1
            places.setdefault(year, (text[max(0, found.start() - 1) : found.end()], page))
    year = usual
    if month == 1:
        # Usually named after the year before; some are named after the year they close in.
        if spoken[usual + 1] >= 2 and spoken[usual + 1] > spoken[usual - 1]:
            year = usual + 1
    elif spoken[usual - 1] >= 2 and spoken[usual - 2] > spoken[usual]:
        year = usual - 1
    if spoken[year] < 2:
        return None
    words, page = places[year]
    return reading("fiscal_year", year, COUNTED, f"{words} ({spoken[year]} times)", page)


class _Named(NamedTuple):
    year: int
    end: date
    printed: str
    page: int


_FISCAL_YEAR = re.compile(r"(?:iscal|uarters?\s+of)\s+(?:[Yy]ear\s+)?(20\d\d)\b")
_NAME_THEN_DATE = re.compile(
    r"iscal\s+(?:years?\s+)?(?P<year>20\d\d)(?:,?\s+(?:20\d\d|and|or|[Ff]iscal|years?|,)){0,14}"
    r"(?:[^.;:\d]|5[23]\b){0,60}?\bend(?:ed|s|ing)\s+(?:on\s+)?(?=[A-Z\d])"
)
_DATE_THEN_NAME = re.compile(
    r"(?:ear|eeks|eriod)\s+end(?:ed|ing)\s+(?:on\s+)?(?P<date>[A-Z][a-z]+\s+\d{1,2},?\s+20\d\d)\s*[,(]*\s*"
    r"(?:(?:or|the|referred\s+to(?:\s+herein)?\s+as|hereinafter)\s+){0,4}[“\"(]\s*"
    r"(?:[Ff]iscal|FY|[Yy]ear)\s*(?:[Yy]ear\s+)?(?P<year>20\d\d)"
)
_REPRESENTS = re.compile(
    r"(?<!and )(?<!or )(?<!, )\b(?P<year>20\d\d)[”\"]?\s+"
    r"(?:represent(?:s|ed)?|(?:refer|relate)s?\s+to|means?|was|is)\s+(?:the\s+)?"
    r"(?:fiscal\s+year|(?:5[23]|fifty[-\s](?:two|three))[\s-]weeks?(?:\s+(?:fiscal\s+)?(?:year|period))?)\s+"
    r"(?:that\s+)?ended\s+(?P<date>[A-Z][a-z]+\s+\d{1,2},?\s+20\d\d)"
)
_TABLE_OF_YEARS = re.compile(
    r"iscal\s+[Yy]ears?\s+(?:[Yy]ear\s+)?[Ee]nd(?:ed|ing|\s+[Dd]ate)?\s+(?:(?:[Nn]umber\s+of\s+)?[Ww]eeks\s+)?"
    r"(?P<year>20\d\d)\s+(?P<date>[A-Z][a-z]+\s+\d{1,2},?\s+20\d\d)"
)
"""`Fiscal year  Ended  Number of weeks / 2022  January 28, 2023  52`."""


def _names_with_dates(pages: Iterable[PlainPage], year_end_month: int) -> Iterator[_Named]:
    """Names that sentences bind to ends; ends of quarters count only where they are called quarters of the year."""
    for number, text in pages:
        if "iscal" in text:
            for found in _NAME_THEN_DATE.finditer(text):
                dates = printed_dates(text, found.end(), min(len(text), found.end() + 30))
                if not dates or dates[0].start != found.end():
                    continue
                of_quarter = text.endswith("uarter of ", 0, found.start() - 1)
                if of_quarter or nominal_month(dates[0].date)[1] == year_end_month:
                    yield _Named(int(found["year"]), dates[0].date, text[found.start() - 1 : dates[0].end], number)
        if "iscal" in text and ("nded" in text or "nding" in text):
            yield from _dated(_DATE_THEN_NAME, text, number)
            yield from _dated(_TABLE_OF_YEARS, text, number)
        if "eeks ended" in text or "year ended" in text:
            yield from _dated(_REPRESENTS, text, number)


def _dated(pattern: re.Pattern[str], text: str, page: int) -> Iterator[_Named]:
    for found in pattern.finditer(text):
        for one in printed_dates(found["date"]):
            yield _Named(int(found["year"]), one.date, found.group(), page)
