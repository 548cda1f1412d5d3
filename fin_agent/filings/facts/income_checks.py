"""Checks of the income statement: gross profit, taxes, earnings per share, and net income as the cash flow starts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import combinations, product

from fin_agent.filings.facts.check import Check, Figure, Outcome, Sum, checked, figure_of, step_of
from fin_agent.filings.facts.columns import Column, place_of
from fin_agent.vocabulary.fact import Fact

_RESULTS = ("net_income_from_continuing_operations", "net_income", "net_income_attributable_to_parent")
_ROWS_TRIED = 3
"""Rows between income before taxes and net income (equity-method income, discontinued operations) that may count."""
_APART = {"basic": Decimal("0.05"), "diluted": Decimal("0.25")}
"""Part of net income by which the income of common shares may differ: what participating securities get, and, diluted,
the interest on notes that are taken as converted."""
_OTHER_HOLDERS = re.compile(r"\b(?:preferred|preference|accretion|deemed|redeemable|redemption)\b", re.I)


def income_checks(columns: Sequence[Column]) -> Iterator[Check]:
    """Those that the figures of an income statement's columns allow."""
    sign = _tax_sign(columns)
    for column in columns:
        found = (_gross_profit(column), _after_taxes(column, sign))
        yield from (check for check in found if check is not None)
        for kind in ("basic", "diluted"):
            check = _per_share(column, kind)
            if check is not None:
                yield check


def net_income_check(column: Column, income: Sequence[Column]) -> Check | None:
    """Net income, at the top of a cash flow column, is one that the income statement prints for that period."""
    top = column.named(*_RESULTS)
    same = [other for other in income if _same(column, other)]
    return checked("net income", column.period, (each for other in same for each in _result_sums(top, other)))


def _result_sums(top: Sequence[Fact], income: Column) -> Iterator[Sum]:
    """The cash flow may start with net income before noncontrolling interests or discontinued operations."""
    apart = income.named("net_income_attributable_to_noncontrolling_interests", "income_from_discontinued_operations")
    stated = income.named(*_RESULTS)
    for start, result in product(top, stated):
        yield Sum(((result, 1),), start)
    for start, result, other, sign in product(top, stated, apart, (1, -1)):
        yield Sum(((result, 1), (other, sign)), start)


def _gross_profit(column: Column) -> Check | None:
    parts = product(column.named("revenue"), column.named("cost_of_revenue"), column.named("gross_profit"))
    return checked("gross profit", column.period, _gross_sums(column, parts))


def _gross_sums(column: Column, parts: Iterator[tuple[Fact, ...]]) -> Iterator[Sum]:
    """Rows between the cost of revenue and gross profit may be deducted as well: depreciation, amortization."""
    for revenue, cost, profit in parts:
        sign = -1 if cost.value > 0 else 1
        yield Sum(((revenue, 1), (cost, sign)), profit)
        apart = column.between(cost, profit)[:_ROWS_TRIED]
        for size in range(1, len(apart) + 1):
            for chosen in combinations(apart, size):
                yield Sum(((revenue, 1), (cost, sign), *((fact, sign) for fact in chosen)), profit)


def _tax_sign(columns: Sequence[Column]) -> int:
    """1 where the statement shows taxes as a deduction (printed negative in a profitable year), else -1."""
    closing = {
        sign: sum(1 for column in columns if any(each.closes for each in _tax_sums(column, sign))) for sign in (-1, 1)
    }
    return 1 if closing[1] > closing[-1] else -1


def _after_taxes(column: Column, sign: int) -> Check | None:
    """Income before taxes, taxes and what stands below them come to net income."""
    return checked("income after taxes", column.period, _tax_sums(column, sign))


def _tax_sums(column: Column, sign: int) -> Iterator[Sum]:
    taxes = column.named("income_tax_expense", "income_tax_benefit")
    for pretax, tax, result in product(column.named("income_before_taxes"), taxes, column.named(*_RESULTS)):
        if not place_of(pretax) < place_of(result):
            continue
        apart = [fact for fact in column.between(pretax, result) if place_of(fact) != place_of(tax)][:_ROWS_TRIED]
        for size in range(len(apart) + 1):
            for chosen in combinations(apart, size):
                for weights in product((1, -1), repeat=size):
                    yield Sum(((pretax, 1), (tax, sign), *zip(chosen, weights, strict=True)), result)


def _per_share(column: Column, kind: str) -> Check | None:
    """Earnings per share times weighted shares are about net income; only where there is one class of shares.

    Earnings per share are of common shares: a column with preferred dividends is left out unless it prints what is left
    for common shares, and participating securities may take their part.
    """
    each, shares = column.named(f"{kind}_eps"), column.named(f"weighted_average_shares_{kind}")
    to_common = column.named("net_income_available_to_common")
    results = (*to_common, *column.named(*reversed(_RESULTS)))
    preferred = any(_OTHER_HOLDERS.search(fact.label) for fact in column.facts)
    if len(each) != 1 or len(shares) != 1 or not results or (preferred and not to_common):
        return None
    per_share, count = each[0], shares[0]
    if (per_share.unit, count.unit) != ("USD per share", "shares") or not count.value:
        return None
    product_of_both = per_share.value * count.value
    result = min(results, key=lambda fact: abs(product_of_both - fact.value))
    difference = product_of_both - result.value
    rounding = (abs(count.value) * step_of(per_share) + abs(per_share.value) * step_of(count) + step_of(result)) / 2
    tolerance = rounding + _APART[kind] * abs(result.value)
    outcome = Outcome.HOLDS if abs(difference) <= tolerance else Outcome.FAILS
    figures = (_below_heading(per_share), _below_heading(count), figure_of(result, 0))
    verb = "is" if outcome is Outcome.HOLDS else "should be"
    said = f"{kind.capitalize()} earnings per share x {kind} weighted shares {verb} about {result.label}."
    return Check(f"{kind} earnings per share", column.period, figures, difference, tolerance, outcome, said)


def _below_heading(fact: Fact) -> Figure:
    """`Earnings per share: Basic`: the row's own words alone do not say what is counted."""
    figure = figure_of(fact, 1)
    return replace(figure, label=f"{fact.section[-1].rstrip(': ')}: {fact.label}") if fact.section else figure


def _same(column: Column, other: Column) -> bool:
    one, two = column.period, other.period
    return (one.fiscal_year, one.quarter, one.months) == (two.fiscal_year, two.quarter, two.months)
