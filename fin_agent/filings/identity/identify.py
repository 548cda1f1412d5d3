"""Identify a filing: collect readings of each field, from `dei:` tags among others, and choose among them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from operator import itemgetter
from typing import Any

from fin_agent.filings.identity import cover
from fin_agent.filings.identity.cover import Kind, PlainPage, reading
from fin_agent.lexicon.periods import parse_number
from fin_agent.lexicon.words import patterns
from fin_agent.vocabulary.dates import PrintedDate, printed_dates
from fin_agent.vocabulary.fact import Tag
from fin_agent.vocabulary.fiscal_calendar import DAYS_PER_QUARTER, closed_quarter, fiscal_year_of, nominal_month
from fin_agent.vocabulary.identity import FieldSource, Form, Identity, Origin
from fin_agent.vocabulary.page import PageContent
from fin_agent.vocabulary.runs import grouped

_PATTERNS = patterns("identity_patterns")

_FIELDS: dict[str, Callable[[str], Any]] = {
    "company": str,
    "form": Form,
    "fiscal_year": int,
    "quarter": int,
    "period_end": date.fromisoformat,
    "fiscal_year_end_month": int,
    "filed": date.fromisoformat,
    **dict.fromkeys(("ticker", "cik", "file_number", "employer_id"), str),
    "other_names": lambda names: tuple(names.split(cover.NAMES_SEPARATOR)),
    "amended": lambda value: value == "true",
}
"""The fields of Identity, each with the function that reads its value."""


def resolve_identity(readings: Iterable[FieldSource]) -> Identity:
    """Return the Identity that `readings` support, each field with its sources; more reliable kinds come first."""
    given = list(readings)
    ranked = {field: ranked_readings([one for one in given if one.field == field]) for field in _FIELDS}
    if all(one.value == "false" for one in ranked["amended"]):
        ranked["amended"] = []
    values = {field: read(found[0].value) for field, read in _FIELDS.items() if (found := ranked[field])}
    sources = tuple(one for field in _FIELDS for one in ranked[field])
    return Identity(**{"company": "", "form": Form.OTHER, **values}, sources=sources)


def best_value(readings: Iterable[FieldSource], field: str) -> str:
    """Return the value of `field` that `readings` support best; empty where none names it."""
    found = ranked_readings([one for one in readings if one.field == field])
    return found[0].value if found else ""


def ranked_readings(readings: Sequence[FieldSource]) -> list[FieldSource]:
    """Return readings of one field without repetitions, those of the best supported value first.

    Each reading votes for its value with the logarithm of its odds, as independent witnesses do. Ties go to the reading
    given first. Variants of a company's name get the spelling of the first of them.
    """
    alike: list[FieldSource] = []
    for one in readings:
        if one.field == "company":
            spellings = (other.value for other in alike if cover.same_company(other.value, one.value))
            one = replace(one, value=next(spellings, one.value))
        if not any((other.value, other.origin) == (one.value, one.origin) for other in alike):
            alike.append(one)
    support: dict[str, float] = {}
    for one in alike:
        support[one.value] = support.get(one.value, 0.0) + math.log(one.confidence / (1 - one.confidence))
    best = max(support, key=lambda value: round(support[value], 6), default="")
    return [one for one in alike if one.value == best] + [one for one in alike if one.value != best]


_FIRST_PAGES = 30
_MARKET_WITHIN = 60
"""Item 5 of older reports, which has the symbol where the cover does not, is within these pages."""
_NOTES_WITHIN = 150
"""The first notes, which define the names of years that end in winter, are within these pages."""
_PERIODIC = (Form.TEN_K, Form.TEN_Q, Form.TWENTY_F)


def identify(pages: Sequence[PageContent], tags: Sequence[Tag] = ()) -> Identity:
    """Return the identity of the document with these `pages` and `tags`. Never raises.

    Where tags, cover, signature and text differ, the best supported reading is used, and the others are kept in
    `Identity.sources`. Only the first 30 pages and those with signatures are read.
    """
    first = list(cover.plain_pages(pages[:_FIRST_PAGES]))
    stated = dei_readings(tags)
    form_cover = cover.find_cover(first)
    if form_cover is None and not best_value(stated, "form"):
        return resolve_identity(_without_cover(first))
    position, printed = form_cover or (0, [])
    readings, body = [*stated, *printed], first[position:]
    if best_value(readings, "form") == Form.OTHER and is_release(body[1:]):
        # A foreign filer's results have the cover of a Form 6-K.
        kept = [one for one in readings if one.field in _OF_THE_FILER]
        return resolve_identity([*kept, *_without_cover(body[1:])])
    form = Form(best_value(readings, "form"))
    identity = resolve_identity(_readings_for_form(form, readings, pages, tags, body))
    release = _release_in(body) if form is Form.EIGHT_K else None
    if release and release.fiscal_year:
        month = release.fiscal_year_end_month
        identity = replace(identity, results=release.reported_period, fiscal_year_end_month=month)
    return identity


def _release_in(body: Sequence[PlainPage]) -> Identity | None:
    """Return the identity of the release that is an exhibit of an 8-K, if the report has an Item on results."""
    first = body[:_EXHIBIT_WITHIN]
    own = [position for position, page in enumerate(first) if _PATTERNS["page of an 8-K"].search(page.text)]
    if any(_PATTERNS["item on results"].search(body[position].text) for position in own):
        for start in range(own[-1] + 1, len(first)):
            if is_release(body[start:]):
                return resolve_identity(release_readings(body[start:]))
    return None


_EXHIBIT_WITHIN = 8
"""Pages of an 8-K before its first exhibit: cover, Items, signature, index of exhibits."""
_OF_THE_FILER = ("company", "ticker", "cik", "file_number", "employer_id", "fiscal_year_end_month")


def _readings_for_form(
    form: Form,
    stated: Sequence[FieldSource],
    pages: Sequence[PageContent],
    tags: Sequence[Tag],
    body: Sequence[PlainPage],
) -> list[FieldSource]:
    """Return all readings of a filing of this `form`: those `stated` by tags and cover, and those of the `body`."""
    found = [one for one in stated if one.field != "quarter" or form is Form.TEN_Q]
    found += end_of_most_figures(tags) if form in _PERIODIC else ()
    if not best_value(found, "company"):
        # Prefer the text to the signature, which is often in capitals.
        last = list(cover.plain_pages(pages[-3:]))
        found += cover.registrant_in_text(body[:12]) or cover.registrant_in_text(last)
    start = body[0].number - pages[0].number if body else 0
    found += cover.signature_readings(pages, start, _day(best_value(found, "period_end")))
    further = cover.plain_pages(pages[_FIRST_PAGES:_MARKET_WITHIN])
    found += cover.ticker_readings(body[:2], body, () if best_value(found, "ticker") else further)
    found += cover.other_names(body, best_value(found, "company"))
    notes = cover.plain_pages(pages[_FIRST_PAGES:_NOTES_WITHIN])
    return [*found, *_period_readings(form, found, body, notes)]


def _period_readings(
    form: Form, known: Sequence[FieldSource], body: Sequence[PlainPage], notes: Iterable[PlainPage]
) -> list[FieldSource]:
    """Return readings of period end, year and quarter from text and calendar; `notes` are the pages after the body."""
    found: list[FieldSource] = []
    if form in _PERIODIC:
        # The cover must not confirm itself.
        on_cover = any(one.field == "period_end" and one.origin is Origin.COVER for one in known)
        found += newest_period_end(body[1:] if on_cover else body, _day(best_value(known, "filed")))
    end = _day(best_value([*known, *found], "period_end"))
    if end is None:
        return found
    words = f"period ended {end.isoformat()}"
    if form is Form.TEN_Q:
        stated = best_value(known, "fiscal_year_end_month")
        found += quarter_readings(body, end, int(stated) if stated else None)
    elif form in _PERIODIC:
        found.append(reading("fiscal_year_end_month", nominal_month(end)[1], Kind.FROM_END, words))
    month = best_value([*known, *found], "fiscal_year_end_month")
    if form in _PERIODIC and month:
        named = best_value(known, "fiscal_year") != ""
        found += year_readings(body, end, int(month), notes, named)
    elif form is Form.EIGHT_K:
        found.append(reading("fiscal_year", end.year, Kind.FROM_END, f"event of {end.isoformat()}"))
    return found


def _without_cover(pages: Sequence[PlainPage]) -> list[FieldSource]:
    if is_release(pages):
        title = name_in_title(pages)
        named = cover.registrant_in_text(pages[:14]) or title
        found = [*release_readings(pages), *cover.ticker_readings((), pages), *named]
        return found + cover.other_names(pages[:3], best_value(found, "company"), title)
    opening = "\n".join(page.text for page in pages[:4])[:4000]
    report = _PATTERNS["annual report"].search(opening)
    if report is None or not any(_PATTERNS["statements"].search(page.text) for page in pages):
        return []
    found = [reading("form", Form.ANNUAL_REPORT, Kind.FROM_CONTENT, report.group(), pages[0].number)]
    found += [*cover.registrant_in_text(pages), *cover.ticker_readings((), pages)]
    for newest in newest_period_end(pages):
        end = date.fromisoformat(newest.value)
        month = nominal_month(end)[1]
        found += [newest, reading("fiscal_year_end_month", month, Kind.FROM_END, newest.printed, newest.page)]
        found += year_readings(pages, end, month)
    return found + cover.other_names(pages[:6], best_value(found, "company"))


def _day(value: str) -> date | None:
    return date.fromisoformat(value) if value else None


def dei_readings(tags: Sequence[Tag]) -> list[FieldSource]:
    """Return readings of the identity from tags: of several registrants the parent, of several classes common stock."""
    stated = _parent([tag for tag in tags if tag.concept.startswith("dei:") and not tag.nil and tag.text.strip()])
    found: list[FieldSource] = []
    for tag in stated:
        concept = tag.concept.removeprefix("dei:")
        if concept not in _CONCEPTS:
            continue
        text, printed = " ".join(tag.text.split()), f"{tag.concept} {tag.text}"
        kind = Kind.FOCUS if concept in _FOCI else Kind.TAG
        field, read = _CONCEPTS[concept]
        value = read(text)
        if value is not None:
            found.append(reading(field, value, kind, printed, tag.page))
        if concept == "DocumentType" and re.search(r"/A\b", text):
            found.append(reading("amended", "true", kind, printed, tag.page))
    return [*found, *_common_stock_symbol(stated)]


def end_of_most_figures(tags: Sequence[Tag]) -> Iterator[FieldSource]:
    """Yield the period's end according to the figures: the day on which most of the company's tagged figures end."""
    ends = Counter(
        tag.end for tag in tags if tag.numeric and not tag.members and tag.end and 1990 < tag.end.year < 2100
    )
    best = min(ends, key=lambda end: (-ends[end], -end.toordinal()), default=None)
    if best is not None and ends[best] >= _MIN_FIGURES:
        yield reading("period_end", best, Kind.FROM_FIGURES, f"{ends[best]} tagged figures end on {best.isoformat()}")


_MIN_FIGURES = 20
_ENTITY_AXIS = "dei:LegalEntityAxis"


def _parent(tags: Sequence[Tag]) -> Sequence[Tag]:
    own = [tag for tag in tags if all(axis != _ENTITY_AXIS for axis, _ in tag.members)]
    if any(tag.concept == "dei:EntityRegistrantName" for tag in own) or len(own) == len(tags):
        return own
    # If every registrant is a member, the first one named is the parent.
    first = next((tag.members for tag in tags if tag.concept == "dei:EntityRegistrantName"), ())
    return [*own, *(tag for tag in tags if tag.members and set(first) <= set(tag.members))]


def _month(value: str) -> int | None:
    """Return the month of `--12-31`; `--02-03`, the end of a 52/53-week year, counts as January."""
    found = re.fullmatch(r"-{0,2}(\d\d)-(\d\d)", value)
    if found is None:
        return None
    try:
        return nominal_month(date(_LEAP_YEAR, int(found[1]), int(found[2])))[1]
    except ValueError:
        return None


_LEAP_YEAR = 2004
_QUARTERS = {"Q1": 1, "Q2": 2, "H1": 2, "M6": 2, "Q3": 3, "M9": 3, "Q4": 4}
_CONCEPTS: dict[str, tuple[str, Callable[[str], str | int | date | None]]] = {
    "EntityRegistrantName": ("company", lambda value: _PATTERNS["state"].sub("", value).strip() or None),
    "DocumentType": ("form", cover.normalize_form),
    "EntityCentralIndexKey": ("cik", lambda value: next(iter(_PATTERNS["cik"].findall(value)), None)),
    "DocumentFiscalYearFocus": ("fiscal_year", lambda value: value if re.fullmatch(r"(?:19|20)\d\d", value) else None),
    "DocumentFiscalPeriodFocus": ("quarter", lambda value: _QUARTERS.get(value.upper())),
    "DocumentPeriodEndDate": ("period_end", lambda value: next((found.date for found in printed_dates(value)), None)),
    "CurrentFiscalYearEndDate": ("fiscal_year_end_month", _month),
    "AmendmentFlag": ("amended", lambda value: value.lower() if value.lower() in ("true", "false") else None),
    "EntityFileNumber": ("file_number", cover.plain_file_number),
    "EntityTaxIdentificationNumber": ("employer_id", cover.plain_employer_id),
}
_FOCI = frozenset(("DocumentFiscalYearFocus", "DocumentFiscalPeriodFocus", "AmendmentFlag"))


def _common_stock_symbol(tags: Sequence[Tag]) -> Iterator[FieldSource]:
    """Yield the symbol of the first class that is common stock; without such a title, the first symbol."""
    titles = {tag.context: tag.text for tag in tags if tag.concept == "dei:Security12bTitle"}
    symbols = [
        (tag, found.group().upper(), titles.get(tag.context, ""))
        for tag in tags
        if tag.concept == "dei:TradingSymbol" and not _PATTERNS["nothing"].fullmatch(tag.text)
        if (found := _PATTERNS["symbol"].search(re.sub(r"^[^:]*:", "", tag.text)))
    ]
    is_common, is_other = _PATTERNS["common stock"].search, _PATTERNS["other securities"].search
    common = [one for one in symbols if is_common(one[2]) and not is_other(one[2])]
    for tag, symbol, title in (common or symbols)[:1]:
        yield reading("ticker", symbol.replace("/", "."), Kind.TAG, f"{tag.concept} {tag.text} {title}", tag.page)


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
    bound = grouped(
        (offset, (abs(end - period_end), printed, page))
        for year, end, printed, page in _names_with_dates(pages, month)
        if abs(offset := year - fiscal_year_of(end, month)) <= 1 and abs((end - period_end).days) < _YEARS_COUNTED
    )
    if not bound:
        return None
    best = min(bound, key=lambda offset: (-len(bound[offset]), abs(offset), offset))
    _, printed, page = min(bound[best], key=itemgetter(0))
    return best, printed, page


_YEARS_COUNTED = 1200
"""Days around the period's end within which years are assumed to be named in the same way."""


