"""Printed row labels to metrics."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_agent.lexicon.lexicon import label_forms, load_lexicon
from fin_agent.vocabulary.page import Statement

INCOME, BALANCE, CASH = Statement.INCOME, Statement.BALANCE_SHEET, Statement.CASH_FLOW


@pytest.mark.parametrize(
    ("label", "statement", "metric"),
    [
        ("Total net revenues", INCOME, "revenue"),
        ("Total revenues, net of interest expense", INCOME, "revenue"),
        ("Costs of goods sold (Note 4)", INCOME, "cost_of_revenue"),
        ("Cost of services (exclusive of items shown below)", INCOME, "cost_of_services"),
        ("Selling, general & administrative expenses", INCOME, "selling_general_and_administrative"),
        ("(Loss)/income from operations", INCOME, "operating_income"),
        ("Provision for (benefit from) income taxes", INCOME, "income_tax_expense"),
        ("Income tax (expense)/benefit", INCOME, "income_tax_benefit"),
        ("Net income attributable to Acme Widgets, Inc. (1)", INCOME, "net_income_attributable_to_parent"),
        (
            "Less: Net loss attributable to non-controlling interests",
            INCOME,
            "net_income_attributable_to_noncontrolling_interests",
        ),
        ("Total noninterest expense", INCOME, "noninterest_expense"),
        ("Diluted net income per share 1", INCOME, "diluted_eps"),
        (
            "Accounts receivable, net of allowances of $132 and $190, at December 31, 2019 and 2018, respectively",
            BALANCE,
            "accounts_receivable",
        ),
        ("Premises and equipment, less accumulated depreciation of $9,850", BALANCE, "property_plant_equipment_net"),
        ("Property, plant and equipment", BALANCE, "property_plant_equipment_as_printed"),
        ("Total Acme Incorporated shareholders’ equity", BALANCE, "shareholders_equity"),
        ("Total liabilities and shareholders’ equity (deficit)", BALANCE, "total_liabilities_and_equity"),
        ("Treasury stock, at cost (139 and 126 shares, respectively)", BALANCE, "treasury_stock"),
        ("Net cash provided by (used in) operating activities", CASH, "cash_from_operations"),
        ("Net cash flow provided by operating activities", CASH, "cash_from_operations"),
        ("Net cash (used for)/provided by financing activities", CASH, "cash_from_financing"),
        ("Payments for property, plant & equipment", CASH, "capital_expenditures"),
        ("Investments in property, plant and equipment", CASH, "capital_expenditures"),
        ("Additions to property and equipment, net of incentives", CASH, "capital_expenditures"),
        ("Inventories", CASH, "change_in_inventories"),
        ("Inventories", BALANCE, "inventories"),
        ("Inventories . . . . .", None, "inventories"),
        ("Cash, cash equivalents and restricted cash, end of period (Note 2)", CASH, "cash_at_end_of_period"),
        ("Diluted EPS (non-GAAP)", None, "adjusted_eps"),
        ("Adjusted EBITDA", None, "adjusted_ebitda"),
    ],
)
def test_a_label_as_printed(label: str, statement: Statement | None, metric: str) -> None:
    assert load_lexicon().metric_of_label(label, statement) == metric


@pytest.mark.parametrize(
    ("label", "statement", "section", "metric"),
    [
        ("Basic", INCOME, ("Earnings per common share:",), "basic_eps"),
        ("Basic", INCOME, ("Weighted-average number of shares outstanding",), "weighted_average_shares_basic"),
        ("Diluted", INCOME, ("Shares used to compute net income per share:",), "weighted_average_shares_diluted"),
        ("Total", INCOME, ("Net sales",), "revenue"),
        ("Total", INCOME, ("Cost of revenue",), "cost_of_revenue"),
        ("Service and other", INCOME, ("Revenue:",), "service_revenue"),
        ("Service and other", INCOME, ("Cost of revenue:",), "cost_of_services"),
        ("Deferred income taxes", BALANCE, ("Assets",), "deferred_tax_assets"),
        ("Deferred income taxes", BALANCE, ("Noncurrent liabilities",), "deferred_tax_liabilities"),
        ("Operating lease liabilities", BALANCE, ("Current liabilities:",), "operating_lease_liabilities_current"),
        ("Other, net", CASH, ("Cash flows from financing activities",), "other_financing_activities"),
        ("Income taxes", CASH, ("Supplemental disclosures", "Cash paid for:"), "income_taxes_paid"),
    ],
)
def test_the_heading_decides(label: str, statement: Statement, section: tuple[str, ...], metric: str) -> None:
    assert load_lexicon().metric_of_label(label, statement, section) == metric


@pytest.mark.parametrize(
    ("label", "statement", "section"),
    [
        ("Basic", INCOME, ()),
        ("Total", BALANCE, ()),
        ("Other, net", CASH, ()),
        ("Property and equipment acquired under finance leases", CASH, ()),
        ("Purchases of property and equipment included in accounts payable", CASH, ()),
        ("Purchases of property and equipment", CASH, ("Non-cash investing activities:",)),
        ("Basic earnings per share from discontinued operations", INCOME, ()),
        ("Operating income (excluding restructuring)", INCOME, ()),
        ("Net cash provided by operating activities before changes in working capital", CASH, ()),
        ("Gross margin", None, ()),
        ("Net sales", BALANCE, ()),
        ("Optical Communications", INCOME, ()),
        ("", INCOME, ()),
    ],
)
def test_no_metric_is_better_than_a_wrong_one(
    label: str, statement: Statement | None, section: tuple[str, ...]
) -> None:
    assert load_lexicon().metric_of_label(label, statement, section) is None


@given(
    label=st.sampled_from(["Net sales", "Total current assets", "Stockholders’ equity", "Income before income taxes"]),
    mark=st.sampled_from(["", " (1)", " (a)", ":", " ...", " (Note 7)", " (see Notes 3 and 4)", " *", " (unaudited)"]),
    change=st.sampled_from([str, str.upper, str.title, str.lower]),
)
def test_marks_and_case_do_not_matter(label: str, mark: str, change: type[str]) -> None:
    lexicon = load_lexicon()
    for statement in (INCOME, BALANCE):
        assert lexicon.metric_of_label(change(label) + mark, statement) == lexicon.metric_of_label(label, statement)


@given(st.text(max_size=60))
def test_any_text_has_normal_forms_and_no_crash(label: str) -> None:
    forms = label_forms(label)
    assert forms
    assert load_lexicon().metric_of_label(label, BALANCE) is None or forms[0]
