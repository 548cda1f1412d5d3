"""Whether a fact is the one a slot asks for."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.lexicon.slots import Slot
from fin_agent.retrieval.slot_matching import covers_period, fills_slot, is_of_part, same_part
from fin_agent.vocabulary.fact import Fact, FactPeriod, Tag
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box


def slot(metric: str, year: int = 2023, quarter: int | None = None) -> Slot:
    return Slot(company="acme", company_name="Acme", metric=metric, label=metric, fiscal_year=year, quarter=quarter)


def fact(metric: str, year: int, quarter: int | None, months: int, scope: str | None = None) -> Fact:
    return Fact(
        metric, Decimal(1), 1, load_lexicon().metrics[metric].unit, FactPeriod(year, quarter, months), 0,
        Box(0, 0, 1, 1), metric=metric, scope=scope, statement=load_lexicon().metrics[metric].statement,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "held", "matches"),
    [
        ((2023, None), (2023, None, 12), True),
        ((2023, None), (2022, None, 12), False),
        ((2023, None), (2023, None, 9), False),
        ((2023, None), (2023, 4, 3), False),
        ((2023, None), (2023, None, 0), True),
        ((2023, None), (2023, 3, 0), False),
        ((2023, 3), (2023, 3, 3), True),
        ((2023, 3), (2023, 3, 0), True),
        ((2023, 3), (2023, None, 9), False),
        ((2023, 3), (2023, 2, 3), False),
        ((2023, 3), (2023, None, 12), False),
    ],
)
def test_the_period_of_a_fact(wanted: tuple[int, int | None], held: tuple[int, int | None, int], matches: bool) -> None:
    assert covers_period(fact("revenue", *held), slot("revenue", *wanted), Statement.INCOME) is matches


def test_only_the_first_quarters_cash_flow_stands_in_its_own_report() -> None:
    year_to_date = fact("cash_from_operations", 2023, None, 3)
    assert covers_period(year_to_date, slot("cash_from_operations", 2023, 1), Statement.CASH_FLOW)
    assert not covers_period(year_to_date, slot("cash_from_operations", 2023, 2), Statement.CASH_FLOW)
    assert not covers_period(year_to_date, slot("revenue", 2023, 1), Statement.INCOME)


def test_company_metric_and_scope_have_to_be_the_slots() -> None:
    metrics, owners = load_lexicon().metrics, {"a": "acme", "b": "bell"}
    whole = fact("revenue", 2023, None, 12)
    assert fills_slot(SourcedFact("a", whole), slot("revenue"), metrics, owners)
    assert not fills_slot(SourcedFact("b", whole), slot("revenue"), metrics, owners)
    assert not fills_slot(SourcedFact("unknown", whole), slot("revenue"), metrics, owners)
    assert not fills_slot(SourcedFact("a", whole), slot("gross_profit"), metrics, owners)
    assert not fills_slot(SourcedFact("a", fact("revenue", 2023, None, 12, "Europe")), slot("revenue"), metrics, owners)


def tagged(scope: str, *axes: str, label: str = "Net sales", column: str = "") -> Fact:
    members = tuple((f"us-gaap:{axis}", "xx:SomeMember") for axis in axes)
    tag = Tag("us-gaap:Revenues", Decimal(1), "1", "c1", None, None, members, "USD")
    return replace(fact("revenue", 2023, None, 12, scope), label=label, column=column, tag=tag)


def test_a_tagged_part_goes_by_the_name_of_its_member_its_row_or_its_column() -> None:
    member = "Amber Wool and Cotton Services"
    assert is_of_part(tagged(member, "StatementBusinessSegmentsAxis"), member)
    assert is_of_part(tagged(member, "StatementBusinessSegmentsAxis", label="AWS"), "AWS")
    assert is_of_part(tagged(member, "StatementBusinessSegmentsAxis", column="AWS"), "AWS")
    assert not is_of_part(replace(tagged(member, column="AWS"), tag=None), "AWS")
    assert not is_of_part(tagged(member, "StatementBusinessSegmentsAxis", label="AWS"), "Wool")


def test_what_only_says_that_it_is_a_segments_is_no_second_part() -> None:
    crossed = tagged("Footwear", "ProductOrServiceAxis", "StatementBusinessSegmentsAxis")
    assert not is_of_part(crossed, "Footwear")
    assert is_of_part(tagged("Footwear", "ConsolidationItemsAxis", "ProductOrServiceAxis"), "Footwear")


@pytest.mark.parametrize("name", ["U.S.", "U.S", "US", "USA", "United States"])
def test_the_united_states_by_any_of_their_names(name: str) -> None:
    assert same_part(name, "United States")
    assert not same_part(name, "United Kingdom")


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        ({"statement": None}, True),  # balances stand in tables of years too
        ({"statement": None, "section": ("Cash flows from operating activities",)}, False),
        ({"statement": None, "section": ("Changes in assets and liabilities",)}, False),
        ({"statement": Statement.CASH_FLOW}, False),
        ({"statement": None, "tag": Tag("us-gaap:InventoryNet", Decimal(1), "1", "c", None)}, False),
    ],
)
def test_a_balance_is_not_filled_by_what_happened_in_a_year(change: dict[str, Any], counts: bool) -> None:
    held = replace(fact("inventories", 2023, None, 12), **change)
    assert fills_slot(SourcedFact("a", held), slot("inventories"), load_lexicon().metrics, {"a": "acme"}) is counts


def test_what_is_tagged_says_itself_what_it_is_of() -> None:
    metrics, owners = load_lexicon().metrics, {"a": "acme"}
    loose = replace(fact("revenue", 2023, None, 12), tied=False)
    tagged = replace(loose, tag=Tag("us-gaap:Revenues", Decimal(1), "1", "c", None))
    assert not fills_slot(SourcedFact("a", loose), slot("revenue"), metrics, owners)
    assert fills_slot(SourcedFact("a", tagged), slot("revenue"), metrics, owners)


def test_a_figure_of_two_parts_is_meant_where_both_are_named() -> None:
    axes = (
        ("srt:ProductOrServiceAxis", "acme:StreamingMember"),
        ("srt:StatementGeographicalAxis", "us-gaap:EMEAMember"),
    )
    tag = Tag("us-gaap:Revenues", Decimal(1), "1", "c", None, members=axes)
    of_two = replace(fact("revenue", 2023, None, 12, "Streaming, EMEA"), tag=tag)
    assert is_of_part(of_two, "Streaming, EMEA")
    assert not is_of_part(of_two, "EMEA") and not is_of_part(replace(of_two, scope="EMEA"), "EMEA")


def test_a_part_goes_by_its_initials() -> None:
    assert is_of_part(fact("revenue", 2023, None, 12, "Amber-Wool North America"), "AWNA")
    assert is_of_part(fact("revenue", 2023, None, 12, "AWNA"), "Amber-Wool North America")
    assert not is_of_part(fact("revenue", 2023, None, 12, "Amber-Wool North America"), "AWN")
