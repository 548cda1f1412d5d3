"""Expand analysts' abbreviations in questions."""

from __future__ import annotations

import re
from functools import lru_cache

from fin_agent.lexicon.words import word_lists


@lru_cache(maxsize=64)
def expand_abbreviations(question: str) -> str:
    """Return the question with its abbreviations (words/shorthand.yaml) and two-digit years expanded.

    >>> expand_abbreviations("op margin FY'24, 13 wks ended Jan '25")
    'operating margin FY2024, 13 weeks ended Jan 2025'
    >>> expand_abbreviations("over the last 3-year period")
    'over the last three years'
    """
    pattern, forms = _forms()

    def expand_match(found: re.Match[str]) -> str:
        short = found["short"]
        long = forms.get(short) or forms.get(short.lower()) or forms.get(short.lower().replace(". ", " "), "")
        return f"{long} " if long and not short[-1].isalnum() else long or found.group()

    text = _SHARED_ENDING.sub(r"\g<first>-\g<end> \g<noun> plus \g<second>-\g<end> \g<noun>", question)
    text = pattern.sub(expand_match, _YEAR_END.sub("year-end ", _PER_SHARE.sub(" per share", text)))
    text = _COUNTED_YEARS.sub(lambda found: f"{found['lead']} {_COUNTS[int(found['count'])]} years", text)
    text = _CALENDAR_QUARTER.sub(_quarter_ended, _MONTH_AND_YEAR.sub(r"\g<month> 20\g<yy>", text))
    return _SHORT_YEAR.sub(r"\g<lead>20\g<yy>", text)


def _quarter_ended(found: re.Match[str]) -> str:
    """Return `calendar Q2 2025` as its last day, because the filer may use another name for that quarter."""
    last = ("March 31", "June 30", "September 30", "December 31")[int(found["quarter"]) - 1]
    return f"quarter ended {last}, 20{found['yy']}"


_SHARED_ENDING = re.compile(r"\b(?P<first>[a-z]+)- (?:and|&) (?P<second>[a-z]+)-(?P<end>term) (?P<noun>[a-z]+)\b", re.I)
"""`short- and long-term debt`, expanded to `short-term debt plus long-term debt`."""
_COUNTS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNTED_YEARS = re.compile(
    r"\b(?P<lead>last|past|previous)[ -](?P<count>[2-9]|10)[ -]years?(?:[ -](?:period|span)\b)?", re.I
)
"""`the last 3-year period`, expanded to `the last three years`."""
_PER_SHARE = re.compile(r"(?<=[A-Za-z])\s?/\s?(?:sh|shr|share)\b", re.I)
_CALENDAR_QUARTER = re.compile(
    r"\b(?:calendar(?: year)? |CY ?|C)Q(?P<quarter>[1-4])(?: of)?[ -]?(?:CY ?)?'?(?:20)?(?P<yy>\d\d)\b", re.I
)
_YEAR_END = re.compile(r"\bYE[ '-]?(?=(?:20)?\d\d\b)", re.I)
_YY = r"[0-4]\d(?![\d'%/-]|\.\d)"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_MONTH_AND_YEAR = re.compile(
    rf"\b(?P<month>{_MONTH}(?:[ -]\d{{1,2}}(?:st|nd|rd|th)?,?(?= '))?)(?:-'?(?={_YY})| '(?={_YY}))(?P<yy>\d\d)", re.I
)
_SHORT_YEAR = re.compile(
    rf"(?P<lead>\b(?:fy|year-end|end of|{_MONTH})[ -]?)"
    r"(?:'|(?<=year-end )|(?<=year-end)|(?<=end of )|(?<=end of )')(?P<yy>[0-4]\d)"
    r"(?![\d'%/-]|\.\d|\s*(?:years|months|weeks|days)\b)",
    re.I,
)


@lru_cache(maxsize=1)
def _forms() -> tuple[re.Pattern[str], dict[str, str]]:
    """Return (pattern of all abbreviations, their expansions); those in lower case match in any case."""
    forms = {short: long for long, listed in word_lists("shorthand").items() for short in listed}
    either = "|".join(
        _abbreviation_pattern(short)
        if short != short.lower() or len(short) == 1
        else f"(?i:{_abbreviation_pattern(short)})"
        for short in sorted(forms, key=lambda short: (-len(short), short))
    )
    edge = r"(?<![\w&/.'])(?<![A-Za-z]-)"
    return re.compile(
        rf"{edge}(?P<short>{either})(?:(?<=\W)(?=\w)|(?![\w&'-]|/\w\b|\.\w)\.?(?=\s*[a-z\d(]|\s*$|\W))"
    ), forms


def _abbreviation_pattern(short: str) -> str:
    """Return the pattern of an abbreviation; each of its words may end in a period."""
    return re.escape(short).replace(r"\ ", r"\.? ")
