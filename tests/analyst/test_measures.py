"""What a question measures: metrics, shares, margins, sums; and what is only a part and therefore no metric."""

from __future__ import annotations

import pytest

from fin_agent.analyst.rules.measures import Measure, earlier_less_later, measure_of, times_over
from fin_agent.lexicon.fiscal import FiscalPeriod
from fin_agent.lexicon.lexicon import load_lexicon


def measure(text: str, *definitions: tuple[str, str]) -> Measure | None:
    return measure_of(text, definitions, load_lexicon())


def expression(text: str, *definitions: tuple[str, str]) -> tuple[str, str] | None:
    found = measure(text, *definitions)
    return None if found is None else (found.expression.replace(" ", ""), found.unit)


@pytest.mark.parametrize(
    ("text", "wanted", "unit"),
    [
        ("What was the revenue?", "revenue", "USD"),
        ("What were total net sales?", "revenue", "USD"),
        ("What is the year end net AR?", "accounts_receivable", "USD"),
        ("What is the diluted EPS?", "diluted_eps", "USD per share"),
        ("What is the gross margin?", "gross_margin", "percent"),
        ("What is the quick ratio?", "quick_ratio", "ratio"),
        ("What is days payable outstanding?", "days_payable_outstanding", "days"),
        ("What is the unadjusted EBITDA less capex?", "ebitda_less_capex", "USD"),
        ("How much did it spend on capital expenditures?", "capital_expenditures", "USD"),
        ("What is the company's total amount of debt?", "total_debt", "USD"),
    ],
)
def test_names_of_metrics_and_formulas(text: str, wanted: str, unit: str) -> None:
    assert expression(text) == (wanted, unit)


@pytest.mark.parametrize(
    ("text", "wanted", "unit"),
    [
        ("gross profit % margin", "100*(gross_profit)/revenue", "percent"),
        ("EBITDA % margin", "100*(ebitda)/revenue", "percent"),
        ("capex as a % of revenue", "100*(capital_expenditures)/(revenue)", "percent"),
        ("R&D as a percentage of total net sales", "100*(research_and_development)/(revenue)", "percent"),
        ("SG&A expense as a share of revenue", "100*(selling_general_and_administrative)/(revenue)", "percent"),
        ("net income divided by total assets", "(net_income)/(total_assets)", "ratio"),
        ("the ratio of total debt to total equity", "(total_debt)/(total_equity)", "ratio"),
        ("revenue per diluted share", "(revenue)/(weighted_average_shares_diluted)", "USD per share"),
        ("cost of sales per share", "(cost_of_revenue)/weighted_average_shares_diluted", "USD per share"),
        ("operating cash flow less capital expenditures", "(cash_from_operations)-(capital_expenditures)", "USD"),
        ("revenue minus cost of sales", "(revenue)-(cost_of_revenue)", "USD"),
        ("the sum of accounts receivable and inventories", "(accounts_receivable)+(inventories)", "USD"),
    ],
)
def test_words_after_a_metric_modify_it(text: str, wanted: str, unit: str) -> None:
    assert expression(text) == (wanted, unit)


@pytest.mark.parametrize(
    "text",
    [
        "What percent of revenue was R&D?",
        "What percentage of total revenue did it spend on R&D?",
        "What share of its net sales is R&D?",
        "R&D accounted for what proportion of revenue?",
    ],
)
def test_a_share_may_name_the_whole_first(text: str) -> None:
    assert expression(text) == ("100*(research_and_development)/(revenue)", "percent")


@pytest.mark.parametrize(
    "text",
    [
        "What was iPhone revenue?",
        "What were net sales in North America?",
        "What was the revenue of the Cloud segment?",
        "What were sales adjusted for acquisitions?",
        "What was revenue excluding acquisitions?",
        "What was constant currency revenue?",
        "What was pro forma net income?",
        "What was operating lease revenue?",
        "What percent of revenue came from China?",
        "What was capex per square foot?",
        "What was net revenue from Europe?",
        "Who is the chief executive?",
        "",
    ],
)
def test_a_part_of_a_metric_is_no_metric(text: str) -> None:
    assert measure(text) is None


