"""What a yes-or-no question claims of a figure."""

from __future__ import annotations

import pytest

from fin_agent.analyst.rules.claims import bound_of, claim_of
from fin_agent.evidence.intent import Claim, Comparison, Relation


@pytest.mark.parametrize(
    ("core", "unit", "claim"),
    [
        ("Is its working capital positive?", "USD", Claim(above=True, bound=0.0)),
        ("Was free cash flow negative in 2020?", "USD", Claim(above=False, bound=0.0)),
        ("Is the current ratio above 1.5?", "ratio", Claim(above=True, bound=1.5)),
        ("Did revenue exceed $2.5 billion?", "USD", Claim(above=True, bound=2.5e9)),
        ("Was the gross margin below 40%?", "percent", Claim(above=False, bound=40.0)),
        ("Was the payout ratio above 40%?", "ratio", Claim(above=True, bound=0.4)),
        ("Was revenue above 2019?", "USD", None),
        ("Did revenue exceed 40%?", "USD", None),
        ("What was revenue above $2 billion?", "USD", None),
        ("Was it not positive?", "USD", None),
    ],
)
def test_claims_of_one_figure(core: str, unit: str, claim: Claim | None) -> None:
    assert claim_of(core, unit, Relation.EACH, Comparison.NONE) == claim


@pytest.mark.parametrize(
    ("core", "above"),
    [
        ("Was revenue in FY2024 higher than in FY2022?", True),
        ("Was revenue in FY2022 higher than in FY2024?", False),
        ("Was revenue in FY2022 lower than in FY2024?", True),
    ],
)
def test_of_two_years_the_first_named_is_what_is_claimed_of(core: str, above: bool) -> None:
    claim = claim_of(core, "USD", Relation.TREND, Comparison.NONE)
    assert claim is not None
    assert claim.above is above


def test_between_companies_or_asks_and_claims_nothing() -> None:
    assert claim_of("Did Acme or Bolt earn more?", "USD", Relation.EACH, Comparison.HIGHEST) is None
    assert claim_of("Did Acme earn more than Bolt?", "USD", Relation.EACH, Comparison.HIGHEST) == Claim(above=True)


def test_a_bound_is_read_in_base_units() -> None:
    assert bound_of("exceed 750 million", "USD") == Claim(above=True, bound=7.5e8)
