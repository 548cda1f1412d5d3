"""Units of formulas by what they are made of."""

from __future__ import annotations

import pytest

from fin_agent.analyst.rules.formula_units import IncompatibleUnitsError, unit_of_formula, with_rates_as_fractions
from fin_agent.lexicon.lexicon import load_lexicon


def test_every_formula_of_the_lexicon_has_the_unit_it_says() -> None:
    lexicon = load_lexicon()
    wrong = {
        name: formula.expression
        for name, formula in lexicon.formulas.items()
        if unit_of_formula(formula.expression, lexicon) != formula.unit
    }
    assert not wrong


@pytest.mark.parametrize(
    ("expression", "unit"),
    [
        ("revenue / total_assets", "ratio"),
        ("100 * revenue / total_assets", "percent"),
        ("accounts_receivable / (revenue / 365)", "days"),
        ("revenue[2021] - revenue[2020]", "USD"),
        ("revenue / weighted_average_shares_diluted", "USD per share"),
        ("1 - dividends_paid / net_income", "ratio"),
    ],
)
def test_units_follow_from_the_inputs(expression: str, unit: str) -> None:
    assert unit_of_formula(expression, load_lexicon()) == unit


@pytest.mark.parametrize(
    "expression", ["revenue + current_ratio", "revenue * revenue", "payout_ratio / net_income", "1 - revenue"]
)
def test_unlike_units_do_not_go_together(expression: str) -> None:
    with pytest.raises(IncompatibleUnitsError):
        unit_of_formula(expression, load_lexicon())
    assert with_rates_as_fractions(expression, load_lexicon()) is None


def test_a_rate_in_percent_is_a_fraction_where_it_is_a_factor() -> None:
    read = with_rates_as_fractions("operating_income * (1 - effective_tax_rate)", load_lexicon())
    assert read == "operating_income * (1 - (effective_tax_rate / 100))"
