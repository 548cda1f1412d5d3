"""Determine the periods of rows: balances at dates, changes between two, quarters, years, and future years."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from enum import Enum

from fin_agent.filings.facts import units_and_scales
from fin_agent.filings.facts.units_and_scales import fact_of_cell
from fin_agent.filings.tables.column_periods import FiscalCalendar, TimeWords, is_month_end, time_words
from fin_agent.lexicon.words import patterns
from fin_agent.vocabulary.dates import month_end
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.table import Row, Table

_PATTERNS = patterns("figure_patterns")


MetricOf = Callable[[str, Statement | None, Sequence[str]], str | None]
"""Returns the metric of a printed row label: (label, statement, section path) -> metric id or None."""


def with_balances(facts: Sequence[Fact], fiscal: FiscalCalendar | None) -> list[Fact]:
    """Return `facts` with opening and closing balances of cash flow and equity statements dated as instants."""
    if fiscal is None:
        return list(facts)
    known = sorted({fact.period.end for fact in facts if fact.statement is not None and fact.period.end is not None})
    return [_dated(fact, fiscal, known) for fact in facts]


_NEAR = timedelta(days=10)


def _dated(fact: Fact, fiscal: FiscalCalendar, known: Sequence[date]) -> Fact:
    period = fact.period
    if fact.statement not in (Statement.CASH_FLOW, Statement.EQUITY) or not period.months or period.end is None:
        return fact
    texts = " ".join((*fact.section, fact.label))
    if not _PATTERNS["of a balance"].search(texts) or not _PATTERNS["of a period"].search(fact.label):
        return fact
    if _PATTERNS["opening balance"].search(fact.label):
        return replace(fact, period=fiscal.instant(day_before(period.end, period.months, known)))
    closing = _PATTERNS["closing balance"].search(fact.label)
    return replace(fact, period=fiscal.instant(period.end)) if closing else fact


def day_before(end: date, months: int, known: Iterable[date]) -> date:
    """Return the last day before a period of `months` months that ends on `end`.

    A near day in `known` is preferred to the one computed, in weeks for years that do not end with a month.
    """
    reckoned = end - timedelta(weeks=round(months * 52 / 12))
    if is_month_end(end):
        year, month = divmod(end.year * 12 + end.month - 1 - months, 12)
        reckoned = month_end(year, month + 1)
    near = [day for day in known if abs(day - reckoned) <= _NEAR]
    return min(near, key=lambda day: (abs(day - reckoned), day), default=reckoned)


def dated_rows(tables: Sequence[Table], calendar: FiscalCalendar) -> list[dict[int, FactPeriod]]:
    """Return the periods of rows by position, for each of `tables`, which are parts of one statement in order.

    A balance is an instant; the rows between two balances cover the time between them. Rows after the last balance, or
    between balances in descending order, are left out.
    """
    dated: list[dict[int, FactPeriod]] = [{} for _ in tables]
    opened: date | None = None
    pending: list[tuple[int, int]] = []
    for number, table in enumerate(tables):
        for position, row in enumerate(table.rows):
            day = _balance_day(row, calendar)
            if day is None:
                pending.append((number, position))
                continue
            dated[number][position] = calendar.instant(day)
            months = round((day - opened).days / 30.44) if opened else 0
            if months > 0 and (months != 12 or calendar.may_end_year(day)):
                for where, index in pending:
                    dated[where][index] = calendar.duration(day, months)
            opened, pending = day, []
    return dated


def equity_facts(table: Table, rows: Mapping[int, FactPeriod], unit_line: str, metric_of: MetricOf) -> Iterator[Fact]:
    """Yield facts of a statement of equity: each component is a scope; the total is the company itself (None)."""
    names = [_component(name) for name in table.columns]
    counted = [_counts_shares(table, names, index) for index in range(len(names))]
    total = total_column(names)
    metrics = [metric_of(name, Statement.BALANCE_SHEET, ()) if name else None for name in names]
    if total is not None and metrics[total] is None:
        metrics[total] = "total_equity" if any(map(_PATTERNS["outsiders"].search, names)) else "shareholders_equity"
    for position, row in enumerate(table.rows):
        if (when := rows.get(position)) is None:
            continue
        balance = not when.months
        metric = None if balance else metric_of(row.label, Statement.EQUITY, row.section)
        for index, cell in enumerate(row.cells):
            if cell is None:
                continue
            unit = units_and_scales.unit_of_cell(cell, row, "", "USD") if cell.percent or "." in cell.printed else "USD"
            unit = "shares" if counted[index] else unit if unit in ("percent", "USD per share") else "USD"
            whole = index == total or (balance and bool(_PATTERNS["total of a row"].search(names[index])))
            if not whole and not names[index]:
                continue  # of a part without a name: not a figure of the company
            meant = None if counted[index] else metrics[index] if balance else metric
            part = None if whole else names[index]
            statement = Statement.EQUITY
            yield fact_of_cell(table, row, index, unit, unit_line, when, metric=meant, statement=statement, scope=part)


def facts_of_dated_rows(table: Table, rows: Mapping[int, FactPeriod], unit_line: str) -> Iterator[Fact]:
    """Yield facts of another table whose rows are dated balances and the changes between; columns are its parts."""
    units = units_and_scales.units_of_columns(table, unit_line)
    usual = units_and_scales.usual_units(table, unit_line)
    names = [_component(name) for name in table.columns]
    total = total_column(names)
    measured = [units_and_scales.is_measure(name) or len(names) == 1 for name in names]
    for position, when in rows.items():
        row = table.rows[position]
        for index, cell in enumerate(row.cells):
            if cell is None:
                continue
            unit = units_and_scales.unit_of_cell(cell, row, names[index], usual[index])
            scope = None if index == total or measured[index] else names[index] or None
            yield fact_of_cell(table, row, index, unit, units[index], when, scope=scope)


def balance_period(
    label: str, period: FactPeriod, columns: Iterable[FactPeriod | None] = (), known: Sequence[date] = ()
) -> FactPeriod:
    """Return the instant of a balance row under a column of several months; `period` for any other row.

    `columns` are the periods of the table, one of which may end where this one begins, `known` the filing's dates.
    """
    quarter = period.quarter or (period.months // 3 if period.months in (6, 9) else None)
    if not _PATTERNS["balance at beginning"].search(label):
        if not any(_PATTERNS[kind].search(label) for kind in ("balance at end", "total equity", "capital alone")):
            return period
        return FactPeriod(period.fiscal_year, None if quarter == 4 else quarter, 0, period.end)
    if period.months not in (3, 6, 9, 12):
        return period
    start = None
    if period.end is not None:
        day = day_before(period.end, period.months, () if is_month_end(period.end) else known)
        start = day if is_month_end(period.end) or day in known else None
    if period.months == 3 and quarter and quarter > 1:
        return FactPeriod(period.fiscal_year, quarter - 1, 0, start)
    year = period.fiscal_year - 1
    ends = (other.end for other in columns if other and other.end and (other.fiscal_year, other.months) == (year, 12))
    return FactPeriod(year, None, 0, next(ends, None) or start)


def part_of_company(name: str) -> str | None:
    """Return `name` as a scope; None where it names the whole (`Total`, `Consolidated`) or nothing."""
    if not any(mark.isalpha() for mark in name) or _PATTERNS["whole company"].search(name):
        return None
    return " ".join(name.split())[:80]


def covers_later_years(name: str) -> bool:
    """Return whether a row or column covers all years after the last one named: `Thereafter`, `2028-2032`."""
    return bool(_PATTERNS["later years"].search(name))


def later_years_name(year: int) -> str:
    """Return the name of all years after the last one named, as a part; `Thereafter` in a question matches it too."""
    return f"After {year}"


def is_component(heading: str) -> bool:
    """Return whether a heading names a component of equity, such as `Retained earnings`, rather than the total."""
    return bool(_PATTERNS["component of equity"].search(heading)) and not _PATTERNS["total of a row"].search(heading)


def total_column(names: Sequence[str]) -> int | None:
    """Return the position of the column that adds up all others; None where none is named so."""
    amounts = [index for index, name in enumerate(names) if not _PATTERNS["shares of a row"].search(name)]
    totals = [index for index in amounts if _PATTERNS["total of a row"].search(names[index])]
    found = totals or [index for index in amounts if _PATTERNS["whole equity"].search(names[index])]
    return min(found, key=lambda index: (len(names[index]), -index), default=None)


_MAX_WORDS_BESIDE_A_DAY = 2


def _balance_day(row: Row, calendar: FiscalCalendar) -> date | None:
    dates = time_words(row.label).dates
    others = len(re.findall(r"[A-Za-z]{3,}", row.label)) - 1
    named = _PATTERNS["balance or equity"].search(row.label) or _PATTERNS["as of a day"].search(row.label)
    if len(dates) != 1 or (not named and others > _MAX_WORDS_BESIDE_A_DAY):
        return None
    # `Balance at January 1` is the previous year's closing balance, unless years may end on such a day.
    return dates[0] - timedelta(days=dates[0].day == 1 and is_month_end(calendar.year_end))


def _component(name: str) -> str:
    return " ".join(_PATTERNS["time above a column"].sub(" ", name).split())[:80]


def _counts_shares(table: Table, names: Sequence[str], index: int) -> bool:
    """Return whether a column contains numbers of shares: by name, next to one of amounts, without currency signs."""
    named = _PATTERNS["shares of a row"].search(names[index])
    beside = any(_PATTERNS["amount of a row"].search(name) for name in names[index + 1 : index + 2])
    return bool(named) and beside and not any(cell and cell.dollar for cell in (row.cells[index] for row in table.rows))


def row_time(label: str) -> TimeWords | None:
    """Return the time that a label consists of (`Fiscal 2023`, `First Quarter`, `December 31, 2022`), or None."""
    said = time_words(label)
    return said if said.names_time and not _PATTERNS["other words"].search(_PATTERNS["time"].sub(" ", label)) else None


def period_under(label: str, period: FactPeriod) -> FactPeriod | None:
    """Return what a row named by a time covers in a column of `period`.

    A quarter under a year is that quarter; other rows have the column's period. Years after the column's own, such as
    `Thereafter` of lease payments as of 2022, give None: a future obligation is not a figure of that period.
    """
    if _PATTERNS["later years"].search(label):
        return None
    said = row_time(label)
    if said is None:
        return period
    if said.years and max(said.years) > period.fiscal_year:
        return None
    if said.quarter and not said.years and period.months in (0, 12) and period.quarter is None:
        return FactPeriod(period.fiscal_year, said.quarter, 3, period.end if said.quarter == 4 else None)
    return period


RollForwardRole = Enum("RollForwardRole", "OPENING CHANGE CLOSING")
"""The role of a row in a roll-forward."""


def roll_forward_rows(table: Table) -> dict[int, RollForwardRole]:
    """Return the roles of rows, by position, in a table from the opening to the closing balance of each column.

    Rows are recognized by their words, or by opening balances that are the closing ones of the column beside.
    """
    short = [row.label if row.label.count(" ") < _WORDS_OF_A_BALANCE else "" for row in table.rows]
    opening = [position for position, label in enumerate(short) if _PATTERNS["opening row"].search(label)]
    closing = [position for position, label in enumerate(short) if _PATTERNS["closing row"].search(label)]
    ends = (position for position in closing if _PATTERNS["at end of period"].search(table.rows[position].label))
    rolled = dict.fromkeys(ends, RollForwardRole.CLOSING)
    if not (opening and closing):
        opening, closing = _carried_balance_rows(table) or (opening, closing)
    for first in opening:
        last = next((position for position in closing if position > first), None)
        if last is None:
            rolled[first] = RollForwardRole.OPENING
            continue
        if last - first > _MAX_ROLL_LENGTH or any(first < other < last for other in opening):
            continue
        rolled.update(dict.fromkeys(range(first + 1, last), RollForwardRole.CHANGE))
        rolled[first], rolled[last] = RollForwardRole.OPENING, RollForwardRole.CLOSING
    return rolled


def _carried_balance_rows(table: Table) -> tuple[list[int], list[int]] | None:
    """Return (opening, closing) rows whose figures carry over from column to column, in either order of years.

    Columns must be spans: a debt less its current portion may be the same on two dates. A row that adds up the rows
    above is not an opening balance.
    """
    spans = {period for period in table.periods if period is not None and period.months}
    if len(table.columns) < 2 or len(spans) < len(table.columns):
        return None
    figures = [[cell.amount if cell else None for cell in row.cells] for row in table.rows]
    for first, begins in enumerate(figures):
        if None in begins or not all(begins) or _PATTERNS["total of a row"].match(table.rows[first].label):
            continue
        for last in range(first + 2, min(len(figures), first + _MAX_ROLL_LENGTH)):
            ends = figures[last]
            if None not in ends and begins != ends and (begins[:-1] == ends[1:] or begins[1:] == ends[:-1]):
                return [first], [last]
    return None


_MAX_ROLL_LENGTH = 40
_WORDS_OF_A_BALANCE = 10


def roll_forward_period(
    rolled: RollForwardRole | None, period: FactPeriod, calendar: FiscalCalendar, known: Sequence[date]
) -> FactPeriod:
    """Return the period of a row of a roll-forward: an instant of a balance, a span of a change; `known` are dates."""
    if rolled is None or period.end is None:
        return period
    months = period.months or 12
    if rolled is RollForwardRole.OPENING:
        return calendar.instant(day_before(period.end, months, known))
    if rolled is RollForwardRole.CLOSING:
        return calendar.instant(period.end)
    return period if period.months else calendar.duration(period.end, months)


def rows_are_months(table: Table) -> bool:
    """Return whether the rows are months, named by their first and last days, as those of repurchases of shares are."""
    return len(set(_months_of(table.rows))) > 1


def _months_of(rows: Iterable[Row]) -> Iterator[date]:
    """Yield the last days of the months that rows, or the headings above them, name by their first and last days."""
    named = (row_time(name) for row in rows for name in (*row.section, row.label))
    return (said.dates[-1] for said in named if said is not None and said.months == 1 and said.dates)


def facts_of_rows_in_time(
    table: Table, unit_line: str, calendar: FiscalCalendar, metric_of: MetricOf, day: date | None
) -> Iterator[Fact]:
    """Yield facts of a table with measures as columns (`Net sales`, `Dividends per share`) and periods as rows.

    Future years are parts of what is owed on `day`; under a measure as heading, columns are parts of the company.
    """
    rows = list(_with_times_alone(table.rows))
    times = [row_time(row.label) for row in rows]
    to_come = any(said and said.years and not said.dates and min(said.years) > calendar.year for said in times)
    owed = calendar.instant(day) if day is not None and to_come else None
    metrics = [metric_of(name, None, ()) if name else None for name in table.columns]
    months = set(_months_of(rows))
    whole = calendar.duration(max(months), 3) if len(months) in _MONTHS_OF_A_QUARTER else None
    year: int | None = None
    last = 0
    for row, said in zip(rows, times, strict=True):
        last = max([last, *(said.years if said else ())])
        due = row.label if said else later_years_name(last) if covers_later_years(row.label) else None
        headed_metric = metric_of(row.section[-1], None, row.section[:-1]) if said and row.section else None
        headed = [found.years[-1] for heading in row.section if (found := row_time(heading)) and found.years]
        year = headed[-1] if headed else year
        period = owed or (_period(said, year, calendar) if said else None)
        if whole is not None and _PATTERNS["total of a row"].match(row.label):
            period = whole
        if period is None:
            continue
        for index, (cell, metric) in enumerate(zip(row.cells, metrics, strict=True)):
            if cell is None or not (table.columns[index] or owed):
                continue
            named = replace(row, label=table.columns[index]) if table.columns[index] else row
            unit = units_and_scales.unit_of_cell(cell, named, "", "USD" if unit_line else "count")
            of_cell = period
            if months and period.end == max(months) and _PATTERNS["still open"].search(named.label):
                if cell.amount < 0:  # what was bought, above what is left
                    continue
                of_cell = calendar.instant(max(months))
            divided = headed_metric is not None and metric is None and not owed
            yield replace(
                fact_of_cell(table, named, index, unit, unit_line, of_cell),
                label=row.label,
                metric=None if owed else metric or headed_metric,
                scope=due if owed else part_of_company(table.columns[index]) if divided else None,
                part_kind="maturity year" if owed and due else None,
            )


_MONTHS_OF_A_QUARTER = (3, 4)
"""Fourth quarters of sixteen or seventeen weeks have four months of weeks."""


def _with_times_alone(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield rows with the words before a year as its heading: `Revenue 2023` above `2022` and `2021`."""
    head: tuple[str, ...] = ()
    for row, below in zip(rows, [*rows[1:], None], strict=True):
        said = row_time(row.label)
        if said is None:
            words, _, last = row.label.rpartition(" ")
            years = [found.years for label in (last, below.label if below else "") if (found := row_time(label))]
            begins = bool(words) and len(years) == 2 and all(years) and years[0] != years[1]
            head, row = ((words,), replace(row, label=last)) if begins else ((), row)
        yield replace(row, section=(*row.section, *head)) if head else row


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
