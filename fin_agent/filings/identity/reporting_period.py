"""Determine the period that a filing reports: dates on the cover, the filer's naming of years, releases of results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from fin_agent.filings.identity.cover import Kind, PlainPage, reading
from fin_agent.filings.identity.registrant_names import OtherName
from fin_agent.filings.tables.column_periods import COUNTS
from fin_agent.lexicon.words import patterns
from fin_agent.vocabulary.dates import PrintedDate, printed_dates
from fin_agent.vocabulary.fiscal_calendar import DAYS_PER_QUARTER, closed_quarter, fiscal_year_of, nominal_month
from fin_agent.vocabulary.identity import FieldSource, Form

_PATTERNS = patterns("identity_patterns")


def year_readings(
    pages: Sequence[PlainPage],
    period_end: date,
    year_end_month: int,
    further: Iterable[PlainPage] = (),
    named: bool = False,
) -> list[FieldSource]:
    """Return readings of the fiscal year of `period_end`, most reliable first.

    The best evidence is a sentence that links a name to a date (`fiscal 2023 ended January 28, 2023`), by majority.
    Filers name years that end in winter differently: `further` pages are then searched for such a sentence, years are
    counted in the text, and the usual name counts only where no other, not even an earlier reading (`named`), is found.
    """
    usual = fiscal_year_of(period_end, year_end_month)
    found = []
    winter = _WINTER.get(year_end_month)
    bound = _year_names_from_sentences(pages, period_end, year_end_month)
    if bound is None and winter is not None:
        bound = _year_names_from_sentences(further, period_end, year_end_month)
    if bound is not None:
        offset, words, page = bound
        found.append(reading("fiscal_year", usual + offset, Kind.SENTENCE, words, page))
    elif winter is not None:
        found += _year_mentions(pages, usual, year_end_month)
    if winter is None or not (found or named):
        found.append(reading("fiscal_year", usual, winter or Kind.FROM_END, f"period ended {period_end.isoformat()}"))
    return found


_WINTER = {1: Kind.FROM_JANUARY, 2: Kind.FROM_FEBRUARY, 3: Kind.FROM_MARCH}


def _year_names_from_sentences(pages: Iterable[PlainPage], period_end: date, month: int) -> tuple[int, str, int] | None:
    """Return (offset from the usual name, words, page) by the majority of sentences that link name and date."""
    bound: dict[int, list[_NamedYear]] = {}
    for one in _names_with_dates(pages, month):
        offset = one.year - fiscal_year_of(one.end, month)
        if abs(offset) <= 1 and abs((one.end - period_end).days) < _YEARS_COUNTED:
            bound.setdefault(offset, []).append(one)
    if not bound:
        return None
    best = min(bound, key=lambda offset: (-len(bound[offset]), abs(offset), offset))
    sentence = min(bound[best], key=lambda one: abs(one.end - period_end))
    return best, sentence.printed, sentence.page


_YEARS_COUNTED = 1200
"""Days around the period's end within which years are assumed to be named in the same way."""


def _year_mentions(pages: Sequence[PlainPage], usual: int, month: int) -> Iterator[FieldSource]:
    """Yield the year that the text mentions as if it were the current one, which is named more often than others."""
    places: dict[int, list[tuple[str, int]]] = {}
    for page, text in pages:
        for found in _PATTERNS["fiscal year"].finditer(text):
            words = text[max(0, found.start() - 1) : found.end()]
            places.setdefault(int(found[1]), []).append((words, page))
    spoken = Counter({year: len(found) for year, found in places.items()})
    year = usual
    if month == 1:
        # Usually named after the year before; some are named after the year in which they end.
        if spoken[usual + 1] >= 2 and spoken[usual + 1] > spoken[usual - 1]:
            year = usual + 1
    elif spoken[usual - 1] >= 2 and spoken[usual - 2] > spoken[usual]:
        year = usual - 1
    if spoken[year] >= 2:
        words, page = places[year][0]
        yield reading("fiscal_year", year, Kind.COUNTED, f"{words} ({spoken[year]} times)", page)


class _NamedYear(NamedTuple):
    year: int
    end: date
    printed: str
    page: int


