"""Find years, parts of years and dates in a question, with their positions."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date
from itertools import pairwise
from typing import Literal, NamedTuple

from fin_agent.lexicon.period_words import (
    PeriodAtom,
    expand_year,
    is_between,
    match_after,
    match_before,
    overlaps_any,
    parse_number,
    span_months,
    years_in,
)
from fin_agent.lexicon.words import patterns
from fin_agent.vocabulary.dates import PrintedDate, month_end, month_number, printed_dates

_PATTERNS = patterns("period_patterns")


def period_atoms(text: str, taken: Sequence[tuple[int, int]]) -> list[PeriodAtom]:
    """Return the years and parts of years in a text, in order of position.

    Args:
        text: The question in the form of `normalize_characters`.
        taken: (start, end) spans to ignore.
    """
    years = years_in(text, taken)
    atoms: list[PeriodAtom] = []
    used: set[int] = set()
    loose: list[PeriodAtom] = []
    for part in _parts(text, taken):
        befores = (at for at, year in enumerate(years) if year.end <= part.start)
        before = next((at for at in befores if is_between("year then part", text, years[at].end, part.start)), None)
        if part.year is None and before is not None:  # `2023 Q2`, `2023's second quarter`
            used.add(before)
            atoms.append(part._replace(start=years[before].start, year=years[before].year))
        else:
            loose.append(part)
    for run in _runs(loose, text):
        last = run[-1]
        following = next((index for index, year in enumerate(years) if year.start >= last.end), None)
        if (
            last.year is not None
            or following is None
            or not is_between("of year", text, last.end, years[following].start)
        ):
            atoms += run
            continue
        for index in _year_list(text, years, [*atoms, *loose], following):
            year = years[index]
            used.add(index)
            if index > following:
                atoms += [part._replace(start=year.start, end=year.end, year=year.year) for part in run]
            else:
                atoms += [part._replace(end=year.end if part is last else part.end, year=year.year) for part in run]
    atoms += [year for index, year in enumerate(years) if index not in used]
    atoms.sort(key=_place)
    return sorted([*atoms, *_quarters_between(text, atoms)], key=_place)


def _place(atom: PeriodAtom) -> tuple[int, int, int, int]:
    return atom.start, atom.end, atom.year or 0, atom.quarter or 0


def _parts(text: str, taken: Sequence[tuple[int, int]]) -> list[PeriodAtom]:
    parts: list[PeriodAtom] = []
    for found in _PATTERNS["part"].finditer(text):
        start, end = found.span()
        if overlaps_any(start, end, taken):
            continue
        counted = found["m"] or found["m2"] or found["m3"]
        length = span_months(counted, found["unit"] or found["unit2"] or "month") if counted else None
        if counted and not length:
            continue  # `the first few weeks` is no span that filings report
        quarter = next((parse_number(found[name]) for name in _QUARTER_GROUPS if found[name]), None)
        half = next((parse_number(found[name]) for name in ("h1", "h2", "h3") if found[name]), None)
        months = length or (3 if quarter else 6)
        if months == 3 and not quarter:
            quarter = 1
        year = None
        short = match_after("after part", text, end) if any(found[name] for name in _SHORT_GROUPS) else None
        if short is not None:
            year, end = expand_year(short["yy"]), short.end()
        parts.append(PeriodAtom(start, end, year, quarter, half, months))
    return parts


_QUARTER_GROUPS = ("q1", "q2", "q3", "q4", "q5", "q6")
_SHORT_GROUPS = ("q1", "q2", "h1", "h2", "m2")
"""Parts that a two-digit year may follow: `2Q23`."""


def _runs(parts: list[PeriodAtom], text: str) -> list[list[PeriodAtom]]:
    """Return groups of parts that share the year after the last: `Q1, Q2 and Q3 2022`; `Q1-Q3` is completed."""
    runs: list[list[PeriodAtom]] = []
    for part in parts:
        last = runs[-1][-1] if runs else None
        if last is None or last.year is not None:
            runs.append([part])
        elif last.quarter and part.quarter and _is_range(text, last, part):
            runs[-1] += [last._replace(quarter=quarter) for quarter in range(last.quarter + 1, part.quarter)]
            runs[-1].append(part)
        elif is_between("joining", text, last.end, part.start):
            runs[-1].append(part)
        else:
            runs.append([part])
    return [[part._replace(year=run[-1].year) for part in run] for run in runs]


def _year_list(text: str, years: list[PeriodAtom], parts: list[PeriodAtom], first: int) -> list[int]:
    """Return positions of the years that a part applies to: both of `Q2 of 2022 and 2023`."""
    taken = [first]
    for index in range(first + 1, len(years)):
        here, there = years[index - 1], years[index]
        between = any(here.end <= part.start < there.start for part in parts)
        ahead = any(part.start <= there.start < part.end for part in parts)
        if between or ahead or not is_between("joining", text, here.end, there.start):
            break
        taken.append(index)
    return taken


def _quarters_between(text: str, atoms: Sequence[PeriodAtom]) -> Iterator[PeriodAtom]:
    """Yield the quarters that `Q3 2022 to Q1 2023` implies, at the position of the last."""
    for here, there in pairwise(atoms):
        if here.quarter and there.quarter and here.year and there.year:
            first, last = 4 * here.year + here.quarter, 4 * there.year + there.quarter
            if last - first <= _MAX_BETWEEN and _is_range(text, here, there):
                for number in range(first, last - 1):
                    yield there._replace(year=number // 4, quarter=number % 4 + 1)


_MAX_BETWEEN = 20


def _is_range(text: str, here: PeriodAtom, there: PeriodAtom) -> bool:
    """Return whether two parts of years are the ends of a range, not compared: `compare Q1 2022 to Q1 2023`."""
    return is_between("to", text, here.end, there.start) and match_before("compared", text, here.start) is None


DateRole = Literal["ended", "as of", "filed", "on"]


class DateExpression(NamedTuple):
    """An exact date, its role, and the length in months of the period that it ends (0 for none)."""

    start: int
    end: int
    date: date
    role: DateRole
    months: int = 0
    lead: int = 0
    """Start of the words that state its role: those of `third quarter ended October 29, 2022`."""
    quarter: int | None = None
    """Quarter named with the date: 3 in `third quarter ended October 29, 2022`."""


def date_expressions(text: str) -> list[DateExpression]:
    """Return the exact dates in `text`, in order. `years ended June 30, 2020 and 2019` gives the ends of both years.

    A month that ends a period means its last day: `the quarter ended June 2023`, `the June 2023 quarter`.
    """
    found = list(_runs_of_months(text))
    runs = [(one.start, one.end) for one in found]
    for printed in sorted([*printed_dates(text), *_short_dates(text)]):
        start, end, day = printed
        if overlaps_any(start, end, runs):
            continue
        before = match_before("length", text, start)
        if before is not None and match_before("begins", text, before.start()) is None:
            found.append(_end_of_period(text, printed, before))
        elif found and found[-1].role == "ended" and is_between("joining", text, found[-1].end, start):
            found.append(found[-1]._replace(start=start, end=end, date=day, lead=start))
        else:
            role: DateRole = "as of" if match_before("as of", text, start) else "on"
            role = "filed" if role == "on" and match_before("filed", text, start) else role
            to_date = role != "filed" and "year to date" in text
            found.append(DateExpression(start, end, day, "ended" if to_date else role, -to_date, lead=start))
    found += _month_ends(text, [(one.start, one.end) for one in found])
    return sorted([*found, *(later for one in found for later in _same_day_of_other_years(text, one))])


def _end_of_period(text: str, printed: PrintedDate, before: re.Match[str]) -> DateExpression:
    months = next(_MONTHS[name] for name, value in before.groupdict().items() if value)
    counted = match_before("counted quarter", text, before.start() + len("quarter")) if months == 3 else None
    quarter = parse_number(counted["q"]) if counted else None
    lead = counted.start() if counted else before.start()
    return DateExpression(*printed, "ended", months, lead, quarter)


def _month_ends(text: str, taken: list[tuple[int, int]]) -> Iterator[DateExpression]:
    for found in _PATTERNS["month of year"].finditer(text):
        start, end = found.span()
        if overlaps_any(start, end, taken):
            continue
        before = match_before("length", text, start)
        if before is not None:
            day = month_end(int(found["year"]), month_number(found["month"]))
            yield _end_of_period(text, PrintedDate(start, end, day), before)
    for found in _PATTERNS["month quarter"].finditer(text):
        year = found["year"] or found["later"]
        if year and not overlaps_any(*found.span(), taken):
            day = month_end(int(year), month_number(found["month"]))
            yield DateExpression(found.start(), found.end(), day, "ended", 3, lead=found.start())


def _runs_of_months(text: str) -> Iterator[DateExpression]:
    """Yield the runs of months that filings report: `January through June 2025`."""
    for run in _PATTERNS["months of year"].finditer(text):
        year, first, last = int(run["year"]), month_number(run["first"]), month_number(run["month"])
        since = int(run["since"]) if run["since"] else year - (first > last)
        months = 12 * (year - since) + last - first + 1
        if months in _MONTHS.values():
            yield DateExpression(*run.span(), month_end(year, last), "ended", months, lead=run.start())


def _same_day_of_other_years(text: str, one: DateExpression) -> Iterator[DateExpression]:
    """Yield the dates that `and 2021` adds after `December 31, 2022`."""
    if one.role not in ("ended", "as of"):
        return
    place = one.end
    while (later := match_after("another year", text, place)) is not None:
        year = int(later["year"])
        day = date(year, one.date.month, min(one.date.day, monthrange(year, one.date.month)[1]))
        start, place = later.span("year")
        yield one._replace(start=start, end=place, date=day, lead=start)


_MONTHS = {"year": 12, "fye": 12, "quarter": 3, "half": 6, "three_quarters": 9, "ytd": -1, "some": 12}


def _short_dates(text: str) -> Iterator[PrintedDate]:
    """Yield the dates whose year is printed with a later one: `between June 30 and December 31, 2022`."""
    for short in _PATTERNS["short date"].finditer(text):
        with suppress(ValueError):
            day = date(int(short["year"]), month_number(short["month"]), int(short["day"]))
            yield PrintedDate(short.start(), short.end(), day)