def _year_mentions(pages: Sequence[PlainPage], usual: int, month: int) -> Iterator[FieldSource]:
    """Yield the year that the text mentions as if it were the current one, which is named more often than others."""
    places = grouped(
        (int(found[1]), (text[max(0, found.start() - 1) : found.end()], page))
        for page, text in pages
        for found in _PATTERNS["fiscal year"].finditer(text)
    )
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


def _names_with_dates(pages: Iterable[PlainPage], year_end_month: int) -> Iterator[tuple[int, date, str, int]]:
    """Yield (name, end, words, page) of names that sentences link to ends; ends of quarters only if called so."""
    for number, text in pages:
        if "iscal" in text:
            for found, end in _dates_behind(text, "year then date", 30):
                of_quarter = text.endswith("uarter of ", 0, found.start() - 1)
                if of_quarter or nominal_month(end.date)[1] == year_end_month:
                    yield int(found["year"]), end.date, text[found.start() - 1 : end.end], number
            for found in _PATTERNS["date then year"].finditer(text):
                for one in printed_dates(found["date"]):
                    yield int(found["year"]), one.date, found.group(), number


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
    kind, page = Kind.FROM_END if stated_month else Kind.ASSUMED, None
    words = f"period ended {period_end.isoformat()}"
    quarter, month = closed_quarter(period_end, stated_month or 12), None if stated_month else 12
    if year_end := _last_year_end(pages, period_end):
        kind, (last, words, page) = Kind.FROM_YEAR_END, year_end
        quarter, month = round((period_end - last).days / DAYS_PER_QUARTER), nominal_month(last)[1]
    elif not stated_month and (span := _longest_span(pages)):
        kind, (days, in_weeks, words, page) = Kind.FROM_LENGTH, span
        quarter = round(days / DAYS_PER_QUARTER)
        first = period_end - timedelta(days)
        month = nominal_month(first)[1] if in_weeks else month_of_year_end(period_end, quarter)
    yield reading("quarter", quarter, kind, words, page)
    if month:
        yield reading("fiscal_year_end_month", month, kind, words, page)


