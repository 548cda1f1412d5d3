"""The packaged weights of the page scorer."""

from __future__ import annotations

from fin_agent.retrieval.page_ranking import MEANINGS, packaged_weights


def test_every_feature_has_a_weight_in_the_package() -> None:
    weights = packaged_weights()
    assert weights.keys() == MEANINGS.keys()
    assert min(weights.values()) >= 0
    assert weights["slots"] == max(weights.values())
