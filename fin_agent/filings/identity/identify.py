"""Who, what and when: the Identity of a filing, from its tags and its pages alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import TypedDict

from fin_agent.filings.identity.company_names import spelt_otherwise
from fin_agent.filings.identity.cover import find_cover
from fin_agent.filings.identity.cover_name import former_name_on_cover
from fin_agent.filings.identity.dei import dei_readings, end_of_most_figures, entity_page_readings, former_name
from fin_agent.filings.identity.other_names import OtherName, other_names
from fin_agent.filings.identity.print_repair import PlainPage, plain_page, plain_pages
from fin_agent.filings.identity.readings import FROM_CONTENT, FROM_END, TITLE, reading
from fin_agent.filings.identity.registrant import registrant_in_text
from fin_agent.filings.identity.release import announces_results, is_release, name_in_title, release_readings
from fin_agent.filings.identity.reported_period import newest_period_end, quarter_readings
from fin_agent.filings.identity.settling import settle, taken
from fin_agent.filings.identity.signature import distant_pages, signature_readings
from fin_agent.filings.identity.ticker import ticker_readings
from fin_agent.filings.identity.year_naming import year_readings
from fin_agent.vocabulary.fact import FactPeriod, Tag
from fin_agent.vocabulary.fiscal_naming import nominal_month
from fin_agent.vocabulary.identity import FieldSource, Form, Identity, Origin
from fin_agent.vocabulary.page import PageContent

_FIRST_PAGES = 30
_MARKET_WITHIN = 60
"""Item 5 of older reports, which name the symbol there and not on the cover, stands within these pages."""
_NOTES_WITHIN = 150
"""The first notes, which say how the filer names years that end in winter, stand within these pages."""
_PERIODIC = (Form.TEN_K, Form.TEN_Q, Form.TWENTY_F)


def identify(pages: Sequence[PageContent], tags: Sequence[Tag] = ()) -> Identity:
    """Identity of the document whose `pages` and `tags` these are; never raises.

    Tags (`dei:`) are read first, then the form cover, the signature and the text; of readings that differ the best
    supported one is taken and the others are kept in `Identity.sources`. Without tags, form cover and results it is
    Form.OTHER, and a company is named only where it is certain. Only the first 30 pages and those where signatures
    stand are read, so that length costs nothing.
    """
    first = plain_pages(pages[:_FIRST_PAGES])
    stated = dei_readings(tags)
    cover = find_cover(first)
    if cover is None and not taken(stated, "form"):
        return settle(_without_cover(first))
    if not stated:
        stated = entity_page_readings(distant_pages(pages, cover.position if cover else 0))
    readings = [*stated, *(cover.readings if cover else ())]
    body = first[cover.position :] if cover else first
    if taken(readings, "form") == Form.OTHER and is_release(body[1:]):
        # A foreign filer's results come under the cover of a Form 6-K.
        kept = [one for one in readings if one.field in _OF_THE_FILER]
        return settle([*kept, *_without_cover(body[1:])])
    form = Form(taken(readings, "form"))
    identity = settle(_filed_under(form, readings, pages, tags, body))
    return replace(identity, **_of_a_release(body)) if form is Form.EIGHT_K else identity


def _of_a_release(body: Sequence[PlainPage]) -> _Release:
    """What an 8-K's exhibit, a release of results behind the cover, says of their period.

    Items that tell of an acquisition or a vote name years and earnings too: the report's own pages are no release, and
    without an Item on results the exhibit's title has to speak of them.
    """
    own = [position for position, page in enumerate(body[:_EXHIBIT_WITHIN]) if _OWN_PAGE.search(page.text)]
    first = max([1, *(position + 1 for position in own)])
    on_results = any(_ITEM_ON_RESULTS.search(body[position].text) for position in own)
    for start in range(first, min(len(body), _EXHIBIT_WITHIN)):
        if is_release(body[start:]) and (on_results or announces_results(body[start].text)):
            release = settle(release_readings(body[start:]))
            if release.fiscal_year is None:
                return {}
            months = 3 if release.quarter else 12
            period = FactPeriod(release.fiscal_year, release.quarter, months, release.period_end)
            return {"results": period, "fiscal_year_end_month": release.fiscal_year_end_month}
    return {}


class _Release(TypedDict, total=False):
    results: FactPeriod
    fiscal_year_end_month: int | None


_EXHIBIT_WITHIN = 8
"""Pages of an 8-K before its first exhibit: cover, Items, signature, index of exhibits."""
_OWN_PAGE = re.compile(
    r"^[ \t]*item\s+[1-9]\.[0-9]{2}\b|duly\s+caused\s+this\s+report\s+to\s+be\s+signed", re.IGNORECASE | re.MULTILINE
)
"""The Items of an 8-K and its signature; its exhibits stand behind them."""
_ITEM_ON_RESULTS = re.compile(r"^[ \t]*item\s+2\.02\b", re.IGNORECASE | re.MULTILINE)
_OF_THE_FILER = ("company", "ticker", "cik", "file_number", "employer_id", "fiscal_year_end_month")


def _filed_under(
    form: Form,
    stated: Sequence[FieldSource],
    pages: Sequence[PageContent],
    tags: Sequence[Tag],
    body: Sequence[PlainPage],
) -> list[FieldSource]:
    """All readings of a filing of this `form`: those `stated` by tags and cover, and what the `body` adds to them."""
    found = [one for one in stated if one.field != "quarter" or form is Form.TEN_Q]
    figures = end_of_most_figures(tags) if form in _PERIODIC else None
    if figures is not None:
        found.append(figures)
    if not taken(found, "company"):
        # Before the signature, which is often in capitals.
        named = registrant_in_text(body[:12]) or registrant_in_text(plain_pages(pages[-3:]))
        found += [named] if named else []
    start = body[0].number - pages[0].number if body else 0
    found += signature_readings(pages, start, _day(taken(found, "period_end")))
    further = (plain_page(page) for page in pages[_FIRST_PAGES:_MARKET_WITHIN])
    found += ticker_readings(body[:2], body, () if taken(found, "ticker") else further)
    company = taken(found, "company")
    names = other_names(body[:6], company, _names_beside(found, tags, body, company))
    found += [names] if names else []
    notes = (plain_page(page) for page in pages[_FIRST_PAGES:_NOTES_WITHIN])
    return [*found, *_period_readings(form, found, body, notes)]


def _period_readings(
    form: Form, known: Sequence[FieldSource], body: Sequence[PlainPage], notes: Iterable[PlainPage]
) -> list[FieldSource]:
    """What the text and the calendar say of period end, year and quarter; `notes` are the pages behind the body."""
    found: list[FieldSource] = []
    if form in _PERIODIC:
        # The cover is no witness beside itself.
        on_cover = any(one.field == "period_end" and one.origin is Origin.COVER for one in known)
        newest = newest_period_end(body[1:] if on_cover else body, _day(taken(known, "filed")))
        found += [newest] if newest else []
    end = _day(taken([*known, *found], "period_end"))
    if end is None:
        return found
    words = f"period ended {end.isoformat()}"
    if form is Form.TEN_Q:
        stated = taken(known, "fiscal_year_end_month")
        found += quarter_readings(body, end, int(stated) if stated else None)
    elif form in _PERIODIC:
        found.append(reading("fiscal_year_end_month", nominal_month(end)[1], FROM_END, words))
    month = taken([*known, *found], "fiscal_year_end_month")
    if form in _PERIODIC and month:
        named = taken(known, "fiscal_year") != ""
        found += year_readings(body, end, int(month), notes, named)
    elif form is Form.EIGHT_K:
        found.append(reading("fiscal_year", end.year, FROM_END, f"event of {end.isoformat()}"))
    return found


def _names_beside(
    found: Sequence[FieldSource], tags: Sequence[Tag], body: Sequence[PlainPage], company: str
) -> Iterator[OtherName]:
    """Former names stated by a tag or the cover, and the company's name where the cover spells it otherwise."""
    yield from former_name(tags)
    former = former_name_on_cover(body[0].text) if body else None
    if former is not None:
        yield OtherName(former, former, body[0].number)
    for one in found:
        # A register's `LARK POWER CO` stands on the cover as `Lark Power Company`.
        if one.field == "company" and one.origin is Origin.COVER and spelt_otherwise(one.value, company):
            yield OtherName(one.value, one.printed, one.page)


