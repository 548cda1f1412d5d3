"""Words as search terms."""

from __future__ import annotations

import math
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_agent.retrieval.search_terms import overlap, search_terms, stem, stem_set, stems_of, weights_of


def test_words_that_say_nothing_are_left_out_and_phrases_stay_whole() -> None:
    assert search_terms(["what", "is", "the", "net income", "of", "net income", "x", "revenue"]) == (
        "net income",
        "revenue",
    )


def test_forms_of_a_word_have_one_stem() -> None:
    assert len(set(stems_of("acquisition acquisitions"))) == 1
    assert stems_of("The Acquisitions of 2024!") == stems_of("acquisition 2024")
    assert stem_set("The Acquisitions of 2024: an acquisition") == set(stems_of("acquisition 2024"))


def test_rare_words_weigh_more_than_common_ones() -> None:
    weights = weights_of({"rare", "common", "never"}, {"rare": 2, "common": 90}, 100)
    assert weights["never"] > weights["rare"] > weights["common"] > 0
    assert weights["rare"] == pytest.approx(math.log(1 + 98.5 / 2.5))


@given(st.dictionaries(st.sampled_from("abcdef"), st.floats(0.1, 9), min_size=1), st.sets(st.sampled_from("abcdefgh")))
def test_overlap_is_a_share(weights: dict[str, float], held: set[str]) -> None:
    share = overlap(held, weights)
    assert 0 <= share <= 1 + 1e-9
    assert (share == 0) == (not held & set(weights))
    assert overlap(set(weights), weights) == pytest.approx(1)


def test_no_words_are_held_by_nothing() -> None:
    assert overlap({"a"}, {}) == 0


def test_stems_are_the_same_in_many_threads_at_once() -> None:
    ends = [f"{middle}{end}" for middle in ("al", "ional", "iveness") for end in ("izations", "ities", "ingly", "")]
    words = [f"{start}{end}" for start in ("nation", "relat", "acquir", "capit") for end in ends]
    alone = [stem.__wrapped__(word) for word in words]
    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _: [stem.__wrapped__(word) for word in words], range(40)))
    finally:
        sys.setswitchinterval(switching)
    assert all(each == alone for each in found)
