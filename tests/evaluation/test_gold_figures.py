"""What counts as a figure of a gold answer."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_agent.answering.numerals import numerals_in
from fin_agent.evaluation.answer_scoring import answering_figures, gold_figures, without_list_marks


@pytest.mark.parametrize(
    ("gold", "printed"),
    [
        ("24.26", ["24.26"]),
        ("2019", ["2019"]),
        ("12", ["12"]),
        ("$11588.00", ["$11588.00"]),
        ("It fell from 36.8% in FY 2021 to 34.6% in FY2022.", ["36.8%", "34.6%"]),
        ("The adjusted EBITDA was $2,018mn in 2023", ["$2,018mn"]),
        ("47 new stores were opened in the 12 months ended January 28, 2023.", ["47"]),
        ("The quick ratio was 0.54 on December 31, 2022.", ["0.54"]),
        ("the three segments, over 2 years", []),
        ("Notes due 2026 and 2028 of 3M", []),
        ("an 8-K of July 1st", []),
        ("More of the 737, 777X and 787 aircraft", []),
        ("Two lines, 777X, 787 or 737, were 39% of it.", ["39%"]),
        ("777X deliveries rose by 12 a month", ["12"]),
        ("As Note 11 and Section 12 say, 13 suits", ["13"]),
        ("Yes", []),
    ],
)
def test_only_what_measures_something(gold: str, printed: list[str]) -> None:
    assert [figure.printed for figure in gold_figures(gold)] == printed


def test_a_dash_before_a_line_of_a_list_is_no_sign() -> None:
    assert [figure.value for figure in gold_figures("Two:\n-100% of a plant\n - 51% of a mill\n-a patent")] == [100, 51]
    assert [figure.value for figure in gold_figures("-3.7")] == [Decimal("-3.7")]
    assert [figure.value for figure in gold_figures("A change of\n-3.7%")] == [Decimal("-3.7")]


def test_what_the_question_says_answers_nothing() -> None:
    gold = "Yes. Two categories are more than 20% of revenue: one is 39%."
    asked = "Which categories are more than 20% of revenue?"
    assert [figure.printed for figure in answering_figures(gold, asked)] == ["39%"]
    assert [figure.printed for figure in answering_figures("More than 20%", asked)] == ["20%"]
    assert answering_figures("None", asked) == ()


@given(st.text(alphabet="0123456789,.$%()-–•\n XMBntwo yeard/"))
def test_any_text_can_be_read(text: str) -> None:
    numerals = numerals_in(without_list_marks(text))
    assert set(gold_figures(text)) <= set(numerals)
