"""Parse the periods that a question asks about: years, quarters, dates, ranges of years."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from typing import Literal

from pydantic import BaseModel

from fin_agent.lexicon.period_phrases import DateExpression, DateRole, date_expressions, period_atoms
from fin_agent.lexicon.period_words import (
    PeriodAtom,
    YearRange,
    is_between,
    match_after,
    match_before,
    normalize_characters,
    trailing_years,
    year_range_in,
)
from fin_agent.lexicon.words import patterns
from fin_agent.vocabulary.dates import month_end
from fin_agent.vocabulary.fiscal_calendar import fiscal_quarter_of, fiscal_year_of, nominal_month

_PATTERNS = patterns("period_patterns")

__all__ = ["DateMention", "PeriodMention", "QuestionPeriods", "YearRange", "fiscal_year_of", "parse_periods"]


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
    """Return `Q3 2025 year to date` as nine months, and a year to date as a span of unknown length."""
    before = match_before("to date before", text, mention.start)
    if before is not None and not mention.quarter and "to date" not in before.group():
        before = None  # `growth through FY2024`
    after = match_after("to date after", text, mention.end)
    told = before or after or "year to date" in text
    if not told or mention.months not in (3, 12) or mention.period_end is not None:
        return mention
    start, end = before.start() if before else mention.start, after.end() if after else mention.end
    months = 3 * mention.quarter if mention.quarter else -1
    update = {"start": start, "end": end, "phrase": question[start:end], "months": months}
    return mention.model_copy(update={**update, "quarter": None if months == 12 else mention.quarter})


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
        defining=_is_inside(atom.start, definitions),
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
        defining=_is_inside(one.start, definitions),
    )


def _is_since(text: str, mention: PeriodMention) -> bool:
    if mention.months != 12 or mention.defining:
        return False
    begins = match_before("from", text, mention.start) and match_after("onward", text, mention.end)
    return bool(begins or match_before("since", text, mention.start))


def _is_inside(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in spans)
