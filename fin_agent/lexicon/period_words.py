"""Words around periods in questions, and the years and ranges of years they form."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from pydantic import BaseModel

from fin_agent.lexicon.words import load_yaml, patterns

_PATTERNS = patterns("period_patterns")


class PeriodAtom(NamedTuple):
    """A year, or a part of a year with its year; `year` is None where the words give none."""

    start: int
    end: int
    year: int | None
    quarter: int | None = None
    half: int | None = None
    months: int = 12


def normalize_characters(question: str) -> str:
    """Return the text with plain quotes, hyphens, spaces and digits; every character keeps its position."""
    text = question.translate(_SAME_LENGTH)
    return text if text.isascii() else "".join(map(_plain, text))


def _plain(character: str) -> str:
    if "\uff01" <= character <= "\uff5e":
        return chr(ord(character) - _FULL_WIDTH)
    digit = unicodedata.decimal(character, None)
    return character if digit is None else str(digit)


def match_before(kind: str, text: str, place: int) -> re.Match[str] | None:
    """Return the match of a pattern that ends in `$` right before `place`."""
    return _PATTERNS[kind].search(text, max(0, place - 60), place)


def match_after(kind: str, text: str, place: int) -> re.Match[str] | None:
    """Return the match of a pattern that begins at `place`."""
    return _PATTERNS[kind].match(text, place)


def is_between(kind: str, text: str, start: int, end: int) -> bool:
    """Return whether a pattern matches `text[start:end]` as a whole."""
    return _PATTERNS[kind].fullmatch(text, start, end) is not None


def parse_number(words: str) -> int:
    """Return `3`, `three`, `thirty-nine` or `third` as a number; 0 for anything else."""
    return int(words) if words.isdecimal() else sum(_NUMBERS.get(word, 0) for word in words.lower().split("-"))


def span_months(count: str, unit: str) -> int | None:
    """Return the length of `count` weeks, months or quarters in months; None if not one to four whole quarters.

    >>> span_months("thirty-nine", "week"), span_months("24", "week"), span_months("three", "quarter")
    (9, 6, 9)
    """
    length, size = parse_number(count), _IN_A_QUARTER[unit.lower()]
    quarters = round(length / size)
    uneven = quarters if unit.lower() == "week" else 0  # quarters have 12 to 14 weeks
    return 3 * quarters if 1 <= quarters <= 4 and abs(length - quarters * size) <= uneven else None


_IN_A_QUARTER = {"week": 13, "month": 3, "quarter": 1}


def expand_year(digits: str) -> int:
    """Return `19` as 2019 and `97` as 1997; other numbers are returned as they are."""
    year = int(digits)
    if len(digits) > 2:
        return year
    return year + (2000 if year <= 50 else 1900)


def overlaps_any(start: int, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Return whether `text[start:end]` shares a character with one of `spans`."""
    return any(start < stop and begin < end for begin, stop in spans)


_FULL_WIDTH = 0xFEE0
"""Offset of a full-width character from its plain form."""
_LISTS = load_yaml("number_words")
_NUMBERS: dict[str, int] = {**_LISTS["cardinals"], **_LISTS["ordinals"]}
_SAME_LENGTH = str.maketrans(
    {"‘": "'", "’": "'", "ʼ": "'", "`": "'", "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "―": "-", "−": "-",
     "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\t": " ", "\n": " ", "\r": " "}
)  # fmt: skip


def years_in(text: str, taken: Sequence[tuple[int, int]]) -> list[PeriodAtom]:
    """Return the whole years in a text, in order of position.

    Args:
        text: The question in the form of `normalize_characters`.
        taken: (start, end) spans to ignore.
    """
    years: list[PeriodAtom] = []
    due_until = -1
    for found in _PATTERNS["year atom"].finditer(text):
        start, end = found.span()
        if overlaps_any(start, end, taken):
            continue
        digits = next(found[name] for name in ("fy", "f", "cy", "bare", "short") if found[name])
        if found["bare"]:
            also_due = due_until >= 0 and is_between("joining", text, due_until, start)
            if also_due or match_before("due before", text, start):
                due_until = end
                continue
            if _is_not_year(text, start, end):
                continue
        year = expand_year(digits)
        years.append(PeriodAtom(start, end, year))
        years += _short_end(text, years[-1], taken, worded=found["fy"] is not None)
    return years


