"""Scores with exact lengths, from scores with the lengths that Lucene keeps."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("elasticsearch")

from fin_agent.index.elastic.exact_scores import ExactScores, kept_length
from fin_agent.index.elastic.weighing import Size
from tests.index.elastic_server import text_field


def test_lengths_are_kept_as_lucene_keeps_them() -> None:
    assert [kept_length(words) for words in (0, 24, 40, 41, 42, 55, 56, 60, 100, 1_000)] == [
        0, 24, 40, 40, 42, 54, 56, 60, 96, 984,
    ]  # fmt: skip
    for words in range(20_000):
        assert kept_length(words) == text_field.kept_length(words)
        assert kept_length(words) <= words


@given(
    words=st.integers(1, 60_000),
    share=st.floats(0, 1),
    weight=st.floats(1e-6, 14),
    average=st.integers(1, 3_000),
    drift=st.floats(-1e-4, 1e-4),
)
def test_the_number_of_times_is_found_from_the_score(
    words: int, share: float, weight: float, average: int, drift: float
) -> None:
    times = max(1, round(words * share))
    size = Size(documents=1_000, worded=900, words=average * 900)
    kept = 1.2 * (0.25 + 0.75 * kept_length(words) / average)
    told = struct.unpack("f", struct.pack("f", 2.2 * weight * (1 + drift) * times / (times + kept)))[0]
    norm = 1.2 * (0.25 + 0.75 * words / (average * 0.9))
    scores = ExactScores([0.0, weight], size)
    assert scores.of(words, {"1": told}) == pytest.approx(weight * times * 2.2 / (times + norm), rel=2e-3)
    assert scores.of(words, {}) == 0


def test_scores_of_clauses_add_up_in_their_order() -> None:
    scores = ExactScores([2.0, 1.0], Size(10, 10, 1_000))
    together = scores.of(100, {"1": 0.55, "0": 1.1})
    assert together == scores.of(100, {"0": 1.1}) + scores.of(100, {"1": 0.55})
    assert scores.of(0, {"0": 5.5}) > 0  # weights that drifted away, or a text without a length, harm nothing
