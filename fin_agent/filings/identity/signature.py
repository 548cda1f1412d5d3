"""The registrant's signature: its name and the date beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date

from fin_agent.filings.identity.cover_name import is_full_name, printed_name
from fin_agent.filings.identity.print_repair import plain_print
from fin_agent.filings.identity.readings import SIGNATURE, reading
from fin_agent.vocabulary.dates import printed_dates
from fin_agent.vocabulary.identity import FieldSource
from fin_agent.vocabulary.page import PageContent

SIGNED_WITHIN = 400
LAST_PAGES = 40


def signature_readings(pages: Sequence[PageContent], first: int, not_before: date | None) -> Iterator[FieldSource]:
    """Name and date (`filed`) of the first signature from the page at position `first` on.

    Dates before `not_before`, the end of the period, are no dates of signing. Of long files only the first 400 and
    the last 40 pages are read.
    """
    for page in distant_pages(pages, first):
        if "SIGNATURE" not in page.text and "ignature" not in page.text:
            continue
        text = _DAY_APART.sub(r"\1\2", plain_print(page.text))
        heading = _HEADING.search(text)
        if heading is None:
            continue
        name = _signer(text, heading.end())
        if name is not None:
            yield reading("company", name, SIGNATURE, name, page.number)
        for one in printed_dates(text, heading.start()):
            if not_before is None or one.date >= not_before:
                yield reading("filed", one.date, SIGNATURE, _line_around(text, one.start, one.end), page.number)
                return


def distant_pages(pages: Sequence[PageContent], first: int) -> Iterator[PageContent]:
    """Pages from position `first` on, without those in the middle of very long files."""
    yield from pages[first:SIGNED_WITHIN]
    yield from pages[max(SIGNED_WITHIN, first, len(pages) - LAST_PAGES) :]


_DAY_APART = re.compile(r"\b([123]) (\d)(?=\s*,\s*(?:19|20)\d\d)")
"""`February 1 5 , 2018`, as signed copies are typed."""
_HEADING = re.compile(r"\bsignatures?(?:\(s\))?\b\W{0,40}(?=pursuant)", re.IGNORECASE)
_AUTHORIZED = re.compile(r"duly\s+authorized\W*", re.IGNORECASE)


def _signer(text: str, place: int) -> str | None:
    """The full name between `thereunto duly authorized` and the signature."""
    authorized = _AUTHORIZED.search(text, place, place + 900)
    if authorized is None:
        return None
    for line in text[authorized.end() : authorized.end() + 300].split("\n"):
        if re.match(r"\W*(?:by|/s/)\b", line, re.IGNORECASE) or "/s/" in line:
            return None
        name = re.sub(r"^\W*(?:registrant|company)\W+", "", printed_name(line), flags=re.IGNORECASE)
        if is_full_name(name):
            return name
    return None


def _line_around(text: str, start: int, end: int) -> str:
    return text[text.rfind("\n", 0, start) + 1 : text.find("\n", end) if "\n" in text[end:] else None]
