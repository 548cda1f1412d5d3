"""The subtotal of an income statement that has no label: what is left of revenue after the costs above it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fin_agent.filings.facts.columns import Column, place_of, statement_columns
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.page import Statement

_COSTS = frozenset(("cost_of_revenue", "cost_of_products", "cost_of_services"))
_TOTAL = "total_costs_and_expenses"


def with_unlabelled_gross_profit(facts: Sequence[Fact]) -> list[Fact]:
    """`facts`, a figure without a label as gross profit where its statement's arithmetic says so.

    It has to be revenue less the costs above it, a cost of revenue among them, in every column that prints it, and
    operating income has to follow. A total of costs right above it is then the cost of revenue.
    """
    found: dict[tuple[int, int], list[tuple[Fact, Fact | None] | None]] = {}
    for column in statement_columns(facts, Statement.INCOME):
        for fact, reading in _read(column):
            found.setdefault(place_of(fact), []).append(reading)
    named: dict[int, Fact] = {}
    for readings in found.values():
        for profit, total in (reading for reading in readings if reading is not None and None not in readings):
            below = f" below {total.label}" if total is not None else ""
            named[id(profit)] = replace(profit, metric="gross_profit", label=f"(no label{below})")
            if total is not None:
                named[id(total)] = replace(total, metric="cost_of_revenue")
    return [named.get(id(fact), fact) for fact in facts]


def _read(column: Column) -> Iterator[tuple[Fact, tuple[Fact, Fact | None] | None]]:
    """Each figure without a label, with itself and the total right above it where it is gross profit, else None."""
    if column.named("gross_profit"):
        return
    for fact in column.facts:
        if not fact.label and fact.unit == "USD":
            yield fact, _gross_profit(column, fact)


def _gross_profit(column: Column, fact: Fact) -> tuple[Fact, Fact | None] | None:
    above = [revenue for revenue in column.named("revenue") if place_of(revenue) < place_of(fact)]
    below = [income for income in column.named("operating_income") if place_of(income) > place_of(fact)]
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
