"""Find years, parts of years and dates in a question, with their positions."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import pairwise
from typing import Literal, NamedTuple

from fin_agent.lexicon.period_words import (
    AS_OF,
    JOINING,
    THROUGH,
    YEAR,
    PeriodAtom,
    expand_year,
    match_before,
    overlaps_any,
    parse_number,
    span_months,
    years_in,
)
from fin_agent.vocabulary.dates import MONTH_NAME, PrintedDate, month_number, printed_dates


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
        before = _year_before(text, years, part)
        if part.year is None and before is not None:
            used.add(before)
            atoms.append(_join_to_year(part, years[before], years[before].start, part.end))
        else:
            loose.append(part)
    for run in _runs(loose, text):
        last = run[-1]
        following = next((index for index, year in enumerate(years) if year.start >= last.end), None)
        if last.year is not None or following is None or not _OF_YEAR.fullmatch(text, last.end, years[following].start):
            atoms += run
            continue
        for index in _year_list(text, years, [*atoms, *loose], following):
            year = years[index]
            used.add(index)
            if index > following:
                atoms += [_join_to_year(part, year, year.start, year.end) for part in run]
            else:
                atoms += [_join_to_year(part, year, part.start, year.end if part is last else part.end) for part in run]
    atoms += [year for index, year in enumerate(years) if index not in used]
    atoms.sort(key=_place)
    return sorted([*atoms, *_quarters_between(text, atoms)], key=_place)


def _place(atom: PeriodAtom) -> tuple[int, int, int, int]:
    return atom.start, atom.end, atom.year or 0, atom.quarter or 0


_QUARTER_WORD = r"(?:first|second|third|fourth|final|1st|2nd|3rd|4th)"
_PART = re.compile(
    rf"(?:(?<![a-z0-9$.])|(?<=[0-9]{{4}})|(?<=fy[0-9]{{2}})|(?<=fy'[0-9]{{2}}))(?:"
    rf"(?P<f1>f)?q[ -]?(?P<q1>[1-4])(?![0-9])"
    rf"|(?P<f2>f)?(?P<q2>[1-4])q(?!(?!fy)[a-z])"
    rf"|(?P<q3>{_QUARTER_WORD})[ -](?:fiscal[ -])?(?:quarters?|qtr\.?)(?:'s)?(?![a-z])"
    rf"|(?P<q4>{_QUARTER_WORD})(?=(?:\s*,\s*|\s+(?:and|or|to|through|versus|vs\.?)\s+|\s*,\s*and\s+)(?:the\s+)?"
    rf"{_QUARTER_WORD}\b[^.?!]{{0,30}}\bquarters?\b)"
    r"|quarter\s+(?P<q5>[1-4]|one|two|three|four)(?![0-9a-z])"
    rf"|(?P<q6>last)[ -](?:fiscal[ -])?quarter(?=\s+(?:of|in)\s+(?:the\s+)?(?:fiscal|fy|calendar|year|{YEAR}))"
    r"|h(?P<h1>[12])(?![0-9])|(?P<h2>[12])h(?![a-z])"
    r"|(?P<h3>first|second|1st|2nd)[ -](?:fiscal[ -])?half(?:[ -]year)?(?![a-z])"
    rf"|(?P<m2>[69])m(?=[ '-]?(?:{YEAR}|fy|[0-9]{{2}}(?![0-9])))"
    r"|(?:first|opening|initial)[ -](?P<m>[0-9]{1,2}|[a-z]+(?:-[a-z]+)?)[ -](?P<unit>month|week|quarter)s?\b"
    rf"|(?P<m3>[0-9]{{2}}|[a-z]+(?:-[a-z]+)?)[ -](?P<unit2>week)s?(?=\s+of\s+(?:the\s+)?(?:fiscal|fy|year|{YEAR})))",
    re.IGNORECASE,
)
_AFTER_PART = re.compile(
    r"\s*['/-]?\s*(?P<yy>[0-9]{2})(?![0-9%]|[.,][0-9]|\s*(?:%|percent|million|billion|weeks|days|months))"
)
_OF_YEAR = re.compile(
    r"[ ,/-]*(?:\(?\s*(?:ended|ending)\s+)?(?:(?:results|earnings|close|end)\s+)?"
    r"(?:(?:of|in|for|during|from|within|to)\s+)?(?:the\s+)?(?:(?:company|firm)'s\s+)?(?:year\s+)?",
    re.IGNORECASE,
)
_YEAR_THEN_PART = re.compile(r"(?:'s)?[ /-]?")
_MAX_BETWEEN = 20


def _parts(text: str, taken: Sequence[tuple[int, int]]) -> list[PeriodAtom]:
    parts: list[PeriodAtom] = []
    for found in _PART.finditer(text):
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
        short = _AFTER_PART.match(text, end) if any(found[name] for name in _SHORT_GROUPS) else None
        if short is not None:
            year, end = expand_year(short["yy"]), short.end()
        parts.append(PeriodAtom(start, end, year, quarter, half, months, fiscal=bool(found["f1"] or found["f2"])))
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
        elif last.quarter and part.quarter and THROUGH.fullmatch(text, last.end, part.start):
            runs[-1] += [last._replace(quarter=quarter) for quarter in range(last.quarter + 1, part.quarter)]
            runs[-1].append(part)
        elif JOINING.fullmatch(text, last.end, part.start):
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
        if between or ahead or not JOINING.fullmatch(text, here.end, there.start):
            break
        taken.append(index)
    return taken


def _year_before(text: str, years: Sequence[PeriodAtom], part: PeriodAtom) -> int | None:
    """Return the position of the year right before a part: `2023 Q2`, `2023's second quarter`."""
    for index, year in enumerate(years):
        if year.end <= part.start and _YEAR_THEN_PART.fullmatch(text, year.end, part.start):
            return index
    return None


def _join_to_year(part: PeriodAtom, year: PeriodAtom, start: int, end: int) -> PeriodAtom:
    return part._replace(start=start, end=end, year=year.year, fiscal=year.fiscal or part.fiscal)


def _quarters_between(text: str, atoms: Sequence[PeriodAtom]) -> Iterator[PeriodAtom]:
    """Yield the quarters that `Q3 2022 through Q1 2023` implies, at the position of the last."""
    for here, there in pairwise(atoms):
        if not (here.quarter and there.quarter and here.year and there.year):
            continue
        if here.year == there.year or not THROUGH.fullmatch(text, here.end, there.start):
            continue
        first, last = 4 * here.year + here.quarter, 4 * there.year + there.quarter
        if last - first <= _MAX_BETWEEN:
            for number in range(first, last - 1):
                yield there._replace(year=number // 4, quarter=number % 4 + 1)


DateRole = Literal["ended", "as of", "filed", "on"]


class DateExpression(NamedTuple):
    """An exact date, its role, and the length in months of the period that it ends (0 for none)."""

    start: int
    end: int
    date: date
    role: DateRole
    months: int = 0
    fiscal: bool = False
    lead: int = 0
    """Start of the words that state its role: those of `third quarter ended October 29, 2022`."""
    quarter: int | None = None
    """Quarter named with the date: 3 in `third quarter ended October 29, 2022`."""


def date_expressions(text: str) -> list[DateExpression]:
    """Return the exact dates in `text`, in order. `years ended June 30, 2020 and 2019` gives the ends of both years.

    A month that ends a period means its last day: `the quarter ended June 2023`, `the June 2023 quarter`.
    """
    found: list[DateExpression] = []
    for printed in _with_short_dates(text, printed_dates(text)):
        before = match_before(_LENGTH, text, printed.start)
        if before is not None:
            found.append(_end_of_period(text, printed, before))
        elif found and found[-1].role == "ended" and JOINING.fullmatch(text, found[-1].end, printed.start):
            found.append(
                found[-1]._replace(start=printed.start, end=printed.end, date=printed.date, lead=printed.start)
            )
        elif match_before(AS_OF, text, printed.start):
            found.append(DateExpression(*printed, "as of", lead=printed.start))
        elif match_before(_FILED, text, printed.start):
            found.append(DateExpression(*printed, "filed", lead=printed.start))
        else:
            found.append(DateExpression(*printed, "on", lead=printed.start))
    found += _month_ends(text, [(one.start, one.end) for one in found])
    return sorted([*found, *(later for one in found for later in _same_day_of_other_years(text, one))])


def _end_of_period(text: str, printed: PrintedDate, before: re.Match[str]) -> DateExpression:
    months = next(_MONTHS[name] for name, value in before.groupdict().items() if value)
    fiscal = "fiscal" in text[max(0, before.start() - 7) : printed.start].lower()
    counted = match_before(_COUNTED_QUARTER, text, before.start() + len("quarter")) if months == 3 else None
    quarter = parse_number(counted["q"]) if counted else None
    lead = counted.start() if counted else before.start()
    return DateExpression(*printed, "ended", months, fiscal, lead, quarter)


def _month_ends(text: str, taken: list[tuple[int, int]]) -> Iterator[DateExpression]:
    for found in _MONTH_OF_YEAR.finditer(text):
        start, end = found.span()
        if overlaps_any(start, end, taken):
            continue
        before = match_before(_LENGTH, text, start)
        if before is not None:
            yield _end_of_period(text, PrintedDate(start, end, _last_day(found["month"], found["year"])), before)
    for found in _MONTH_QUARTER.finditer(text):
        year = found["year"] or found["later"]
        if year and not overlaps_any(*found.span(), taken):
            day = _last_day(found["month"], year)
            yield DateExpression(found.start(), found.end(), day, "ended", 3, lead=found.start())


def _last_day(month: str, year: str) -> date:
    number = month_number(month)
    return date(int(year), number, monthrange(int(year), number)[1])


def _same_day_of_other_years(text: str, one: DateExpression) -> Iterator[DateExpression]:
    """Yield the dates that `and 2021` adds after `December 31, 2022`."""
    if one.role not in ("ended", "as of"):
        return
    place = one.end
    while (later := _ANOTHER_YEAR.match(text, place)) is not None:
        year = int(later["year"])
        day = date(year, one.date.month, min(one.date.day, monthrange(year, one.date.month)[1]))
        start, place = later.span("year")
        yield one._replace(start=start, end=place, date=day, lead=start)


_FILED = re.compile(
    r"\b(?:filed|dated|filing date|released|published|issued)\s+(?:on\s+|of\s+|as of\s+)?(?:the\s+)?$", re.IGNORECASE
)
_LENGTH = re.compile(
    r"(?:\b(?:(?P<year>years?|(?:twelve|12)[- ]months?|5[23][ -]weeks?|fifty-(?:two|three)[ -]weeks?|fiscal|fye?)"
    r"|(?P<quarter>quarter(?:s|ly)?|(?:three|3)[- ]months?|1[34][ -]weeks?|(?:thir|four)teen[ -]weeks?)"
    r"|(?P<half>(?:six|6)[- ]months?|half(?:[ -]years?)?|2[67][ -]weeks?|twenty-(?:six|seven)[ -]weeks?)"
    r"|(?P<three_quarters>(?:nine|9)[- ]months?|(?:39|40)[ -]weeks?|thirty-nine[ -]weeks?|forty[ -]weeks?)"
    r"|(?P<some>(?<!month )(?<!months )(?<!week )(?<!weeks )(?<!quarterly )(?<!year )periods?))"
    r"(?:\s+(?:fiscal\s+)?periods?)?"
    r"\s*\(?,?\s*(?:(?:that|which)\s+)?(?:end(?:ed|ing|s)?|to|through)\s+(?:on\s+|in\s+|at\s+)?(?:the\s+)?"
    r"(?:(?:end|close)\s+of\s+)?"
    r"|\b(?P<ytd>(?:fiscal\s+)?year to date)[ ,(]+(?:(?:through|thru|to|ended|as of|as at|at)\s+)?"
    r"(?:the\s+)?(?:end\s+of\s+)?"
    r"|\b(?P<fye>fye)[ :]\s*)$",
    re.IGNORECASE,
)
_MONTHS = {"year": 12, "fye": 12, "quarter": 3, "half": 6, "three_quarters": 9, "ytd": -1, "some": 12}
_COUNTED_QUARTER = re.compile(
    r"\b(?P<q>first|second|third|fourth|final|1st|2nd|3rd|4th)[ -](?:fiscal[ -])?quarter$", re.IGNORECASE
)
_MONTH_OF_YEAR = re.compile(
    rf"(?<![a-z])(?P<month>{MONTH_NAME})\s*(?:of\s+)?(?P<year>{YEAR})(?![0-9%]|[.,][0-9])", re.IGNORECASE
)
_MONTH_QUARTER = re.compile(
    rf"(?<![a-z])(?P<month>{MONTH_NAME})(?:\s+(?P<year>{YEAR}))?[ -]quarter(?:,?\s+(?:of\s+|in\s+)?(?P<later>{YEAR}))?"
    r"(?![0-9a-z])",
    re.IGNORECASE,
)
_ANOTHER_YEAR = re.compile(rf"(?:{JOINING.pattern})(?P<year>{YEAR})(?![0-9a-z%-]|[.,/][0-9])", re.IGNORECASE)
_SHORT_DATE = re.compile(rf"(?<![a-z])(?P<month>{MONTH_NAME})\s*(?P<day>[0-3]?[0-9])(?![0-9])", re.IGNORECASE)
_YEAR_LATER = re.compile(
    rf"(?:\s*(?:,\s*and|,|and|to|through|-|or)\s*(?:the\s+)?{MONTH_NAME}\s*[0-3]?[0-9]){{0,11}}"
    rf"\s*,?\s*(?:in|of)?\s*(?P<year>{YEAR})",
    re.IGNORECASE,
)


def _with_short_dates(text: str, dates: list[PrintedDate]) -> list[PrintedDate]:
    """Return the dates and those whose year is printed with a later one: `July 27 and April 27 in 2019`."""
    found = list(dates)
    whole = [(one.start, one.end) for one in dates]
    for short in _SHORT_DATE.finditer(text):
        if overlaps_any(short.start(), short.end(), whole):
            continue
        later = _YEAR_LATER.match(text, short.end())
        if later is not None:
            try:
                day = date(int(later["year"]), month_number(short["month"]), int(short["day"]))
            except ValueError:
                continue
            found.append(PrintedDate(short.start(), short.end(), day))
    return sorted(found)
