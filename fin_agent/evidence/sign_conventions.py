"""Normalize signs to the reader's convention: outflows and costs are positive, whatever a statement prints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal

from fin_agent.lexicon.entry_loading import Metric
from fin_agent.lexicon.words import patterns
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.page import Statement

_PATTERNS = patterns("sign_patterns")


def signed_amount(fact: Fact, metrics: Mapping[str, Metric]) -> Decimal:
    """Return the printed amount with the conventional sign, in units of the fact's scale."""
    metric = metrics.get(fact.metric or "")
    label = fact.label.lower()
    is_outflow = _PATTERNS["payment"].match(label) or (
        _PATTERNS["cost"].search(label) and not _PATTERNS["may be either"].search(label)
    )
    is_outflow = is_outflow or (fact.statement in _OF_PAYMENTS and _PATTERNS["paid"].search(label))
    is_outflow = is_outflow or (fact.unit in _COUNTED and _PATTERNS["taken off"].match(label))
    sign = metric.sign if metric else "outflow" if is_outflow else "as printed"
    if sign == "outflow":
        return abs(fact.amount)
    if sign == "as printed" and fact.amount < 0 and fact.statement in _OF_FLOWS and _PATTERNS["gain"].search(label):
        return -fact.amount  # a statement that adds up costs, or takes gains off, prints a gain in parentheses
    taken_off = sign == "expense" and re.search(r"\((?:expense|provision|cost)s?\)", label)
    printed_below = sign == "expense" and fact.amount < 0 and not _PATTERNS["may be negative"].search(label)
    return -fact.amount if fact.inverted or taken_off or printed_below else fact.amount


_OF_PAYMENTS = frozenset({Statement.CASH_FLOW, Statement.EQUITY})
_COUNTED = ("count", "shares")
_OF_FLOWS = frozenset({Statement.INCOME, Statement.CASH_FLOW})


def may_be_a_loss(label: str) -> bool:
    """Whether a line may be above and below zero, so that it is no smaller where it is further below."""
    return _PATTERNS["of either sign"].search(label) is not None


def loss_notes(measure: str, figures: Iterable[tuple[str, Decimal]]) -> tuple[str, ...]:
    """Return notes for a question about losses: that there was a profit, or that losses are negative amounts.

    `figures` are (description, amount) of the results that the measure names.
    """
    if not _PATTERNS["loss"].search(measure):
        return ()
    return tuple(
        f"{what} is a profit: there was no loss" if amount > 0 else f"{what} is a loss: losses are negative amounts"
        for what, amount in figures
        if amount
    )


LOSS_OF = "0 - "
"""Prefix of an expression that computes a result as a loss."""
RESULTS = frozenset({
    "net_income", "net_income_attributable_to_parent", "operating_income", "income_before_taxes", "basic_eps",
    "diluted_eps", "gross_profit", "income_from_continuing_operations", "net_income_from_continuing_operations",
})  # fmt: skip
"""Metrics that are profits if positive and losses if negative."""
