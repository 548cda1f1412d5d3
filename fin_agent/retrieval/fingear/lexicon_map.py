"""FLAM: financial terms, their clusters, and the chunk budget of each Item (FinGEAR, 3.1.2 and 3.2.1).

The paper takes its terms from FinRAD, which is not packaged; here the terms are the names and labels of the lexicon.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.retrieval.search_terms import stems_of

Weighting = Literal["relative", "log", "softmax"]
WEIGHTINGS: tuple[Weighting, ...] = ("relative", "log", "softmax")
_MAX_TERM_LENGTH = 6
"""Words of a term; longer ones do not occur verbatim."""


@dataclass(frozen=True, slots=True)
class TermMap:
    """Financial terms by their stems, each with the clusters of synonyms it belongs to."""

    clusters: Mapping[tuple[str, ...], tuple[str, ...]]
    """Stems of a term -> ids of its clusters."""

    def count_clusters(self, text: str) -> Counter[str]:
        """Return how often terms of each cluster occur in a text; of overlapping terms, the longest counts.

        >>> from fin_agent.lexicon.lexicon import load_lexicon
        >>> found = term_map(load_lexicon()).count_clusters("Net income rose; operating income fell.")
        >>> found["net_income"], found["operating_income"]
        (1, 1)
        """
        stems = stems_of(text)
        counts: Counter[str] = Counter()
        place = 0
        while place < len(stems):
            for length in range(min(_MAX_TERM_LENGTH, len(stems) - place), 0, -1):
                if clusters := self.clusters.get(tuple(stems[place : place + length])):
                    counts.update(clusters)
                    place += length
                    break
            else:
                place += 1
        return counts


@lru_cache(maxsize=2)
def term_map(lexicon: Lexicon) -> TermMap:
    """Return the names of the lexicon's metrics and formulas; the terms of one entry form a cluster."""
    clusters: dict[tuple[str, ...], dict[str, None]] = {}
    for name in (*lexicon.metrics, *lexicon.formulas):
        entry = lexicon.definition(name)
        labels = (label.rpartition(">")[2] for label in getattr(entry, "labels", ()))
        for phrase in (name.replace("_", " "), *entry.words, *labels):
            stems = tuple(stems_of(phrase))
            if 0 < len(stems) <= _MAX_TERM_LENGTH:
                clusters.setdefault(stems, {})[name] = None
    return TermMap({stems: tuple(names) for stems, names in clusters.items()})


def item_weights(counts: Mapping[str, float], how: Weighting = "relative") -> dict[str, float]:
    """Return weights of Items that sum to 1, from the counts of a question's terms; equal where no term occurs.

    `relative` is the paper's default; `log` and `softmax` are the variants of its Table 4.

    >>> item_weights({"10-K.7": 6, "10-K.1": 2, "10-K.1A": 2})["10-K.7"]
    0.6
    """
    if not counts:
        return {}
    if how == "softmax":
        highest = max(counts.values())
        scaled = {item: math.exp(count - highest) for item, count in counts.items()}
    else:
        scaled = {item: math.log1p(count) if how == "log" else float(count) for item, count in counts.items()}
    total = sum(scaled.values())
    return {item: value / total if total else 1 / len(counts) for item, value in scaled.items()}


def budgets(weights: Mapping[str, float], k: int) -> dict[str, int]:
    """Return the number of chunks of each Item: round(k * weight), adjusted by largest remainder to sum to k.

    Of equal remainders, the larger weight comes first. With too few chunks, the Items with the lowest weights get none.

    >>> budgets({"7": 0.6, "1": 0.2, "1A": 0.2}, 10)
    {'7': 6, '1': 2, '1A': 2}
    """
    if not weights or k < 1:
        return dict.fromkeys(weights, 0)
    given = {item: math.floor(k * weight + 0.5) for item, weight in weights.items()}
    order = {item: place for place, item in enumerate(weights)}

    def lacks(item: str) -> tuple[float, float, int]:
        return k * weights[item] - given[item], weights[item], -order[item]

    while (lacking := k - sum(given.values())) != 0:
        if lacking > 0:
            given[max(given, key=lacks)] += 1
        else:
            given[min((item for item in given if given[item]), key=lacks)] -= 1
    return given
