"""Parse the periods that a question asks about: years, quarters, dates, ranges of years."""

from __future__ import annotations

import re
import unicodedata
from calendar import monthrange
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from pydantic import BaseModel

from fin_agent.lexicon.words import load_yaml, patterns
from fin_agent.vocabulary.dates import PrintedDate, month_end, month_number, printed_dates
from fin_agent.vocabulary.fiscal_calendar import fiscal_quarter_of, fiscal_year_of, nominal_month

_PATTERNS = patterns("period_patterns")


@lru_cache(maxsize=256)
def parse_periods(question: str) -> QuestionPeriods:
    """Return every period that `question` names. Never raises.

    >>> parse_periods("What is the FY2017 - FY2019 3 year average of capex?").years
    (2017, 2018, 2019)
    >>> parse_periods("What was revenue in Q2 of FY2023?").quarters
    ((2023, 2),)
    """
    text = normalize_characters(question)
    dates = date_expressions(text)
    definitions = [found.span() for found in _PATTERNS["definition"].finditer(text)]
    atoms = period_atoms(text, [(one.lead, one.end) for one in dates])
    atoms, loose = _join_loose_parts(atoms)
    mentions = [_mention_of_atom(question, atom, definitions) for atom in atoms]
    # People use balance sheet dates as periods: `deposits held at 31 December 2019`.
    closing = [one for one in dates if one.role == "as of" and one.date == month_end(one.date.year, one.date.month)]
    mentions += [_mention_of_date(question, one, definitions) for one in dates if one.months or one in closing]
    mentions.sort(key=_place)
    mentions, dates = _merge_period_and_date(text, question, mentions, dates)
    mentions = _with_same_spans(text, [_year_to_date(text, question, mention) for mention in mentions])
    asked = [mention for mention in mentions if not mention.defining] or mentions
    starts = {mention.start for mention in asked}
    span = year_range_in(
        text,
        [atom for atom in atoms if atom.start in starts and atom.months == 12],
        newest=max((mention.fiscal_year for mention in asked), default=None),
    )
    years = {mention.fiscal_year for mention in asked}
    latest = None if years else _PATTERNS["latest"].search(text)
    if span is not None and (span.form != "between" or span.worded):
        years.update(range(span.first, span.last + 1))
    return QuestionPeriods(
        mentions=tuple(mentions),
        dates=tuple(
            DateMention(
                date=day.date, start=day.start, end=day.end, phrase=question[day.start : day.end], role=day.role
            )
            for day in dates
        ),
        years=tuple(sorted(years)),
        span=span,
        since=next((mention.fiscal_year for mention in asked if _is_since(text, mention)), None),
        as_of=next((mention.fiscal_year for mention in asked if match_before("as of", text, mention.start)), None),
        latest=None if latest is None else "quarter" if latest["unit"].lower() == "quarter" else "year",
        trailing_years=trailing_years(text),
        loose_quarters=loose,
    )


DateRole = Literal["ended", "as of", "filed", "on"]


class PeriodMention(BaseModel, frozen=True):
    """A year, or a part of one, named in a question: `question[start:end] == phrase`."""

    fiscal_year: int
    quarter: int | None
    start: int
    end: int
    phrase: str
    months: int = 12
    """Length: 12, 9, 6 or 3; 0 for the state at a date, -1 for the year to date."""
    half: int | None = None
    """1 or 2 for a half year."""
    period_end: date | None = None
    """The end as printed: `year ended June 30, 2020`."""
    opening: bool = False
    """Whether its beginning is meant: the balance sheet before it."""
    defining: bool = False
    """Whether it is part of a definition: `DPO is defined as: 365 * (average payables between FY2016 and FY2017) /
    ...`."""


class DateMention(BaseModel, frozen=True):
    """An exact date named in a question: `question[start:end] == phrase`."""

    date: date
    start: int
    end: int
    phrase: str
    role: DateRole
    """`ended` (year ended ...), `as of`, `filed` (8-K dated ...), otherwise `on`: the day of an event."""
    opening: bool = False
    """Whether the beginning of the fiscal year that has the day is meant."""


