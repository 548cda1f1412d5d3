"""Which fact fills a slot: whose, where it stands, with which sign; and what disagrees."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from fin_agent.evidence.ledger import Entry, Ledger, fill
from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.lexicon.slots import Slot
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box

OWNERS = {"acme23": "acme", "acme24": "acme", "bell23": "bell"}
DOCUMENTS = ("acme23", "acme24", "bell23")


def slot(metric: str = "revenue", year: int = 2023, quarter: int | None = None) -> Slot:
    return Slot(company="acme", company_name="Acme", metric=metric, label=metric, fiscal_year=year, quarter=quarter)


def fact(
    amount: str = "100",
    metric: str = "revenue",
    *,
    label: str = "Net sales",
    statement: Statement | None = Statement.INCOME,
    page: int = 40,
    line: int = 3,
    year: int = 2023,
    quarter: int | None = None,
    months: int = 12,
    scale: int = 1_000_000,
    unit: str = "USD",
    scope: str | None = None,
) -> Fact:
    return Fact(
        label, Decimal(amount), scale, unit, FactPeriod(year, quarter, months, date(year, 12, 31)), page,
        Box(300, 10 * line, 340, 10 * line + 8), metric=metric, line=line, column=str(year), statement=statement,
        scope=scope,
    )  # fmt: skip


def filled(wanted: Slot, *facts: Fact, doc_id: str = "acme23") -> Entry:
    return filled_from(wanted, *(SourcedFact(doc_id, each) for each in facts))


def filled_from(wanted: Slot, *facts: SourcedFact) -> Entry:
    (entry,) = fill({wanted: True}, facts, load_lexicon(), OWNERS, DOCUMENTS).entries
    return entry


def test_a_figure_keeps_its_place_and_its_value_in_base_units() -> None:
    entry = filled(slot(), fact("3763"))
    assert entry.figure is not None
    assert entry.figure.value == 3_763_000_000
    assert (entry.figure.doc_id, entry.figure.page, entry.figure.line) == ("acme23", 40, 3)
    assert "Net sales" in entry.reason


@pytest.mark.parametrize(
    "other",
    [
        fact(metric="gross_profit"),
        fact(year=2022),
        fact(scope="Europe"),
        fact(months=3, quarter=4),
        fact(months=9),
        fact(months=0, quarter=3),
    ],
)
def test_a_figure_of_another_metric_period_or_part_fills_nothing(other: Fact) -> None:
    entry = filled(slot(), other)
    assert entry.figure is None
    assert entry.reason


def test_a_figure_counts_for_its_own_filer_only() -> None:
    assert filled(slot(), fact(), doc_id="bell23").figure is None
    assert filled(slot(), fact(), doc_id="a filing of nobody").figure is None


def test_the_metrics_own_statement_goes_before_other_places() -> None:
    elsewhere = fact("99", statement=None, page=5)
    cash_flow = fact("98", statement=Statement.CASH_FLOW, page=6)
    entry = filled(slot(), elsewhere, cash_flow, fact("100", page=60))
    assert entry.figure is not None
    assert entry.figure.amount == 100


def test_the_filing_ranked_first_goes_before_an_earlier_page_of_another() -> None:
    later = SourcedFact("acme24", fact("101", page=3))
    first = SourcedFact("acme23", fact("100", page=80))
    entry = filled_from(slot(), later, first)
    assert entry.figure is not None
    assert entry.figure.doc_id == "acme23"


def test_a_restated_figure_is_a_conflict_a_rounded_one_is_not() -> None:
    own = SourcedFact("acme23", fact("100"))
    restated = SourcedFact("acme24", fact("112"))
    rounded = SourcedFact("acme24", fact("0.1", scale=1_000_000_000, page=7, statement=None))
    entry = filled_from(slot(), own, restated, rounded)
    assert [figure.amount for figure in entry.conflicts] == [112]


def test_the_order_in_which_facts_come_does_not_matter() -> None:
    facts = [SourcedFact("acme23", fact(str(100 + line), line=line)) for line in range(6)]
    assert filled_from(slot(), *facts) == filled_from(slot(), *reversed(facts))


def test_balances_fill_the_year_end_and_the_end_of_a_quarter() -> None:
    at_end = fact("7", "inventories", statement=Statement.BALANCE_SHEET, months=0)
    assert filled(slot("inventories"), at_end).figure is not None
    in_june = replace(at_end, period=FactPeriod(2023, 2, 0, date(2023, 6, 30)))
    assert filled(slot("inventories"), in_june).figure is None
    assert filled(slot("inventories", quarter=2), in_june).figure is not None


def test_cash_flows_of_a_quarter_are_printed_for_the_year_to_date_only() -> None:
    first = fact("5", "cash_from_operations", statement=Statement.CASH_FLOW, months=3)
    assert filled(slot("cash_from_operations", quarter=1), first).figure is not None
    half = fact("9", "cash_from_operations", statement=Statement.CASH_FLOW, months=6)
    assert filled(slot("cash_from_operations", quarter=2), half).figure is None


@pytest.mark.parametrize(
    ("metric", "label", "printed", "asked"),
    [
        ("capital_expenditures", "Purchases of property and equipment", "-141", "141"),
        ("capital_expenditures", "Capital expenditures", "141", "141"),
        ("dividends_paid", "Dividends paid", "-183", "183"),
        ("cost_of_revenue", "Cost of sales", "-1723", "1723"),
        ("cost_of_revenue", "Cost of sales", "1723", "1723"),
        ("income_tax_expense", "Provision for income taxes", "166", "166"),
        ("income_tax_expense", "Income tax benefit", "-20", "-20"),
        ("income_tax_expense", "Income tax (expense) benefit", "-31", "31"),
        ("income_tax_expense", "Income tax (expense) benefit", "12", "-12"),
        ("net_income", "Net loss", "-40", "-40"),
        ("cash_from_investing", "Net cash used in investing activities", "-285", "-285"),
    ],
)
def test_amounts_have_the_sign_people_mean(metric: str, label: str, printed: str, asked: str) -> None:
    home = load_lexicon().metrics[metric].statement
    entry = filled(slot(metric), fact(printed, metric, label=label, statement=home))
    assert entry.figure is not None
    assert entry.figure.amount == Decimal(asked)
    assert entry.figure.printed == Decimal(printed)
    assert entry.figure.fact().amount == Decimal(printed)


def test_a_ledger_lists_what_is_known_and_what_is_not_required_first() -> None:
    slots = {slot("goodwill"): False, slot("inventories"): True, slot(): True}
    ledger = fill(slots, [SourcedFact("acme23", fact())], load_lexicon(), OWNERS, DOCUMENTS)
    assert list(ledger.figures) == [slot()]
    assert ledger.empty == (slot("inventories"), slot("goodwill"))
    assert Ledger().empty == ()
