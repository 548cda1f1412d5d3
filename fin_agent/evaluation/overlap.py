"""How much of the gold evidence the retrieved passages repeat word for word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean

from rapidfuzz.distance import LCSseq

_TEXTS_KEPT = 50_000


@dataclass(frozen=True, slots=True)
class OverlapScores:
    """Shares from 0 to 1, each a mean over the gold texts of the best passage for that text."""

    bleu: float
    rouge_l: float


class Overlap:
    """BLEU and ROUGE-L of passages against gold texts. Needs the extra `evaluation`.

    BLEU is sacrebleu's sentence BLEU (13a tokens, exponential smoothing, effective order) with the passage as
    hypothesis. ROUGE-L is the F measure over rouge-score's tokens without stemming; the longest common subsequence
    itself is found by rapidfuzz, which gives rouge-score's result about thirty times as fast.
    """

    def __init__(self) -> None:
        from rouge_score.tokenizers import DefaultTokenizer
        from sacrebleu.metrics.bleu import BLEU

        self._bleu = BLEU(effective_order=True)
        self._tokenizer = DefaultTokenizer(use_stemmer=False)
        # Strategies retrieve many of the same passages for a question: each pair of texts is compared once.
        self._compared = lru_cache(maxsize=_TEXTS_KEPT)(self._compare)
        self._tokens = lru_cache(maxsize=_TEXTS_KEPT)(self._split)

    def best(self, gold_texts: Sequence[str], passages: Sequence[str]) -> OverlapScores | None:
        """For each gold text the best passage, by either measure on its own; then the mean over the gold texts.

        Gold texts without a word are left out: None where none is left. Zeros where there is no passage.
        """
        gold = [text for text in gold_texts if self._tokens(text)]
        if not gold:
            return None
        if not passages:
            return OverlapScores(0.0, 0.0)
        compared = [[self._compared(text, passage) for passage in passages] for text in gold]
        return OverlapScores(
            bleu=fmean(max(pair.bleu for pair in pairs) for pairs in compared),
            rouge_l=fmean(max(pair.rouge_l for pair in pairs) for pairs in compared),
        )

    def _compare(self, gold: str, passage: str) -> OverlapScores:
        theirs, ours = self._tokens(gold), self._tokens(passage)
        common = LCSseq.similarity(theirs, ours)
        return OverlapScores(
            bleu=float(self._bleu.sentence_score(passage, [gold]).score) / 100,
            # 2PR / (P + R) with P = common / ours and R = common / theirs.
            rouge_l=2 * common / (len(theirs) + len(ours)),
        )

    def _split(self, text: str) -> tuple[str, ...]:
        return tuple(self._tokenizer.tokenize(text))
