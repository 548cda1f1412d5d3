"""A judge's ranking is made whole: whatever it says, each card comes out once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_agent.evidence.tournament.tournament import UnusableRankingError, Verdict, repair_ranking


def test_what_is_repeated_or_made_up_is_left_out_and_what_is_forgotten_comes_last() -> None:
    said = [Verdict(3, 0.9), Verdict(7, 0.8), Verdict(1, 0.7), Verdict(3, 0.1), Verdict(-1)]
    assert [(verdict.at, verdict.score) for verdict in repair_ranking(said, 4)] == [
        (3, 0.9),
        (1, 0.7),
        (0, None),
        (2, None),
    ]


def test_a_ranking_that_names_no_card_is_an_error_with_a_remedy() -> None:
    with pytest.raises(UnusableRankingError, match="none of the 3 cards") as raised:
        repair_ranking([Verdict(9), Verdict(-4)], 3)
    assert raised.value.remedy


def test_no_cards_need_no_ranking() -> None:
    assert repair_ranking([], 0) == []


@given(st.lists(st.integers(-3, 12), min_size=1), st.integers(1, 10))
def test_a_repaired_ranking_is_a_permutation(said: list[int], cards: int) -> None:
    if not any(0 <= at < cards for at in said):
        return
    ranked = [verdict.at for verdict in repair_ranking([Verdict(at) for at in said], cards)]
    assert sorted(ranked) == list(range(cards))
    kept = list(dict.fromkeys(at for at in said if 0 <= at < cards))
    assert ranked[: len(kept)] == kept
