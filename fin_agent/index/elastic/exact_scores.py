"""BM25 with the lengths that texts have, of scores that Lucene computed with rounded ones.

Lucene keeps how long a text is in one byte: exact up to 40 words, then in steps of up to an eighth. The score of a term
in a hit tells how often it is there, since its weight and the rounded length are known; with the exact length, which
stands in a field of its own, it is computed anew. So hits of neighbouring scores stand as in the embedded index.

BM25 as in Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), section 3.4.3; rounding as in
Lucene's `SmallFloat.intToByte4`. Lucene itself leaves the factor k1 + 1 out of it since version 8; Elasticsearch 8 and
9 score with it (their `LegacyBM25Similarity`), as SQLite does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fin_agent.index.elastic.weighing import Size

_K1, _B = 1.2, 0.75
_EXACT_BELOW = 24
_KEPT_BITS = 4


@dataclass(frozen=True, slots=True)
class ExactScores:
    """Computes scores of hits of one search."""

    weights: Sequence[float]
    """Of each clause, by its place."""
    size: Size

    def of(self, words: int, clauses: Mapping[str, float]) -> float:
        """The score of a text of so many words; `clauses` has the cluster's score of each that it meets, by place."""
        kept = _norm(kept_length(words), self.size.words, self.size.worded)
        exact = _norm(words, self.size.words, self.size.documents)
        score = 0.0
        for place in sorted(clauses, key=int):
            weight = self.weights[int(place)]
            times = _times(clauses[place] / (_K1 + 1), weight, kept, words)
            score += weight * times * (_K1 + 1) / (times + exact)
        return score


def kept_length(words: int) -> int:
    """A length as Lucene keeps it: of what is above 24, the four highest bits."""
    above = words - _EXACT_BELOW
    dropped = max(0, above.bit_length() - _KEPT_BITS) if above > 0 else 0
    return _EXACT_BELOW + (above >> dropped << dropped)


def _norm(words: int, all_words: int, documents: int) -> float:
    """What the number of times a term is there is held against, in a text of so many words."""
    return _K1 * (1 - _B + _B * words * documents / all_words) if all_words else _K1


def _times(score: float, weight: float, norm: float, words: int) -> int:
    """How often a clause is met by a text that it gives this score: the solution of score = weight t / (t + norm).

    A cluster counts documents that were replaced until it merges them away, so its weight is not quite this one.
    """
    if score >= weight:
        return max(1, words)
    return min(max(1, round(norm * score / (weight - score))), max(1, words))
