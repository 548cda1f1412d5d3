"""Names, periods and sentences of generated questions."""

from __future__ import annotations

from random import Random

import pytest

from fin_agent.evaluation import Family
from fin_agent.evaluation.generated.question_generators import (
    Turn,
    fill_wording,
    join_names,
    long_name,
    possessive,
    short_name,
)
from fin_agent.evaluation.generated.question_material import QuestionMaterial
from fin_agent.evaluation.generated.truth import MeasureToAsk
from fin_agent.lexicon.company_names import Company
from fin_agent.lexicon.fiscal_periods import FiscalYears

KINDS = (
    "total", "average", "growth", "annual_growth", "difference", "ratio", "highest", "lowest", "of_highest", "faster",
    "combined", "lookup",
)  # fmt: skip


def company(name: str, ticker: str = "") -> Company:
    return Company("key", name, (name,), (ticker,) if ticker else (), ())


def turn(material: QuestionMaterial, seed: int, number: int = 0) -> Turn:
    return Turn(material, Random(seed), Family.LOOKUP, "lookup", number)


@pytest.mark.parametrize(
    ("printed", "long", "short"),
    [
        ("THE ANVIL COMPANY", "The Anvil Company", "Anvil"),
        ("RIVERBANK.COM, INC.", "Riverbank.com, Inc.", "Riverbank"),
        ("NORTH & OAK, Inc.", "NORTH & OAK, Inc.", "NORTH & OAK"),
        ("ADVANCED LENS OF DOVER, INC.", "Advanced Lens of Dover, Inc.", "Advanced Lens of Dover"),
        ("Kestrel plc", "Kestrel plc", "Kestrel"),
    ],
)
def test_names_are_set_as_a_text_sets_them(printed: str, long: str, short: str) -> None:
    assert (long_name(company(printed)), short_name(company(printed))) == (long, short)


def test_sentences_agree_with_their_names() -> None:
    assert (
        possessive("Kestrel") == "Kestrel's"
        and possessive("Anvil Mills") == "Anvil Mills'"
        and possessive("Dora's") == "Dora's"
    )
    assert join_names(["A", "B", "C"]) == "A, B and C" and join_names(["A", "B"], "or") == "A or B"
    wording = "{whose_a} {measure} {was} above {that} of {b}."
    assert fill_wording(wording, a="Kestrel", b="Anvil, Inc.", measure="dividends", was="were") == (
        "Kestrel's dividends were above those of Anvil, Inc."
    )


def test_a_total_is_not_asked_of_a_total(material: QuestionMaterial) -> None:
    measure = MeasureToAsk("revenue", "USD", ("revenue", "total revenue"), ("total revenues",))
    drawn = turn(material, 2)
    assert {drawn.measure(measure, without="total") for _ in range(50)} == {("revenue", "was")}
    assert len({drawn.measure(measure) for _ in range(50)}) == 3


def test_each_kind_has_six_wordings_that_take_turns(material: QuestionMaterial) -> None:
    fields = dict.fromkeys(
        ("company", "a", "b", "measure", "was", "first", "last", "span", "year", "companies", "either", "other",
         "other_was"),
        "x",
    )  # fmt: skip
    for kind in KINDS:
        texts = [turn(material, 0, number).text(kind, **fields) for number in range(6)]
        assert len(set(texts)) == 6, kind
        assert not any("{" in text for text in texts)


def test_years_named_otherwise_than_they_end_are_never_put_as_calendar_years(material: QuestionMaterial) -> None:
    retailer = FiscalYears("Anvil", (2021, 2022), (), ((2022, 2021), (2023, 2022)))
    drawn = turn(material, 1)
    spans = {drawn.span(2019, 2022, retailer) for _ in range(300)}
    assert len(spans) >= 6
    assert not {"2019-2022", "the four years through 2022"} & spans
    assert "2022" not in {drawn.year(2022, retailer) for _ in range(100)}
    calendar = FiscalYears("Kestrel", (2022,), (), ((2022, 2022),))
    assert {"2019-2022", "the four years through 2022"} <= {drawn.span(2019, 2022, calendar) for _ in range(300)}
    assert "2022" in {drawn.year(2022, calendar) for _ in range(100)}
