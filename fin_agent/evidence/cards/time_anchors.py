"""The time of a passage: fiscal periods of its figures and text, and the days that it names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from fin_agent.evidence.cards.card import TemporalAnchor
from fin_agent.evidence.cards.classification import is_appendix, is_mostly_table
from fin_agent.evidence.cards.passage_sources import PassageSource
from fin_agent.lexicon.words import patterns, word_lists
from fin_agent.vocabulary.dates import month_number
from fin_agent.vocabulary.fact import FactPeriod
from fin_agent.vocabulary.identity import Form

_PATTERNS = patterns("card_patterns")

_MAX_PERIODS = 12
_MAX_DATES = 12
_OLDEST = 10
"""Years before the filing's own that count as periods; older ones refer to laws, plans or the founding."""
_MAX_YEARS_READ = 200
_APPENDED_READ = 3_000
"""Characters of covers and exhibits that are searched."""


def temporal_anchor(source: PassageSource, forward: bool) -> TemporalAnchor:
    """Return the periods of a passage's facts and those in its text; `forward` means that it is about the future."""
    spans = {_Span.of(fact.period) for fact in source.facts}
    if not spans and source.table is not None:
        spans = {_Span.of(period) for period in source.table.periods if period is not None}
    days: tuple[date, ...] = ()
    if not source.is_table or not spans:
        worded, days = _periods_in_words(source, forward)
        if not spans or not is_mostly_table(source):
            spans |= worded
    latest = sorted(spans, key=_Span.order, reverse=True)[:_MAX_PERIODS]
    return TemporalAnchor(periods=tuple(map(str, latest)), dates=days, forward=forward)


def period_name(period: FactPeriod) -> str:
    """Return the name of a period: `FY2023`, `Q2 FY2023`, `6 months FY2023`."""
    return str(_Span.of(period))


class _Span(NamedTuple):
    year: int
    quarter: int
    """0 for a full year or a span of several quarters."""
    months: int
    """Length of a span that is neither a quarter nor a year, else 0."""

    @classmethod
    def of(cls, period: FactPeriod) -> _Span:
        if period.quarter:
            return cls(period.fiscal_year, period.quarter, 0)
        return cls(period.fiscal_year, 0, 0 if period.months in (0, 12) else period.months)

    def order(self) -> tuple[int, int, int]:
        """Return the sort key: later ends are greater, then longer spans."""
        ends = self.quarter * 3 or self.months or 12
        return self.year, ends, 3 if self.quarter else self.months or 12

    def __str__(self) -> str:
        year = f"FY{self.year}"
        if self.quarter:
            return f"Q{self.quarter} {year}"
        return f"{self.months} months {year}" if self.months else year


_NO_YEAR_AFTER = frozenset("0123456789,.$£€#/-")
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_SPANS = ((" six months ", 6), (" nine months ", 9), (" 26 weeks ", 6), (" 39 weeks ", 9))
_BEFORE = 24
_AFTER = 16


def _periods_in_words(source: PassageSource, forward: bool) -> tuple[set[_Span], tuple[date, ...]]:
    """Return periods and days named in a passage's text; future years only if it is about the future."""
    flat = source.flat[: _APPENDED_READ if is_appendix(source) else None]
    newest = _newest(source)
    spans: set[_Span] = set()
    days: Counter[date] = Counter()
    for at, found in enumerate(_PATTERNS["year"].finditer(flat)):
        if at == _MAX_YEARS_READ:
            break
        start, end = found.span()
        if flat[start - 1 : start] in _NO_YEAR_AFTER:
            continue
        year = int(found[0])
        day = _day(flat[max(0, start - _BEFORE) : start], year)
        if day is not None:
            days[day] += 1
            span = _of_day(source, day, flat[max(0, start - 3 * _BEFORE) : start])
        elif _names_no_period(flat, start, end):
            continue
        else:
            span = _Span(year, 0, 0)
        if newest is None or newest - _OLDEST <= span.year <= newest + forward:
            spans.add(span)
    named = [*_quarters(flat), *_fiscal_years(flat)]
    named = [span for span in named if newest is None or newest - _OLDEST <= span.year <= newest + 1]
    whole = {_Span(span.year, 0, 0) for span in named if span.quarter}
    spans = _interim_period(source, spans - whole) | set(named)
    kept = sorted(days, key=lambda day: (-days[day], -day.toordinal()))[:_MAX_DATES]
    return spans, tuple(sorted(kept))


