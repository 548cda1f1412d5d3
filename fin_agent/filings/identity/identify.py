"""Identify a filing: collect readings of each field, and choose among them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from fin_agent.filings.identity.cover import (
    FROM_CONTENT,
    FROM_END,
    TITLE,
    PlainPage,
    find_cover,
    plain_pages,
    reading,
    ticker_readings,
)
from fin_agent.filings.identity.dei import dei_readings, end_of_most_figures
from fin_agent.filings.identity.registrant_names import (
    NAMES_SEPARATOR,
    other_names,
    registrant_in_text,
    same_company,
    signature_readings,
)
from fin_agent.filings.identity.reporting_period import (
    is_release,
    name_in_title,
    newest_period_end,
    quarter_readings,
    release_readings,
    year_readings,
)
from fin_agent.lexicon.words import patterns
from fin_agent.vocabulary.fact import Tag
from fin_agent.vocabulary.fiscal_calendar import nominal_month
from fin_agent.vocabulary.identity import FieldSource, Form, Identity, Origin
from fin_agent.vocabulary.page import PageContent

_PATTERNS = patterns("identity_patterns")

_FIELDS = (
    "company", "form", "fiscal_year", "quarter", "period_end", "fiscal_year_end_month", "filed", "ticker", "cik",
    "file_number", "employer_id", "other_names", "amended",
)  # fmt: skip


def resolve_identity(readings: Iterable[FieldSource]) -> Identity:
    """Return the Identity that `readings` support, each field with its sources; more reliable kinds come first."""
    given = list(readings)
    ranked = {field: ranked_readings([one for one in given if one.field == field]) for field in _FIELDS}
    if all(one.value == "false" for one in ranked["amended"]):
        ranked["amended"] = []
    value = {field: found[0].value if found else "" for field, found in ranked.items()}
    return Identity(
        company=value["company"],
        form=Form(value["form"] or Form.OTHER),
        fiscal_year=_number(value["fiscal_year"]),
        quarter=_number(value["quarter"]),
        period_end=_day(value["period_end"]),
        fiscal_year_end_month=_number(value["fiscal_year_end_month"]),
        filed=_day(value["filed"]),
        ticker=value["ticker"] or None,
        cik=value["cik"] or None,
        file_number=value["file_number"] or None,
        employer_id=value["employer_id"] or None,
        other_names=tuple(value["other_names"].split(NAMES_SEPARATOR)) if value["other_names"] else (),
        amended=value["amended"] == "true",
        sources=tuple(one for field in _FIELDS for one in ranked[field]),
    )


def best_value(readings: Iterable[FieldSource], field: str) -> str:
    """Return the value of `field` that `readings` support best; empty where none names it."""
    found = ranked_readings([one for one in readings if one.field == field])
    return found[0].value if found else ""


def ranked_readings(readings: Sequence[FieldSource]) -> list[FieldSource]:
    """Return readings of one field without repetitions, those of the best supported value first.

    Each reading votes for its value with the logarithm of its odds, as independent witnesses do: one of 0.99 outweighs
    one of 0.97, which two of 0.9 together outweigh. Ties go to the reading given first. Variants of a company's name
    get the spelling of the first of them.
    """
    alike: list[FieldSource] = []
    for one in readings:
        if one.field == "company":
            spelling = next((other.value for other in alike if same_company(other.value, one.value)), one.value)
            one = replace(one, value=spelling)
        if not any((other.value, other.origin) == (one.value, one.origin) for other in alike):
            alike.append(one)
    support: dict[str, float] = {}
    for one in alike:
        support[one.value] = support.get(one.value, 0.0) + math.log(one.confidence / (1 - one.confidence))
    best = max(support, key=lambda value: round(support[value], 6), default="")
    return [one for one in alike if one.value == best] + [one for one in alike if one.value != best]


def _number(value: str) -> int | None:
    return int(value) if value else None


_FIRST_PAGES = 30
_MARKET_WITHIN = 60
"""Item 5 of older reports, which has the symbol where the cover does not, is within these pages."""
_NOTES_WITHIN = 150
"""The first notes, which define the names of years that end in winter, are within these pages."""
_PERIODIC = (Form.TEN_K, Form.TEN_Q, Form.TWENTY_F)


def identify(pages: Sequence[PageContent], tags: Sequence[Tag] = ()) -> Identity:
    """Return the identity of the document with these `pages` and `tags`. Never raises.

    `dei:` tags are read first, then the form cover, the signature and the text. Where readings differ, the best
    supported one is used, and the others are kept in `Identity.sources`. Without tags, form cover and results, the form
    is Form.OTHER and a company is named only where it is certain. Only the first 30 pages and those with signatures are
    read, so that the length of a document does not matter.
    """
    first = list(plain_pages(pages[:_FIRST_PAGES]))
    stated = dei_readings(tags)
    cover = find_cover(first)
    if cover is None and not best_value(stated, "form"):
        return resolve_identity(_without_cover(first))
    readings = [*stated, *(cover.readings if cover else ())]
    body = first[cover.position :] if cover else first
    if best_value(readings, "form") == Form.OTHER and is_release(body[1:]):
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
    """Return the identity of the release of results that is an exhibit of an 8-K, after the report's own pages.

    Items about an acquisition or a vote mention years and earnings too: only a report with an Item on results has one.
    """
    own = [
        position
        for position, page in enumerate(body[:_EXHIBIT_WITHIN])
        if _PATTERNS["page of an 8-K"].search(page.text)
    ]
    if any(_PATTERNS["item on results"].search(body[position].text) for position in own):
        for start in range(own[-1] + 1, min(len(body), _EXHIBIT_WITHIN)):
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
        found += registrant_in_text(body[:12]) or registrant_in_text(list(plain_pages(pages[-3:])))
    start = body[0].number - pages[0].number if body else 0
    found += signature_readings(pages, start, _day(best_value(found, "period_end")))
    further = plain_pages(pages[_FIRST_PAGES:_MARKET_WITHIN])
    found += ticker_readings(body[:2], body, () if best_value(found, "ticker") else further)
    found += other_names(body, best_value(found, "company"))
    notes = plain_pages(pages[_FIRST_PAGES:_NOTES_WITHIN])
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
        found.append(reading("fiscal_year_end_month", nominal_month(end)[1], FROM_END, words))
    month = best_value([*known, *found], "fiscal_year_end_month")
    if form in _PERIODIC and month:
        named = best_value(known, "fiscal_year") != ""
        found += year_readings(body, end, int(month), notes, named)
    elif form is Form.EIGHT_K:
        found.append(reading("fiscal_year", end.year, FROM_END, f"event of {end.isoformat()}"))
    return found


def _without_cover(pages: Sequence[PlainPage]) -> list[FieldSource]:
    if is_release(pages):
        title = name_in_title(pages)
        named = registrant_in_text(pages[:14])
        if not named and title is not None:
            named = [reading("company", title.name, TITLE, title.printed, title.page)]
        found = [*release_readings(pages), *ticker_readings((), pages), *named]
        return found + other_names(pages[:3], best_value(found, "company"), [title] if title else [])
    opening = "\n".join(page.text for page in pages[:4])[:4000]
    report = _PATTERNS["annual report"].search(opening)
    if report is None or not any(_PATTERNS["statements"].search(page.text) for page in pages):
        return []
    found = [reading("form", Form.ANNUAL_REPORT, FROM_CONTENT, report.group(), pages[0].number)]
    found += [*registrant_in_text(pages), *ticker_readings((), pages)]
    for newest in newest_period_end(pages):
        end = date.fromisoformat(newest.value)
        month = nominal_month(end)[1]
        found += [newest, reading("fiscal_year_end_month", month, FROM_END, newest.printed, newest.page)]
        found += year_readings(pages, end, month)
    return found + other_names(pages[:6], best_value(found, "company"))


def _day(value: str) -> date | None:
    return date.fromisoformat(value) if value else None