class YearRange(BaseModel, frozen=True):
    """A range of years, first to last."""

    first: int
    last: int
    form: Literal["range", "between", "last", "list"]
    """`FY2017 - FY2019`; `between FY2017 and FY2019`, which asks for the two ends; `last 3 years`; `2019, 2020,
    2021`."""
    worded: bool = False
    """Whether the question counts the years: `three year total`, `over the past 3 years`."""


class QuestionPeriods(BaseModel, frozen=True):
    """All periods and dates of a question."""

    mentions: tuple[PeriodMention, ...] = ()
    """In order of position."""
    dates: tuple[DateMention, ...] = ()
    years: tuple[int, ...] = ()
    """The years asked for, sorted, with ranges completed (of `between X and Y`, only X and Y). Years within a
    definition are left out where there are others."""
    span: YearRange | None = None
    as_of: int | None = None
    """2021 for `as of FY2021`: the filing to use, whatever other years are asked about."""
    since: int | None = None
    """2018 for `since 2018` and `from 2018 on`, which extend to the newest year."""
    latest: Literal["year", "quarter"] | None = None
    """For `most recent fiscal year`, `last year` or `latest quarter` without a printed year."""
    trailing_years: int | None = None
    """3 for `the last three years` and `3 year average`, with or without a printed year."""
    loose_quarters: tuple[int, ...] = ()
    """Quarters without a year, or with several years that they could belong to."""

    @property
    def quarters(self) -> tuple[tuple[int, int], ...]:
        """(fiscal year, quarter) pairs asked for, sorted."""
        return tuple(sorted({(m.fiscal_year, m.quarter) for m in self.mentions if m.quarter and not m.defining}))


def _join_loose_parts(atoms: Sequence[PeriodAtom]) -> tuple[list[PeriodAtom], tuple[int, ...]]:
    """Assign parts without a year to the question's only year: `How did Q2 compare in FY2023?`."""
    settled = [atom for atom in atoms if atom.year is not None]
    loose = [atom for atom in atoms if atom.year is None]
    if len({atom.year for atom in settled}) == 1:
        return sorted([*settled, *(atom._replace(year=settled[0].year) for atom in loose)], key=lambda a: a[:2]), ()
    return settled, tuple(sorted({atom.quarter for atom in loose if atom.quarter}))


def _merge_period_and_date(
    text: str, question: str, mentions: Sequence[PeriodMention], dates: Sequence[DateExpression]
) -> tuple[list[PeriodMention], list[DateExpression]]:
    """Merge a period with the adjacent date on which it ends: `FY25 (year to May 31, 2025)`.

    A date that only ends a span of months (`year to date through June 28, 2025`) becomes its end.
    """
    kept, days = list(mentions), list(dates)
    for one in mentions:
        ends = (day for day in days if day.start >= one.end and is_between("its end", text, one.end, day.lead))
        end = next(ends, None)
        begins = match_before("begins", text, one.start)
        if one.period_end is not None or end is None or end.role in ("filed", "as of") or begins:
            continue
        between = text[one.end : end.start]
        said = _PATTERNS["ends"].search(between) or (one.months == 12 and "(" in between)
        if end.months != one.months if end.months else not said:
            continue
        close = end.end + (bool(_PATTERNS["opened"].search(between)) and text[end.end : end.end + 1] in (")", "]"))
        update = {"period_end": end.date, "end": close, "phrase": question[one.start : close]}
        kept = [other for other in kept if other.start != end.lead and not one.start <= other.start < end.end]
        kept.append(one.model_copy(update=update))
        days.remove(end)
    return sorted(kept, key=_place), days


def _place(mention: PeriodMention) -> tuple[int, int, int, int]:
    return mention.start, mention.end, mention.fiscal_year, mention.quarter or 0


