"""Measures of a ranking whose right members are known: nDCG, MAP, MRR, and how far chance moves it."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from statistics import fmean, pvariance


def ndcg(ranked: Sequence[Hashable], relevant: Collection[Hashable], k: int) -> float:
    """Normalised discounted cumulative gain of the first `k`, gains 0 or 1 (Järvelin & Kekäläinen 2002, log base 2).

    The ideal puts all of `relevant` first. Raises ValueError where nothing is relevant.
    """
    ideal = sum(_discount(place) for place in range(min(k, _wanted(relevant))))
    return sum(_discount(place) for place, key in enumerate(ranked[:k]) if key in relevant) / ideal


def average_precision(ranked: Sequence[Hashable], relevant: Collection[Hashable], k: int) -> float:
    """Mean over the relevant of the precision at their places, 0 for those behind `k`; the mean over questions is MAP.

    Of more than `k` relevant ones no more than `k` can be found, and no more are counted.
    """
    found, precisions = 0, 0.0
    for place, key in enumerate(ranked[:k], start=1):
        if key in relevant:
            found += 1
            precisions += found / place
    return precisions / min(k, _wanted(relevant))


def reciprocal_rank(ranked: Sequence[Hashable], relevant: Collection[Hashable], k: int) -> float:
    """1 / place of the first relevant one, 0 where none is among the first `k`; the mean over questions is MRR."""
    _wanted(relevant)
    return next((1.0 / place for place, key in enumerate(ranked[:k], start=1) if key in relevant), 0.0)


def rank_variance(rankings: Sequence[Sequence[Hashable]], k: int) -> float:
    """Variance of a member's place over several rankings of the same members, mean over the first's first `k`.

    0 for a single ranking, and where all agree.
    """
    if not rankings or not rankings[0]:
        return 0.0
    places = [{key: place for place, key in enumerate(ranked)} for ranked in rankings]
    return fmean(pvariance([of[key] for of in places]) for key in rankings[0][:k])


def _discount(place: int) -> float:
    """Of a place counted from 0."""
    return 1.0 / math.log2(place + 2)


def _wanted(relevant: Collection[Hashable]) -> int:
    count = len(set(relevant))
    if not count:
        raise ValueError("a ranking can only be measured where something is relevant")
    return count
