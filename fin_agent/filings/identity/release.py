"""Earnings releases and call transcripts: documents about a quarter that carry no form cover."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from fin_agent.filings.identity.dates import printed_dates
from fin_agent.filings.identity.fiscal_naming import fiscal_quarter_of, fiscal_year_of, nominal_month
from fin_agent.filings.identity.reported_period import named_year, newest_period_end


@dataclass(frozen=True, slots=True)
class Release:
    """What an earnings release says about its period."""

    fiscal_year: int | None
    quarter: int | None
    period_end: date | None
    released: date | None
    words: str
    """The title's words that name the period."""


def is_release(texts: Sequence[str]) -> bool:
    """Whether coverless pages report a quarter's or year's results to investors."""
    opening = "\n".join(texts[:2])[:6000]
    if _CALL.search(opening[:3000]) and _SPEAKERS.search("\n".join(texts[:3])):
        return True
    return bool(_RESULTS.search(opening[:2500]) and _FIGURES.search(opening) and _ABOUT_A_PERIOD.search(opening[:2500]))


def read_release(texts: Sequence[str]) -> Release:
    """The period of a release, from its title, its dateline and its tables' headings."""
    opening = "\n".join(texts[:2])[:4000]
    released = _released(opening)
    period_end = newest_period_end(texts[:12], released)
    year, quarter, words = _named_in_title(opening)
    if quarter is None and period_end is not None and year is None:
        year, quarter = fiscal_year_of(period_end, 12), fiscal_quarter_of(period_end, 12)
    elif quarter is not None and year is None and period_end is not None:
        month = (nominal_month(period_end)[1] + 3 * (4 - quarter) - 1) % 12 + 1
        year = named_year(texts[:12], period_end, month)
    elif year is not None and quarter is None:
        # Results of a whole year are the fourth quarter's release.
        quarter = 4
    return Release(year, quarter, period_end, released, words)


def named_in_title(opening: str) -> str | None:
    """`PepsiCo` of `PepsiCo Reports Fourth Quarter Results`."""
    found = _TITLE_NAME.search(opening, 0, 1500)
    return " ".join(found[1].split()) if found else None


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


def _named_in_title(opening: str) -> tuple[int | None, int | None, str]:
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
        return year if year > 99 else 2000 + year, quarter, " ".join(found.group().split())
    alone = _QUARTER_ALONE.search(title[:600])
    if alone is not None and whole is None:
        return None, _ORDINALS[alone["word"].lower()], " ".join(alone.group().split())
    if whole is not None:
        return int(whole["year"] or whole["before"]), None, " ".join(whole.group().split())
    return None, None, ""


_ENDED_BEFORE = re.compile(r"(?:end(?:ed|ing|s)|as\s+of|through|compared\s+to|to|on|until|by)\s*:?\s*$", re.IGNORECASE)


def _released(opening: str) -> date | None:
    for one in printed_dates(opening):
        if not _ENDED_BEFORE.search(opening, max(0, one.start - 20), one.start):
            return one.date
    return None
