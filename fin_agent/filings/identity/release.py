"""Earnings releases and call transcripts: documents about a quarter that carry no form cover."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import NamedTuple

from fin_agent.filings.identity.other_names import OtherName
from fin_agent.filings.identity.print_repair import PlainPage
from fin_agent.filings.identity.readings import ASSUMED, DATELINE, FROM_CONTENT, TITLE, reading
from fin_agent.filings.identity.reported_period import month_of_year_end, newest_period_end
from fin_agent.filings.identity.year_naming import year_readings
from fin_agent.vocabulary.dates import PrintedDate, printed_dates
from fin_agent.vocabulary.fiscal_naming import closed_quarter
from fin_agent.vocabulary.identity import FieldSource, Form


def is_release(pages: Sequence[PlainPage]) -> bool:
    """Whether coverless pages report a quarter's or year's results to investors."""
    opening = _opening(pages, 6000)
    if _CALL.search(opening[:3000]) and any(_SPEAKERS.search(page.text) for page in pages[:3]):
        return True
    return bool(_RESULTS.search(opening[:2500]) and _FIGURES.search(opening) and _ABOUT_A_PERIOD.search(opening[:2500]))


def announces_results(text: str) -> bool:
    """Whether the title of a release, within its first lines, tells of the results or earnings of a period."""
    title = text[:_TITLE_LENGTH]
    return bool(_OF_RESULTS.search(title) and _ABOUT_A_PERIOD.search(title))


def release_readings(pages: Sequence[PlainPage]) -> Iterator[FieldSource]:
    """Form and period of a release, from its title, its dateline and its tables' headings."""
    opening = _opening(pages, 4000)
    first = pages[0].number
    heading = next((line for line in opening.split("\n") if len(line.split()) > 2), "")
    yield reading("form", Form.EARNINGS, FROM_CONTENT, heading, first)
    released = _released(opening)
    if released is not None:
        yield reading("filed", released.date, DATELINE, opening[released.start : released.end], first)
    period_end = newest_period_end(pages[:12], released.date if released else None)
    end = None
    if period_end is not None:
        yield period_end
        end = date.fromisoformat(period_end.value)
    named = _named_in_title(opening)
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
        yield reading("quarter", quarter, ASSUMED, period_end.printed if period_end else "", None)
    month = month_of_year_end(end, quarter)
    kind = TITLE if named.words else ASSUMED
    words = f"{named.words}, ended {end.isoformat()}"
    yield reading("fiscal_year_end_month", month, kind._replace(origin=ASSUMED.origin), words)
    yield from year_readings(pages[:12], end, month, named=named.year is not None)


def name_in_title(pages: Sequence[PlainPage]) -> OtherName | None:
    """`PepsiCo` of `PepsiCo Reports Fourth Quarter Results`."""
    found = _TITLE_NAME.search(pages[0].text, 0, 1500) if pages else None
    return OtherName(" ".join(found[1].split()), found.group(), pages[0].number) if found else None


def _opening(pages: Sequence[PlainPage], length: int) -> str:
    return "\n".join(page.text for page in pages[:2])[:length]


