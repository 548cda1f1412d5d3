"""The published measures, on cases whose result is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_agent.evaluation.answer_scoring import (
    kobeissi_numeric_match,
    page_precision,
    page_recall,
    published_numeric_match,
    strict_numeric_match,
)
from fin_agent.evaluation.benchmark import Row, seconds_at


class TestPublishedMatch:
    @pytest.mark.parametrize(
        ("answer", "gold", "matches"),
        [
            ("24.26", "24.26", True),
            ("$11,588mn in FY 2023", "2023", False),
            ("from 36.8% in FY 2021 to 34.6%", "2021", False),
            ("(1,234)", "-1234", True),
            ("the 10-K of 2019", "10", False),
            ("$400,000,000 increase.", "400 million", True),
            ("24.9", "24.26", True),
            ("25.1", "24.26", False),
            ("It was 2,018 USD millions", "$2,018mn", True),
            ("2018000000 USD", "$2,018mn", True),
            ("2018", "$2,018mn", True),
            ("11,588 USD millions", "$11588.00", True),
            ("3.7", "-3.7", False),
            ("0", "0", True),
            ("0.001", "0", False),
            ("In FY2019 it was 7.", "In FY2019 it was 9.", False),
            ("either 3 or 9.1", "9", True),
            ("no figure", "9", False),
            ("9", "none", False),
            ("all 100% of it", "bought:\n-100% of a plant\n-a patent", True),
            ("all 100% of it", "by\n-100%", False),
        ],
    )
    def test_within_three_percent_of_a_gold_number(self, answer: str, gold: str, matches: bool) -> None:
        assert published_numeric_match(answer, gold) is matches

    @given(st.floats(min_value=0.01, max_value=1e9), st.floats(min_value=-0.06, max_value=0.06))
    def test_tolerance_is_relative_to_the_gold(self, gold: float, off: float) -> None:
        gold = round(gold, 4)
        answered = round(gold * (1 + off), 6)
        if abs(abs(off) - 0.03) > 0.001:
            assert published_numeric_match(f"{answered:.6f} apiece", f"{gold:.4f}") is (abs(off) < 0.03)


MILLIONS = "What was net income in FY2019 (in USD millions)?"
BILLIONS = "What is the FY2021 capital expenditure amount (in USD billions)?"


class TestStrictMatch:
    @pytest.mark.parametrize(
        ("value", "unit", "gold", "question", "matches"),
        [
            (24.2579, "ratio", "24.26", "", True),
            (24.2549, "ratio", "24.26", "", False),
            (24.3, "ratio", "24.26", "", False),
            (11588, "USD millions", "$11588.00", MILLIONS, True),
            (11588.4, "USD millions", "$11588.00", MILLIONS, True),
            (11589, "USD millions", "$11588.00", MILLIONS, False),
            (11.588, "USD billions", "$11588.00", MILLIONS, True),
            (11588000000, "USD", "$11588.00", MILLIONS, True),
            (11588, "USD thousands", "$11588.00", MILLIONS, False),
            (11588, "USD millions", "$11588.00", "What was net income?", True),
            (11.588, "USD billions", "$11588.00", "What was net income?", False),
            (4.625, "USD billions", "$4.60", BILLIONS, True),
            (4625, "USD millions", "$4.60", BILLIONS, True),
            (4.66, "USD billions", "$4.60", BILLIONS, False),
            (4625, "USD millions", "$4.60", "Answer in billions of dollars.", True),
            (2018, "USD millions", "AMCOR's Adj. EBITDA was $2,018mn in FY 2023", "", True),
            (2018, "USD thousands", "AMCOR's Adj. EBITDA was $2,018mn in FY 2023", "", False),
            (8.4, "USD billions", "total = $8,400,000,000.", "", True),
            (65.42, "percent", "65.4%", "", True),
            (0.6542, "ratio", "65.4%", "", True),
            (0.6542, None, "65.4%", "", False),
            (66, "percent", "0.66", "", True),
            (-3.68, "days", "-3.7", "", True),
            (3.7, "days", "-3.7", "", False),
            (-3.76, "days", "-3.7", "", False),
            (0.0, "percent", "0", "", True),
            (None, "ratio", "0", "", False),
            (2023, None, "It fell in 2023.", "", False),
        ],
    )
    def test_at_the_golds_own_rounding(
        self, value: float | None, unit: str | None, gold: str, question: str, matches: bool
    ) -> None:
        assert strict_numeric_match(value, unit, gold, question) is matches

    @given(st.integers(1, 10**9))
    def test_whatever_equals_the_gold_matches(self, cents: int) -> None:
        assert strict_numeric_match(cents / 100, "ratio", f"{cents / 100:.2f}")


A, B, C = ("a", 1), ("a", 2), ("b", 1)


class TestRetrieval:
    def test_page_recall_is_the_share_of_gold_pages(self) -> None:
        assert page_recall([A, C, B], [A, B], 2) == 0.5
        assert page_recall([A, C, B], [A, B], 3) == 1.0
        assert page_recall([A, A, A, A, A, B], [A, B], 5) == 0.5
        assert page_recall([], [A], 5) == 0.0

    def test_precision_is_over_distinct_pages(self) -> None:
        assert page_precision([A, A, C], [A], 5) == 0.5
        assert page_precision([], [A], 5) == 0.0

    def test_document_recall(self) -> None:
        assert page_recall(["x", "y"], ["y", "y", "z"], 5) == 0.5


def test_percentiles_of_seconds_are_interpolated() -> None:
    def at(percent: int, *seconds: float | None) -> float | None:
        return seconds_at([Row("q", {}, "", seconds=each) for each in seconds], percent)

    assert at(50, 3, 1, 2, 4, None) == 2.5
    assert at(95, *range(101)) == 95
    assert at(95, 7.0) == 7.0 and at(50, None) is None and at(50) is None


@pytest.mark.parametrize(
    ("answer", "gold", "close"),
    [
        ("0.04", "0.02", True),
        ("$1,577.00 million", "1577", True),
        ("1.577 billion", "1577", False),
        ("103", "100", True),
        ("104", "100", False),
        ("no number", "1", False),
        ("in 2021", "2022", True),
    ],
)
def test_the_published_rule_to_the_letter(answer: str, gold: str, close: bool) -> None:
    assert kobeissi_numeric_match(answer, gold) is close