def _without_cover(pages: Sequence[PlainPage]) -> list[FieldSource]:
    if is_release(pages):
        found = [*release_readings(pages)]
        found += ticker_readings((), pages)
        title = name_in_title(pages)
        named = registrant_in_text(pages[:14])
        if named is None and title is not None:
            named = reading("company", title.name, TITLE, title.printed, title.page)
        if named is not None:
            found.append(named)
        names = other_names(pages[:3], taken(found, "company"), [title] if title else [])
        return found + ([names] if names else [])
    opening = "\n".join(page.text for page in pages[:4])[:4000]
    report = _ANNUAL_REPORT.search(opening)
    if report is None or not any(_STATEMENTS.search(page.text) for page in pages):
        return []
    found = [reading("form", Form.ANNUAL_REPORT, FROM_CONTENT, report.group(), pages[0].number)]
    named = registrant_in_text(pages)
    found += [named] if named else []
    found += ticker_readings((), pages)
    newest = newest_period_end(pages)
    if newest is not None:
        end = date.fromisoformat(newest.value)
        month = nominal_month(end)[1]
        found += [newest, reading("fiscal_year_end_month", month, FROM_END, newest.printed, newest.page)]
        found += year_readings(pages, end, month)
    names = other_names(pages[:6], taken(found, "company"))
    return found + ([names] if names else [])


_ANNUAL_REPORT = re.compile(r"\bannual\s+report\b|\breport\s+and\s+accounts\b", re.IGNORECASE)
_STATEMENTS = re.compile(
    r"consolidated\s+(?:balance\s+sheets?|statements?\s+of|income\s+statements?)|financial\s+(?:highlights|review)",
    re.IGNORECASE,
)


def _day(value: str) -> date | None:
    return date.fromisoformat(value) if value else None
