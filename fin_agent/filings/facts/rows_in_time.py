"""Rows that are named by a time: quarters under a year, years down the page, and years still to come."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from fin_agent.filings.facts.measures import scale_of_cell, unit_of_cell
from fin_agent.filings.tables.periods import FiscalCalendar, TimeWords, time_words
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.table import Table


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


def facts_of_rows_in_time(
    table: Table,
    unit_line: str,
    calendar: FiscalCalendar,
    metric_of: Callable[[str, Statement | None, Sequence[str]], str | None],
) -> Iterator[Fact]:
    """Facts of a table whose columns are measures (`Net sales`, `Dividends per share`) and whose rows are periods.

    Only columns that name a metric, and periods that had ended when the filing was made.
    """
    metrics = [metric_of(name, None, ()) if name else None for name in table.columns]
    if not any(metrics):
        return
    year: int | None = None
    for row in table.rows:
        said = row_time(row.label)
        headed = [found.years[-1] for heading in row.section if (found := row_time(heading)) and found.years]
        year = headed[-1] if headed else year
        period = _period(said, year, calendar) if said else None
        if period is None:
            continue
        for index, (cell, metric) in enumerate(zip(row.cells, metrics, strict=True)):
            if cell is None or metric is None:
                continue
            named = replace(row, label=table.columns[index])
            unit = unit_of_cell(cell, named, "", bool(unit_line) or cell.dollar)
            yield Fact(
                label=row.label,
                amount=cell.amount,
                scale=scale_of_cell(unit, cell, named, unit_line),
                unit=unit,
                period=period,
                page=table.page,
                box=cell.box,
                metric=metric,
                section=row.section,
                line=row.line,
                column=table.columns[index],
                column_path=table.column_path(index),
            )


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