def _names_with_dates(pages: Iterable[PlainPage], year_end_month: int) -> Iterator[_NamedYear]:
    """Yield names that sentences link to ends; ends of quarters count only if called quarters of the year."""
    for number, text in pages:
        if "iscal" in text:
            for found, end in _dates_behind(text, "year then date", 30):
                of_quarter = text.endswith("uarter of ", 0, found.start() - 1)
                if of_quarter or nominal_month(end.date)[1] == year_end_month:
                    yield _NamedYear(int(found["year"]), end.date, text[found.start() - 1 : end.end], number)
            for found in _PATTERNS["date then year"].finditer(text):
                for one in printed_dates(found["date"]):
                    yield _NamedYear(int(found["year"]), one.date, found.group(), number)


def _dates_behind(text: str, kind: str, reach: int) -> Iterator[tuple[re.Match[str], PrintedDate]]:
    """Yield each match of a pattern with the date right behind it, which ends within `reach` characters."""
    for found in _PATTERNS[kind].finditer(text):
        dates = printed_dates(text, found.end(), min(len(text), found.end() + reach))
        if dates and dates[0].start == found.end():
            yield found, dates[0]


def quarter_readings(
    pages: Sequence[PlainPage], period_end: date, stated_month: int | None = None
) -> Iterator[FieldSource]:
    """Yield readings of `quarter` and `fiscal_year_end_month` of a quarterly report.

    They come from the last year end that the text prints, from the year-end month if stated elsewhere (`stated_month`),
    or from `nine months ended`; otherwise a calendar year is assumed.
    """
    year_end = _last_year_end(pages, period_end)
    if year_end is not None:
        last, words, page = year_end
        quarter = round((period_end - last).days / DAYS_PER_QUARTER)
        yield reading("quarter", quarter, Kind.FROM_YEAR_END, words, page)
        yield reading("fiscal_year_end_month", nominal_month(last)[1], Kind.FROM_YEAR_END, words, page)
        return
    span = None if stated_month else _longest_span(pages)
    if span is not None:
        quarter = round(span.days / DAYS_PER_QUARTER)
        month = month_of_year_end(period_end, quarter)
        if span.in_weeks:
            month = nominal_month(period_end - timedelta(span.days))[1]
        yield reading("quarter", quarter, Kind.FROM_LENGTH, span.words, span.page)
        yield reading("fiscal_year_end_month", month, Kind.FROM_LENGTH, span.words, span.page)
        return
    kind = Kind.FROM_END if stated_month else Kind.ASSUMED
    words = f"period ended {period_end.isoformat()}"
    yield reading("quarter", closed_quarter(period_end, stated_month or 12), kind, words)
    if not stated_month:
        yield reading("fiscal_year_end_month", 12, kind, words)


def month_of_year_end(period_end: date, quarter: int) -> int:
    """Return the month, 1 to 12, that ends a fiscal year whose `quarter` (1 to 4) ends on `period_end`."""
    return (nominal_month(period_end)[1] + 3 * (4 - quarter) - 1) % 12 + 1


def newest_period_end(pages: Sequence[PlainPage], until: date | None = None) -> list[FieldSource]:
    """Return the newest date printed right after `ended`, at most 200 days before `until` if given.

    A date printed at least twice takes precedence over newer ones that are printed once.
    """
    places: dict[date, list[tuple[str, int]]] = {}
    for number, text in pages:
        for ended, end in _dates_behind(text, "ended", 40):
            if "days" not in text[max(0, ended.start() - 8) : ended.start()]:
                words = text[max(0, text.rfind("\n", 0, ended.start()) + 1, ended.start() - 40) : end.end]
                places.setdefault(end.date, []).append((words, number))
    near = [day for day in places if until is None or 0 <= (until - day).days <= 200]
    newest = max([day for day in near if len(places[day]) > 1] or near, default=None)
    return [] if newest is None else [reading("period_end", newest, Kind.COUNTED, *places[newest][0])]


def _last_year_end(pages: Sequence[PlainPage], period_end: date) -> tuple[date, str, int] | None:
    """Return the last year end before `period_end` (`the fiscal year ended December 2, 2022`), with words and page."""
    places: dict[int, list[tuple[date, str, int]]] = {}
    for number, text in pages:
        for found, end in _dates_behind(text, "year ended", 25) if "nded" in text else ():
            quarters = (period_end - end.date).days / DAYS_PER_QUARTER
            # First quarters of sixteen weeks and of twelve are 1.23 and 0.92 of a quarter long.
            if 0.8 <= quarters <= 3.3 and abs(quarters - round(quarters)) < 0.26:
                place = end.date, text[found.start() - 1 : end.end], number
                places.setdefault(nominal_month(end.date)[1], []).append(place)
    return places[min(places, key=lambda month: (-len(places[month]), month))][0] if places else None


