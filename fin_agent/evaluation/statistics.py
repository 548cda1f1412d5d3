"""Statistics (extra `evaluation`): confidence intervals, tests, and textual overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from statistics import fmean

from fin_agent.errors import FinAgentError, how_to_install

MEASURING = ("numpy", "scipy", "sacrebleu", "rouge_score")
FITTING = ("numpy", "scipy")


def require_libraries(names: Sequence[str]) -> None:
    """Check that these modules are installed. Raises FinAgentError that says what to install."""
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        raise FinAgentError(
            f"required packages are not installed: {', '.join(missing)}",
            remedy=f"Install the extra: {how_to_install('evaluation')}",
        )


CONFIDENCE = 0.95
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
        confidence_level=CONFIDENCE,
        method="BCa",
        rng=numpy.random.default_rng(seed),
    ).confidence_interval
    return Estimate(fmean(sample), float(found.low), float(found.high))


def paired_test(
    first: Sequence[float], second: Sequence[float], *, resamples: int = RESAMPLES, seed: int = 0
) -> PairedTest:
    """Test the mean difference by permutation: the two results of a question are exchanged at random.

    The test is exact if at most `resamples` exchanges are possible, else over a sample of that size. Questions with
    equal results do not affect it. Raises ValueError for samples that are empty or of different lengths.
    """
    if not first or len(first) != len(second):
        raise ValueError("a paired test needs two results for each of its questions")
    differences = [one - other for one, other in zip(first, second, strict=True)]
    telling = [difference for difference in differences if difference]
    exact = 2 ** len(telling) <= resamples
    difference = estimate(differences, resamples=resamples, seed=seed)
    assert difference is not None
    return PairedTest(
        difference=difference,
        p_value=_p_value(telling, resamples, seed, exact) if telling else 1.0,
        exact=exact,
        differing=len(telling),
    )


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return the p-values of several tests, corrected by Holm (1979), in the order given."""
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for position, place in enumerate(sorted(range(len(p_values)), key=lambda place: p_values[place])):
        largest = max(largest, min(1.0, (len(p_values) - position) * p_values[place]))
        corrected[place] = largest
    return tuple(corrected)


def _p_value(differences: Sequence[float], resamples: int, seed: int, exact: bool) -> float:
    import numpy
    from scipy.stats import permutation_test

    sample = numpy.asarray(differences, dtype=float)
    if len(sample) == 1:
        return 1.0  # exchanged or not, the difference is as large
    found = permutation_test(
        (sample,),
        numpy.mean,
        permutation_type="samples",
        n_resamples=numpy.inf if exact else resamples,
        alternative="two-sided",
        rng=numpy.random.default_rng(seed),
    )
    return float(found.pvalue)


_TEXTS_KEPT = 50_000


@dataclass(frozen=True, slots=True)
class OverlapScores:
    """Scores from 0 to 1, each a mean over gold texts of the best passage for that text."""

    bleu: float
    rouge_l: float


class Overlap:
    """BLEU and ROUGE-L of passages against gold texts. Needs the extra `evaluation`.

    BLEU is sacrebleu's sentence BLEU (13a tokens, exponential smoothing, effective order) with the passage as
    hypothesis. ROUGE-L is the F measure over rouge-score's tokens without stemming; rapidfuzz computes the longest
    common subsequence, with the result of rouge-score at about thirty times its speed.
    """

    def __init__(self) -> None:
        from rouge_score.tokenizers import DefaultTokenizer
        from sacrebleu.metrics.bleu import BLEU

        self._bleu = BLEU(effective_order=True)
        self._tokenizer = DefaultTokenizer(use_stemmer=False)
        # Cached, since strategies retrieve many of the same passages for a question.
        self._compared = lru_cache(maxsize=_TEXTS_KEPT)(self._compare)
        self._tokens = lru_cache(maxsize=_TEXTS_KEPT)(self._split)

    def best(self, gold_texts: Sequence[str], passages: Sequence[str]) -> OverlapScores | None:
        """Return the mean over gold texts of the best passage for each, by either measure on its own.

        Gold texts without a word are left out: None if none is left. Zeros if there is no passage.
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
        from rapidfuzz.distance import LCSseq

        theirs, ours = self._tokens(gold), self._tokens(passage)
        common = LCSseq.similarity(theirs, ours)
        return OverlapScores(
            bleu=float(self._bleu.sentence_score(passage, [gold]).score) / 100,
            # 2PR / (P + R) with P = common / ours and R = common / theirs.
            rouge_l=2 * common / (len(theirs) + len(ours)),
        )

    def _split(self, text: str) -> tuple[str, ...]:
        return tuple(self._tokenizer.tokenize(text))