def month_of_year_end(period_end: date, quarter: int) -> int:
    """Return the month, 1 to 12, that ends a fiscal year whose `quarter` (1 to 4) ends on `period_end`."""
    return (nominal_month(period_end)[1] + 3 * (4 - quarter) - 1) % 12 + 1


def newest_period_end(pages: Sequence[PlainPage], until: date | None = None) -> list[FieldSource]:
    """Return the newest date printed right after `ended`, at most 200 days before `until` if given.

    A date printed at least twice takes precedence over newer ones that are printed once.
    """
    places = grouped(
        (end.date, (text[max(0, text.rfind("\n", 0, ended.start()) + 1, ended.start() - 40) : end.end], number))
        for number, text in pages
        for ended, end in _dates_behind(text, "ended", 40)
        if "days" not in text[max(0, ended.start() - 8) : ended.start()]
    )
    near = [day for day in places if until is None or 0 <= (until - day).days <= 200]
    newest = max([day for day in near if len(places[day]) > 1] or near, default=None)
    return [reading("period_end", newest, Kind.COUNTED, *places[newest][0])] if newest else []


def _last_year_end(pages: Sequence[PlainPage], period_end: date) -> tuple[date, str, int] | None:
    """Return the last year end before `period_end` (`the fiscal year ended December 2, 2022`), with words and page."""
    places = grouped(
        (nominal_month(end.date)[1], (end.date, text[found.start() - 1 : end.end], number))
        for number, text in pages
        for found, end in (_dates_behind(text, "year ended", 25) if "nded" in text else ())
        # First quarters of sixteen weeks and of twelve are 1.23 and 0.92 of a quarter long.
        if 0.8 <= (quarters := (period_end - end.date).days / DAYS_PER_QUARTER) <= 3.3
        and abs(quarters - round(quarters)) < 0.26
    )
    return places[min(places, key=lambda month: (-len(places[month]), month))][0] if places else None


