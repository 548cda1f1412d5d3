"""Runs of years that a question asks for: `FY2017 - FY2019`, `between 2017 and 2019`, `the last three years`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from pydantic import BaseModel, ConfigDict

from fin_agent.lexicon.period_words import JOINING, YEAR, PeriodAtom, number_of, stands_before
from fin_agent.vocabulary.dates import MONTH_NAME


class Span(BaseModel):
    """A run of years, first to last."""

    model_config = ConfigDict(frozen=True)

    first: int
    last: int
    form: Literal["range", "between", "last", "list"]
    """`FY2017 - FY2019`; `between FY2017 and FY2019`, which asks for its ends; `last 3 years`; `2019, 2020, 2021`."""
    worded: bool = False
    """The question counts the years: `three year total`, `over the past 3 years`."""
    averaged: bool = False
    """It counts them and wants an average: `3 year average`, `average of the last three years`."""

    @property
    def count(self) -> int:
        """Years from first to last, both counted."""
        return self.last - self.first + 1


def span_of(text: str, years: Sequence[PeriodAtom], newest: int | None) -> Span | None:
    """The run of years in `text` (as `uniform` gives it), or None.

    `years` are the whole years asked for, in order of place; `newest` is the year that `the last three years` end in.
    """
    counted = trailing_years(text)
    averaged = counted is not None and _AVERAGE.search(text) is not None
    joined = _printed_run(text, years)
    if joined is not None:
        first, last, form = joined
        return Span(first=first, last=last, form=form, worded=counted is not None, averaged=averaged)
    if counted is None or newest is None:
        return None
    return Span(first=newest - counted + 1, last=newest, form="last", worded=True, averaged=averaged)


def trailing_years(text: str) -> int | None:
    """3 for `the last three years`, `3 year average` or `average of three years`; None where no years are counted."""
    for pattern in (_LAST_YEARS, _YEARS_WORDED, _AVERAGE_OF, _OVER_YEARS, _YEARS_ENDED):
        found = pattern.search(text)
        if found is not None and number_of(found["n"]) >= 2:
            return number_of(found["n"])
    return None


_NUMBER = r"(?P<n>[0-9]{1,2}|two|three|four|five|six|seven|eight|nine|ten)"
_LAST_YEARS = re.compile(
    rf"\b(?:last|past|prior|previous|preceding|trailing|recent|latest) {_NUMBER}"
    r"(?:[ -](?:full|fiscal|financial|calendar|reported|completed))*[ -]years?\b",
    re.IGNORECASE,
)
_YEARS_WORDED = re.compile(
    rf"\b{_NUMBER}[ -]?(?:fiscal[ -])?(?:years?(?:'s?)?|yr)[ -](?:\w+[ -]){{0,2}}?"
    r"(?:average|avg|mean|cagr|compound|growth|total|cumulative|trend|period|window|median|sum)\b",
    re.IGNORECASE,
)
_AVERAGE_OF = re.compile(rf"\b(?:average|avg|mean)\b[^.?!]{{0,80}}?\b{_NUMBER} (?:fiscal )?years\b", re.IGNORECASE)
_OVER_YEARS = re.compile(rf"\b(?:over|across|during|for) (?:the )?{_NUMBER}[ -](?:fiscal )?years\b", re.IGNORECASE)
_YEARS_ENDED = re.compile(
    rf"\b{_NUMBER}[ -](?:fiscal[ -])?years?(?: period)?\s+(?:(?:that\s+)?end(?:ed|ing)|(?:up\s+)?to|through)\s+"
    rf"(?:in\s+|on\s+|with\s+)?(?:the\s+)?(?:end\s+of\s+)?(?:fiscal|fy|{YEAR}|{MONTH_NAME}|[0-9]{{1,2}}[ /])",
    re.IGNORECASE,
)
_AVERAGE = re.compile(r"\b(?:averaged?|avg|mean|median)\b", re.IGNORECASE)
_LEAD = r"\s+(?:the\s+)?(?:(?:fiscal|calendar|financial)\s+)?(?:years?\s+)?(?:the\s+)?(?:end\s+of\s+)?$"
_BETWEEN = re.compile(r"\bbetween" + _LEAD, re.IGNORECASE)
_AND = re.compile(r"\s+(?:and|&)\s+(?:the\s+)?(?:end\s+of\s+)?(?:the\s+)?", re.IGNORECASE)
_TO = re.compile(
    r"(?:\s*-\s*|\s+(?:and\s+)?(?:to|through|thru|until|till|up to)\s+)"
    r"(?:the\s+)?(?:end\s+of\s+)?(?:the\s+)?(?:fiscal\s+)?(?:years?\s+)?",
    re.IGNORECASE,
)
_MOST_YEARS = 40


def _printed_run(text: str, years: Sequence[PeriodAtom]) -> tuple[int, int, Literal["range", "between", "list"]] | None:
    for here, there in pairwise(years):
        if here.year is None or there.year is None or not 0 < abs(there.year - here.year) < _MOST_YEARS:
            continue
        first, last = sorted((here.year, there.year))
        if _TO.fullmatch(text, here.end, there.start):
            return first, last, "range"
        if stands_before(_BETWEEN, text, here.start) and _AND.fullmatch(text, here.end, there.start):
            return first, last, "between"
    return _list(text, years)


def _list(text: str, years: Sequence[PeriodAtom]) -> tuple[int, int, Literal["list"]] | None:
    """Three or more consecutive years named one after another."""
    run: list[PeriodAtom] = []
    for atom in years:
        if run and not JOINING.fullmatch(text, run[-1].end, atom.start):
            run = []
        run.append(atom)
        named = {one.year for one in run if one.year is not None}
        if len(named) > 2 and max(named) - min(named) + 1 == len(named):
            return min(named), max(named), "list"
    return None
