"""Overlap is what sacrebleu and rouge-score say of the best passage."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

REASON = 'needs `pip install ".[evaluation]"`'
pytest.importorskip("sacrebleu", reason=REASON)
rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer", reason=REASON)

from fin_agent.evaluation.statistics import Overlap, OverlapScores  # noqa: E402

GOLD = "Net sales rose 6% to $3,533 million in 2023, driven by volume."
NEAR = "Net sales rose 6% to $3,533 million in 2023."
FAR = "Item 4. Mine Safety Disclosures. Not applicable."
TOKENS = ["net", "sales", "rose", "fell", "6%", "$3,533", "million", "in", "2023", "."]
WORDS = st.lists(st.sampled_from(TOKENS), min_size=1, max_size=15)


@pytest.fixture(scope="module")
def overlap() -> Overlap:
    return Overlap()


def test_the_gold_text_itself_is_all_of_it(overlap: Overlap) -> None:
    found = overlap.best([GOLD], [FAR, GOLD])
    assert found is not None
    assert (found.bleu, found.rouge_l) == pytest.approx((1.0, 1.0))


def test_the_best_passage_counts_whatever_its_place(overlap: Overlap) -> None:
    assert overlap.best([GOLD], [FAR, NEAR]) == overlap.best([GOLD], [NEAR]) == overlap.best([GOLD], [NEAR, FAR])


def test_several_gold_texts_are_a_mean_of_their_best(overlap: Overlap) -> None:
    one, other = overlap.best([GOLD], [NEAR, FAR]), overlap.best([FAR], [NEAR, FAR])
    both = overlap.best([GOLD, FAR], [NEAR, FAR])
    assert one is not None
    assert other is not None
    assert both is not None
    assert both.bleu == pytest.approx((one.bleu + other.bleu) / 2)
    assert both.rouge_l == pytest.approx((one.rouge_l + other.rouge_l) / 2)


def test_nothing_retrieved_and_nothing_to_compare_with(overlap: Overlap) -> None:
    assert overlap.best([GOLD], []) == OverlapScores(0.0, 0.0)
    assert overlap.best([], [NEAR]) is None
    assert overlap.best(["", " - "], [NEAR]) is None
    assert overlap.best([GOLD], [""]) == OverlapScores(0.0, 0.0)


@settings(max_examples=50, deadline=None)
@given(WORDS, WORDS)
def test_the_same_as_the_libraries_on_their_own(gold: list[str], passage: list[str]) -> None:
    theirs, ours = " ".join(gold), " ".join(passage)
    found = Overlap().best([theirs], [ours])
    rouge = rouge_scorer.RougeScorer(["rougeL"]).score(theirs, ours)["rougeL"].fmeasure
    if found is None:
        assert theirs.replace(".", "").strip() == ""
        return
    from sacrebleu import sentence_bleu

    assert found.rouge_l == pytest.approx(rouge)
    assert found.bleu == pytest.approx(sentence_bleu(ours, [theirs], use_effective_order=True).score / 100)
