"""Figures of segments, products and regions under their printed names."""

from __future__ import annotations

from decimal import Decimal

import pytest

from fin_agent.evaluation.generated.question_material import QuestionMaterial, families_of, part_figures
from fin_agent.evaluation.generated.truth import Figures, PartKind, SlotKey, StatedFigure
from fin_agent.evaluation.xbrl_truth import TrueTag
from fin_agent.lexicon.lexicon import load_lexicon
from tests.evaluation.generated.making import PRODUCT, REGION, SEGMENT, filing, tag


def _parts(*tags: TrueTag, words: tuple[str, ...] = ()) -> dict[tuple[str, int], int]:
    metrics = ("revenue", "operating_income")
    found = part_figures([filing(*tags, words=words)], {"a24": "a"}, load_lexicon(), metrics)
    return {(figure.slot.part, figure.slot.fiscal_year): int(figure.value / 1_000_000) for figure in found}


def test_parts_of_the_samples(tagged_material: QuestionMaterial) -> None:
    found = {(f.slot.part, f.slot.metric, f.slot[2:4]): (f.kind, int(f.value)) for f in tagged_material.parts}
    assert found["Electronic Test", "revenue", (2023, None)] == (PartKind.SEGMENT, 1_803_000_000)
    assert found["Calibration Services", "revenue", (2025, None)] == (PartKind.SEGMENT, 788_000_000)
    assert found["Asia Pacific", "revenue", (2024, None)] == (PartKind.REGION, 715_000_000)
    assert ("United States", "revenue", (2025, None)) in found and ("Online", "operating_income", (2025, 2)) in found
    sums = {
        year: sum(
            value
            for (_, metric, period), (kind, value) in found.items()
            if kind is PartKind.SEGMENT and metric == "revenue" and period == (year, None)
        )
        for year in (2025, 2024, 2023)
    }
    assert sums == {2025: 4_025_000_000, 2024: 3_763_000_000, 2023: 3_533_000_000}


def test_rows_name_their_parts_where_each_has_one() -> None:
    one = tag("Revenues", 10, (SEGMENT, "a:XyzMember"), row="Asia and Oceania", row_number=1)
    two = tag("Revenues", 20, (SEGMENT, "a:QMember"), row="The Rest", row_number=2)
    assert _parts(one, two) == {("Asia and Oceania", 2024): 10, ("The Rest", 2024): 20}
    assert _parts(one) == {}


@pytest.mark.parametrize(
    ("axis", "member", "printed"),
    [
        (SEGMENT, "a:GreaterChinaSegmentMember", "Greater China"),
        (SEGMENT, "a:AmazonWebServicesSegmentMember", "AWS"),
        (PRODUCT, "a:WearablesHomeandAccessoriesMember", "Wearables, Home and Accessories"),
        (PRODUCT, "us-gaap:ProductMember", "Products"),
        (REGION, "country:US", "U.S."),
    ],
)
def test_a_table_prints_what_the_member_spells(axis: str, member: str, printed: str) -> None:
    stated = tag("OperatingIncomeLoss", 10, (axis, member), row="Operating income")
    assert _parts(stated, words=("Operating income", printed)) == {(printed, 2024): 10}
    assert _parts(stated, words=("Operating income", "Elsewhere")) == {}


def test_cells_of_two_parts_are_of_neither() -> None:
    both = tag("Revenues", 10, (SEGMENT, "a:EastMember"), (PRODUCT, "a:ShoesMember"))
    assert _parts(both, words=("East", "Shoes")) == {}
    marked = tag(
        "Revenues", 10, (SEGMENT, "a:EastMember"), ("srt:ConsolidationItemsAxis", "us-gaap:OperatingSegmentsMember")
    )
    assert _parts(marked, words=("East",)) == {("East", 2024): 10}


def test_what_has_two_answers_is_left_out() -> None:
    words = ("East", "Services", "Repair services and others")
    one, other = tag("Revenues", 10, (SEGMENT, "a:EastMember")), tag("Revenues", 11, (PRODUCT, "a:EastMember"))
    assert _parts(one, other, words=words) == {}
    between = tag("IntersegmentRevenue", 2, (SEGMENT, "a:EastMember"))
    assert _parts(one, between, words=words) == {}
    services = tag("Revenues", 5, (PRODUCT, "us-gaap:ServiceMember"))
    repair = tag("Revenues", 3, (PRODUCT, "a:RepairServicesAndOthersMember"))
    assert ("Services", 2024) in _parts(services, words=words)
    assert ("Services", 2024) not in _parts(services, repair, words=words)


def test_a_subtotal_is_a_part_and_makes_no_family_with_what_it_holds() -> None:
    members = ("country:US", "United States", 60), ("srt:AmericasMember", "Total Americas", 70)
    others = ("us-gaap:EMEAMember", "EMEA", 20), ("srt:AsiaPacificMember", "APAC", 10)
    rows = enumerate((*members, *others))
    tags = [tag("Revenues", value, (REGION, name), row=row, row_number=place) for place, (name, row, value) in rows]
    regions = [filing(*tags)]
    parts = part_figures(regions, {"a24": "a"}, load_lexicon(), ("revenue",))
    assert {figure.slot.part for figure in parts} == {"United States", "Americas", "EMEA", "APAC"}
    whole = StatedFigure(SlotKey("a", "revenue", 2024, None), Decimal(100_000_000), Decimal(1), ("a24",))
    assert families_of(parts, Figures([whole], [])) == []
    beside = [figure for figure in parts if figure.slot.part != "United States"]
    assert families_of(beside, Figures([whole], []))


def test_names_of_figures_and_of_remainders_are_no_parts() -> None:
    rows = [
        tag("Revenues", number, (SEGMENT, f"a:Part{number}Member"), row=row, row_number=number)
        for number, row in enumerate(("Corporate and other", "Total segments", "Net sales", "North"), start=1)
    ]
    assert _parts(*rows) == {("North", 2024): 4}