_TITLE_NAME = re.compile(
    r"^[ \t]{0,20}((?:[A-Z0-9][\w&.’'-]*,?[ ]){1,6}?)"
    r"(?:[Rr]eports|REPORTS|[Aa]nnounces|ANNOUNCES|[Rr]eleases|RELEASES|[Dd]elivers|DELIVERS|[Pp]osts)\b",
    re.MULTILINE,
)
_CALL = re.compile(r"(?:earnings|results|conference)\s+(?:conference\s+)?call", re.IGNORECASE)
_SPEAKERS = re.compile(
    r"^[ \t]{0,20}(?:operator|moderator)\b|question[- ]and[- ]answer|\bprepared remarks\b", re.IGNORECASE | re.MULTILINE
)
_RESULTS = re.compile(r"\b(?:results|earnings|reports?|reported|announce[sd]?|delivers?|posts?)\b", re.IGNORECASE)
_OF_RESULTS = re.compile(r"\b(?:results|earnings)\b", re.IGNORECASE)
_TITLE_LENGTH = 600
_FIGURES = re.compile(
    r"per\s+(?:diluted\s+)?share|\bEPS\b|net\s+(?:income|sales|revenues?|loss|earnings)|\brevenues?\b", re.IGNORECASE
)
_ABOUT_A_PERIOD = re.compile(
    r"\b(?:first|second|third|fourth|1st|2nd|3rd|4th)[\s-]+(?:fiscal\s+)?quarter|\bq[1-4]\b|\b[1-4]q\b|\bquarter(?:ly)?\s+(?:ended|results)"
    r"|\b(?:fiscal|full)[\s-]+(?:year\s+)?(?:20\d\d|year)|\b[a-z]+ 20\d\d quarter|year-end results",
    re.IGNORECASE,
)
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_MIDDLE = (
    r"(?:[\s,-]+(?:and|&|full[\s-]?year|year[\s-]to[\s-]date|fiscal|year|years|of|the|for|its|first[\s-]half|six[\s-]months?|nine[\s-]months?"
    r"|annual|financial|results|quarter))*[\s,'’-]*"
)
_TITLE = re.compile(
    rf"(?:\b(?P<word>first|second|third|fourth|1st|2nd|3rd|4th)[\s-]+(?:fiscal[\s-]+)?quarter|\bq(?P<q1>[1-4])|\b(?P<q2>[1-4])q)"
    rf"(?:’s|'s)?{_MIDDLE}(?:fy\s?['’]?)?(?P<year>20\d\d|(?<=['’])\d\d|(?<=fy)\d\d|(?<=q)\d\d)\b",
    re.IGNORECASE,
)
_TITLE_YEAR_FIRST = re.compile(
    r"\b(?:fiscal\s+)?(?:year\s+)?(?P<year>20\d\d)[\s,-]+(?:(?P<word>first|second|third|fourth)[\s-]+quarter|q(?P<q1>[1-4])\b)",
    re.IGNORECASE,
)
_QUARTER_ALONE = re.compile(r"\b(?P<word>first|second|third|fourth)[\s-]+(?:fiscal[\s-]+)?quarter", re.IGNORECASE)
_WHOLE_YEAR = re.compile(
    r"\b(?:fiscal|full)[\s-]+(?:year\s+)?(?P<year>20\d\d)\b|\b(?P<before>20\d\d)\s+(?:full[\s-]year|annual|fiscal[\s-]year)",
    re.I,
)


class _Named(NamedTuple):
    year: int | None
    quarter: int | None
    words: str
    """Of the title."""


def _named_in_title(opening: str) -> _Named:
    title = opening[:1800]
    found = _TITLE.search(title)
    first = _TITLE_YEAR_FIRST.search(title)
    if first is not None and (found is None or first.start() < found.start()):
        found = first
    whole = _WHOLE_YEAR.search(title[:400])
    if found is not None and (whole is None or found.start() < 400):
        named = found.groupdict()
        quarter = _ORDINALS.get((named["word"] or "").lower()) or int(named.get("q1") or named.get("q2") or 0)
        year = int(named["year"])
        return _Named(year if year > 99 else 2000 + year, quarter, found.group())
    alone = _QUARTER_ALONE.search(title[:600])
    if alone is not None and whole is None:
        return _Named(None, _ORDINALS[alone["word"].lower()], alone.group())
    if whole is not None:
        return _Named(int(whole["year"] or whole["before"]), None, whole.group())
    return _Named(None, None, "")


_ENDED_BEFORE = re.compile(r"(?:end(?:ed|ing|s)|as\s+of|through|compared\s+to|to|on|until|by)\s*:?\s*$", re.IGNORECASE)


def _released(opening: str) -> PrintedDate | None:
    for one in printed_dates(opening):
        if not _ENDED_BEFORE.search(opening, max(0, one.start - 20), one.start):
            return one
    return None
