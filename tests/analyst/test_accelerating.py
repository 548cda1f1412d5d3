"""Growth rates are compared where growth itself is said to move, not where two companies' growth is."""

from __future__ import annotations

import pytest

from fin_agent.analyst.rules.accelerating import accelerating
from fin_agent.analyst.rules.measures import Measure
from fin_agent.evidence.intent import Relation

REVENUE = Measure("revenue", "revenue", "USD")


@pytest.mark.parametrize(
    ("question", "companies", "years", "of_growth"),
    [
        ("Did revenue growth accelerate in 2022?", 1, 1, True),
        ("Did revenue grow faster in 2023 or in 2024?", 1, 2, True),
        ("Did revenue grow faster in 2022 than the year before?", 1, 1, True),
        ("Whose revenue grew faster between 2022 and 2024, Acme's or Bolt's?", 2, 2, False),
        ("Who grew revenue faster in 2021, Acme or Bolt?", 2, 1, False),
        ("By how much did revenue grow from 2022 to 2024?", 1, 2, False),
    ],
)
def test_when_growth_rates_are_compared(question: str, companies: int, years: int, of_growth: bool) -> None:
    found = accelerating(question, REVENUE, Relation.GROWTH, companies, years)
    assert (found is not None) == of_growth
    if found is not None:
        assert found[2] is not None
        assert found[2].unit == "percent"
