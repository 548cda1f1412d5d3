"""Concepts of the taxonomies lead to the metric that means the same."""

from __future__ import annotations

from collections import Counter

import pytest

from fin_agent.lexicon.lexicon import load_lexicon


def test_no_concept_stands_for_two_metrics() -> None:
    held = Counter(concept for metric in load_lexicon().metrics.values() for concept in metric.concepts)
    assert [concept for concept, times in held.items() if times > 1] == []


@pytest.mark.parametrize(
    ("concept", "metric"),
    [
        ("us-gaap:Revenues", "revenue"),
        ("us-gaap:RevenueFromContractWithCustomerExcludingAssessedTax", "revenue"),
        ("us-gaap:ProfitLoss", "net_income"),
        ("us-gaap:NetIncomeLoss", "net_income_attributable_to_parent"),
        ("us-gaap:ComprehensiveIncomeNetOfTax", "comprehensive_income_attributable_to_parent"),
        ("us-gaap:StockholdersEquity", "shareholders_equity"),
        ("us-gaap:StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest", "total_equity"),
        ("us-gaap:CashAndCashEquivalentsAtCarryingValue", "cash_and_cash_equivalents"),
        ("us-gaap:CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents", "cash_at_end_of_period"),
        ("us-gaap:NonoperatingIncomeExpense", "total_nonoperating_income"),
        ("us-gaap:OtherNonoperatingIncomeExpense", "other_income_net"),
        ("us-gaap:DepreciationDepletionAndAmortization", "depreciation_and_amortization"),
        ("us-gaap:LongTermDebtNoncurrent", "long_term_debt"),
        ("us-gaap:LongTermDebt", "long_term_debt_including_current"),
        ("us-gaap:DeferredTaxAssetsLiabilitiesNet", "net_deferred_tax_assets"),
        ("us-gaap:PropertyPlantAndEquipmentGross", "property_plant_equipment_gross"),
        ("us-gaap:EquityMethodInvestments", "equity_method_investments"),
        ("ifrs-full:ProfitLossAttributableToOwnersOfParent", "net_income_attributable_to_parent"),
        ("ifrs-full:EquityAndLiabilities", "total_liabilities_and_equity"),
        ("ifrs-full:CashFlowsFromUsedInOperatingActivities", "cash_from_operations"),
    ],
)
def test_a_concept_stands_for_its_metric(concept: str, metric: str) -> None:
    assert load_lexicon().metric_of_concept(concept) == metric


@pytest.mark.parametrize(
    "concept",
    ["us-gaap:ContractWithCustomerLiability", "us-gaap:FinanceLeaseLiability", "us-gaap:DeferredTaxAssetsNet"],
)
def test_a_total_does_not_stand_for_one_of_its_parts(concept: str) -> None:
    assert load_lexicon().metric_of_concept(concept) is None
