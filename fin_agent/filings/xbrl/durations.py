"""Lengths of time as tagged filings print them, in ISO form: `P4Y`, `P364D`, `P2Y4M24D`."""

from __future__ import annotations

import re
from decimal import Decimal

from fin_agent.filings.xbrl.number_formats import read_number
from fin_agent.filings.xbrl.number_words import read_number_words


def read_duration(printed: str, transformation: str) -> str | None:
    """ISO form of a printed length of time, or None where it shows none.

    `durwordsen` reads `five years and six months`; the others take a number of the unit they name. What is left of a
    year or month goes on in smaller units, a month being 30.4375 days, as the SEC's transformations define.
    """
    if transformation == "durwordsen":
        return _in_words(printed)
    number = read_number(printed.strip(), "")
    if number is None or number > _LONGEST:
        return None
    return _UNITS[transformation](abs(number), "-" if number < 0 else "")


def is_duration_format(transformation: str) -> bool:
    """Whether a transformation is one of those for lengths of time that are known here."""
    return transformation == "durwordsen" or transformation in _UNITS


_LONGEST_PRINT = 200
_LONGEST = 1_000_000
_MONTH = Decimal("30.4375")
_LENGTHS = re.compile(r"(?:([a-z\d][a-z\d\s-]*?)[\s-]+)(year|month|week|day|hour)s?\b[\s,]*(?:and\b\s*)?", re.I)


def _in_words(printed: str) -> str | None:
    if len(printed) > _LONGEST_PRINT:
        return None
    text = " ".join(printed.replace("‑", "-").replace("–", "-").replace("‐", "-").split())
    if text.lower() in ("no", "none", "zero"):
        return "P0D"
    counts: dict[str, int] = {}
    end = 0
    for match in _LENGTHS.finditer(text):
        count = int(match[1]) if match[1].isdecimal() and len(match[1]) < 7 else read_number_words(match[1])
        if match.start() != end or count is None or match[2].lower() in counts:
            return None
        counts[match[2].lower()] = count
        end = match.end()
    if not counts or end != len(text):
        return None
    days = counts.get("day", 0) + 7 * counts.get("week", 0)
    pairs = ((counts.get("year", 0), "Y"), (counts.get("month", 0), "M"), (days, "D"))
    date_part = "".join(f"{count}{unit}" for count, unit in pairs if count)
    hours = f"T{counts['hour']}H" if counts.get("hour") else ""
    return f"P{date_part}{hours}" if date_part or hours else "P0D"


def _years(number: Decimal, sign: str) -> str:
    years = int(number)
    return _iso(sign, f"{years}Y" if years else "", *_months_and_days((number - years) * 12), zero="0Y")


def _months(number: Decimal, sign: str) -> str:
    return _iso(sign, *_months_and_days(number), zero="0M")


def _weeks(number: Decimal, sign: str) -> str:
    return f"{sign}P{int(number * 7)}D"


def _days(number: Decimal, sign: str) -> str:
    days = int(number)
    hours = int((number - days) * 24)
    return _iso(sign, f"{days}D" if days else "", f"T{hours}H" if hours else "", zero="0D")


def _hours(number: Decimal, sign: str) -> str:
    return f"{sign}PT{int(number)}H"


def _months_and_days(number: Decimal) -> tuple[str, str]:
    months = int(number)
    days = int((number - months) * _MONTH)
    return f"{months}M" if months else "", f"{days}D" if days else ""


def _iso(sign: str, *parts: str, zero: str) -> str:
    length = "".join(parts)
    return f"{sign}P{length}" if length else f"P{zero}"


_UNITS = {"duryear": _years, "durmonth": _months, "durweek": _weeks, "durday": _days, "durhour": _hours}
