"""The sign that people mean: outflows and costs are positive amounts, however a statement prints them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from fin_agent.lexicon.metrics import Metric
from fin_agent.vocabulary.fact import Fact


def as_asked(fact: Fact, metrics: Mapping[str, Metric]) -> Decimal:
    """The printed amount with that sign, in units of the fact's scale."""
    sign = metrics[fact.metric].sign if fact.metric else "as printed"
    label = fact.label.lower()
    if sign == "outflow":
        return abs(fact.amount)
    if fact.inverted or (sign == "expense" and re.search(r"\((?:expense|provision|cost)s?\)", label)):
        return -fact.amount
    if sign == "expense" and fact.amount < 0 and not _MAY_BE_NEGATIVE.search(label):
        return -fact.amount
    return fact.amount


_MAY_BE_NEGATIVE = re.compile(r"benefit|income|credit|gain|tax")
