"""Identify rows of statements by the statements' own sums, whatever their labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fin_agent.filings.facts.accounting_identities import Column, place_of, statement_columns
from fin_agent.filings.tables.sum_detection import row_sums
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.table import Row, Table

_COSTS = frozenset(("cost_of_revenue", "cost_of_products", "cost_of_services"))
_TOTAL = "total_costs_and_expenses"


def with_unlabelled_gross_profit(facts: Sequence[Fact]) -> list[Fact]:
    """Return `facts` with a figure without a label as gross profit, where the statement's arithmetic confirms it.

    It must be revenue less the costs above it in every column, and operating income must follow.
    """
    found: dict[tuple[int, int], list[tuple[Fact, Fact | None] | None]] = {}
    for column in statement_columns(facts, Statement.INCOME):
        if not column.facts_of("gross_profit"):
            for fact in column.facts:
                if not fact.label and fact.unit == "USD":
                    found.setdefault(place_of(fact), []).append(_gross_profit(column, fact))
    named: dict[int, Fact] = {}
    for readings in found.values():
        for profit, total in () if None in readings else filter(None, readings):
            below = f" below {total.label}" if total is not None else ""
            named[id(profit)] = replace(profit, metric="gross_profit", label=f"(no label{below})")
            if total is not None:
                named[id(total)] = replace(total, metric="cost_of_revenue")
    return [named.get(id(fact), fact) for fact in facts]


def _gross_profit(column: Column, fact: Fact) -> tuple[Fact, Fact | None] | None:
    """Return a figure with the total right above it, if there is one, where it is gross profit."""
    above = [revenue for revenue in column.facts_of("revenue") if place_of(revenue) < place_of(fact)]
    below = [income for income in column.facts_of("operating_income") if place_of(income) > place_of(fact)]
    if not above or not below or below[0].value == fact.value:
        return None
    costs = column.between(above[-1], fact)
    if not any(cost.metric in _COSTS for cost in costs):
        return None
    left = above[-1].value - fact.value
    *parts, last = costs
    whole = last if last.metric == _TOTAL and parts else None
    deducted = abs(last.value) if whole is not None else abs(sum(cost.value for cost in costs))
    return (fact, whole) if deducted == abs(left) and left * above[-1].value > 0 else None


def assign_roles(
    by_table: Sequence[Sequence[Fact]], tables: Sequence[Table], statements: Sequence[Statement | None]
) -> list[list[Fact]]:
    """Return the facts of each table, with metrics for opening cash, net change and closing cash told by arithmetic."""
    named = {position: list(facts) for position, facts in enumerate(by_table)}
    for run in _runs(tables, statements):
        known = {fact.metric for position in run for fact in named[position] if fact.scope is None}
        if known.issuperset(_ROLES):
            continue
        rows = [(tables[position].page, row) for position in run for row in tables[position].rows]
        found = dict(_cash([row for _, row in rows]))
        roles = {
            (rows[place][0], rows[place][1].line): metric for place, metric in found.items() if metric not in known
        }
        for position in run:
            named[position] = [
                replace(fact, metric=roles.get(place_of(fact)))
                if fact.metric is None and fact.scope is None and fact.unit == "USD"
                else fact
                for fact in named[position]
            ]
    return [named[position] for position in range(len(by_table))]


_ROLES = ("cash_at_beginning_of_period", "net_change_in_cash", "cash_at_end_of_period")


def _runs(tables: Sequence[Table], statements: Sequence[Statement | None]) -> Iterator[list[int]]:
    """Yield positions of the tables of one cash flow statement, across its pages."""
    run: list[int] = []
    for position, (table, statement) in enumerate(zip(tables, statements, strict=True)):
        if statement is not Statement.CASH_FLOW:
            continue
        before = tables[run[-1]] if run else None
        if before and not (len(before.columns) == len(table.columns) and table.page - before.page <= _PAGES_APART):
            yield run
            run = []
        run.append(position)
    if run:
        yield run


_PAGES_APART = 2
"""An empty page may be in between."""


def _cash(rows: Sequence[Row]) -> Iterator[tuple[int, str]]:
    """Yield (position, metric) of opening cash, net change and closing cash, the first sum that the flows are in."""
    sums = row_sums([row.cells for row in rows])
    totals = {each.total for each in sums}
    # The net change is the sum of the three kinds of activities, which are sums themselves.
    of_flows = (each for each in sums if sum(position in totals for position, _ in each.parts) >= _MIN_FLOWS)
    change = next((each.total for each in of_flows), None)
    for found in sums:
        added = [position for position, sign in found.parts if sign > 0]
        if len(found.parts) == len(added) == 2 and change in added:
            for position in added:
                yield position, "net_change_in_cash" if position == change else "cash_at_beginning_of_period"
            yield found.total, "cash_at_end_of_period"
            return


_MIN_FLOWS = 3
