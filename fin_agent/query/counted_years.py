"""Years that a question counts instead of naming each: `5-year growth to 2020`, `between 2018 and 2022`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fin_agent.lexicon.fiscal_periods import FiscalPeriod, with_those_between
from fin_agent.lexicon.period_words import parse_number
from fin_agent.lexicon.periods import parse_periods


def moving_years(asked: str, periods: tuple[FiscalPeriod, ...]) -> tuple[FiscalPeriod, ...]:
    """Return the endpoints of a counted movement: `the 5-year growth rate ending 2020` begins in 2015."""
    counted = movement_years(asked)
    span = parse_periods(asked).span
    ends = (span is None and len(periods) == 1) or (span is not None and span.form == "last")
    if counted is None or not periods or not ends:
        return periods
    last = periods[-1]
    return (last.model_copy(update={"fiscal_year": last.fiscal_year - counted}), last)


def movement_years(asked: str) -> int | None:
    """Return the years of a movement, 5 for `5-year growth` or `over the five years to`; None if not counted."""
    found = _YEARS_COUNTED.search(asked)
    counted = parse_number(found.group("n")) if found else 0
    return counted if counted > 1 else None


_YEARS_COUNTED = re.compile(
    r"(?<!each of the )(?<!each of the last )(?<!each of the past )"
    r"\b(?:(?P<n>\d{1,2}|two|three|four|five|six|seven|eight|nine|ten)[- ]?"
    r"(?:(?:full|fiscal|financial|calendar)[- ])?(?:years?|yrs?|(?<=\d)y|(?<=\d[ -])y)\b)"
    r"(?![- ](?:\w+[- ])?(?:average|avg|mean|median|total|cumulative|sum|notes?|bonds?|loans?|treasur\w+|plans?"
    r"|terms?)\b)",
    re.I,
)


def ranked_years(core: str, periods: Sequence[FiscalPeriod], *, moving: bool = False) -> tuple[FiscalPeriod, ...]:
    """Return all years or quarters to rank: `between 2018 and 2022` includes those in between.

    With `moving`, listed years need the year before the first as well.
    """
    periods = with_those_between(periods, core)
    years = [period.fiscal_year for period in periods]
    parsed = parse_periods(core)
    if not years or any(period.quarter for period in periods) or parsed.since is not None:
        return tuple(periods)
    span = parsed.span
    if span is not None and span.form != "list" and (span.first, span.last) == (years[0], years[-1]):
        years = list(range(years[0], years[-1] + 1))
    elif moving:
        years.insert(0, years[0] - 1)
    return tuple(FiscalPeriod(fiscal_year=year) for year in years)
