"""Places of several rounds as one score."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_agent.evidence.tournament.tournament import Aggregation, aggregate_rounds, borda, in_order, jaccard

ROUNDS = [[["a", "b", "c"], ["d", "e"]], [["a", "d", "b", "c", "e"]]]


def test_borda_is_the_share_of_others_below_averaged_over_rounds() -> None:
    scores = aggregate_rounds(ROUNDS, Aggregation.BORDA, 2)
    assert scores == {"a": 1.0, "b": 0.5, "c": pytest.approx(0.125), "d": pytest.approx(0.875), "e": 0.0}


def test_mean_rank_takes_places_as_they_are() -> None:
    scores = aggregate_rounds(ROUNDS, Aggregation.MEAN_RANK, 2)
    assert scores["a"] == 1.0
    assert scores["d"] == pytest.approx(1 - 0.5 / 5)
    assert scores["e"] == pytest.approx(1 - 2.5 / 5)


def test_votes_count_how_often_a_card_is_among_the_first() -> None:
    assert aggregate_rounds(ROUNDS, Aggregation.VOTES, 2) == {"a": 1.0, "b": 0.5, "c": 0.0, "d": 1.0, "e": 0.5}


def test_equals_keep_the_order_they_had() -> None:
    assert in_order({"a": 0.5, "b": 0.9, "c": 0.5}, ["c", "b", "a"]) == ["b", "c", "a"]


def test_a_single_card_and_empty_lists() -> None:
    assert borda(0, 1) == 1.0
    assert jaccard([], []) == 1.0
    assert jaccard("abc", "bcd") == 0.5
    assert aggregate_rounds([], Aggregation.BORDA, 10) == {}


@given(st.lists(st.permutations(list(range(7))), min_size=1, max_size=5), st.sampled_from(Aggregation))
def test_scores_are_shares_and_one_who_is_always_ahead_is_never_behind(
    rounds: list[list[int]], by: Aggregation
) -> None:
    scores = aggregate_rounds([[ranked] for ranked in rounds], by, 3)
    assert set(scores) == set(range(7))
    assert all(0.0 <= score <= 1.0 for score in scores.values())
    for one in range(7):
        for other in range(7):
            if all(ranked.index(one) < ranked.index(other) for ranked in rounds):
                assert scores[one] >= scores[other]
