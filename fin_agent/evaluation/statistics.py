"""How far a mean over questions can be trusted, and whether two strategies differ. Needs the extra `evaluation`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

CONFIDENCE = 0.95
RESAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95% confidence interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The same questions put to two strategies."""

    difference: float
    """Mean of the first less mean of the second."""
    interval: Interval | None
    p_value: float
    """Two-sided: how often a difference this large comes about where the two do not differ."""
    exact: bool
    """Whether all exchanges were counted, not a sample of them."""
    differing: int
    """Questions on which the two differ; the others say nothing about the difference."""


def mean_interval(sample: Sequence[float], *, resamples: int = RESAMPLES, seed: int = 0) -> Interval | None:
    """Bootstrap interval of the mean, bias-corrected and accelerated (BCa), drawing questions.

    None for fewer than two values. Where all values are equal it is that value alone, which says less than it seems to:
    the bootstrap knows only the values it has seen. Questions count as independent; many on few companies make it
    somewhat too narrow.
    """
    if len(sample) < 2:
        return None
    if min(sample) == max(sample):
        return Interval(sample[0], sample[0])
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
    return Interval(float(found.low), float(found.high))


def paired_test(
    first: Sequence[float], second: Sequence[float], *, resamples: int = RESAMPLES, seed: int = 0
) -> PairedTest:
    """Permutation test of the mean difference: the two results of a question are exchanged at random.

    Exact where no more than `resamples` exchanges are possible, else over a sample of so many. Questions with equal
    results change no exchange, so they are left out of the counting. Raises ValueError for samples that are empty or of
    different lengths.
    """
    if not first or len(first) != len(second):
        raise ValueError("a paired test needs two results for each of its questions")
    differences = [one - other for one, other in zip(first, second, strict=True)]
    telling = [difference for difference in differences if difference]
    exact = 2 ** len(telling) <= resamples
    return PairedTest(
        difference=fmean(differences),
        interval=mean_interval(differences, resamples=resamples, seed=seed),
        p_value=_p_value(telling, resamples, seed, exact) if telling else 1.0,
        exact=exact,
        differing=len(telling),
    )


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """The p-values of several tests made together, corrected after Holm (1979), in the order given."""
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
