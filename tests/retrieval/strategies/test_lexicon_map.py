"""FLAM: terms found, Items weighed, budgets that sum to what is asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.retrieval.fingear.tree_building import Weighting, budgets, count_clusters, item_weights

COUNTS = st.dictionaries(st.sampled_from(["1", "1A", "2", "5", "6", "7", "7A", "8", "9", "15"]), st.integers(0, 500))
HOW = st.sampled_from(["relative", "log", "softmax"])


def test_the_worked_example_of_the_paper() -> None:
    weights = item_weights({"7": 60, "1": 20, "1A": 20})
    assert budgets(weights, 10) == {"7": 6, "1": 2, "1A": 2}


@given(COUNTS, HOW, st.integers(0, 40))
def test_budgets_sum_to_what_is_asked_for_and_follow_the_weights(
    counts: dict[str, int], how: Weighting, k: int
) -> None:
    weights = item_weights(counts, how)
    given = budgets(weights, k)
    assert given.keys() == counts.keys()
    assert not counts or (sum(given.values()) == k and abs(sum(weights.values()) - 1) < 1e-9)
    assert all(abs(given[item] - k * weights[item]) < 1.5 + len(counts) / 2 for item in given)
    for one in given:
        for other in given:
            assert weights[one] <= weights[other] or given[one] >= given[other] - 1


@pytest.mark.parametrize("how", ["relative", "log", "softmax"])
def test_where_no_term_is_found_every_item_counts_alike(how: Weighting) -> None:
    assert set(item_weights({"1": 0, "7": 0}, how).values()) == {0.5}


def test_the_other_weightings_are_what_their_names_say() -> None:
    counts = {"7": 90, "8": 10}
    relative, log, softmax = (item_weights(counts, how)["7"] for how in ("relative", "log", "softmax"))  # type: ignore[arg-type]
    assert log < relative == 0.9 < softmax


def test_terms_are_counted_by_their_entry_whatever_they_are_called() -> None:
    lexicon = load_lexicon()
    text = "Net revenues grew while the cost of goods sold fell; total revenue is recognised over time."
    found = count_clusters(text, lexicon)
    assert found["revenue"] == 2 and found["cost_of_revenue"] == 1
    assert not count_clusters("The weather was fine.", lexicon)