def _newest(source: PassageSource) -> int | None:
    identity = source.identity
    if identity.fiscal_year is not None:
        return identity.fiscal_year
    return identity.period_end.year if identity.period_end else None


def _day(before: str, year: int) -> date | None:
    found = _PATTERNS["day before"].search(before)
    try:
        return None if found is None else date(year, month_number(found[1]), int(found[2]))
    except ValueError:
        return None


def _of_day(source: PassageSource, day: date, before: str) -> _Span:
    """Return the fiscal period that a day ends if the text says so, else the fiscal year that contains it."""
    calendar = source.calendar
    if calendar is None:
        return _Span(day.year, 0, 0)
    year = calendar.fiscal_year_of(day)
    if calendar.quarter and day == calendar.period_end:
        return _Span(calendar.year, calendar.quarter, 0)
    if (" ended" in before or " ending" in before) and any(
        words in before for words in word_lists("year_words")["quarter ends"]
    ):
        return _Span(year, calendar.quarter_of(day), 0)
    return _Span(year, 0, 0)


def _names_no_period(flat: str, start: int, end: int) -> bool:
    """Return whether a year is part of a name (`2013 equity plan`, `act of 1934`) or of a due date."""
    words = word_lists("year_words")
    before = flat[max(0, start - _BEFORE) : start].split()
    if before and (before[-1] in words["before names"] or " ".join(before[-2:]) in words["before names"]):
        return True
    if flat[end : end + 1] != " ":
        return False
    after = [word.strip("().,;:") for word in flat[end : end + _AFTER].split()]
    return bool(after) and (after[0] in words["names"] or " ".join(after[:2]) in words["names"])


def _quarters(flat: str) -> Iterator[_Span]:
    """Yield periods such as `second quarter of fiscal 2023` and `Q2 FY23`."""
    if " quarter" in flat or " q" in flat:
        for found in _PATTERNS["quarter"].finditer(flat):
            yield _Span(_full(found[3]), _ORDINALS.get(found[1] or "", 0) or int(found[2]), 0)


def _fiscal_years(flat: str) -> Iterator[_Span]:
    """Yield years such as `fiscal 2023` and `FY23`, but not those of `second quarter of fiscal 2023`."""
    if " fy" in flat or " fiscal " in flat:
        for found in _PATTERNS["fiscal year"].finditer(flat):
            if " quarter" not in flat[max(0, found.start() - _AFTER) : found.start()]:
                yield _Span(_full(found[1] or found[2]), 0, 0)


def _full(year: str) -> int:
    return int(year) if len(year) == len("2023") else 2000 + int(year)


def _interim_period(source: PassageSource, spans: set[_Span]) -> set[_Span]:
    """In a quarterly filing, read a bare year next to `three months ended` as that quarter of the year."""
    quarter = source.identity.quarter
    if not quarter or source.identity.form not in (Form.TEN_Q, Form.EARNINGS, Form.EIGHT_K):
        return spans
    newest = _newest(source)
    flat = source.flat
    interim: set[_Span] = set()
    for span in spans:
        recent = newest is not None and span.year in (newest, newest - 1)
        if span.quarter or span.months or not recent:
            interim.add(span)
            continue
        readings = {_Span(span.year, 0, months) for words, months in _SPANS if words in flat}
        if any(words in flat for words in word_lists("year_words")["quarters"]):
            readings.add(_Span(span.year, quarter, 0))
        interim |= readings or {span}
    return interim
