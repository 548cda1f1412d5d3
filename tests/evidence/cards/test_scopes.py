"""What is printed over columns and rows names a part of the company, or says how a figure is measured."""

from __future__ import annotations

from decimal import Decimal

import pytest

from fin_agent.evidence.cards.rule_based_abstraction import part_name, part_names, part_of
from fin_agent.vocabulary.fact import Fact, FactPeriod, Tag
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box


def fact(scope: str | None, statement: Statement | None = None, axis: str | None = None) -> Fact:
    tag = (
        None if axis is None else Tag("us-gaap:Revenues", Decimal(1), "1", "c", None, members=((axis, "acme:Member"),))
    )
    return Fact("Sales", Decimal(1), 1, "USD", FactPeriod(2022, None, 12), 0, Box(0, 0, 1, 1), "revenue",
                statement=statement, scope=scope, tag=tag)  # fmt: skip


@pytest.mark.parametrize("name", ["Garden Tools", "North America", "U.S.", "Life Sciences", "Rest of World", "AWS"])
def test_names_of_segments_products_and_regions_are_parts(name: str) -> None:
    assert part_name(f"{name} (1)") == name


@pytest.mark.parametrize(
    "name",
    [
        "Level 2",
        "Thereafter",
        "Amortized Cost",
        "Total",
        "Consolidated",
        "EBIT $ million",
        "Sales %",
        "as is",
        "",
        "2,019",
    ],
)
def test_columns_that_say_how_figures_are_measured_are_no_parts(name: str) -> None:
    assert part_name(name) is None


def test_components_of_equity_and_members_of_other_axes_are_no_parts() -> None:
    assert part_of(fact("Garden Tools")) == "Garden Tools"
    assert part_of(fact("Garden Tools", Statement.EQUITY)) is None
    assert part_of(fact("Garden Tools", axis="us-gaap:AwardTypeAxis")) is None
    assert part_of(fact("Garden Tools", axis="us-gaap:StatementBusinessSegmentsAxis")) == "Garden Tools"
    assert part_of(fact(None)) is None


def test_a_filing_s_parts_are_those_of_several_figures_most_often_named_first() -> None:
    facts = [fact("Power"), *[fact("Garden")] * 4, *[fact("Marine")] * 5, *[fact("Total")] * 9]
    assert part_names(facts) == ("Marine", "Garden")
