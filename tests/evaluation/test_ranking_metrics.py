"""Measures of rankings against values worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_agent.evaluation.passage_ranking import average_precision, ndcg, reciprocal_rank


def test_ndcg_by_hand() -> None:
    ideal = 1 + 1 / math.log2(3)
    assert ndcg("abcd", {"a", "b"}, 10) == 1.0
    assert ndcg("abcd", {"b", "d"}, 10) == pytest.approx((1 / math.log2(3) + 1 / math.log2(5)) / ideal)
    assert ndcg("abcd", {"b", "d"}, 3) == pytest.approx((1 / math.log2(3)) / ideal)
    assert ndcg("abcd", {"x"}, 10) == 0.0


def test_graded_ndcg_by_hand() -> None:
    ideal = 3 + 1 / math.log2(3)
    assert ndcg("abcd", {"a": 2, "b": 1}, 10) == 1.0
    assert ndcg("abcd", {"b": 2, "a": 1}, 10) == pytest.approx((1 + 3 / math.log2(3)) / ideal)
    assert ndcg("ab", {"x": 2, "a": 1}, 1) == pytest.approx(1 / 3)


def test_the_ideal_counts_no_more_than_k() -> None:
    assert ndcg("abc", set("abcdef"), 3) == 1.0
    assert average_precision("abc", set("abcdef"), 3) == 1.0


def test_average_precision_by_hand() -> None:
    assert average_precision("abcd", {"b", "d"}, 10) == pytest.approx((1 / 2 + 2 / 4) / 2)
    assert average_precision("abcd", {"b", "d", "x"}, 10) == pytest.approx((1 / 2 + 2 / 4) / 3)
    assert average_precision("abcd", {"d"}, 3) == 0.0


def test_reciprocal_rank_by_hand() -> None:
    assert reciprocal_rank("abcd", {"c", "d"}, 10) == pytest.approx(1 / 3)
    assert reciprocal_rank("abcd", {"d"}, 3) == 0.0


@given(st.permutations(list(range(8))), st.sets(st.integers(0, 7), min_size=1), st.integers(1, 10))
def test_measures_are_shares_that_a_better_place_never_lowers(ranked: list[int], relevant: set[int], k: int) -> None:
    for measure in (ndcg, average_precision, reciprocal_rank):
        value = measure(ranked, relevant, k)
        assert 0.0 <= value <= 1.0 + 1e-12
        best = sorted(ranked, key=lambda key: key not in relevant)
        assert measure(best, relevant, k) == pytest.approx(1.0)
        for place in range(1, len(ranked)):
            if ranked[place] in relevant and ranked[place - 1] not in relevant:
                raised = [*ranked]
                raised[place - 1], raised[place] = raised[place], raised[place - 1]
                assert measure(raised, relevant, k) >= value - 1e-12
