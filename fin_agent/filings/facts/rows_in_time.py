"""Rows that are named by a time: quarters under a year, years down the page, and years still to come."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from enum import Enum

from fin_agent.filings.facts.balances import day_before
from fin_agent.filings.facts.measures import scale_of_cell, unit_of_cell
from fin_agent.filings.tables.periods import FiscalCalendar, TimeWords, time_words
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.table import Row, Table


def row_time(label: str) -> TimeWords | None:
    """The time that a label names and nothing else (`Fiscal 2023`, `First Quarter`, `December 31, 2022`), or None."""
    said = time_words(label)
    return said if said.said and not _OTHER_WORDS.search(_TIME.sub(" ", label)) else None


def period_under(label: str, period: FactPeriod) -> FactPeriod | None:
    """What a row named by a time covers in a column of `period`.

    A quarter under a year is that quarter; any other row covers what its column does. None for years and spans after
    the column's own (`2027`, `Thereafter` of lease payments as of 2022): an obligation to come is no figure of the
    period it was stated for.
    """
    if _LATER.search(label):
        return None
    said = row_time(label)
    if said is None:
        return period
    if said.years and max(said.years) > period.fiscal_year:
        return None
    if said.quarter and not said.years and period.months in (0, 12) and period.quarter is None:
        return FactPeriod(period.fiscal_year, said.quarter, 3, period.end if said.quarter == 4 else None)
    return period


class Rolled(Enum):
    """What a row of a roll-forward is."""

    OPENING = "opening"
    CHANGE = "change"
    CLOSING = "closing"


def rolled_rows(table: Table) -> dict[int, Rolled]:
    """Rows of a table that carries a balance from the beginning of each column's period to its end, by position.

    Known by its words, or by arithmetic: what each column begins with is what the column of the year before ends with.
    Empty for other tables.
    """
    opening = [position for position, row in enumerate(table.rows) if _OPENING.search(row.label)]
    closing = [position for position, row in enumerate(table.rows) if _CLOSING.search(row.label)]
    if not (opening and closing):
        opening, closing = _carried(table)
    rolled: dict[int, Rolled] = {}
    for first in opening:
        last = next((position for position in closing if position > first), None)
        if last is None:
            rolled[first] = Rolled.OPENING
            continue
        if last - first > _LONGEST_ROLL or any(first < other < last for other in opening):
            continue
        rolled.update(dict.fromkeys(range(first + 1, last), Rolled.CHANGE))
        rolled[first], rolled[last] = Rolled.OPENING, Rolled.CLOSING
    return rolled


def _carried(table: Table) -> tuple[list[int], list[int]]:
    """(opening, closing) rows whose figures are carried from column to column, in either order of the years."""
    figures = [[cell.amount if cell else None for cell in row.cells] for row in table.rows]
    count = len(table.columns)
    if count < 2 or len(set(table.periods)) < count or None in table.periods:
        return [], []
    for first, begins in enumerate(figures):
        for last in range(first + 2, min(len(figures), first + _LONGEST_ROLL)):
            ends = figures[last]
            if None in begins or None in ends or begins == ends or not all(begins):
                continue
            if begins[:-1] == ends[1:] or begins[1:] == ends[:-1]:
                return [first], [last]
    return [], []


_LONGEST_ROLL = 40
_OPENING = re.compile(
    r"\b(?:beginning|opening|start)\b.*\b(?:balances?|years?|period|quarter)\b|\b(?:balances?|years?|period|quarter)\b.*"
    r"\b(?:beginning|opening)\b|^(?:beginning|opening)\b|\bjanuary 1(?:st)?$",
    re.I,
)
_CLOSING = re.compile(
    r"\b(?:end|ending|closing)\b.*\b(?:balances?|years?|period|quarter)\b|\b(?:balances?|years?|period|quarter)\b.*"
    r"\b(?:ending|closing)\b|^(?:ending|closing)\b|\bdecember 31(?:st)?$",
    re.I,
)


def rolled_period(
    rolled: Rolled | None, period: FactPeriod, calendar: FiscalCalendar, known: Sequence[date]
) -> FactPeriod:
    """What a row of a roll-forward covers in a column of `period`: a balance is of a day, a change of the time between.

    `known` are the days that the filing dates its columns by.
    """
    if rolled is None or period.end is None:
        return period
    months = period.months or 12
    if rolled is Rolled.OPENING:
        return calendar.instant(day_before(period.end, months, known))
    if rolled is Rolled.CLOSING:
        return calendar.instant(period.end)
    return period if period.months else calendar.duration(period.end, months)


def facts_of_rows_in_time(
    table: Table,
    unit_line: str,
    calendar: FiscalCalendar,
    metric_of: Callable[[str, Statement | None, Sequence[str]], str | None],
    day: date | None,
) -> Iterator[Fact]:
    """Facts of a table whose columns are measures (`Net sales`, `Dividends per share`) and whose rows are periods.

    Where rows are years to come, all of them are parts of what is owed on `day`.
    """
    owed = calendar.instant(day) if day is not None and any(map(_is_to_come(calendar), table.rows)) else None
    metrics = [metric_of(name, None, ()) if name else None for name in table.columns]
    year: int | None = None
    for row in table.rows:
        said = row_time(row.label)
        headed = [found.years[-1] for heading in row.section if (found := row_time(heading)) and found.years]
        year = headed[-1] if headed else year
        period = owed or (_period(said, year, calendar) if said else None)
        if period is None:
            continue
        for index, (cell, metric) in enumerate(zip(row.cells, metrics, strict=True)):
            if cell is None or not (table.columns[index] or owed):
                continue
            named = replace(row, label=table.columns[index]) if table.columns[index] else row
            unit = unit_of_cell(cell, named, "", bool(unit_line) or cell.dollar)
            yield Fact(
                label=row.label,
                amount=cell.amount,
                scale=scale_of_cell(unit, cell, named, unit_line),
                unit=unit,
                period=period,
                page=table.page,
                box=cell.box,
                metric=None if owed else metric,
                scope=row.label if owed and said else None,
                part_kind="maturity year" if owed and said else None,
                section=row.section,
                line=row.line,
                column=table.columns[index],
                column_path=table.column_path(index),
            )


def _is_to_come(calendar: FiscalCalendar) -> Callable[[Row], bool]:
    def later(row: Row) -> bool:
        said = row_time(row.label)
        return said is not None and not said.dates and bool(said.years) and min(said.years) > calendar.year

    return later


_TIME = re.compile(
    r"\b(?:(?:19|20)\d\d|fy\s?'?\d\d|q[1-4]|[1-4]q|first|second|third|fourth|[1-4](?:st|nd|rd|th)|fiscal|years?|quarters?"
    r"|ended|ending|ends|months?|weeks?|three|six|nine|twelve|(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)"
    r"[a-z]*|for|the|as|of|at|through|to|in|remainder)\b",
    re.I,
)
_OTHER_WORDS = re.compile(r"[A-Za-z]|\d{3,}|[%$]")
_LATER = re.compile(
    r"^\W*(?:(?:and |years? )?thereafter|(?:19|20)\d\d ?[-–—] ?(?:19|20)?\d\d|(?:and )?beyond|later years?)\W*$", re.I
)


def _period(said: TimeWords, year: int | None, calendar: FiscalCalendar) -> FactPeriod | None:
    if said.dates:
        day = said.dates[-1]
        if day > calendar.year_end:
            return None
        return calendar.duration(day, said.months) if said.months else calendar.instant(day)
    year = said.years[-1] if said.years else year
    if year is None or year > calendar.year:
        return None
    if said.quarter:
        return FactPeriod(year, said.quarter, 3, calendar.end_of_quarter(year, said.quarter))
    return FactPeriod(year, None, 12, calendar.end_of(year)) if said.years else None
