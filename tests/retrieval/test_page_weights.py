"""The packaged weights of the page scorer."""

from __future__ import annotations

import yaml

from fin_agent.retrieval.page_features import MEANINGS
from fin_agent.retrieval.page_ranking import packaged_weights, weights_text


def test_every_feature_has_a_weight_in_the_package() -> None:
    weights = packaged_weights()
    assert weights.keys() == MEANINGS.keys()
    assert min(weights.values()) >= 0
    assert weights["slots"] == max(weights.values())


def test_what_is_written_is_read_back() -> None:
    assert yaml.safe_load(weights_text(packaged_weights())) == packaged_weights()


def test_vectors_count_only_where_they_take_part() -> None:
    without, with_vectors = packaged_weights(), packaged_weights(with_vectors=True)
    assert without["likeness"] == 0 < with_vectors["likeness"]
    assert with_vectors.keys() == without.keys()
