"""Answers in words and as a value in its unit."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_agent.answering.amounts import format_amount
from fin_agent.answering.answer import AnswerValue
from fin_agent.answering.answer_composition import citations_of, numeric_answer
from fin_agent.answering.program import CHANGE, ENDS, Program
from fin_agent.errors import SandboxError
from fin_agent.evidence.expressions import Constant
from fin_agent.evidence.intent import Comparison, Intent, OutputUnit, Relation, RequestedCompany
from fin_agent.evidence.plan import Plan, Term
from fin_agent.evidence.slot_ledger import Figure
from fin_agent.lexicon.fiscal_periods import FiscalPeriod

ACME = RequestedCompany(key="acme", name="Acme Tools, Inc.")
BELL = RequestedCompany(key="bell", name="Bell Stores")


def figure(amount: str, year: int = 2023, scale: int = 1_000_000, unit: str = "USD", line: int = 3) -> Figure:
    return Figure(
        doc_id="acme23", page=40, line=line, box=(0, line, 1, line + 1), label="Net sales", column=f"FY{year}",
        amount=Decimal(amount), printed=Decimal(amount), scale=scale, unit=unit, fiscal_year=year, quarter=None,
        months=12,
    )  # fmt: skip


def answered(
    result: object,
    *,
    measure: str = "revenue",
    computed: str = "USD",
    unit: OutputUnit | None = None,
    decimals: int | None = None,
    relation: Relation = Relation.EACH,
    comparison: Comparison = Comparison.NONE,
    companies: tuple[RequestedCompany, ...] = (ACME,),
    years: tuple[int, ...] = (2023,),
    names: tuple[str, ...] = (),
    core: str = "What?",
    variables: dict[str, Figure] | None = None,
    scale: int = 1_000_000,
    beside: tuple[str, ...] = (),
) -> AnswerValue:
    intent = Intent(
        question="?", core=core, companies=companies, relation=relation, comparison=comparison, measure=measure,
        expression="x", measure_unit=computed, unit=unit, decimals=decimals,
    )  # fmt: skip
    terms = tuple(Term(company, FiscalPeriod(fiscal_year=year), Constant(1)) for company in companies for year in years)
    return numeric_answer(intent, Plan(terms, ()), Program("", variables or {}, scale, names, beside), result)  # type: ignore[arg-type]


def test_one_figure_is_one_sentence() -> None:
    answer = answered(3763)
    assert (answer.value, answer.unit) == (3763, "USD millions")
    assert answer.text == "Revenue of Acme Tools, Inc. for FY2023: $3,763 million."


@pytest.mark.parametrize(
    ("unit", "value", "text"),
    [
        ("USD", 3_763_000_000, "$3,763,000,000"),
        ("USD thousands", 3_763_000, "$3,763,000 thousand"),
        ("USD billions", 3.763, "$3.763 billion"),
    ],
)
def test_dollars_are_given_in_the_unit_asked_for(unit: OutputUnit, value: float, text: str) -> None:
    answer = answered(3763, unit=unit)
    assert (answer.value, answer.unit) == (pytest.approx(value), unit)
    assert text in answer.text


def test_a_ratio_asked_for_in_percent_is_a_percentage() -> None:
    answer = answered(0.11161, measure="return on assets", computed="ratio", unit="percent")
    assert (answer.value, answer.unit) == (pytest.approx(11.161), "percent")
    assert "11.2%" in answer.text


@pytest.mark.parametrize(
    ("exact", "decimals", "rounded", "text"),
    [
        (0.125, 2, 0.13, "0.13"),
        (2.675, 2, 2.68, "2.68"),
        (-0.125, 2, -0.13, "-0.13"),
        (24.5, 0, 25, "25"),
        (1.005, 2, 1.01, "1.01"),
        (8, 2, 8, "8.00"),
    ],
)
def test_halves_are_rounded_up_as_people_do(exact: float, decimals: int, rounded: float, text: str) -> None:
    answer = answered(exact, computed="ratio", decimals=decimals)
    assert answer.value == rounded
    assert answer.text.endswith(f": {text}.")


@given(st.decimals(-100_000, 100_000, places=4), st.integers(0, 3))
def test_value_and_text_agree_on_the_rounding(exact: Decimal, decimals: int) -> None:
    answer = answered(float(exact), computed="ratio", decimals=decimals)
    assert answer.value is not None
    assert abs(Decimal(repr(answer.value)) - exact) <= Decimal(1).scaleb(-decimals) / 2
    written = answer.text.rsplit(": ", 1)[1].rstrip(".").replace(",", "")
    assert Decimal(written) == Decimal(repr(answer.value))


def test_without_a_rounding_asked_only_binary_noise_is_cut() -> None:
    assert answered(0.1 + 0.2, computed="ratio").value == 0.3
    assert answered(54.2120648418815, computed="percent").value == 54.21206484


def test_growth_is_said_in_percent_with_the_figures_it_comes_from() -> None:
    held = {"a": figure("3334", 2022), "b": figure("3533", 2023)}
    answer = answered(
        100 * (3533 - 3334) / 3334,
        measure="revenue growth",
        relation=Relation.GROWTH,
        years=(2022, 2023),
        variables=held,
    )
    assert answer.unit == "percent"
    assert answer.text == (
        "Growth of revenue of Acme Tools, Inc. for FY2022 to FY2023: 6.0% "
        "(from $3,334 million in FY2022 to $3,533 million in FY2023, up $199 million)."
    )


def test_figures_that_do_not_account_for_the_change_are_not_said_to() -> None:
    held = {"a": figure("3334", 2022), "b": figure("3533", 2023)}
    answer = answered(-199, relation=Relation.CHANGE, years=(2022, 2023), variables=held)
    assert "from" not in answer.text


def test_a_change_of_a_percentage_is_in_percentage_points() -> None:
    held = {
        "a": figure("21.3", 2022, scale=1, unit="percent"),
        "b": figure("20.6", 2023, scale=1, unit="percent"),
    }
    answer = answered(
        20.6 - 21.3, measure="effective tax rate", computed="percent", relation=Relation.CHANGE, years=(2022, 2023),
        variables=held,
    )  # fmt: skip
    assert (answer.value, answer.unit) == (pytest.approx(-0.7), "percentage points")
    assert "from 21.3% in FY2022 to 20.6% in FY2023" in answer.text


def test_each_of_several_periods_is_listed_and_none_is_the_value() -> None:
    answer = answered([16, 30], years=(2022, 2023), names=("Acme FY2022", "Acme FY2023"))
    assert answer.value is None
    assert answer.text == "Revenue: Acme FY2022: $16 million; Acme FY2023: $30 million."


@pytest.mark.parametrize(
    ("first", "last", "core", "begins"),
    [
        (
            16.0,
            30.0,
            "Did revenue increase?",
            "Yes: revenue of Acme Tools, Inc. rose by $14 million (87.5%), from $16 million in",
        ),
        (30.0, 16.0, "Did revenue increase?", "No: revenue of Acme Tools, Inc. fell"),
        (30.0, 16.0, "Has revenue declined?", "Yes: revenue of Acme Tools, Inc. fell"),
        (16.0, 30.0, "Has revenue declined?", "No: revenue of Acme Tools, Inc. rose"),
        (16.0, 16.0, "Did revenue increase?", "No: revenue of Acme Tools, Inc. did not change"),
        (16.0, 30.0, "Did revenue increase or decrease?", "Revenue of Acme Tools, Inc. rose"),
        (
            30.0,
            16.0,
            "How did revenue develop?",
            "Revenue of Acme Tools, Inc. fell by $14 million (46.7%), from $30 million",
        ),
    ],
)
def test_a_trend_is_answered_yes_or_no_with_its_figures(first: float, last: float, core: str, begins: str) -> None:
    answer = answered(
        [first, last], relation=Relation.TREND, years=(2022, 2023), names=("Acme FY2022", "Acme FY2023"), core=core
    )
    assert answer.value == last
    assert answer.text.startswith(begins)


def test_a_margin_moves_by_percentage_points_that_are_not_those_of_the_rounded_ends() -> None:
    answer = answered(
        [19.411, 18.542, -0.869], measure="gross margin", computed="percent", relation=Relation.TREND,
        years=(2022, 2023),
        names=("Acme FY2022", "Acme FY2023"), beside=CHANGE, core="Is gross margin improving?", decimals=0,
    )  # fmt: skip
    text = "No: gross margin of Acme Tools, Inc. fell by 0.9 percentage points, from 19% in FY2022 to 19% in FY2023."
    assert answer.text == text
    finer = answered(
        [19.411, 18.542, -0.869], measure="gross margin", computed="percent", relation=Relation.TREND,
        years=(2022, 2023),
        names=("Acme FY2022", "Acme FY2023"), beside=CHANGE, core="Is gross margin improving?",
    )  # fmt: skip
    assert "fell by 0.9 percentage points, from 19.4% in FY2022 to 18.5% in FY2023" in finer.text


@pytest.mark.parametrize(
    ("relation", "computed", "decimals", "ends"),
    [
        (Relation.CHANGE, "percent", None, "(from 24.6% in FY2022 to 21.6% in FY2023)"),
        (Relation.GROWTH, "USD", 1, "(from $24.6 million in FY2022 to $21.6 million in FY2023, down $3 million)"),
        (Relation.CHANGE, "USD", 0, "(from $25 million in FY2022 to $22 million in FY2023, down 12.2%)"),
    ],
)
def test_both_ends_of_a_computed_change_are_said(
    relation: Relation, computed: str, decimals: int | None, ends: str
) -> None:
    answer = answered(
        [-3.0, 24.6, 21.6], measure="tax rate", computed=computed, relation=relation, years=(2022, 2023),
        beside=ENDS, decimals=decimals,
    )  # fmt: skip
    assert answer.value == -3
    assert ends in answer.text


def test_a_program_that_returns_too_few_numbers_is_refused() -> None:
    with pytest.raises(SandboxError, match="too few numbers"):
        answered([24.6, 21.6], relation=Relation.CHANGE, years=(2022, 2023), beside=ENDS)


def test_the_extreme_of_a_comparison_is_the_value_and_names_its_company() -> None:
    highest = answered(
        [641, 416.643],
        comparison=Comparison.HIGHEST,
        companies=(ACME, BELL),
        names=("Acme", "Bell"),
        measure="net income",
    )
    assert highest.value == 641
    assert (
        highest.text == "Acme has the higher net income: $641 million (Bell: $416.643 million, $224.357 million apart)."
    )
    lowest = answered(
        [3, 1, 2], comparison=Comparison.LOWEST, companies=(ACME, BELL, ACME), names=("A", "B", "C"), computed="ratio"
    )
    assert lowest.value == 1
    assert lowest.text.startswith("B has the lowest revenue: 1.00 (")


def test_companies_that_are_equal_are_said_to_be() -> None:
    answer = answered([5, 5], comparison=Comparison.HIGHEST, companies=(ACME, BELL), names=("Acme", "Bell"))
    assert answer.text.startswith("No company stands out")


@pytest.mark.parametrize(
    ("comparison", "words", "unit"),
    [
        (Comparison.DIFFERENCE, "Difference in revenue between Acme Tools, Inc. and Bell Stores", "USD millions"),
        (Comparison.RATIO, "Ratio of revenue of Acme Tools, Inc. to that of Bell Stores", "ratio"),
        (Comparison.TOTAL, "Combined revenue of Acme Tools, Inc. and Bell Stores", "USD millions"),
    ],
)
def test_two_companies_in_one_number(comparison: Comparison, words: str, unit: str) -> None:
    answer = answered(2.5, comparison=comparison, companies=(ACME, BELL))
    assert answer.text.startswith(words)
    assert answer.unit == unit


def test_measures_stand_in_the_sentence_as_words_or_as_abbreviations() -> None:
    assert "Inventory turnover of" in answered(3.4, measure="Inventory turnover", computed="ratio").text
    assert "EBITDA of" in answered(3.4, measure="EBITDA").text
    assert "R&D of" in answered(3.4, measure="R&D").text
    assert "Total dividends paid of" in answered(3, measure="total dividends paid", relation=Relation.TOTAL).text


@pytest.mark.parametrize("result", [None, "12", True, [1, "x"], {"a": 1}])
def test_what_is_no_number_is_an_error_that_shows_it(result: object) -> None:
    with pytest.raises(SandboxError):
        answered(result)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (11588, "USD millions", "$11,588 million"),
        (-11588.5, "USD millions", "-$11,588.5 million"),
        (0.00012, "USD", "$0"),
        (-0.00012, "USD", "$0"),
        (-0.041, "percent", "0.0%"),
        (1e30, "ratio", f"{10**30:,}.00"),
        (3.87, "USD per share", "$3.87 per share"),
        (-1.2, "USD per share", "-$1.20 per share"),
        (65.441, "percent", "65.4%"),
        (5.25, "percent", "5.25%"),
        (24.264, "ratio", "24.26"),
        (93.864, "days", "93.86 days"),
        (1.251, "percentage points", "1.3 percentage points"),
        (1.01 - 0.96, "percentage points", "0.05 percentage points"),
        (-0.625, "percent", "-0.6%"),
        (6.251, "percent", "6.3%"),
        (3.139564, "USD billions", "$3.14 billion"),
        (165_500_000, "shares", "165,500,000 shares"),
        (418, "count", "418"),
        (122.3, "USD", "$122.30"),
    ],
)
def test_values_as_people_write_them(value: float, unit: str, text: str) -> None:
    assert format_amount(value, unit) == text


def test_each_place_is_cited_once() -> None:
    twice = citations_of([figure("3533"), figure("3533"), figure("3334", 2022, line=9)])
    assert len(twice) == 2
    assert twice[0].text == "Net sales | FY2023: 3,533"
    assert (twice[0].doc_id, twice[0].page, twice[0].box) == ("acme23", 40, (0, 3, 1, 4))
