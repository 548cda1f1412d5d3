"""What a model calculates of quoted figures: each number accounted for, the arithmetic as Python does it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fin_agent.analyst.model.cited_answers import evaluate_calculations, quoted_amount
from fin_agent.analyst.model.replies import Calculation, QuotedFigure
from fin_agent.answering.sandbox import MontySandbox

SANDBOX = MontySandbox()
QUESTION = "What is 25% of the change in net sales from 2022 to 2023?"


def figure(name: str, number: str, quote: str = "") -> QuotedFigure:
    return QuotedFigure(name=name, passage=1, quote=quote or f"Net sales $ {number}", number=number)


def result(*calculations: tuple[str, str, str | None], figures: list[QuotedFigure]) -> dict[str, float]:
    made = [Calculation.model_validate({"name": n, "expression": e, "unit": u}) for n, e, u in calculations]
    found = evaluate_calculations(figures, made, QUESTION, SANDBOX)
    return {name: one.value for name, one in found.results.items()}


AMOUNTS = st.integers(1, 999_999)
SHAPES = ["a - b + c", "100 * (a - b) / c", "a / (b + c)", "a * 1000 - b"]


@settings(max_examples=40, deadline=None)
@given(
    a=AMOUNTS,
    b=AMOUNTS,
    c=AMOUNTS,
    shape=st.sampled_from(["a - b + c", "100 * (a - b) / c", "a / (b + c)", "a * 1000 - b"]),
)
def test_the_arithmetic_is_that_of_python(a: int, b: int, c: int, shape: str) -> None:
    figures = [figure("a", f"{a:,}"), figure("b", f"{b}"), figure("c", f"{c:,}")]
    found = result(("r", shape, None), figures=figures)["r"]
    assert found == pytest.approx(eval(shape, {"a": a, "b": b, "c": c}), rel=1e-9)


def test_a_calculation_may_go_on_from_one_before_it() -> None:
    figures = [figure("new", "3,763"), figure("old", "3,533"), figure("idle", "12")]
    steps = [
        Calculation(name="change", expression="new - old", unit="USD millions"),
        Calculation(name="quarter_of_it", expression="25 * change / 100", unit="USD millions"),
    ]
    found = evaluate_calculations(figures, steps, QUESTION, SANDBOX)
    assert {name: one.text for name, one in found.results.items()} == {
        "change": "$230 million", "quarter_of_it": "$57.5 million",
    }  # fmt: skip
    code = found.program(lambda one: f"ACME page {one.passage}")
    assert "new = 3763  # ACME page 1" in code and "idle" not in code
    assert SANDBOX.run(code).value == [230, 57.5]
    assert (
        found.fill_placeholders("It rose by {change}, from {old}.", {"old": "3,533"})
        == "It rose by $230 million, from 3,533."
    )


@pytest.mark.parametrize(
    ("number", "quote", "amount"),
    [
        ("52,862", "Total revenues $ 52,862 $ 42,380", "52862"),
        ("(2,224)", "Pretax income 10,383 (2,224) 9,585", "-2224"),
        ("-157", "Other – 157 and -157", "-157"),
        ("$4.2", "a new $4.2 billion agreement", "4.2"),
        ("2,224", "Pretax income 10,383 (2,224) 9,585", "2224"),
        ("12.5%", "a margin of 12.5 %", "12.5"),
    ],
)
def test_a_figure_is_the_number_that_its_quote_prints(number: str, quote: str, amount: str) -> None:
    assert f"{quoted_amount(figure('a', number, quote)):f}" == amount


@pytest.mark.parametrize(
    ("figures", "calculation", "told"),
    [
        ([figure("a", "41", "Net sales $ 410")], ("r", "a", None), "does not contain its number"),
        ([figure("a", "(41)", "Net sales 41")], ("r", "a", None), "is not printed below zero"),
        ([figure("a", "none", "Net sales none")], ("r", "a", None), "has no number"),
        ([figure("a", "41"), figure("a", "42")], ("r", "a", None), "`a` is named twice"),
        ([figure("max", "41")], ("r", "max", None), "cannot be used"),
        ([figure("return", "41")], ("r", "1", None), "cannot be used"),
        ([figure("a", "41")], ("a", "a * 2", None), "`a` is named twice"),
        ([figure("a", "41")], ("r", "a + 7", None), "has 7"),
        ([figure("a", "41")], ("r", "a if a else 2", None), "is more than arithmetic"),
        ([figure("a", "41")], ("r", "[a][0]", None), "is more than arithmetic"),
        ([figure("a", "41")], ("r", "a + 'x'", None), "not a number"),
        ([figure("a", "41")], ("r", "+".join("a" * 300), None), "characters"),
    ],
)
def test_what_cannot_be_accounted_for_is_not_calculated(
    figures: list[QuotedFigure], calculation: tuple[str, str, str | None], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        result(calculation, figures=figures)
