"""Ratios of several years: sums over sums, and no sums of ratios."""

from __future__ import annotations

import pytest

from fin_agent.analyst.rules.aggregates import changes_between, sums_of_ratios, sums_over_sums
from fin_agent.analyst.rules.measures import Measure, measure_of
from fin_agent.evidence.intent import Comparison, Relation
from fin_agent.lexicon.fiscal import FiscalPeriod
from fin_agent.lexicon.lexicon import load_lexicon

_YEARS = (FiscalPeriod(fiscal_year=2021), FiscalPeriod(fiscal_year=2022))
_MARGIN = (
    "100 * (gross_profit[2021] + gross_profit[2022]) / (revenue[2021] + revenue[2022])",
    "percent",
)


def pooled(asked: str, bare: str) -> tuple[str, str] | None:
    lexicon = load_lexicon()
    measure = measure_of(bare, (), lexicon)
    assert measure is not None
    found = sums_over_sums(asked, bare, measure, _YEARS, lexicon)
    return (found.expression, found.unit) if found else None


@pytest.mark.parametrize(
    ("asked", "bare"),
    [
        ("What was the aggregate gross margin over FY2021-22?", "What was the aggregate gross margin over ?"),
        ("What was the combined gross margin over FY2021-22?", "What was the combined gross margin over ?"),
        ("What was the total gross margin (sum of profit/sum of revenue)?", "What was the total gross margin?"),
        (
            "Sum of gross profits divided by sum of revenues, FY2021-22, in %?",
            "Sum of gross profits divided by sum of revenues, , in %?",
        ),
        (
            "What was total gross profit as a share of total revenue between 2021 and 2022?",
            "What was total gross profit as a share of total revenue between  and ?",
        ),
    ],
)
def test_a_ratio_of_several_years_is_sums_over_sums(asked: str, bare: str) -> None:
    assert pooled(asked, bare) == _MARGIN


@pytest.mark.parametrize(
    "bare", ["What was the combined current ratio?", "What was the combined asset turnover?", "What was gross margin?"]
)
def test_balances_are_not_added_up_and_nothing_is_pooled_unasked(bare: str) -> None:
    assert pooled(bare, bare) is None


def test_one_year_is_not_pooled() -> None:
    lexicon = load_lexicon()
    measure = measure_of("the aggregate gross margin", (), lexicon)
    assert measure is not None
    assert (
        sums_over_sums("the aggregate gross margin", "the aggregate gross margin", measure, _YEARS[:1], lexicon) is None
    )


def test_ratios_are_not_added_up() -> None:
    margin = Measure("gross margin", "gross_margin", "percent")
    assert sums_of_ratios(margin, Relation.TOTAL, Comparison.NONE)
    assert sums_of_ratios(margin, Relation.EACH, Comparison.TOTAL)
    assert not sums_of_ratios(margin, Relation.AVERAGE, Comparison.NONE)
    assert not sums_of_ratios(Measure("revenue", "revenue", "USD"), Relation.TOTAL, Comparison.NONE)


def test_changes_in_a_formula_of_the_question_are_between_the_years_asked() -> None:
    years = (FiscalPeriod(fiscal_year=2019), FiscalPeriod(fiscal_year=2022))
    stated = Measure("operating margin", "change(operating_income) / change(revenue)", "ratio", stated=True)
    found = changes_between("Incremental operating margin", stated, years)
    assert found is not None
    assert found.words == "Incremental operating margin"
    assert found.expression == "(operating_income[2022] - operating_income[2019]) / (revenue[2022] - revenue[2019])"
    assert (
        changes_between("margin", Measure("margin", "operating_income / revenue", "ratio", stated=True), years) is None
    )
