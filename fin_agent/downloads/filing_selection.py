"""Selecting a company's filings by form and fiscal year, and naming their files."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from fin_agent.downloads.connection import DownloadError
from fin_agent.downloads.edgar_submissions import Company, ListedFiling, Submissions
from fin_agent.errors import FinAgentError

_EARLIEST, _LATEST = 1993, 2100
_QUARTER = 91.3
_SLACK = timedelta(days=20)
"""Fiscal years of 52 and 53 weeks end some days before or after the date in EDGAR's list."""


@dataclass(frozen=True, slots=True)
class Years:
    """A span of years, both ends included."""

    first: int
    last: int

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first} to {self.last}"


@dataclass(frozen=True, slots=True)
class FiscalPlace:
    """A fiscal year, and the quarter of a quarterly report."""

    year: int
    quarter: int | None = None


@dataclass(frozen=True, slots=True)
class FilingToFetch:
    """A filing to fetch, with its fiscal period and the name of its file (without extension)."""

    listed: ListedFiling
    place: FiscalPlace
    name: str


@dataclass(frozen=True, slots=True)
class NotFiled:
    """A requested form, and the years without such a filing; no years if none were requested."""

    form: str
    years: tuple[Years, ...] = ()
    at_all: bool = True
    """Whether the company has no filing on this form in any of the requested years."""

    def __str__(self) -> str:
        return f"{self.form} of {', '.join(map(str, self.years))}" if self.years else self.form


def years_in(written: str) -> Years:
    """Parse `2022`, `2022-2024` or `2022:2024`.

    Raises:
        FinAgentError: The text names no years, or years outside EDGAR's range.

    >>> years_in("2022-2024")
    Years(first=2022, last=2024)
    """
    match = re.fullmatch(r"\s*(\d{4})\s*(?:[-:–]\s*(\d{4})\s*)?", written)
    if match is not None:
        first, last = int(match[1]), int(match[2] or match[1])
        if _EARLIEST <= first <= last <= _LATEST:
            return Years(first, last)
    raise FinAgentError(
        f"{written[:40]!r} names no years", remedy=f"Give a year or a span such as 2022-2024, from {_EARLIEST} on"
    )


def select_filings(
    company: Company, submissions: Submissions, forms: Sequence[str], years: Years | None
) -> tuple[list[FilingToFetch], list[NotFiled]]:
    """Select filings on the given forms: those of the years, or the newest of each form.

    Returns the filings, oldest first, and what is missing. Raises DownloadError if there is none at all.
    """
    asked = dict.fromkeys(form.strip().upper() for form in forms)
    left = set(asked)
    found: list[FilingToFetch] = []
    there: set[int] = set()
    for listed in submissions.since(years.first if years else None):
        if listed.form.upper() not in left:
            continue
        place = place_of(listed, submissions.year_end)
        there.add(place.year)
        if years is None:
            left.discard(listed.form.upper())
        elif not years.first <= place.year <= years.last:
            continue
        found.append(FilingToFetch(listed, place, name_of(company.handle, listed, place)))
        if not left:
            break
    if not found:
        raise _none(company, submissions, forms, years, there)
    told_apart = _told_apart(sorted(found, key=lambda wanted: (wanted.listed.day, wanted.listed.accession)))
    return told_apart, [missing for form in asked if (missing := _missing(form, found, years)) is not None]


def _missing(form: str, found: Sequence[FilingToFetch], years: Years | None) -> NotFiled | None:
    held = {wanted.place.year for wanted in found if wanted.listed.form.upper() == form}
    if years is None:
        return None if held else NotFiled(form)
    spans: list[Years] = []
    for year in range(years.first, years.last + 1):
        if year in held:
            continue
        if spans and spans[-1].last == year - 1:
            spans[-1] = Years(spans[-1].first, year)
        else:
            spans.append(Years(year, year))
    return NotFiled(form, tuple(spans), at_all=not held) if spans else None


def _told_apart(wanted: list[FilingToFetch]) -> list[FilingToFetch]:
    """Make names unique: the first filing keeps its name, later ones of that name get their accession number."""
    first = {each.name: each for each in reversed(wanted)}
    return [
        each if first[each.name] is each else replace(each, name=f"{each.name}_{each.listed.accession}")
        for each in wanted
    ]


def _none(
    company: Company, submissions: Submissions, forms: Sequence[str], years: Years | None, there: set[int]
) -> FinAgentError:
    of_years = f" of {years}" if years else ""
    if there:
        remedy = f"Give other --years: there are filings of {', '.join(map(str, sorted(there)))}"
    else:
        listed = ", ".join(submissions.forms()[:12])
        remedy = f"Give another --form: its newest filings are {listed}" if listed else "It has filed nothing"
    wanted = f"{' or '.join(forms)}{of_years}"
    return DownloadError(f"EDGAR has no {wanted}", subject=f"{company.handle} ({submissions.name})", remedy=remedy)


def place_of(listed: ListedFiling, year_end: tuple[int, int] | None) -> FiscalPlace:
    """Return the fiscal year (the calendar year in which it ends) and quarter of a report; for other forms the year.

    >>> place_of(ListedFiling("0000320193-23-000064", "10-Q", date(2023, 5, 5), date(2023, 4, 1), "a.htm"), (9, 28))
    FiscalPlace(year=2023, quarter=2)
    """
    form = listed.form.upper().removesuffix("/A")
    if not form.startswith(("10-K", "10-Q", "20-F", "40-F")):
        return FiscalPlace(listed.day.year)
    end = _year_end_after(listed.day - _SLACK, year_end or (12, 31))
    if not form.startswith("10-Q"):
        return FiscalPlace(end.year if abs((end - listed.day).days) <= _SLACK.days else listed.day.year)
    quarter = 4 - round((end - listed.day).days / _QUARTER)
    return FiscalPlace(end.year, quarter if 1 <= quarter <= 3 else None)


def name_of(handle: str, listed: ListedFiling, place: FiscalPlace) -> str:
    """Return the doc_id of the file: `AAPL_2023_10K`, `AAPL_2023Q2_10Q`, `AAPL_2023-05-04_8K`."""
    form = re.sub(r"[^A-Z0-9]", "", listed.form.upper())[:12] or "FORM"
    when = str(place.year)
    if place.quarter is not None:
        when = f"{place.year}Q{place.quarter}"
    elif not form.startswith(("10K", "10Q", "20F", "40F")):
        when = listed.day.isoformat()
    return f"{handle}_{when}_{form}"


def _year_end_after(day: date, year_end: tuple[int, int]) -> date:
    month, last = year_end
    ends = (date(year, month, min(last, monthrange(year, month)[1])) for year in (day.year, day.year + 1))
    return next(end for end in ends if end >= day)
