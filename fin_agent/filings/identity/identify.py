"""Who, what and when: the Identity of a filing, from its pages alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from fin_agent.filings.filing import FieldSource, Form, Identity, Origin, PageContent
from fin_agent.filings.identity.cover import Cover, find_cover
from fin_agent.filings.identity.dates import printed_dates
from fin_agent.filings.identity.fiscal_naming import nominal_month
from fin_agent.filings.identity.print_repair import plain_print
from fin_agent.filings.identity.registrant import other_names, registrant_in_text, ticker_of
from fin_agent.filings.identity.release import is_release, named_in_title, read_release
from fin_agent.filings.identity.reported_period import named_year, newest_period_end, year_and_quarter_of_quarterly

_FIRST_PAGES = 30
_SIGNED_WITHIN = 400
_LAST_PAGES = 40
_MARKET_WITHIN = 60
"""Item 5 of older reports, which name the symbol there and not on the cover, stands within these pages."""


def identify(pages: Sequence[PageContent]) -> Identity:
    """Identity of the document whose `pages` these are; never raises.

    Without a form cover and without results it is Form.OTHER, and a company is named only where it is certain. Only
    the first 30 pages and those where signatures stand are read, so that length costs nothing.
    """
    texts = [plain_print(page.text) for page in pages[:_FIRST_PAGES]]
    cover = find_cover(texts)
    if cover is None:
        return _without_cover(texts)
    if cover.form is Form.OTHER and is_release(texts[cover.page + 1 :]):
        # A foreign filer's results come under the cover of a Form 6-K.
        release = _without_cover(texts[cover.page + 1 :])
        return replace(release, company=cover.company or release.company, file_number=cover.file_number)
    body = texts[cover.page :]
    company = cover.company or registrant_in_text(body[:12]) or _signer(pages) or ""
    identity = Identity(
        company=company,
        form=cover.form,
        period_end=cover.period_end,
        filed=_signed(pages, cover),
        ticker=ticker_of(body[:2], body, (page.text for page in pages[_FIRST_PAGES:_MARKET_WITHIN])),
        cik=cover.cik,
        file_number=cover.file_number,
        employer_id=cover.employer_id,
        other_names=other_names(body[:6], company),
        amended=cover.amended,
        sources=_sources(
            form=cover.heading, period_end=cover.period_words, company=cover.company or "named in the text"
        ),
    )
    return _with_year(identity, body)


def _with_year(identity: Identity, body: Sequence[str]) -> Identity:
    end = identity.period_end
    if end is None and identity.form in (Form.TEN_K, Form.TEN_Q, Form.TWENTY_F):
        end = newest_period_end(body, identity.filed)
    if end is None:
        return identity
    identity = replace(identity, period_end=end)
    if identity.form is Form.TEN_Q:
        year, quarter, month = year_and_quarter_of_quarterly(body, end)
        return replace(identity, fiscal_year=year, quarter=quarter, fiscal_year_end_month=month)
    if identity.form in (Form.TEN_K, Form.TWENTY_F):
        month = nominal_month(end)[1]
        return replace(identity, fiscal_year=named_year(body, end, month), fiscal_year_end_month=month)
    return replace(identity, fiscal_year=end.year)


def _without_cover(texts: Sequence[str]) -> Identity:
    if is_release(texts):
        release = read_release(texts)
        company = registrant_in_text(texts[:14]) or named_in_title(texts[0]) or ""
        month = None
        if release.period_end is not None and release.quarter is not None:
            month = (nominal_month(release.period_end)[1] + 3 * (4 - release.quarter) - 1) % 12 + 1
        return Identity(
            company=company,
            form=Form.EARNINGS,
            fiscal_year=release.fiscal_year,
            quarter=release.quarter,
            period_end=release.period_end,
            fiscal_year_end_month=month,
            filed=release.released,
            ticker=ticker_of((), texts),
            other_names=other_names(texts[:3], company, named_in_title(texts[0])),
            sources=_sources(fiscal_year=release.words),
        )
    if _ANNUAL_REPORT.search("\n".join(texts[:4])[:4000]) and any(_STATEMENTS.search(text) for text in texts):
        company = registrant_in_text(texts) or ""
        end = newest_period_end(texts)
        month = nominal_month(end)[1] if end else None
        year = named_year(texts, end, month) if end and month else None
        return Identity(
            company=company,
            form=Form.ANNUAL_REPORT,
            fiscal_year=year,
            period_end=end,
            fiscal_year_end_month=month,
            ticker=ticker_of((), texts),
            other_names=other_names(texts[:6], company),
        )
    return Identity(company="", form=Form.OTHER)


_ANNUAL_REPORT = re.compile(r"\bannual\s+report\b|\breport\s+and\s+accounts\b", re.IGNORECASE)
_STATEMENTS = re.compile(
    r"consolidated\s+(?:balance\s+sheets?|statements?\s+of|income\s+statements?)|financial\s+(?:highlights|review)",
    re.IGNORECASE,
)
_SIGNATURE = re.compile(r"(?:SIGNATURE|Signature)S?s?\b\s{0,40}(?=pursuant)", re.IGNORECASE)


def _signed(pages: Sequence[PageContent], cover: Cover) -> date | None:
    """The date beside the registrant's signature."""
    length = len(pages)
    places = [
        *range(cover.page, min(length, _SIGNED_WITHIN)),
        *range(max(_SIGNED_WITHIN, length - _LAST_PAGES), length),
    ]
    for place in places:
        text = pages[place].text
        if "SIGNATURE" not in text and "Signature" not in text:
            continue
        text = plain_print(text)
        heading = _SIGNATURE.search(text)
        if heading is None:
            continue
        dates = printed_dates(text, heading.start())
        near = [one for one in dates if cover.period_end is None or one.date >= cover.period_end]
        if near:
            return near[0].date
    return None


def _signer(pages: Sequence[PageContent]) -> str | None:
    return registrant_in_text([plain_print(page.text) for page in pages[-3:]])


def _sources(**found: str) -> tuple[FieldSource, ...]:
    return tuple(FieldSource(name, "", Origin.TEXT, words, 0.9) for name, words in found.items() if words)
