"""Statements of equity whose columns are components: balances at a day, and what changed them until the next one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from fin_agent.filings.facts.measures import scale_of_cell, unit_of_cell
from fin_agent.filings.tables.periods import FiscalCalendar, is_month_end, time_words
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.table import Cell, Row, Table


@dataclass(frozen=True, slots=True)
class DatedRow:
    """When a row's figures are true."""

    period: FactPeriod
    balance: bool


def dated_rows(tables: Sequence[Table], calendar: FiscalCalendar) -> list[Mapping[int, DatedRow]]:
    """For each of `tables`, parts of one statement in their order, the time of each row by its position.

    A balance is an instant at its day; the rows between two balances cover the time between these. Rows that follow
    the last balance, or stand between balances that run backwards, are left out.
    """
    dated: list[dict[int, DatedRow]] = [{} for _ in tables]
    opened: date | None = None
    pending: list[tuple[int, int]] = []
    for number, table in enumerate(tables):
        for position, row in enumerate(table.rows):
            day = _balance_day(row, calendar)
            if day is None:
                pending.append((number, position))
                continue
            dated[number][position] = DatedRow(calendar.instant(day), True)
            months = round((day - opened).days / 30.44) if opened else 0
            if months > 0 and opened is not None:
                if months == 12 and not calendar.ends_a_year(day):
                    months = 0
                for where, index in pending if months else ():
                    dated[where][index] = DatedRow(calendar.duration(day, months), False)
            opened, pending = day, []
    return list(dated)


def equity_facts(
    table: Table,
    rows: Mapping[int, DatedRow],
    unit_line: str,
    metric_of: Callable[[str, Statement | None, Sequence[str]], str | None],
) -> Iterator[Fact]:
    """Facts of a statement of equity: each component is a scope, the total is the company itself (None)."""
    names = [_component(name) for name in table.columns]
    counted = [_counts_shares(table, names, index) for index in range(len(names))]
    total = total_column(names)
    metrics = [metric_of(name, Statement.BALANCE_SHEET, ()) if name else None for name in names]
    if total is not None and metrics[total] is None:
        metrics[total] = "total_equity" if any(map(_OUTSIDERS.search, names)) else "shareholders_equity"
    for position, row in enumerate(table.rows):
        when = rows.get(position)
        if when is None:
            continue
        metric = None if when.balance else metric_of(row.label, Statement.EQUITY, row.section)
        for index, cell in enumerate(row.cells):
            if cell is None:
                continue
            unit = "shares" if counted[index] else _unit(cell, row)
            whole = index == total or (when.balance and bool(_TOTAL.search(names[index])))
            if not whole and not names[index]:
                continue  # of a part that has lost its name: no figure of the company
            yield Fact(
                label=row.label,
                amount=cell.amount,
                scale=scale_of_cell(unit, cell, row, unit_line),
                unit=unit,
                period=when.period,
                page=table.page,
                box=cell.box,
                metric=None if counted[index] else metrics[index] if when.balance else metric,
                section=row.section,
                line=row.line,
                column=table.columns[index],
                column_path=table.column_path(index),
                statement=Statement.EQUITY,
                scope=None if whole else names[index],
            )


def facts_of_dated_rows(table: Table, rows: Mapping[int, DatedRow], unit_line: str) -> Iterator[Fact]:
    """Facts of any other table whose rows are balances at days and the changes between them; columns are its parts."""
    money = bool(unit_line) or any(cell and cell.dollar for row in table.rows for cell in row.cells)
    names = [_component(name) for name in table.columns]
    total = total_column(names)
    for position, when in rows.items():
        row = table.rows[position]
        for index, cell in enumerate(row.cells):
            if cell is None:
                continue
            unit = unit_of_cell(cell, row, names[index], money)
            yield Fact(
                label=row.label,
                amount=cell.amount,
                scale=scale_of_cell(unit, cell, row, unit_line),
                unit=unit,
                period=when.period,
                page=table.page,
                box=cell.box,
                section=row.section,
                line=row.line,
                column=table.columns[index],
                column_path=table.column_path(index),
                scope=names[index] if len(names) > 1 and index != total and names[index] else None,
                tied=False,
            )


