"""Determine the period that a filing reports: dates on the cover, the filer's naming of years, releases of results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from fin_agent.filings.identity.cover import (
    ASSUMED,
    COUNTED,
    DATELINE,
    FROM_CONTENT,
    FROM_END,
    FROM_LENGTH,
    FROM_WINTER_END,
    FROM_YEAR_END,
    SENTENCE,
    TITLE,
    PlainPage,
    reading,
)
from fin_agent.filings.identity.registrant_names import OtherName
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

    The best evidence is a sentence that links a name to a date (`fiscal 2023 ended January 28, 2023`); if several
    differ, the majority counts. Where years end in winter and there is no such sentence, `further` pages are searched
    for one, and the frequency of years in the text counts: a filer whose current year is 2023 mentions fiscal 2023 more
    often than fiscal 2021. The usual name comes last; for a year that ends in winter, it is used only where neither the
    text nor an earlier reading (`named`) names the year, because filers differ.
    """
    usual = fiscal_year_of(period_end, year_end_month)
    found = []
    winter = FROM_WINTER_END.get(year_end_month)
    bound = _year_names_from_sentences(pages, period_end, year_end_month)
    if bound is None and winter is not None:
        bound = _year_names_from_sentences(further, period_end, year_end_month)
    if bound is not None:
        offset, words, page = bound
        found.append(reading("fiscal_year", usual + offset, SENTENCE, words, page))
    elif winter is not None:
        spoken = _year_mentions(pages, usual, year_end_month)
        if spoken is not None:
            found.append(spoken)
    if winter is None or not (found or named):
        found.append(reading("fiscal_year", usual, winter or FROM_END, f"period ended {period_end.isoformat()}"))
    return found


def _year_names_from_sentences(pages: Iterable[PlainPage], period_end: date, month: int) -> tuple[int, str, int] | None:
    """Return (offset from the usual name, words, page) by the majority of sentences that link name and date."""
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
"""Days around the period's end within which years are assumed to be named in the same way."""


def _year_mentions(pages: Sequence[PlainPage], usual: int, month: int) -> FieldSource | None:
    places: dict[int, tuple[str, int]] = {}
    spoken: Counter[int] = Counter()
    for page, text in pages:
        for found in _PATTERNS["fiscal year"].finditer(text):
            year = int(found[1])
            spoken[year] += 1
            places.setdefault(year, (text[max(0, found.start() - 1) : found.end()], page))
    year = usual
    if month == 1:
        # Usually named after the year before; some are named after the year in which they end.
        if spoken[usual + 1] >= 2 and spoken[usual + 1] > spoken[usual - 1]:
            year = usual + 1
    elif spoken[usual - 1] >= 2 and spoken[usual - 2] > spoken[usual]:
        year = usual - 1
    if spoken[year] < 2:
        return None
    words, page = places[year]
    return reading("fiscal_year", year, COUNTED, f"{words} ({spoken[year]} times)", page)


class _NamedYear(NamedTuple):
    year: int
    end: date
    printed: str
    page: int


def _names_with_dates(pages: Iterable[PlainPage], year_end_month: int) -> Iterator[_NamedYear]:
    """Yield names that sentences link to ends; ends of quarters count only if called quarters of the year."""
    for number, text in pages:
        if "iscal" in text:
            for found in _PATTERNS["year then date"].finditer(text):
                dates = printed_dates(text, found.end(), min(len(text), found.end() + 30))
                if not dates or dates[0].start != found.end():
                    continue
                of_quarter = text.endswith("uarter of ", 0, found.start() - 1)
                if of_quarter or nominal_month(dates[0].date)[1] == year_end_month:
                    yield _NamedYear(int(found["year"]), dates[0].date, text[found.start() - 1 : dates[0].end], number)
            for found in _PATTERNS["date then year"].finditer(text):
                for one in printed_dates(found["date"]):
                    yield _NamedYear(int(found["year"]), one.date, found.group(), number)


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
        yield reading("quarter", quarter, FROM_YEAR_END, words, page)
        yield reading("fiscal_year_end_month", nominal_month(last)[1], FROM_YEAR_END, words, page)
        return
    span = None if stated_month else _longest_span(pages)
    if span is not None:
        quarter = round(span.days / DAYS_PER_QUARTER)
        month = month_of_year_end(period_end, quarter)
        if span.in_weeks:
            month = nominal_month(period_end - timedelta(span.days))[1]
        yield reading("quarter", quarter, FROM_LENGTH, span.words, span.page)
        yield reading("fiscal_year_end_month", month, FROM_LENGTH, span.words, span.page)
        return
    kind = FROM_END if stated_month else ASSUMED
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
    found: Counter[date] = Counter()
    places: dict[date, tuple[str, int]] = {}
    for number, text in pages:
        for ended in _PATTERNS["ended"].finditer(text):
            dates = printed_dates(text, ended.end(), min(len(text), ended.end() + 40))
            some_days = "days" in text[max(0, ended.start() - 8) : ended.start()]
            if dates and dates[0].start == ended.end() and not some_days:
                found[dates[0].date] += 1
                words = text[max(0, text.rfind("\n", 0, ended.start()) + 1, ended.start() - 40) : dates[0].end]
                places.setdefault(dates[0].date, (words, number))
    near = [day for day in found if until is None or 0 <= (until - day).days <= 200]
    newest = max([day for day in near if found[day] > 1] or near, default=None)
    return [] if newest is None else [reading("period_end", newest, COUNTED, *places[newest])]


