"""Statistics (extra `evaluation`): confidence intervals, tests, and textual overlap."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from statistics import fmean
from typing import TYPE_CHECKING

from rapidfuzz.distance import LCSseq

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

MEASURING = ("numpy", "scipy", "sacrebleu")
FITTING = ("numpy", "scipy")
RESAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over questions with its confidence interval."""

    mean: float
    low: float | None
    """Ends of the 95% interval; None for fewer than two questions."""
    high: float | None

    def __str__(self) -> str:
        """`67.3 (60-74)`, in percent."""
        ends = "" if self.low is None or self.high is None else f" ({100 * self.low:.0f}-{100 * self.high:.0f})"
        return f"{100 * self.mean:.1f}{ends}"


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A test of two strategies on the same questions."""

    difference: Estimate
    """Mean of the first minus mean of the second."""
    p_value: float
    """Two-sided: the probability of a difference this large if the two do not differ."""
    exact: bool
    """Whether all exchanges were counted, not a sample of them."""
    differing: int
    """Number of questions on which the two differ."""


def estimate(sample: Sequence[float], *, resamples: int = RESAMPLES, seed: int = 0) -> Estimate | None:
    """Return the mean with its bootstrap interval over questions, bias-corrected and accelerated (BCa).

    None for an empty sample; no interval for fewer than two values. If all values are equal, the interval is that
    value. Questions are treated as independent: many about few companies make the interval somewhat too narrow.
    """
    if len(sample) < 2:
        return Estimate(sample[0], None, None) if sample else None
    if min(sample) == max(sample):
        return Estimate(sample[0], sample[0], sample[0])
    import numpy
    from scipy.stats import bootstrap

    found = bootstrap(
        (numpy.asarray(sample, dtype=float),),
        numpy.mean,
        n_resamples=resamples,
        confidence_level=0.95,
        method="BCa",
        rng=numpy.random.default_rng(seed),
    ).confidence_interval
    return Estimate(fmean(sample), float(found.low), float(found.high))


def paired_test(
    first: Sequence[float], second: Sequence[float], *, resamples: int = RESAMPLES, seed: int = 0
) -> PairedTest:
    """Test the mean difference by permutation: the two results of a question are exchanged at random.

    The test is exact if at most `resamples` exchanges are possible, else over a sample of that size. Questions with
    equal results do not affect it. There is at least one question.
    """
    differences = [one - other for one, other in zip(first, second, strict=True)]
    telling = [difference for difference in differences if difference]
    exact = 2 ** len(telling) <= resamples
    difference = estimate(differences, resamples=resamples, seed=seed)
    assert difference is not None
    # A single difference is as large if it is exchanged.
    if len(telling) < 2:
        return PairedTest(difference, 1.0, exact, len(telling))
    import numpy
    from scipy.stats import permutation_test

    found = permutation_test(
        (numpy.asarray(telling, dtype=float),),
        numpy.mean,
        permutation_type="samples",
        n_resamples=numpy.inf if exact else resamples,
        alternative="two-sided",
        rng=numpy.random.default_rng(seed),
    )
    return PairedTest(difference, float(found.pvalue), exact, len(telling))


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return the p-values of several tests, corrected by Holm (1979), in the order given."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    scaled = (min(1.0, (len(order) - position) * p_values[place]) for position, place in enumerate(order))
    corrected = dict(zip(order, accumulate(scaled, max), strict=True))
    return tuple(corrected[place] for place in range(len(order)))


def overlap(gold_texts: Sequence[str], passages: Sequence[str]) -> tuple[float, float] | None:
    """Return BLEU and ROUGE-L, from 0 to 1: means over gold texts of the best passage for each, by either measure.

    BLEU is sacrebleu's sentence BLEU (13a tokens, exponential smoothing, effective order) with the passage as
    hypothesis. Gold texts without a word are left out: None if none is left. Zeros if there is no passage.
    """
    gold = [text for text in gold_texts if rouge_l(text, text)]
    if not gold:
        return None
    best_by = [[max((of(each, text) for each in passages), default=0.0) for text in gold] for of in (_bleu, rouge_l)]
    return fmean(best_by[0]), fmean(best_by[1])


@lru_cache(maxsize=50_000)  # strategies retrieve many of the same passages for a question
def _bleu(passage: str, gold: str) -> float:
    return float(_scorer().sentence_score(passage, [gold]).score) / 100


@lru_cache(maxsize=1)
def _scorer() -> BLEU:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(effective_order=True)


@lru_cache(maxsize=50_000)
def rouge_l(text: str, gold: str) -> float:
    """Return ROUGE-L (F measure) of a text against a gold text, on lower-case words without stemming."""
    ours, theirs = (_WORD.findall(each.lower()) for each in (text, gold))
    common = LCSseq.similarity(ours, theirs)
    return 2 * common / (len(ours) + len(theirs)) if common else 0.0


_WORD = re.compile(r"[a-z0-9]+")