def _longest_span(pages: Sequence[PlainPage]) -> tuple[float, bool, str, int] | None:
    """Return the longest part of a year that the first pages print at least twice: `nine months`, `28 weeks`.

    It is (days, whether it is in weeks, words, page).
    """
    spans: dict[float, list[tuple[float, bool, str, int]]] = {}
    for number, text in pages[:10]:
        for found in _PATTERNS["length"].finditer(text):
            length, in_weeks = parse_number(found["count"]), found["unit"].lower() == "week"
            days = 7 * length if in_weeks else DAYS_PER_QUARTER * length / 3
            spans.setdefault(days, []).append((days, in_weeks, found.group(), number))
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


def name_in_title(pages: Sequence[PlainPage]) -> list[FieldSource]:
    """Return the company named in a title, if it names one: `PepsiCo` in `PepsiCo Reports Fourth Quarter Results`."""
    found = _PATTERNS["name in a title"].search(pages[0].text, 0, 1500)
    return [reading("company", " ".join(found[1].split()), Kind.TITLE, found.group(), pages[0].number)] if found else []


def _opening(pages: Sequence[PlainPage], length: int) -> str:
    return "\n".join(page.text for page in pages[:2])[:length]


def _period_in_title(opening: str) -> tuple[int | None, int | None, str]:
    """Return (year, quarter, words) of a title; results of a whole year are the fourth quarter's release."""
    title = opening[:1800]
    matches = [_PATTERNS[kind].search(title) for kind in ("quarter and year", "year and quarter")]
    found = min(filter(None, matches), key=lambda match: match.start(), default=None)
    whole = _PATTERNS["whole year"].search(title[:400])
    if found is not None and (whole is None or found.start() < 400):
        named = found.groupdict()
        quarter = parse_number(named["word"] or named["q1"] or named.get("q2") or "")
        year = int(named["year"])
        return (year if year > 99 else 2000 + year), quarter, found.group()
    if whole is not None:
        return int(whole["year"] or whole["before"]), 4, whole.group()
    alone = _PATTERNS["quarter alone"].search(title[:600])
    return (None, parse_number(alone["word"]), alone.group()) if alone else (None, None, "")
