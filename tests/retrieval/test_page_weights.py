"""The weights of the page scorer: the packaged ones, and files of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from fin_agent.retrieval.page_features import MEANINGS
from fin_agent.retrieval.page_weights import WeightsError, packaged_weights, read_weights, weights_text


def test_every_feature_has_a_weight_in_the_package() -> None:
    weights = packaged_weights()
    assert weights.keys() == MEANINGS.keys()
    assert min(weights.values()) >= 0
    assert weights["slots"] == max(weights.values())


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    file = tmp_path / "weights.yaml"
    file.write_text(weights_text(packaged_weights()), encoding="utf-8")
    assert read_weights(file) == packaged_weights()


def test_a_feature_that_is_not_named_counts_nothing(tmp_path: Path) -> None:
    file = tmp_path / "weights.yaml"
    file.write_text("words: 2\n", encoding="utf-8")
    weights = read_weights(file)
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
def test_a_file_that_cannot_be_used_is_refused_with_what_to_give(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "weights.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(WeightsError, match=said) as raised:
        read_weights(file)
    assert "expansions" in str(raised.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"none\.yaml"):
        read_weights(tmp_path / "none.yaml")


def test_vectors_count_only_where_they_take_part() -> None:
    without, with_vectors = packaged_weights(), packaged_weights(with_vectors=True)
    assert without["likeness"] == 0 < with_vectors["likeness"]
    assert with_vectors.keys() == without.keys()
