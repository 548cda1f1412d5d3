"""`dense`, `parent-child` and `splade`: compare the question's vector with those of summaries, pages and passages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from fin_agent.index.protocol import FilingEntry, FilingIndex, PageKey, VectorUnit
from fin_agent.retrieval.search_query import Query, Scope
from fin_agent.retrieval.strategies.one_pass import PassageKey, Ranker, Wording, allowed_pages

if TYPE_CHECKING:
    from fin_agent.retrieval.dense.encoder import Encoder, SparseEncoder, SparseRow
    from fin_agent.retrieval.dense.store import Scores

_CACHE_SIZE = 32
"""Number of wordings whose vectors are cached, because the stages of one search use the same ones."""


class VectorRanker:
    """Exact search in the vectors that one model made of an index (Karpukhin et al. 2020 for dense ones).

    With `windows`, a passage has the score of its nearest window: small windows are matched, their passages returned.
    """

    def __init__(
        self,
        index: FilingIndex,
        model: str,
        vector_of: Callable[[Wording], Scores | SparseRow],
        *,
        windows: bool = False,
    ) -> None:
        from fin_agent.retrieval.dense.store import VectorStore

        self._stores = {unit: VectorStore(index, model, unit) for unit in VectorUnit}
        self._of_passages = VectorUnit.WINDOW if windows else VectorUnit.PASSAGE
        self._places = PassagePlaces(index)
        self._vector_of = lru_cache(maxsize=_CACHE_SIZE)(vector_of)

    def filings(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[str, float]]:
        """See Ranker.filings."""
        hits = self._stores[VectorUnit.SUMMARY].search(self._vector_of(wording), limit, doc_ids=scope.filings)
        return [(hit.doc_id, hit.score) for hit in hits]

    def pages(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[PageKey, float]]:
        """See Ranker.pages."""
        hits = self._stores[VectorUnit.PAGE].search(
            self._vector_of(wording), limit, doc_ids=scope.filings, places=allowed_pages(scope)
        )
        return [(PageKey(hit.doc_id, hit.place), hit.score) for hit in hits]

    def passages(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[PassageKey, float]]:
        """See Ranker.passages."""
        pages = allowed_pages(scope)
        hits = self._stores[self._of_passages].search(
            self._vector_of(wording),
            limit,
            doc_ids=scope.filings,
            places=None if pages is None else self._places.on(pages),
        )
        placed = ((hit, self._places.of(hit.doc_id).get(hit.place)) for hit in hits)
        return [(PassageKey(hit.doc_id, page, hit.place), hit.score) for hit, page in placed if page is not None]


def dense_vector(encoder: Encoder, wording: Wording) -> Scores:
    """Return the mean of the vectors of the texts, each of length 1; invented texts are encoded as passages."""
    encode = encoder.encode_passages if wording.made_up else encoder.encode_queries
    # One at a time: in a batch, the padding of short texts changes the last digits.
    vectors = [encode([text])[0] for text in wording.passages()]
    mean: Scores = sum(vectors[1:], vectors[0]) / len(vectors)
    return mean


def sparse_vector(encoder: SparseEncoder, wording: Wording) -> SparseRow:
    """Return the mean of the term weights of the texts."""
    import numpy as np

    from fin_agent.retrieval.dense.encoder import SparseRow

    encode = encoder.encode_passages if wording.made_up else encoder.encode_queries
    rows = [encode([text])[0] for text in wording.passages()]
    terms = np.concatenate([row.terms for row in rows])
    weights = np.concatenate([row.weights for row in rows])
    held, at = np.unique(terms, return_inverse=True)
    sums = np.bincount(at, weights=weights, minlength=len(held)) / len(rows)
    return SparseRow(held, sums.astype(np.float32))


class PassagePlaces:
    """The page of each passage by ordinal, read once per filing. Safe to share between threads."""

    def __init__(self, index: FilingIndex) -> None:
        self._index = index
        self._read: tuple[tuple[FilingEntry, ...], dict[str, dict[int, int]]] = ((), {})

    def of(self, doc_id: str) -> dict[int, int]:
        """Return the 0-based page of every passage by ordinal; empty for a filing that is not in the index."""
        entries = self._index.entries()
        if (read := self._read)[0] is not entries:
            read = self._read = (entries, {})
        known = read[1]
        if doc_id not in known:
            count = next((entry.page_count for entry in entries if entry.doc_id == doc_id), 0)
            passages = self._index.passages([PageKey(doc_id, number) for number in range(count)])
            known[doc_id] = {stored.passage.ordinal: stored.passage.page for stored in passages}
        return known[doc_id]

    def on(self, pages: Iterable[PageKey]) -> list[tuple[str, int]]:
        """Return (doc_id, ordinal) of all passages on these pages."""
        wanted: dict[str, set[int]] = {}
        for key in pages:
            wanted.setdefault(key.doc_id, set()).add(key.page)
        return [
            (doc_id, ordinal)
            for doc_id, numbers in wanted.items()
            for ordinal, page in self.of(doc_id).items()
            if page in numbers
        ]


_ALL = 100_000
"""More than the number of pages and passages in the few filings searched."""


@dataclass(frozen=True, slots=True)
class PageSimilarity:
    """Cosines of whole pages and of their passages, from a ranker with vectors of both."""

    ranker: Ranker

    def of(self, query: Query, doc_ids: Collection[str]) -> dict[PageKey, float]:
        """Return the cosine of each page of these filings, or of its nearest passage if that is higher."""
        wording, scope = Wording.of(query), Scope(doc_ids=tuple(doc_ids))
        cosines = dict(self.ranker.pages(wording, scope, _ALL))
        for passage, cosine in self.ranker.passages(wording, scope, _ALL):
            key = PageKey(passage.doc_id, passage.page)
            cosines[key] = max(cosine, cosines.get(key, cosine))
        return cosines