class _Span(NamedTuple):
    days: float
    in_weeks: bool
    words: str
    page: int


def _longest_span(pages: Sequence[PlainPage]) -> _Span | None:
    """Return the longest part of a year that the first pages print at least twice: `nine months`, `28 weeks`."""
    spans: dict[float, list[_Span]] = {}
    for number, text in pages[:10]:
        for found in _PATTERNS["length"].finditer(text):
            count, in_weeks = found["count"].lower(), found["unit"].lower() == "week"
            length = COUNTS.get(count) or int(count)
            days = 7 * length if in_weeks else DAYS_PER_QUARTER * length / 3
            spans.setdefault(days, []).append(_Span(days, in_weeks, found.group(), number))
    repeated = [days for days, held in spans.items() if len(held) > 1 and days < 3.5 * DAYS_PER_QUARTER]
    return spans[max(repeated)][0] if repeated else None


def is_release(pages: Sequence[PlainPage]) -> bool:
    """Return whether pages without a cover report results of a quarter or year to investors."""
    opening = _opening(pages, 6000)
    if _PATTERNS["call"].search(opening[:3000]) and any(_PATTERNS["speakers"].search(page.text) for page in pages[:3]):
        return True
    about = all(_PATTERNS[kind].search(opening[:2500]) for kind in ("results", "about a period"))
    return about and _PATTERNS["figures"].search(opening) is not None


def release_readings(pages: Sequence[PlainPage]) -> Iterator[FieldSource]:
    """Yield readings of form and period of a release, from its title, its dateline and the headings of its tables."""
    opening = _opening(pages, 4000)
    first = pages[0].number
    heading = next((line for line in opening.split("\n") if len(line.split()) > 2), "")
    yield reading("form", Form.EARNINGS, Kind.FROM_CONTENT, heading, first)
    dates = printed_dates(opening)
    ends_before = _PATTERNS["ended before"]
    released = next((one for one in dates if not ends_before.search(opening, max(0, one.start - 20), one.start)), None)
    if released is not None:
        yield reading("filed", released.date, Kind.DATELINE, opening[released.start : released.end], first)
    period_end = newest_period_end(pages[:12], released.date if released else None)
    yield from period_end
    year, quarter, words = _period_in_title(opening)
    if year is not None:
        yield reading("fiscal_year", year, Kind.TITLE, words, first)
    if quarter is not None:
        yield reading("quarter", quarter, Kind.TITLE, words, first)
    if not period_end:
        return
    end = date.fromisoformat(period_end[0].value)
    if quarter is None:
        quarter = closed_quarter(end, 12)
        yield reading("quarter", quarter, Kind.ASSUMED, period_end[0].printed, None)
    month = month_of_year_end(end, quarter)
    kind = Kind.FROM_TITLE if words else Kind.ASSUMED
    yield reading("fiscal_year_end_month", month, kind, f"{words}, ended {end.isoformat()}")
    yield from year_readings(pages[:12], end, month, named=year is not None)


def name_in_title(pages: Sequence[PlainPage]) -> OtherName | None:
    """Return the name in a title: `PepsiCo` in `PepsiCo Reports Fourth Quarter Results`."""
    found = _PATTERNS["name in a title"].search(pages[0].text, 0, 1500) if pages else None
    return OtherName(" ".join(found[1].split()), found.group(), pages[0].number) if found else None


def _opening(pages: Sequence[PlainPage], length: int) -> str:
    return "\n".join(page.text for page in pages[:2])[:length]


_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}


def _period_in_title(opening: str) -> tuple[int | None, int | None, str]:
    """Return (year, quarter, words) of a title; results of a whole year are the fourth quarter's release."""
    title = opening[:1800]
    matches = [_PATTERNS[kind].search(title) for kind in ("quarter and year", "year and quarter")]
    found = min(filter(None, matches), key=lambda match: match.start(), default=None)
    whole = _PATTERNS["whole year"].search(title[:400])
    if found is not None and (whole is None or found.start() < 400):
        named = found.groupdict()
        quarter = _ORDINALS.get((named["word"] or "").lower()) or int(named["q1"] or named.get("q2") or 0)
        year = int(named["year"])
        return (year if year > 99 else 2000 + year), quarter, found.group()
    if whole is not None:
        return int(whole["year"] or whole["before"]), 4, whole.group()
    alone = _PATTERNS["quarter alone"].search(title[:600])
    return (None, _ORDINALS[alone["word"].lower()], alone.group()) if alone else (None, None, "")