def test_two_companies_revenues_are_no_ratio_of_revenue_to_itself() -> None:
    found = measure("What is the ratio of           revenue to           revenue?")
    assert found is not None
    assert found.expression == "revenue"


def test_asides_in_parentheses_do_not_hide_a_share() -> None:
    assert expression("capital expenditures (capex) as a % of revenue") == (
        "100*(capital_expenditures)/(revenue)", "percent",
    )  # fmt: skip


def test_an_increase_in_a_balance_is_that_balance() -> None:
    assert expression("What was the increase in inventory?") == ("inventories", "USD")
    assert expression("What was the net change in cash?") == ("net_change_in_cash", "USD")


@pytest.mark.parametrize(
    ("text", "in_cash_flows", "wanted"),
    [
        ("What was the change in inventories?", False, "inventories"),
        ("What was the change in inventories?", True, "change_in_inventories"),
        ("How much did inventories change?", False, "inventories"),
        ("How much did inventories change?", True, "change_in_inventories"),
        ("Did accounts payable increase?", True, "accounts_payable"),
        ("What was the (increase) decrease in inventories?", False, "change_in_inventories"),
        ("What was the Decrease (increase) in accounts receivable?", False, "change_in_accounts_receivable"),
    ],
)
def test_a_change_is_of_balances_unless_the_cash_flow_statement_is_meant(
    text: str, in_cash_flows: bool, wanted: str
) -> None:
    found = measure_of(text, (), load_lexicon(), in_cash_flows=in_cash_flows)
    assert found is not None
    assert found.expression == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("How much cash did the operating activities provide?", "cash_from_operations"),
        ("How much cash did its operations generate?", "cash_from_operations"),
        ("How much cash did it get from operations?", "cash_from_operations"),
        ("How much cash was generated by operations?", "cash_from_operations"),
        ("How much cash was used in investing activities?", "cash_from_investing"),
        ("What was the cash flow from financing?", "cash_from_financing"),
        ("How much cash did it spend on capital expenditures?", "capital_expenditures"),
        ("How much cash did it have at the end?", "cash_and_cash_equivalents"),
        ("growth of cash and cash equivalents from      to     ", "cash_and_cash_equivalents"),
    ],
)
def test_cash_that_moves_is_no_balance_of_cash(text: str, wanted: str) -> None:
    assert expression(text) == (wanted, "USD")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("What were the proceeds from issuance of long-term debt?", "proceeds_from_debt"),
        ("What were income taxes payable?", "income_taxes_payable"),
        ("What was the Income taxes payable (Note 9)?", "income_taxes_payable"),
        ("What were net proceeds from long-term debt issuance?", "proceeds_from_debt"),
        ("What were earnings per share — basic?", "basic_eps"),
        ("How much were deferred income taxes and other liabilities?", "deferred_tax_liabilities"),
        ("What were payments of dividends?", "dividends_paid"),
        ("What was the allowance for doubtful accounts?", "allowance_for_doubtful_accounts"),
    ],
)
def test_a_row_that_the_question_quotes_is_that_row(text: str, wanted: str) -> None:
    found = measure(text)
    assert found is not None
    assert found.expression == wanted


def test_a_stated_formula_goes_before_the_lexicons() -> None:
    found = measure(
        "What is the quick ratio?", ("Quick ratio", "cash and cash equivalents / total current liabilities")
    )
    assert found == Measure(
        "Quick ratio",
        "cash_and_cash_equivalents / current_liabilities",
        "ratio",
        stated=True,
        uses=("Quick ratio",),
    )


def test_a_stated_formula_that_cannot_be_read_leaves_the_lexicons() -> None:
    assert expression("What is the quick ratio?", ("Quick ratio", "foo / bar")) == ("quick_ratio", "ratio")


def test_of_several_stated_formulas_the_one_asked_for_is_taken() -> None:
    found = measure(
        "What is the EBITDA margin?",
        ("EBITDA", "operating income + depreciation and amortization"),
        ("EBITDA margin", "100 * EBITDA / revenue"),
    )
    assert found is not None
    assert found.words == "EBITDA margin"
    assert found.unit == "percent"


def test_what_is_only_a_part_of_the_measure_asked_is_not_taken_for_it() -> None:
    found = measure("What is EBITDA less capex?", ("EBITDA", "operating income + depreciation and amortization"))
    assert found is not None
    assert found.expression == "ebitda_less_capex"


