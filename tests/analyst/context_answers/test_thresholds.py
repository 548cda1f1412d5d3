"""Bounds in questions."""

from __future__ import annotations

from decimal import Decimal

import pytest

from fin_agent.analyst.rules.context_answers.thresholds import bound_in, extreme_in


@pytest.mark.parametrize(
    ("question", "amount", "scale", "holds"),
    [
        ("sales exceed $30,000 thousand", "31,000", "thousand", True),
        ("sales exceed $30 million", "31,000", "thousand", True),
        ("sales exceed $30 million", "29,999", "thousand", False),
        ("lows below $2.00", "1.88", "", True),
        ("sales less than 20,000,000", "18,000,000", "", True),
        ("at least 5", "5", "", True),
        ("more than 5", "5", "", False),
        ("negative", "-1", "million", True),
    ],
)
def test_bounds(question: str, amount: str, scale: str, holds: bool) -> None:
    bound = bound_in(question)
    assert bound is not None
    assert bound.holds(Decimal(amount.replace(",", "")), scale) is holds


def test_no_bound() -> None:
    assert bound_in("What were sales over the year?") is None
    assert extreme_in("What were sales?") is None
    assert extreme_in("the smallest") is min and extreme_in("larger") is max