def balance_period(label: str, period: FactPeriod, columns: Iterable[FactPeriod | None] = ()) -> FactPeriod:
    """The instant that a balance row under a column of some months is true at; `period` for any other row.

    `columns` are the periods of the table: one of them may end where this one begins.
    """
    quarter = period.quarter or (period.months // 3 if period.months in (6, 9) else None)
    if not _BEGINNING.search(label):
        if not (_ENDING.search(label) or _TOTAL_EQUITY.search(label) or _COMPONENT_ALONE.search(label)):
            return period
        return FactPeriod(period.fiscal_year, None if quarter == 4 else quarter, 0, period.end)
    if period.months not in (3, 6, 9, 12):
        return period
    if period.months == 3 and quarter and quarter > 1:
        return FactPeriod(period.fiscal_year, quarter - 1, 0, _start(period))
    year = period.fiscal_year - 1
    ends = (other.end for other in columns if other and other.end and (other.fiscal_year, other.months) == (year, 12))
    return FactPeriod(year, None, 0, next(ends, None) or _start(period))


def _start(period: FactPeriod) -> date | None:
    """The day before a period begins, where it ends with a calendar month."""
    if period.end is None or not is_month_end(period.end):
        return None
    months = period.end.year * 12 + period.end.month - period.months  # of the month after the one meant, from 0
    return date(months // 12, months % 12 + 1, 1) - timedelta(days=1)


_BEGINNING = re.compile(r"\bbalances?\b.*\bbeginning\b|\bbeginning\b.*\bbalances?\b", re.I)
_ENDING = re.compile(r"\bbalances?\b.*\bend\b|\bend(?:ing)?\b.*\bbalances?\b", re.I)
_COMPONENT_ALONE = re.compile(r"^(?:common|preferred|preference|capital) (?:stock|shares)$", re.I)
_TOTAL_EQUITY = re.compile(r"^total\b.*\bequity\b", re.I)


def is_component(heading: str) -> bool:
    """Whether a heading names a part of equity, as `Retained earnings`, and not the whole of it."""
    return bool(_COMPONENT.search(heading)) and not _TOTAL.search(heading)


def total_column(names: Sequence[str]) -> int | None:
    """Position of the column that adds up all others; None where none is called so."""
    for pattern in (_TOTAL, _WHOLE_EQUITY):
        found = [index for index, name in enumerate(names) if pattern.search(name) and not _SHARES.search(name)]
        if found:
            return min(found, key=lambda index: (len(names[index]), -index))
    return None


_BALANCE = re.compile(r"\bbalances?\b|^(?:total )?(?:(?:share|stock)holders['’]? )?equity\b", re.I)
_TOTAL = re.compile(r"\btotal\b", re.I)
_WHOLE_EQUITY = re.compile(r"^(?:(?:share|stock)(?:holders|owners)['’]? )?equity\b", re.I)
_OUTSIDERS = re.compile(r"\bnon-? ?controlling\b|\bminority\b", re.I)
_COMPONENT = re.compile(
    r"\b(?:common|preferred|preference|capital|ordinary) (?:stock|shares?)\b|\bpaid[- ]in\b|\bexcess of par\b"
    r"|\bretained\b|\breinvested\b|\baccumulated\b|\btreasury\b|\bcomprehensive\b"
    r"|\bnon-? ?controlling\b|\bdeferred compensation\b|\bsurplus\b|\bshare premium\b|\breserves?\b|\bunearned\b",
    re.I,
)
_SHARES = re.compile(r"\b(?:shares|units)$", re.I)
_AMOUNT = re.compile(r"\bamounts?$", re.I)
_NOT_A_NAME = re.compile(
    r"\([^()]*(?:un)?audited[^()]*\)|\b(?:for the )?(?:fiscal )?"
    r"(?:(?:three|six|nine|twelve|thirteen|twenty-six|thirty-nine|fifty-two|\d\d?) (?:months|weeks)|years?"
    r"|quarter) ended\b(?: [a-z]+\.? \d{1,2}\b,?)?(?: (?:19|20)\d\d\b)?",
    re.I,
)
_MOST_WORDS_BESIDE_A_DAY = 4


def _balance_day(row: Row, calendar: FiscalCalendar) -> date | None:
    said = time_words(row.label)
    if len(said.dates) != 1:
        return None
    others = len(re.findall(r"[A-Za-z]{3,}", row.label)) - 1
    if not _BALANCE.search(row.label) and others > _MOST_WORDS_BESIDE_A_DAY - 2:
        return None
    day = said.dates[0]
    before = day - timedelta(days=1)
    ends_with_month = (calendar.year_end + timedelta(days=1)).day == 1
    # `Balance at January 1` is the balance that the year before ended with, unless years may end on such a day.
    return before if day.day == 1 and ends_with_month else day


def _component(name: str) -> str:
    return " ".join(_NOT_A_NAME.sub(" ", name).split())[:80]


def _counts_shares(table: Table, names: Sequence[str], index: int) -> bool:
    """Whether a column holds numbers of shares: named so, beside one of amounts, and never with a currency sign."""
    if not _SHARES.search(names[index]):
        return False
    beside = any(_AMOUNT.search(name) for name in names[index + 1 : index + 2])
    return beside and not any(cell and cell.dollar for row in table.rows if (cell := row.cells[index]))


def _unit(cell: Cell, row: Row) -> str:
    if cell.percent or "." in cell.printed:
        unit = unit_of_cell(cell, row, "", True)
        return unit if unit in ("percent", "USD per share") else "USD"
    return "USD"
