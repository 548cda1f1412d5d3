"""Facts held against each other: units, tables that repeat the statements, taxes shown as deductions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.page import Statement

UnitOf = Callable[[str], str]
"""Unit of a metric by its id."""

_Span = tuple[int, int | None, int]
"""Fiscal year, quarter, months."""

_PER_SHARE = {"diluted": "diluted_eps", "basic": "basic_eps"}
_SHARES = {"diluted": "weighted_average_shares_diluted", "basic": "weighted_average_shares_basic"}
_NET_INCOMES = ("net_income", "income_from_continuing_operations", "net_income_attributable_to_parent")


def reconciled(tables: Sequence[Sequence[Fact]], unit_of: UnitOf) -> list[Fact]:
    """The facts of all tables, in order, with what the others say about each.

    - A figure whose unit is not its metric's gets the metric its unit and heading name, or none.
    - `tied` is taken from figures outside the primary statements whose table repeats no figure of them, or states
      several amounts for one metric and period: such a table may be of a part, an effect, or another basis.
    - `inverted` is set on taxes that the income statement shows as a deduction.
    """
    named = [[_in_its_unit(fact, unit_of) for fact in table] for table in tables]
    stated = _stated(fact for table in named for fact in table)
    inverted = _inverted_taxes([fact for table in named for fact in table])
    found: list[Fact] = []
    for table in named:
        loose = set() if not stated else _loose(table, stated)
        for position, fact in enumerate(table):
            if position in loose:
                fact = replace(fact, tied=False)
            if fact.metric == "income_tax_expense" and (fact.page, _span(fact)) in inverted:
                fact = replace(fact, inverted=True)
            found.append(fact)
    return found


def _in_its_unit(fact: Fact, unit_of: UnitOf) -> Fact:
    if fact.metric is None or unit_of(fact.metric) == fact.unit:
        return fact
    names = _PER_SHARE if fact.unit == "USD per share" else _SHARES if fact.unit == "shares" else {}
    heading = " ".join(fact.section).lower()
    return replace(fact, metric=next((name for word, name in names.items() if word in heading), None))


def _stated(facts: Iterator[Fact]) -> dict[tuple[str, _Span], set[Decimal]]:
    """What the primary statements say, by metric and period, in base units."""
    stated: dict[tuple[str, _Span], set[Decimal]] = {}
    for fact in facts:
        if fact.statement is not None and fact.metric is not None and fact.scope is None:
            stated.setdefault((fact.metric, _span(fact)), set()).add(fact.value)
    return stated


def _loose(table: Sequence[Fact], stated: Mapping[tuple[str, _Span], set[Decimal]]) -> set[int]:
    """Positions of facts that nothing ties to the statements."""
    outside = [
        (position, fact)
        for position, fact in enumerate(table)
        if fact.statement is None and fact.metric is not None and fact.scope is None
    ]
    values: dict[tuple[str, _Span], set[Decimal]] = {}
    for _, fact in outside:
        values.setdefault((fact.metric or "", _span(fact)), set()).add(fact.value)
    repeats = any(value and value in stated.get(key, ()) for key, held in values.items() for value in held)
    loose: set[int] = set()
    for position, fact in outside:
        key = (fact.metric or "", _span(fact))
        ambiguous = len(values[key]) > 1 and fact.value not in stated.get(key, ())
        if not repeats or ambiguous:
            loose.add(position)
    return loose


def _inverted_taxes(facts: Sequence[Fact]) -> set[tuple[int, _Span]]:
    """(page, period) of income statements in which income before taxes *plus* the printed tax is net income."""
    by_place: dict[tuple[int, _Span], dict[str, Fact]] = {}
    rows: dict[tuple[int, _Span], list[Fact]] = {}
    for fact in facts:
        if fact.statement is Statement.INCOME and fact.scope is None:
            rows.setdefault((fact.page, _span(fact)), []).append(fact)
            if fact.metric is not None:
                by_place.setdefault((fact.page, _span(fact)), {}).setdefault(fact.metric, fact)
    inverted: set[tuple[int, _Span]] = set()
    negative: dict[int, list[bool]] = {}
    for place, held in by_place.items():
        tax, before = held.get("income_tax_expense"), held.get("income_before_taxes")
        if tax is None or before is None or not tax.amount:
            continue
        negative.setdefault(place[0], []).append(tax.amount < 0 < before.amount)
        results = [held[name] for name in _NET_INCOMES if name in held]
        added, deducted = ([_equal(before, tax, result, sign, rows[place]) for result in results] for sign in (1, -1))
        if any(added) and not any(deducted):
            inverted.add(place)
    for (page, span), held in by_place.items():
        # Where other lines stand between, the sums do not close: a tax that is negative in every profitable year is a
        # deduction all the same.
        if "income_tax_expense" in held and len(negative.get(page, ())) > 1 and all(negative[page]):
            inverted.add((page, span))
    return inverted


def _equal(before: Fact, tax: Fact, result: Fact, sign: int, rows: Sequence[Fact]) -> bool:
    """Whether income before taxes and the tax come to the result, alone or with the few rows printed between."""
    taxed = before.value + sign * tax.value
    between = [fact.value for fact in rows if tax.line < fact.line < result.line and fact.unit == tax.unit]
    sums = [taxed, taxed + sum(between, Decimal(0))] if 0 < len(between) <= _MOST_BETWEEN else [taxed]
    return any(abs(each - result.value) <= 2 * before.scale for each in sums)


_MOST_BETWEEN = 2
"""Rows such as the results of investees, net of tax; more would let sums close by chance."""


def _span(fact: Fact) -> _Span:
    return fact.period.fiscal_year, fact.period.quarter, fact.period.months