def _is_not_year(text: str, start: int, end: int) -> bool:
    if match_before("joined to a word", text, start) and not match_before("joined to a year", text, start):
        return True
    if match_before("never before", text, start) or match_before("act before", text, start):
        return True
    if match_after("never after", text, end) or match_after("named after", text, end):
        return True
    return match_after("counted", text, end) is not None and not match_before("in before", text, start)


def _short_end(text: str, year: PeriodAtom, taken: Sequence[tuple[int, int]], *, worded: bool) -> list[PeriodAtom]:
    """Return the last year of `2017/18`, `FY17-19` and, after a fiscal year only (`worded`), `FY17 to 19`."""
    assert year.year is not None
    short = match_after("short end", text, year.end) or (match_after("worded end", text, year.end) if worded else None)
    if short is None or overlaps_any(short.start("yy"), short.end(), taken):
        return []
    last = year.year - year.year % 100 + int(short["yy"])
    if not year.year < last <= year.year + _MAX_RUN_LENGTH:
        return []
    return [PeriodAtom(short.start("yy"), short.end(), last)]


_MAX_RUN_LENGTH = 15


class YearRange(BaseModel, frozen=True):
    """A range of years, first to last."""

    first: int
    last: int
    form: Literal["range", "between", "last", "list"]
    """`FY2017 - FY2019`; `between FY2017 and FY2019`, which asks for the two ends; `last 3 years`; `2019, 2020,
    2021`."""
    worded: bool = False
    """Whether the question counts the years: `three year total`, `over the past 3 years`."""


def year_range_in(text: str, years: Sequence[PeriodAtom], newest: int | None) -> YearRange | None:
    """Return the range of years in a text, or None.

    Args:
        text: The question in the form of `normalize_characters`.
        years: The whole years asked for, in order of position.
        newest: The year in which `the last three years` end.
    """
    counted = trailing_years(text)
    joined = _printed_run(text, years)
    if joined is not None:
        first, last, form = joined
        return YearRange(first=first, last=last, form=form, worded=counted is not None)
    if counted is None or newest is None:
        return None
    return YearRange(first=newest - counted + 1, last=newest, form="last", worded=True)


def trailing_years(text: str) -> int | None:
    """Return 3 for `the last three years`, `3 year average` or `average of three years`; None for other texts."""
    for kind in ("last years", "years worded", "average of", "over years", "years ended"):
        found = _PATTERNS[kind].search(text)
        if found is not None and parse_number(found["n"]) >= 2:
            return parse_number(found["n"])
    return 2 if any(phrase in text.lower() for phrase in _BOTH) else None


_BOTH = ("both years", "both fiscal years", "both fys")
_MAX_YEARS = 40


def _printed_run(text: str, years: Sequence[PeriodAtom]) -> tuple[int, int, Literal["range", "between", "list"]] | None:
    for here, there in pairwise(years):
        if here.year is None or there.year is None or not 0 < abs(there.year - here.year) < _MAX_YEARS:
            continue
        first, last = sorted((here.year, there.year))
        if is_between("to", text, here.end, there.start):
            return first, last, "range"
        if match_before("between", text, here.start) and is_between("and", text, here.end, there.start):
            return first, last, "between"
    return _listed_years(text, years)


def _listed_years(text: str, years: Sequence[PeriodAtom]) -> tuple[int, int, Literal["list"]] | None:
    """Return the first and last of three or more consecutive years in a list."""
    run: list[PeriodAtom] = []
    for atom in years:
        if run and not is_between("joining", text, run[-1].end, atom.start):
            run = []
        run.append(atom)
        named = {one.year for one in run if one.year is not None}
        if len(named) > 2 and max(named) - min(named) + 1 == len(named):
            return min(named), max(named), "list"
    return None
