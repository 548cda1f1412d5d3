"""Measures that a question describes with a verb."""

from __future__ import annotations

import pytest

from fin_agent.analyst.rules.measures import measure_of
from fin_agent.analyst.rules.spoken import spoken_measure
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.lexicon.words import word_lists


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("How much stock did        buy back in       ?", "repurchases_of_common_stock"),
        ("How much tax did        pay in cash?", "income_taxes_paid"),
        ("Was        profitable?", "net_income"),
        ("How long did it take        to collect its receivables?", "days_sales_outstanding"),
        ("How many shares did        issue?", None),
    ],
)
def test_what_a_verb_describes(text: str, name: str | None) -> None:
    assert spoken_measure(text, load_lexicon()) == name


def test_every_list_stands_for_something_the_lexicon_knows() -> None:
    lexicon = load_lexicon()
    assert all(name in lexicon.metrics or name in lexicon.formulas for name in word_lists("spoken_measures"))


@pytest.mark.parametrize(
    ("core", "expression"),
    [
        ("capex to operating cash flow ratio", "(capital_expenditures) / (cash_from_operations)"),
        ("capex/ocf", "(capital_expenditures) / (cash_from_operations)"),
        ("Did it generate more operating cash flow than net income?", "(cash_from_operations) - (net_income)"),
        ("what was the change in cash from operations", "cash_from_operations"),
        ("How much was owed to suppliers (accounts payable)?", "accounts_payable"),
    ],
)
def test_metrics_beside_each_other(core: str, expression: str) -> None:
    measure = measure_of(core, (), load_lexicon())
    assert measure is not None
    assert measure.expression == expression


def test_a_formula_said_in_words_divides_all_that_stands_before_over() -> None:
    definitions = (("EBITDA margin", "operating income plus depreciation and amortization over revenue"),)
    measure = measure_of("What was the EBITDA margin?", definitions, load_lexicon())
    assert measure is not None
    assert measure.expression == "(operating_income + depreciation_and_amortization) / (revenue)"
