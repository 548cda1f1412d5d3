"""Dates as printed in filings and questions."""

from __future__ import annotations

import re
from calendar import monthrange
from contextlib import suppress
from datetime import date
from typing import NamedTuple

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MONTH_NUMBERS = {month[:3]: number for number, month in enumerate(MONTHS, start=1)}


class PrintedDate(NamedTuple):
    """A date and its position: `text[start:end]`."""

    start: int
    end: int
    date: date


def printed_dates(text: str, start: int = 0, end: int | None = None) -> list[PrintedDate]:
    """Return every complete date printed in `text[start:end]`, in order.

    Recognizes `January 28, 2023`, `Jan. 28 2023`, `28th of January 2023`, `2023-01-28`, `1/28/2023`, `28.1.2023`, with
    any white space (also line breaks and non-breaking spaces) between the parts. Impossible dates are left out.
    """
    dates = []
    for found in _DATE.finditer(text, start, len(text) if end is None else end):
        form = next(number for number in "12345" if found[f"y{number}"])
        year, named, day = int(found[f"y{form}"]), found[f"m{form}"], int(found[f"d{form}"])
        month = month_number(named) if named[0].isalpha() else int(named)
        if year < 100:
            year += 2000 if year <= 50 else 1900
        if month > 12 and form == "4":
            month, day = day, month
        with suppress(ValueError):
            dates.append(PrintedDate(found.start(), found.end(), date(year, month, day)))
    return dates


def month_number(name: str) -> int:
    """Return 1 to 12 for a month's English name or its abbreviation; raise ValueError for anything else."""
    number = _MONTH_NUMBERS.get(name[:3].lower())
    if number is None:
        raise ValueError(f"`{name}` is not a month")
    return number


def printed_years(text: str) -> list[int]:
    """Return the years in a text, in order.

    >>> printed_years("$2,019 in 2019 and FY 2020, not 20191")
    [2019, 2020]
    """
    return [int(found) for found in _A_YEAR.findall(text)]


def month_end(year: int, month: int) -> date:
    """Return the last day of a month."""
    return date(year, month, monthrange(year, month)[1])


_A_YEAR = re.compile(r"(?<![\w,.])(?:19|20)\d\d(?!\w)")
MONTH_NAME = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z])\.?"
)
"""Pattern of a month's name, to be compiled with IGNORECASE."""
_YEAR = r"(?:19|20)[0-9]{2}(?![0-9])"
_DAY = r"(?:3[01]|[12][0-9]|0?[1-9])"
_DATE = re.compile(
    rf"(?<![a-z])(?P<m1>{MONTH_NAME})\s*(?P<d1>{_DAY})(?![0-9])(?:\s*(?:st|nd|rd|th)\b)?\s*[,.]?\s*(?:of\s+)?(?P<y1>{_YEAR})"
    rf"|(?<![0-9.,$])(?P<d2>{_DAY})(?:\s*(?:st|nd|rd|th)\b)?\s*[-,]?\s*(?:(?:day\s+)?of\s+)?(?P<m2>{MONTH_NAME})[\s,-]*(?P<y2>{_YEAR})"
    rf"|(?<![0-9-])(?P<y3>(?:19|20)[0-9]{{2}})(?P<sep>[-/.])(?P<m3>[01]?[0-9])(?P=sep)(?P<d3>{_DAY})(?![0-9-])"
    r"|(?<![0-9/-])(?P<m4>[0-3]?[0-9])(?P<cut>[/-])(?P<d4>[0-3]?[0-9])(?P=cut)(?P<y4>(?:(?:19|20)[0-9]{2}|[0-9]{2}))(?![0-9/-])"
    rf"|(?<![0-9./-])(?P<d5>{_DAY})\.(?P<m5>[01]?[0-9])\.(?P<y5>{_YEAR})(?![.][0-9])",
    re.IGNORECASE,
)
