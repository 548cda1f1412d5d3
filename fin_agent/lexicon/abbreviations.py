"""Expand analysts' abbreviations in questions."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import groupby

from fin_agent.lexicon.words import patterns, word_lists

_PATTERNS = patterns("shorthand_patterns")


@lru_cache(maxsize=64)
def expand_abbreviations(question: str) -> str:
    """Return the question with its abbreviations (words/shorthand.yaml) and two-digit years expanded.

    >>> expand_abbreviations("op margin FY'24, 13 wks ended Jan '25")
    'operating margin FY2024, 13 weeks ended Jan 2025'
    >>> expand_abbreviations("over the last 3-year period")
    'over the last three years'
    >>> expand_abbreviations("short + long term debt")
    'short-term + long-term debt'
    >>> expand_abbreviations("sales in America, sales in Latin America, earnings a share")
    'sales in the United States, sales in Latin America, earnings per share'
    """
    pattern, forms = _forms()

    def expand_match(found: re.Match[str]) -> str:
        short = found["short"]
        long = forms.get(short) or forms.get(short.lower()) or forms.get(short.lower().replace(". ", " "), "")
        return f"{long} " if long and not short[-1].isalnum() else long or found.group()

    question = _PATTERNS["joined superlative"].sub(lambda found: found.group().replace("-", " "), question)
    question = _PATTERNS["either sign"].sub(r"\g<one>", question)
    question = _PATTERNS["two terms"].sub(r"\g<first>-term \g<joint> \g<second>-term", question)
    text = _PATTERNS["shared ending"].sub(r"\g<first>-\g<end> \g<noun> plus \g<second>-\g<end> \g<noun>", question)
    text = _PATTERNS["year end"].sub("year-end ", _PATTERNS["per share"].sub(" per share", text))
    text = _PATTERNS["in america"].sub(r"\g<where> the United States", pattern.sub(expand_match, text))
    if not any(map(str.isdigit, text)):
        return text  # what follows is of years and quarters
    text = _PATTERNS["wanted behind"].sub(
        lambda found: ", in percent" if found["percent"] else ", in dollars" if found["dollars"] else "", text
    )
    text = _PATTERNS["counted years"].sub(
        lambda found: f"{found['lead']} {COUNT_WORDS[int(found['count'])]} years", text
    )
    text = _PATTERNS["middle of a year"].sub("June 30, ", text)
    text = _PATTERNS["month and year"].sub(r"\g<month> 20\g<yy>", text)
    text = _PATTERNS["calendar quarter"].sub(_quarter_ended, text)
    return _PATTERNS["short year"].sub(r"\g<lead>20\g<yy>", text)


def _quarter_ended(found: re.Match[str]) -> str:
    """Return `calendar Q2 2025` as its last day, because the filer may use another name for that quarter."""
    last = ("March 31", "June 30", "September 30", "December 31")[int(found["quarter"]) - 1]
    return f"quarter ended {last}, 20{found['yy']}"


COUNT_WORDS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
"""The words of small numbers, at their place."""


@lru_cache(maxsize=1)
def _forms() -> tuple[re.Pattern[str], dict[str, str]]:
    """Return (pattern of all abbreviations, their expansions); those in lower case match in any case."""
    forms = {short: long for long, listed in word_lists("shorthand").items() for short in listed}
    ordered = sorted(forms, key=lambda short: (short[0].lower(), -len(short), short))
    # Those that begin with one letter are tried together, or not at all: most words of a text begin with another.
    either = "|".join(
        f"(?=(?i:{re.escape(letter)}))(?:{'|'.join(map(_abbreviation_pattern, same))})"
        for letter, same in groupby(ordered, key=lambda short: short[0].lower())
    )
    edge = r"(?<![\w&/.'])(?<![A-Za-z]-)"
    return re.compile(
        rf"{edge}(?P<short>{either})(?:(?<=\W)(?=\w)|(?![\w&'-]|/\w\b|\.\w)\.?(?=\s*[a-z\d(]|\s*$|\W))"
    ), forms


def _abbreviation_pattern(short: str) -> str:
    """Return the pattern of an abbreviation; each of its words may end in a period."""
    pattern = re.escape(short).replace(r"\ ", r"\.? ")
    return pattern if short != short.lower() or len(short) == 1 else f"(?i:{pattern})"