def _last_year_end(pages: Sequence[PlainPage], period_end: date) -> tuple[date, str, int] | None:
    """Return the last year end before `period_end` (`the fiscal year ended December 2, 2022`), with words and page."""
    votes: Counter[int] = Counter()
    places: dict[int, tuple[date, str, int]] = {}
    for number, text in pages:
        if "nded" not in text:
            continue
        for found in _PATTERNS["year ended"].finditer(text):
            for one in printed_dates(text, found.end(), min(len(text), found.end() + 25))[:1]:
                quarters = (period_end - one.date).days / DAYS_PER_QUARTER
                # First quarters of sixteen weeks and of twelve are 1.23 and 0.92 of a quarter long.
                if 0.8 <= quarters <= 3.3 and abs(quarters - round(quarters)) < 0.26:
                    month = nominal_month(one.date)[1]
                    votes[month] += 1
                    places.setdefault(month, (one.date, text[found.start() - 1 : one.end], number))
    return places[min(votes, key=lambda month: (-votes[month], month))] if votes else None


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
            length = _NUMBERS.get(count) or int(count)
            days = 7 * length if in_weeks else DAYS_PER_QUARTER * length / 3
            spans.setdefault(days, []).append(_Span(days, in_weeks, found.group(), number))
    repeated = [days for days, found in spans.items() if len(found) > 1 and days < 3.5 * DAYS_PER_QUARTER]
    return spans[max(repeated)][0] if repeated else None


_NUMBERS = {
    "three": 3, "six": 6, "nine": 9, "twelve": 12, "thirteen": 13, "fourteen": 14, "sixteen": 16, "twenty-four": 24,
    "twenty-six": 26, "twenty-eight": 28, "thirty-six": 36, "thirty-nine": 39, "forty": 40,
}  # fmt: skip


def is_release(pages: Sequence[PlainPage]) -> bool:
    """Return whether pages without a cover report results of a quarter or year to investors."""
    opening = _opening(pages, 6000)
    if _PATTERNS["call"].search(opening[:3000]) and any(_PATTERNS["speakers"].search(page.text) for page in pages[:3]):
        return True
    return bool(
        _PATTERNS["results"].search(opening[:2500])
        and _PATTERNS["figures"].search(opening)
        and _PATTERNS["about a period"].search(opening[:2500])
    )


def release_readings(pages: Sequence[PlainPage]) -> Iterator[FieldSource]:
    """Yield readings of form and period of a release, from its title, its dateline and the headings of its tables."""
    opening = _opening(pages, 4000)
    first = pages[0].number
    heading = next((line for line in opening.split("\n") if len(line.split()) > 2), "")
    yield reading("form", Form.EARNINGS, FROM_CONTENT, heading, first)
    released = _release_date(opening)
    if released is not None:
        yield reading("filed", released.date, DATELINE, opening[released.start : released.end], first)
    period_end = newest_period_end(pages[:12], released.date if released else None)
    yield from period_end
    end = date.fromisoformat(period_end[0].value) if period_end else None
    named = _period_in_title(opening)
    quarter = named.quarter
    if quarter is None and named.year is not None:
        # Results of a whole year are the fourth quarter's release.
        quarter = 4
    if named.year is not None:
        yield reading("fiscal_year", named.year, TITLE, named.words, first)
    if quarter is not None:
        yield reading("quarter", quarter, TITLE, named.words, first)
    if end is None:
        return
    if quarter is None:
        quarter = closed_quarter(end, 12)
        yield reading("quarter", quarter, ASSUMED, period_end[0].printed, None)
    month = month_of_year_end(end, quarter)
    kind = TITLE if named.words else ASSUMED
    words = f"{named.words}, ended {end.isoformat()}"
    yield reading("fiscal_year_end_month", month, kind._replace(origin=ASSUMED.origin), words)
    yield from year_readings(pages[:12], end, month, named=named.year is not None)


def name_in_title(pages: Sequence[PlainPage]) -> OtherName | None:
    """Return the name in a title: `PepsiCo` in `PepsiCo Reports Fourth Quarter Results`."""
    found = _PATTERNS["name in a title"].search(pages[0].text, 0, 1500) if pages else None
    return OtherName(" ".join(found[1].split()), found.group(), pages[0].number) if found else None


def _opening(pages: Sequence[PlainPage], length: int) -> str:
    return "\n".join(page.text for page in pages[:2])[:length]


_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}


class _TitlePeriod(NamedTuple):
    year: int | None
    quarter: int | None
    words: str
    """The words of the title."""


def _period_in_title(opening: str) -> _TitlePeriod:
    title = opening[:1800]
    found = _PATTERNS["quarter and year"].search(title)
    year_first = _PATTERNS["year and quarter"].search(title)
    if year_first is not None and (found is None or year_first.start() < found.start()):
        found = year_first
    whole = _PATTERNS["whole year"].search(title[:400])
    if found is not None and (whole is None or found.start() < 400):
        named = found.groupdict()
        quarter = _ORDINALS.get((named["word"] or "").lower()) or int(named["q1"] or named.get("q2") or 0)
        year = int(named["year"])
        return _TitlePeriod(year if year > 99 else 2000 + year, quarter, found.group())
    if whole is not None:
        return _TitlePeriod(int(whole["year"] or whole["before"]), None, whole.group())
    alone = _PATTERNS["quarter alone"].search(title[:600])
    if alone is not None:
        return _TitlePeriod(None, _ORDINALS[alone["word"].lower()], alone.group())
    return _TitlePeriod(None, None, "")


def _release_date(opening: str) -> PrintedDate | None:
    for one in printed_dates(opening):
        if not _PATTERNS["ended before"].search(opening, max(0, one.start - 20), one.start):
            return one
    return None
