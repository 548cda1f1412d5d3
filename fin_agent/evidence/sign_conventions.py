"""Normalize signs to the reader's convention: outflows and costs are positive, whatever a statement prints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal

from fin_agent.lexicon.entry_loading import Metric
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.page import Statement


def signed_amount(fact: Fact, metrics: Mapping[str, Metric]) -> Decimal:
    """Return the printed amount with the conventional sign, in units of the fact's scale."""
    metric = metrics.get(fact.metric or "")
    label = fact.label.lower()
    is_outflow = _PAYMENT.match(label) or (_COST.search(label) and not _MAY_BE_EITHER.search(label))
    is_outflow = is_outflow or (fact.statement in _OF_PAYMENTS and _PAID.search(label))
    is_outflow = is_outflow or (fact.unit in _COUNTED and _TAKEN_OFF.match(label))
    sign = metric.sign if metric else "outflow" if is_outflow else "as printed"
    if sign == "outflow":
        return abs(fact.amount)
    if sign == "as printed" and fact.amount < 0 and fact.statement in _OF_FLOWS and _GAIN.search(label):
        return -fact.amount  # a statement that adds up costs, or takes gains off, prints a gain in parentheses
    if fact.inverted or (sign == "expense" and re.search(r"\((?:expense|provision|cost)s?\)", label)):
        return -fact.amount
    if sign == "expense" and fact.amount < 0 and not _MAY_BE_NEGATIVE.search(label):
        return -fact.amount
    return fact.amount


_PAYMENT = re.compile(
    r"(?:cash )?(?:(?:re)?payments?|(?:re)?purchases?|acquisitions?|dividends?) (?:of|for|on|to|paid)\b"
)
"""Matches labels of payments that are no metric of the lexicon."""
_OF_PAYMENTS = frozenset({Statement.CASH_FLOW, Statement.EQUITY})
_PAID = re.compile(
    r"^(?!.*\b(?:proceeds|sales?|receipts?|received|issu\w+|net|changes?|increases?|decreases?|payables?|accrued)\b)"
    r".*\b(?:(?:re)?(?:payments?|purchases?)|buybacks?|dividends?|acquisitions?|redemptions?|distributions?)\b"
)
"""Matches labels of payments on these statements: `Share repurchases - common`."""
_COST = re.compile(r"\b(?:costs?|expenses?|expenditures?|depreciation|amorti[sz]ation)\b")
_COUNTED = ("count", "shares")
_TAKEN_OFF = re.compile(r"(?:[a-z]+ )?(?:cancell?ed|exercised|expired|forfeited|released|vested)\b")
"""Matches labels of what a roll-forward of awards takes off: `Granted 120`, `Vested (43)`."""
_MAY_BE_EITHER = re.compile(
    r"\b(?:net|income|gains?|losses|loss|benefits?|credits?|recover\w+|revers\w+|changes?|increases?|decreases?|adjust\w+|other"
    r"|prepaid|accrued|deferred|capitalized|elimination\w*|corporate|before|excluding|impact|effect)\b|[(/]"
)
"""Labels whose parentheses may mean the opposite sign, and not only that the amount is subtracted."""
_OF_FLOWS = frozenset({Statement.INCOME, Statement.CASH_FLOW})
_GAIN = re.compile(
    r"^(?!.*\b(?:loss(?:es)?|expenses?|net (?:income|earnings)|operating|before|comprehensive|discontinued|tax(?:es)?"
    r"|equity|other)\b)"
    r".*\b(?:income|gains?|benefit)\b"
)
"""Matches labels that can only be gains; results and ambiguous lines keep their printed sign."""
_MAY_BE_NEGATIVE = re.compile(r"benefit|income|credit|gain|tax")


def may_be_a_loss(label: str) -> bool:
    """Whether a line may be above and below zero, so that it is no smaller where it is further below."""
    return _OF_EITHER_SIGN.search(label) is not None


_OF_EITHER_SIGN = re.compile(
    r"\b(?:income|profits?|loss(?:es)?|earnings|margin|ebit\w*|results?|equity|deficit|surplus|flows?|activities|gains?"
    r"|changes?|increases?|decreases?|differences?|adjustments?|return|working capital)\b",
    re.I,
)


def loss_notes(measure: str, figures: Iterable[tuple[str, Decimal]]) -> tuple[str, ...]:
    """Return notes for a question about losses: that there was a profit, or that losses are negative amounts.

    `figures` are (description, amount) of the results that the measure names.
    """
    if not _LOSS.search(measure):
        return ()
    return tuple(
        f"{what} is a profit: there was no loss" if amount > 0 else f"{what} is a loss: losses are negative amounts"
        for what, amount in figures
        if amount
    )


_LOSS = re.compile(r"\b(?:net|operating|pre-?tax|gross)?\s*loss(?:es)?\b(?!\s*\))", re.I)
LOSS_OF = "0 - "
"""Prefix of an expression that computes a result as a loss."""
RESULTS = frozenset({
    "net_income", "net_income_attributable_to_parent", "operating_income", "income_before_taxes", "basic_eps",
    "diluted_eps", "gross_profit", "income_from_continuing_operations", "net_income_from_continuing_operations",
})  # fmt: skip
"""Metrics that are profits if positive and losses if negative."""
