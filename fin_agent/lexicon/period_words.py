"""Words that questions put around periods, and what a period found in a text is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple


class PeriodAtom(NamedTuple):
    """A year, or a part of a year joined to its year; `year` is None where the words give none."""

    start: int
    end: int
    year: int | None
    quarter: int | None = None
    half: int | None = None
    months: int = 12
    fiscal: bool = False


def uniform(question: str) -> str:
    """Plain quotes, hyphens, spaces, digits, and letters of full width; every character keeps its place."""
    text = question.translate(_SAME_LENGTH)
    return text if text.isascii() else "".join(map(_plain, text))


def _plain(character: str) -> str:
    if "\uff01" <= character <= "\uff5e":
        return chr(ord(character) - _FULL_WIDTH)
    digit = unicodedata.decimal(character, None)
    return character if digit is None else str(digit)


def stands_before(pattern: re.Pattern[str], text: str, place: int) -> re.Match[str] | None:
    """The match of a pattern that ends in `$` right before `place`."""
    return pattern.search(text, max(0, place - 60), place)


def number_of(words: str) -> int:
    """`3`, `three` or `third` as a number; 0 for anything else."""
    return int(words) if words.isdecimal() else _NUMBERS.get(words.lower(), 0)


def full_year(digits: str) -> int:
    """`19` as 2019, `97` as 1997, four digits as they are."""
    year = int(digits)
    if len(digits) > 2:
        return year
    return year + (2000 if year <= 50 else 1900)


def touches(start: int, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether `text[start:end]` shares a character with one of `spans`."""
    return any(start < stop and begin < end for begin, stop in spans)


YEAR = r"(?:199[0-9]|20[0-4][0-9]|2050)"
"""Pattern of a year in four digits."""
AS_OF = re.compile(
    r"\b(?:as (?:of|at|on)|at|at (?:the )?end of)\s+(?:the\s+)?(?:close of\s+|end of\s+)?"
    r"(?:(?:fiscal\s+)?year[ -]?end(?:ed)?\s+(?:of\s+)?)?$",
    re.IGNORECASE,
)
"""Pattern of `as of`, `at`, `as of the end of` right before a period."""
JOINING = re.compile(
    r"\s*(?:,\s*and|,|;|&|/|\+|and|or|vs\.?|versus|compared (?:to|with)|against|over|than)\s+(?:in\s+|of\s+|the\s+)*"
    r"|\s*[,&/]\s*",
    re.IGNORECASE,
)
"""Pattern of the words between periods that are named side by side."""
THROUGH = re.compile(r"\s*(?:-|through|thru)\s*(?:the\s+)?", re.IGNORECASE)
"""Pattern of the words between the first and the last of several periods."""
_FULL_WIDTH = 0xFEE0
"""How far a character of full width stands from its plain form."""
_NUMBERS = {
    **{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10},
    **{"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "final": 4, "last": 4},
}
_SAME_LENGTH = str.maketrans(
    {"‘": "'", "’": "'", "ʼ": "'", "`": "'", "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "―": "-", "−": "-",
     "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\t": " ", "\n": " ", "\r": " "}
)  # fmt: skip
