"""The packaged weights of the page scorer."""

from __future__ import annotations

import pytest

from fin_agent.retrieval.page_features import MEANINGS
from fin_agent.retrieval.page_weights import WeightsError, checked_weights, packaged_weights, weights_text


def test_every_feature_has_a_weight_in_the_package() -> None:
    weights = packaged_weights()
    assert weights.keys() == MEANINGS.keys()
    assert min(weights.values()) >= 0
    assert weights["slots"] == max(weights.values())


def test_what_is_written_is_read_back() -> None:
    assert checked_weights(weights_text(packaged_weights()), "weights.yaml") == packaged_weights()


def test_a_feature_that_is_not_named_counts_nothing() -> None:
    weights = checked_weights("words: 2", "weights.yaml")
    assert (weights["words"], weights["filing"]) == (2, 0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("colour: 1", "no feature is called colour"),
        ("words: -1", "the file of weights cannot be read"),
        ("words: .nan", "the file of weights cannot be read"),
        ("- words", "the file of weights cannot be read"),
        ("words: [", "the file of weights cannot be read"),
        ("", "the file of weights cannot be read"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_what_to_give(text: str, said: str) -> None:
    with pytest.raises(WeightsError, match=said) as raised:
        checked_weights(text, "weights.yaml")
    assert "expansions" in str(raised.value)


def test_vectors_count_only_where_they_take_part() -> None:
    without, with_vectors = packaged_weights(), packaged_weights(with_vectors=True)
    assert without["likeness"] == 0 < with_vectors["likeness"]
    assert with_vectors.keys() == without.keys()
