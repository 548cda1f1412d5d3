"""Dates as tagged filings print them, in ISO form: `2024-09-28`, `--09-28`, `2028-01`."""

from __future__ import annotations

import re
from datetime import date


def read_date(printed: str, transformation: str) -> str | None:
    """ISO form of a printed date whose parts stand in the order that the transformation's name says; None if unread.

    `datemonthnamedayyearen`, `datedaymonthen` and `datelongmonthyear` all tell what comes first. Month names are read
    in English; a year of two digits is of this century.
    """
    order = _order(transformation)
    parts = _PART.findall(printed.translate(_FULL_WIDTH))
    if not order or len(parts) != len(order):
        return None
    year = month = day = None
    for kind, part in zip(order, parts, strict=True):
        if kind == "month":
            month = _month(part)
            if month is None:
                return None
        elif not part.isdecimal():
            return None
        elif kind == "day":
            day = int(part)
        else:
            year = int(part) if len(part) == 4 else 2000 + int(part)
    return _iso(year, month, day)


def is_date_format(transformation: str) -> bool:
    """Whether a transformation is one of those for dates that are known here."""
    return bool(_order(transformation))


_UNTOLD = {
    "dateslashus": ("month", "day", "year"),
    "datedotus": ("month", "day", "year"),
    "datelongus": ("month", "day", "year"),
    "dateshortus": ("month", "day", "year"),
    "dateslasheu": ("day", "month", "year"),
    "datedoteu": ("day", "month", "year"),
    "datelonguk": ("day", "month", "year"),
    "dateshortuk": ("day", "month", "year"),
    "datelongeu": ("day", "month", "year"),
}
"""Names of the first registry that do not tell the order of their parts."""
_NAMED = re.compile(r"date(?:long|short|slash)?((?:day|monthname|monthroman|month|year)+)(?:en|us|uk)?", re.ASCII)
_KIND = re.compile(r"day|month(?=name|roman)?|year")
_PART = re.compile(r"\d+(?=(?:st|nd|rd|th)\b)|\d+|[^\W\d_]{3,}", re.I)
_FULL_WIDTH = {0xFF10 + digit: ord("0") + digit for digit in range(10)}
_MONTH_NAMES = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_MONTHS = {name[:3]: number for number, name in enumerate(_MONTH_NAMES, start=1)}


def _order(transformation: str) -> tuple[str, ...]:
    if transformation in _UNTOLD:
        return _UNTOLD[transformation]
    match = _NAMED.fullmatch(transformation)
    kinds = tuple(_KIND.findall(match[1])) if match else ()
    return kinds if len(set(kinds)) == len(kinds) and len(kinds) > 1 else ()


def _month(part: str) -> int | None:
    if part.isdecimal():
        return int(part)
    number = _MONTHS.get(part[:3].lower())
    return number if number and _MONTH_NAMES[number - 1].startswith(part.lower()) else None


def _iso(year: int | None, month: int | None, day: int | None) -> str | None:
    # A leap year stands in where the day has no year: 29 February is one.
    try:
        date(2000 if year is None else year, 1 if month is None else month, 1 if day is None else day)
    except (ValueError, OverflowError):
        return None
    if month is None:
        return None
    if year is None:
        return f"--{month:02d}-{day:02d}"
    return f"{year:04d}-{month:02d}" + ("" if day is None else f"-{day:02d}")
