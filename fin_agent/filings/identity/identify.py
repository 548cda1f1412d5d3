"""Identify a filing: collect readings of each field, from `dei:` tags among others, and choose among them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from fin_agent.filings.identity import cover, registrant_names, reporting_period
from fin_agent.filings.identity.cover import Kind, PlainPage, reading
from fin_agent.lexicon.words import patterns
from fin_agent.vocabulary.dates import printed_dates
from fin_agent.vocabulary.fact import Tag
from fin_agent.vocabulary.fiscal_calendar import nominal_month
from fin_agent.vocabulary.identity import FieldSource, Form, Identity, Origin
from fin_agent.vocabulary.page import PageContent

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
    "other_names": lambda names: tuple(names.split(registrant_names.NAMES_SEPARATOR)),
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
            spellings = (other.value for other in alike if registrant_names.same_company(other.value, one.value))
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
    if best_value(readings, "form") == Form.OTHER and reporting_period.is_release(body[1:]):
        # A foreign filer's results have the cover of a Form 6-K.
        kept = [one for one in readings if one.field in _OF_THE_FILER]
        return resolve_identity([*kept, *_without_cover(body[1:])])
    form = Form(best_value(readings, "form"))
    identity = resolve_identity(_readings_for_form(form, readings, pages, tags, body))
    release = _release_in(body) if form is Form.EIGHT_K else None
    if release is None or release.fiscal_year is None:
        return identity
    return replace(identity, results=release.reported_period, fiscal_year_end_month=release.fiscal_year_end_month)


def _release_in(body: Sequence[PlainPage]) -> Identity | None:
    """Return the identity of the release that is an exhibit of an 8-K, if the report has an Item on results."""
    first = body[:_EXHIBIT_WITHIN]
    own = [position for position, page in enumerate(first) if _PATTERNS["page of an 8-K"].search(page.text)]
    if any(_PATTERNS["item on results"].search(body[position].text) for position in own):
        for start in range(own[-1] + 1, len(first)):
            if reporting_period.is_release(body[start:]):
                return resolve_identity(reporting_period.release_readings(body[start:]))
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
        found += registrant_names.registrant_in_text(body[:12]) or registrant_names.registrant_in_text(last)
    start = body[0].number - pages[0].number if body else 0
    found += registrant_names.signature_readings(pages, start, _day(best_value(found, "period_end")))
    further = cover.plain_pages(pages[_FIRST_PAGES:_MARKET_WITHIN])
    found += cover.ticker_readings(body[:2], body, () if best_value(found, "ticker") else further)
    found += registrant_names.other_names(body, best_value(found, "company"))
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
        found += reporting_period.newest_period_end(body[1:] if on_cover else body, _day(best_value(known, "filed")))
    end = _day(best_value([*known, *found], "period_end"))
    if end is None:
        return found
    words = f"period ended {end.isoformat()}"
    if form is Form.TEN_Q:
        stated = best_value(known, "fiscal_year_end_month")
        found += reporting_period.quarter_readings(body, end, int(stated) if stated else None)
    elif form in _PERIODIC:
        found.append(reading("fiscal_year_end_month", nominal_month(end)[1], Kind.FROM_END, words))
    month = best_value([*known, *found], "fiscal_year_end_month")
    if form in _PERIODIC and month:
        named = best_value(known, "fiscal_year") != ""
        found += reporting_period.year_readings(body, end, int(month), notes, named)
    elif form is Form.EIGHT_K:
        found.append(reading("fiscal_year", end.year, Kind.FROM_END, f"event of {end.isoformat()}"))
    return found


def _without_cover(pages: Sequence[PlainPage]) -> list[FieldSource]:
    if reporting_period.is_release(pages):
        title = reporting_period.name_in_title(pages)
        named = registrant_names.registrant_in_text(pages[:14])
        if not named and title is not None:
            named = [reading("company", title.name, Kind.TITLE, title.printed, title.page)]
        found = [*reporting_period.release_readings(pages), *cover.ticker_readings((), pages), *named]
        return found + registrant_names.other_names(pages[:3], best_value(found, "company"), [title] if title else [])
    opening = "\n".join(page.text for page in pages[:4])[:4000]
    report = _PATTERNS["annual report"].search(opening)
    if report is None or not any(_PATTERNS["statements"].search(page.text) for page in pages):
        return []
    found = [reading("form", Form.ANNUAL_REPORT, Kind.FROM_CONTENT, report.group(), pages[0].number)]
    found += [*registrant_names.registrant_in_text(pages), *cover.ticker_readings((), pages)]
    for newest in reporting_period.newest_period_end(pages):
        end = date.fromisoformat(newest.value)
        month = nominal_month(end)[1]
        found += [newest, reading("fiscal_year_end_month", month, Kind.FROM_END, newest.printed, newest.page)]
        found += reporting_period.year_readings(pages, end, month)
    return found + registrant_names.other_names(pages[:6], best_value(found, "company"))


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


_STATE = re.compile(r"\s*[/\\][A-Za-z]{2,3}[/\\]?$")
_CIK = re.compile(r"^(?=\d{1,10}$)0*([1-9]\d*)$")
_LEAP_YEAR = 2004
_QUARTERS = {"Q1": 1, "Q2": 2, "H1": 2, "M6": 2, "Q3": 3, "M9": 3, "Q4": 4}
_CONCEPTS: dict[str, tuple[str, Callable[[str], str | int | date | None]]] = {
    "EntityRegistrantName": ("company", lambda value: _STATE.sub("", value).strip() or None),
    "DocumentType": ("form", cover.normalize_form),
    "EntityCentralIndexKey": ("cik", lambda value: next(iter(_CIK.findall(value)), None)),
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
        (tag, found.group().upper())
        for tag in tags
        if tag.concept == "dei:TradingSymbol" and not _PATTERNS["nothing"].fullmatch(tag.text)
        for found in [_SYMBOL.search(re.sub(r"^[^:]*:", "", tag.text))]
        if found is not None
    ]
    title_of = [titles.get(tag.context, "") for tag, _ in symbols]
    common = [
        one
        for one, title in zip(symbols, title_of, strict=True)
        if _PATTERNS["common stock"].search(title) and not _PATTERNS["other securities"].search(title)
    ]
    for tag, symbol in (common or symbols)[:1]:
        title = titles.get(tag.context, "")
        yield reading("ticker", symbol.replace("/", "."), Kind.TAG, f"{tag.concept} {tag.text} {title}", tag.page)


_SYMBOL = re.compile(r"[A-Za-z]{1,6}(?:[./-][A-Za-z]{1,2})?(?![A-Za-z])")
