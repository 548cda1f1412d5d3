"""Overlap is what sacrebleu and rouge-score say of the best passage."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("sacrebleu", reason='needs `pip install ".[evaluation]"`')

from fin_agent.evaluation.statistics import overlap, rouge_l

GOLD = "Net sales rose 6% to $3,533 million in 2023, driven by volume."
NEAR = "Net sales rose 6% to $3,533 million in 2023."
FAR = "Item 4. Mine Safety Disclosures. Not applicable."
TOKENS = ["net", "sales", "rose", "fell", "6%", "$3,533", "million", "in", "2023", "."]
WORDS = st.lists(st.sampled_from(TOKENS), min_size=1, max_size=15)


def test_the_gold_text_itself_is_all_of_it() -> None:
    assert overlap([GOLD], [FAR, GOLD]) == pytest.approx((1.0, 1.0))


def test_the_best_passage_counts_whatever_its_place() -> None:
    assert overlap([GOLD], [FAR, NEAR]) == overlap([GOLD], [NEAR]) == overlap([GOLD], [NEAR, FAR])


def test_several_gold_texts_are_a_mean_of_their_best() -> None:
    one, other = overlap([GOLD], [NEAR, FAR]), overlap([FAR], [NEAR, FAR])
    assert one is not None and other is not None
    mean = [(first + second) / 2 for first, second in zip(one, other, strict=True)]
    assert overlap([GOLD, FAR], [NEAR, FAR]) == pytest.approx(mean)


def test_nothing_retrieved_and_nothing_to_compare_with() -> None:
    assert overlap([GOLD], []) == (0.0, 0.0)
    assert overlap([], [NEAR]) is None
    assert overlap(["", " - "], [NEAR]) is None
    assert overlap([GOLD], [""]) == (0.0, 0.0)


@settings(max_examples=50, deadline=None)
@given(WORDS, WORDS)
def test_bleu_is_that_of_the_library(gold: list[str], passage: list[str]) -> None:
    from sacrebleu import sentence_bleu

    theirs, ours = " ".join(gold), " ".join(passage)
    if found := overlap([theirs], [ours]):
        assert found[0] == pytest.approx(sentence_bleu(ours, [theirs], use_effective_order=True).score / 100)


@pytest.mark.parametrize(
    ("gold", "passage", "score"),
    [
        (GOLD, NEAR, 0.8695652173913044),
        ("in 2023 net sales fell", "net sales fell 6% in 2023", 0.5454545454545454),
        ("6% 6% sales", "sales 6%", 0.4),
        ("U.S. net-sales: $3,533", "u s net sales 3 533 million", 0.923076923076923),
        (FAR, "Net sales rose", 0.0),
        ("rose rose fell", "fell rose rose rose", 0.5714285714285715),
        ("Sales, net, fell", "net sales rose", 2 * 1 / 6),
        ("?", "...", 0.0),
    ],
)
def test_rouge_l_is_that_of_rouge_score(gold: str, passage: str, score: float) -> None:
    assert rouge_l(passage, gold) == pytest.approx(score)