@pytest.mark.parametrize(
    ("formula", "unit"),
    [
        ("365 * accounts payable / COGS", "days"),
        ("100 * net income / revenue", "percent"),
        ("net income / revenue", "ratio"),
        ("net income + interest expense", "USD"),
    ],
)
def test_the_unit_of_a_stated_formula_follows_its_shape(formula: str, unit: str) -> None:
    found = measure("What is the Zeta measure?", ("Zeta measure", formula))
    assert found is not None
    assert found.unit == unit


def test_an_input_that_the_question_defines_is_used_as_it_is_defined() -> None:
    own = ("EBITDA", "net income + interest expense + depreciation and amortization")
    found = measure("What was the EBITDA margin?", own)
    assert found is not None
    assert found.uses == ("EBITDA",)
    assert found.unit == "percent"
    assert found.expression.replace(" ", "") == (
        "(100*(net_income+interest_expense+depreciation_and_amortization)/revenue)"
    )


def test_an_input_that_is_defined_as_usual_changes_nothing_but_counts_as_used() -> None:
    found = measure("What was the EBITDA margin?", ("EBITDA", "operating income + depreciation and amortization"))
    assert found is not None
    assert (found.expression, found.uses) == ("ebitda_margin", ("EBITDA",))


def test_the_one_formula_given_is_not_taken_for_another_measure() -> None:
    found = measure("What was the quick ratio?", ("ROIC", "net income / total equity"))
    assert found is not None
    assert (found.expression, found.stated, found.uses) == ("quick_ratio", False, ())


def test_money_made_is_net_income_where_companies_are_compared() -> None:
    assert expression("Which one made more money in 2019?") == ("net_income", "USD")
    assert expression("Who earned the least money in 2019?") == ("net_income", "USD")
    assert measure("How was the money made?") is None


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("By what factor did revenue multiply?", "revenue[2021] / revenue[2018]"),
        ("By what multiple did revenue grow?", "revenue[2021] / revenue[2018]"),
        ("By what factor did revenue shrink?", None),
        ("How much did revenue grow?", None),
    ],
)
def test_a_factor_is_the_last_year_over_the_first(asked: str, wanted: str | None) -> None:
    revenue = Measure("revenue", "revenue", "USD")
    periods = [FiscalPeriod(fiscal_year=year) for year in (2018, 2019, 2021)]
    found = times_over(asked, revenue, periods, load_lexicon())
    assert (found.expression if found else None) == wanted
    assert found is None or found.unit == "ratio"
    assert times_over(asked, revenue, periods[:1], load_lexicon()) is None


def test_an_earlier_year_less_a_later_one() -> None:
    lexicon = load_lexicon()
    years = (FiscalPeriod(fiscal_year=2020), FiscalPeriod(fiscal_year=2021))
    revenue = Measure("revenue", "revenue", "USD")
    found = earlier_less_later("revenue, 2020 minus 2021", revenue, years, lexicon)
    assert found is not None
    assert found.expression == "revenue[2020] - revenue[2021]"
    assert earlier_less_later("revenue, 2021 minus 2020", revenue, years, lexicon) is None
    assert earlier_less_later("revenue, 2020 minus 2021, in percent", revenue, years, lexicon) is None


@pytest.mark.parametrize(
    ("text", "wanted", "unit"),
    [
        ("days payable outstanding over COGS", "365*avg(accounts_payable)/cost_of_revenue", "days"),
        ("cost of sales to revenues, percent", "100*(cost_of_revenue)/(revenue)", "percent"),
        ("gross margin dollars", "gross_profit", "USD"),
        ("net income attributable", "net_income_attributable_to_parent", "USD"),
    ],
)
def test_what_a_measure_is_taken_of_and_called(text: str, wanted: str, unit: str) -> None:
    assert expression(f"What was the {text}?") == (wanted, unit)


def test_rates_in_a_formula_of_the_question_are_fractions() -> None:
    stated = ("", "operating income times (1 - effective tax rate)")
    assert expression("What was the NOPAT?", stated) == ("operating_income*(1-(effective_tax_rate/100))", "USD")
