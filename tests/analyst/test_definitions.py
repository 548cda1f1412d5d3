"""Formulas that a question states itself."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_agent.analyst.rules.definitions import stated_formulas, unused, with_inputs
from fin_agent.lexicon.lexicon import load_lexicon


def formula(text: str, name: str = "Measure") -> str | None:
    """Without spaces, as written by the parser; None where it cannot be read."""
    found = stated_formulas([(name, text)], load_lexicon())
    return found[0].expression.replace(" ", "") if found else None


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("net income / total assets", "net_income/total_assets"),
        ("net income divided by total assets", "net_income/total_assets"),
        ("total debt minus cash and cash equivalents", "total_debt-cash_and_cash_equivalents"),
        ("operating income plus depreciation and amortization", "operating_income+depreciation_and_amortization"),
        ("100 times gross profit divided by revenue", "100*gross_profit/revenue"),
        ("100 × gross profit ÷ revenue", "100*gross_profit/revenue"),
        ("gross profit – 2.5 × revenue", "gross_profit-2.5*revenue"),
        ("(revenue less cost of sales) / revenue", "(revenue-cost_of_revenue)/revenue"),
        ("unadjusted EBITDA less capital expenditures", "ebitda-capital_expenditures"),
    ],
)
def test_operators_may_be_signs_or_words(text: str, expression: str) -> None:
    assert formula(text) == expression


def test_years_pin_operands_and_averages_between_years_are_means() -> None:
    assert formula("(FY2022 COGS) / (average inventory between FY2021 and FY2022)") == (
        "(cost_of_revenue[2022])/(mean(inventories[2021],inventories[2022]))"
    )


def test_an_average_without_years_is_taken_with_the_year_before() -> None:
    assert formula("revenue / average total assets") == "revenue/avg(total_assets)"


@pytest.mark.parametrize("words", ["change in inventory", "increase in inventory", "change in inventories"])
def test_a_change_between_years_is_of_the_balance(words: str) -> None:
    assert formula(f"FY2017 COGS + {words} between FY2016 and FY2017") == (
        "cost_of_revenue[2017]+(inventories[2017]-inventories[2016])"
    )


def test_days_payable_outstanding_as_benchmarks_state_it() -> None:
    text = (
        "365 * (average accounts payable between FY2016 and FY2017) / "
        "(FY2017 COGS + change in inventory between FY2016 and FY2017)"
    )
    assert formula(text) == (
        "365*(mean(accounts_payable[2016],accounts_payable[2017]))/"
        "(cost_of_revenue[2017]+(inventories[2017]-inventories[2016]))"
    )


def test_parentheses_that_only_comment_are_left_out() -> None:
    assert formula("net income (from the income statement) / total assets (year end)") == "net_income/total_assets"
    assert formula("COGS (cost of goods sold) / revenue") == "cost_of_revenue/revenue"


@pytest.mark.parametrize("text", ["foo / revenue", "revenue /", "(revenue", "revenue + + ", "", "the market's mood"])
def test_half_a_formula_is_none(text: str) -> None:
    assert formula(text) is None


def test_a_definition_may_use_others_under_their_names_or_abbreviations() -> None:
    found = stated_formulas(
        [
            ("Cash conversion cycle", "DIO + DSO"),
            ("Days inventory outstanding (DIO)", "365 * inventories / COGS"),
            ("DSO", "365 * accounts receivable / revenue"),
        ],
        load_lexicon(),
    )
    assert found[0].expression.replace(" ", "") == (
        "(365*inventories/cost_of_revenue)+(365*accounts_receivable/revenue)"
    )
    assert [each.name for each in found] == ["Cash conversion cycle", "Days inventory outstanding (DIO)", "DSO"]


def test_definitions_that_need_each_other_are_none() -> None:
    assert stated_formulas([("Alpha", "Beta + revenue"), ("Beta", "Alpha + revenue")], load_lexicon()) == []


def test_a_formula_is_opened_only_as_far_as_a_defined_input_needs() -> None:
    lexicon = load_lexicon()
    stated = stated_formulas([("EBITDA", "net income + interest expense")], lexicon)
    expression, used = with_inputs("ebitda_margin / gross_margin", stated, lexicon)
    assert used == {"EBITDA"}
    assert expression is not None
    assert expression.replace(" ", "") == "(100*(net_income+interest_expense)/revenue)/gross_margin"
    assert with_inputs("gross_margin", stated, lexicon) == ("gross_margin", frozenset())


def test_a_defined_input_of_one_year_cannot_be_put_in() -> None:
    lexicon = load_lexicon()
    stated = stated_formulas([("total assets", "inventories + goodwill")], lexicon)
    assert with_inputs("net_income / total_assets[2020]", stated, lexicon)[0] is None


def test_definitions_that_nothing_uses_are_told() -> None:
    given = [("CCR", "DIO / revenue"), ("DIO", "365 * inventories / COGS"), ("ROIC", "net income / total equity")]
    assert unused(given, ["CCR"]) == ["ROIC"]
    assert unused(given, ["CCR", "ROIC"]) == []


NAMES = {
    "revenue": "revenue", "net income": "net_income", "total assets": "total_assets", "COGS": "cost_of_revenue",
    "inventories": "inventories", "accounts payable": "accounts_payable", "goodwill": "goodwill",
}  # fmt: skip
_ARITHMETIC = st.recursive(
    st.one_of(st.sampled_from(sorted(NAMES)), st.integers(1, 999).map(str), st.sampled_from(["2.5", "0.75"])),
    lambda inner: st.tuples(inner, st.sampled_from(["+", "-", "*", "/"]), inner).map(
        lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"
    ),
    max_leaves=8,
)


@given(_ARITHMETIC)
def test_arithmetic_over_metric_names_keeps_its_value(text: str) -> None:
    read = formula(text)
    assert read is not None
    direct = text
    for words, name in NAMES.items():
        direct = direct.replace(words, name)
    amounts = {name: 3.0 + position * 1.7 for position, name in enumerate(sorted(NAMES.values()))}
    assert _computed(read, amounts) == pytest.approx(_computed(direct, amounts), nan_ok=True)


def _computed(expression: str, amounts: dict[str, float]) -> float:
    def walk(tree: ast.expr) -> float:
        match tree:
            case ast.Constant(value=int() | float() as number):
                return number
            case ast.Name(id=name):
                return amounts[name]
            case ast.BinOp(left=left, op=operator, right=right):
                first, second = walk(left), walk(right)
                if isinstance(operator, ast.Div):
                    return first / second if second else float("nan")
                return {ast.Add: first + second, ast.Sub: first - second, ast.Mult: first * second}[type(operator)]
            case _:
                raise AssertionError(ast.dump(tree))

    return walk(ast.parse(expression, mode="eval").body)