def _year_to_date(text: str, question: str, mention: PeriodMention) -> PeriodMention:
    """Return `Q3 2025 year to date` as nine months, and a year to date as a span of unknown length.

    A quarter may have its length behind it: `Q3 2025 (three months)`.
    """
    length = match_after("its length", text, mention.end) if mention.months == 3 else None
    if length is not None:
        return mention.model_copy(update={"end": length.end(), "phrase": question[mention.start : length.end()]})
    before = match_before("to date before", text, mention.start)
    if before is not None and not mention.quarter and "to date" not in before.group():
        before = None  # `growth through FY2024`
    after = match_after("to date after", text, mention.end)
    told = before or after or "year to date" in text
    if not told or mention.months not in (3, 12) or (mention.period_end is not None and mention.months == 12):
        return mention
    start, end = before.start() if before else mention.start, after.end() if after else mention.end
    # Which quarter of a filer's year a month ends is not known here: `year to date through the June 2025 quarter`.
    quarter = mention.quarter if mention.period_end is None else None
    months = 3 * quarter if quarter else -1
    update = {"start": start, "end": end, "phrase": question[start:end], "months": months}
    return mention.model_copy(update={**update, "quarter": None if months == 12 else quarter})


def _with_same_spans(text: str, mentions: Sequence[PeriodMention]) -> list[PeriodMention]:
    """Return the mentions, with a year replaced by the part that another one has in `the same half of 2022`."""
    part = next((one for one in mentions if one.months not in (0, 12) or one.quarter), None)
    if part is None:
        return list(mentions)
    span = {"quarter": part.quarter, "months": part.months, "half": part.half}
    return [
        one.model_copy(update=span)
        if one.months == 12 and not one.quarter and _PATTERNS["same span"].search(text[: one.start])
        else one
        for one in mentions
    ]


def _mention_of_atom(question: str, atom: PeriodAtom, definitions: Sequence[tuple[int, int]]) -> PeriodMention:
    return PeriodMention(
        fiscal_year=atom.year or 0,
        quarter=atom.quarter,
        start=atom.start,
        end=atom.end,
        phrase=question[atom.start : atom.end],
        months=atom.months,
        half=atom.half,
        defining=overlaps_any(atom.start, atom.start + 1, definitions),
    )


def _mention_of_date(question: str, one: DateExpression, definitions: Sequence[tuple[int, int]]) -> PeriodMention:
    year, month = nominal_month(one.date)
    if one.months == 12:
        year = fiscal_year_of(one.date)
    elif one.quarter:
        closing = (month + 3 * (4 - one.quarter) - 1) % 12 + 1
        year = fiscal_year_of(one.date, closing)
    calendar_quarter = fiscal_quarter_of(one.date, 12) if one.months == 3 else None
    return PeriodMention(
        fiscal_year=year,
        quarter=one.quarter or calendar_quarter,
        start=one.lead,
        end=one.end,
        phrase=question[one.lead : one.end],
        months=one.months,
        period_end=one.date,
        defining=overlaps_any(one.start, one.start + 1, definitions),
    )


def _is_since(text: str, mention: PeriodMention) -> bool:
    if mention.months != 12 or mention.defining:
        return False
    begins = match_before("from", text, mention.start) and match_after("onward", text, mention.end)
    return bool(begins or match_before("since", text, mention.start))


def period_atoms(text: str, taken: Sequence[tuple[int, int]]) -> list[PeriodAtom]:
    """Return the years and parts of years in a text (`normalize_characters`), in order, without those in `taken`."""
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
    atoms.sort(key=_place_of_atom)
    return sorted([*atoms, *_quarters_between(text, atoms)], key=_place_of_atom)


def _place_of_atom(atom: PeriodAtom) -> tuple[int, int, int, int]:
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
            runs.append([])
        elif last.quarter and part.quarter and _is_range(text, last, part):
            runs[-1] += [last._replace(quarter=quarter) for quarter in range(last.quarter + 1, part.quarter)]
        elif not is_between("joining", text, last.end, part.start):
            runs.append([])
        runs[-1].append(part)
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
    """Return the whole years in a text (`normalize_characters`), in order of position, without those in `taken`."""
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


def year_range_in(text: str, years: Sequence[PeriodAtom], newest: int | None) -> YearRange | None:
    """Return the range of the whole `years` asked for in a text; `the last three years` end in the `newest`."""
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
