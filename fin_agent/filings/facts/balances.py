"""Rows of a statement of flows that state a balance: cash at the beginning and at the end of the period."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, timedelta

from fin_agent.filings.tables.periods import FiscalCalendar
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.page import Statement


def with_balances(facts: Sequence[Fact], fiscal: FiscalCalendar | None) -> list[Fact]:
    """`facts` with opening and closing balances of cash flow and equity statements dated as the instants they are.

    A closing balance is of the last day of its column's period. An opening one is of the day before the period begins:
    of the days that the filing itself dates columns by the nearest one, else reckoned back in months where periods end
    with a month, and in weeks of 52-week years where they do not.
    """
    if fiscal is None:
        return list(facts)
    known = sorted({fact.period.end for fact in facts if fact.statement is not None and fact.period.end is not None})
    return [_dated(fact, fiscal, known) for fact in facts]


_CLOSING = re.compile(r"\b(?:end(?:ing)?|close|closing)\b", re.I)
_OPENING = re.compile(r"\b(?:beginning|start|opening)\b", re.I)
_BALANCE = re.compile(r"\bcash\b|\bbalances?\b|\bshareholders\b|\bstockholders\b|\bequity\b", re.I)
_OF_PERIOD = re.compile(
    r"\b(?:of|at)\b.{0,16}\b(?:period|year|quarter|month|week)s?\b|\bbalances?\b|^(?:beginning|ending|end|opening)\b",
    re.I,
)
_NEAR = timedelta(days=10)


def _dated(fact: Fact, fiscal: FiscalCalendar, known: Sequence[date]) -> Fact:
    period = fact.period
    if fact.statement not in (Statement.CASH_FLOW, Statement.EQUITY) or not period.months or period.end is None:
        return fact
    if not _BALANCE.search(" ".join((*fact.section, fact.label))) or not _OF_PERIOD.search(fact.label):
        return fact
    if _OPENING.search(fact.label):
        return replace(fact, period=fiscal.instant(day_before(period.end, period.months, known)))
    if _CLOSING.search(fact.label):
        return replace(fact, period=fiscal.instant(period.end))
    return fact


def day_before(end: date, months: int, known: Iterable[date]) -> date:
    """Last day before a period of `months` months that ends at `end`."""
    reckoned = _months_back(end, months)
    near = [day for day in known if abs(day - reckoned) <= _NEAR]
    return min(near, key=lambda day: (abs(day - reckoned), day)) if near else reckoned


def _months_back(end: date, months: int) -> date:
    if end.day != calendar.monthrange(end.year, end.month)[1]:
        return end - timedelta(weeks=round(months * 52 / 12))
    year, month = divmod(end.year * 12 + end.month - 1 - months, 12)
    return date(year, month + 1, calendar.monthrange(year, month + 1)[1])
