"""Two metrics of one question: one taken from the other, one held against a part of the other."""

from __future__ import annotations

import pytest

from fin_agent.analyst.rules.measures import measure_of
from fin_agent.lexicon.lexicon import load_lexicon

_INTENSITY = "100 * (research_and_development) / (revenue)"


@pytest.mark.parametrize(
    ("question", "expression"),
    [
        ("Subtract its capex from its operating cash flow", "(cash_from_operations) - (capital_expenditures)"),
        ("What is capex + R&D?", "(capital_expenditures) + (research_and_development)"),
        ("Did it spend more than 10% of revenue on R&D?", _INTENSITY),
        ("Did R&D exceed 10% of total revenue?", _INTENSITY),
    ],
)
def test_two_metrics_make_one_measure(question: str, expression: str) -> None:
    measure = measure_of(question, (), load_lexicon())
    assert measure is not None
    assert measure.expression == expression


def test_a_share_without_a_bound_is_no_ratio() -> None:
    measure = measure_of("What is 10% of revenue?", (), load_lexicon())
    assert measure is not None
    assert measure.expression == "revenue"
