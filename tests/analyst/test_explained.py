"""Which measure a sentence is about: not the one that it is a share of."""

from __future__ import annotations

import pytest

from fin_agent.analyst.rules.reasoning.explained import Explained
from fin_agent.analyst.rules.reasoning.kinds import Kind, before_the_cause, holds
from fin_agent.lexicon.lexicon import load_lexicon

LEXICON = load_lexicon()


@pytest.mark.parametrize(
    ("text", "measures"),
    [
        ("Gross margin was $4,307 million, or 57.7% of revenues, in fiscal 2024", ["gross_margin"]),
        ("Gross margin was 57.7 percent of our total revenues and net income rose", ["gross_margin", "net_income"]),
        ("Revenues and gross margin rose", ["revenue", "gross_margin"]),
        ("Gross profit as a percentage of net sales fell", ["gross_margin"]),
        ("Advertising was 3% of net sales", []),
    ],
)
def test_what_another_is_a_share_of_is_not_what_is_explained(text: str, measures: list[str]) -> None:
    explained = Explained(text, LEXICON)
    assert explained.named == measures
    assert not explained.nothing
    assert explained.is_about("revenue") is ("revenue" in measures)


def test_a_part_with_its_share_is_the_margin() -> None:
    explained = Explained("Gross profit was $1,792.0 million, or 37.1% of net sales,", LEXICON)
    assert explained.is_about("gross_margin")
    assert explained.begins_with("gross_margin")
    assert explained.begins_with("gross_profit")
    assert not explained.is_about("operating_margin")
    assert not Explained("Gross profit was $1,792.0 million.", LEXICON).is_about("gross_margin")


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("Data Center sales recovered on power stages.", "Data Center sales "),
        ("Automotive sales grew modestly as car makers bought more.", "Automotive sales "),
        ("Cost of goods sold rose as a percentage of net sales.", None),
        ("Net sales of the unit increased as compared with 2022.", None),
        ("Net sales of the unit increased as a result of prices.", "Net sales of the unit increased "),
    ],
)
def test_a_movement_gives_its_reason_after_on_or_as(text: str, before: str | None) -> None:
    assert holds(Kind.CAUSE, text) is (before is not None)
    assert before_the_cause(text) == (text if before is None else before)
