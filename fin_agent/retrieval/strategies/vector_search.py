"""`dense`, `parent-child` and `splade`: compare the question's vector with those of summaries, pages and passages."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from fin_agent.index.protocol import FilingEntry, FilingIndex, PageKey, VectorUnit
from fin_agent.retrieval.document_ranking import rank_filings
from fin_agent.retrieval.page_ranking import rank_pages, rank_passages
from fin_agent.retrieval.search_query import DEFAULT_DEPTH, EVERYTHING, Depth, Query, Scope, SearchResult
from fin_agent.retrieval.strategies.one_pass import Place, Ranker, Scored, Wording, allowed_pages, page_keys
from fin_agent.workspace import Workspace

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
        self._pages = PassagePages(index)
        self._vector_of = lru_cache(maxsize=_CACHE_SIZE)(vector_of)

    def rank(self, unit: VectorUnit, wording: Wording, scope: Scope, limit: int) -> Scored:
        """See Ranker.rank."""
        pages, vector = allowed_pages(scope), self._vector_of(wording)
        places: Collection[tuple[str, int]] | None = pages if unit is VectorUnit.PAGE else None
        if unit is VectorUnit.PASSAGE:
            unit, places = self._of_passages, None if pages is None else self._pages.passages_on(pages)
        hits = self._stores[unit].search(vector, limit, doc_ids=scope.filings, places=places)
        if unit is VectorUnit.SUMMARY:
            return [(Place(hit.doc_id), hit.score) for hit in hits]
        if unit is VectorUnit.PAGE:
            return [(Place(hit.doc_id, hit.place), hit.score) for hit in hits]
        found = [(hit, self._pages.of(hit.doc_id).get(hit.place)) for hit in hits]
        return [(Place(hit.doc_id, page, hit.place), hit.score) for hit, page in found if page is not None]


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


class PassagePages:
    """The page of each passage by ordinal, read once per filing. Safe to share between threads."""

    def __init__(self, index: FilingIndex) -> None:
        self._index = index
        self._read: tuple[tuple[FilingEntry, ...], dict[str, dict[int, int]]] = ((), {})

    def of(self, doc_id: str) -> dict[int, int]:
        """Return the 0-based page of every passage by ordinal."""
        entries = self._index.entries()
        if (read := self._read)[0] is not entries:
            read = self._read = (entries, {})
        known = read[1]
        if doc_id not in known:
            passages = self._index.passages(page_keys(self._index, doc_id))
            known[doc_id] = {stored.passage.ordinal: stored.passage.page for stored in passages}
        return known[doc_id]

    def passages_on(self, pages: Collection[PageKey]) -> list[tuple[str, int]]:
        """Return (doc_id, ordinal) of all passages on these pages."""
        found = self._index.passages(list(dict.fromkeys(pages)))
        return [(stored.doc_id, stored.passage.ordinal) for stored in found]


_ALL = 100_000
"""More than the number of pages and passages in the few filings searched."""


@dataclass(frozen=True, slots=True)
class PageSimilarity:
    """Cosines of whole pages and of their passages, from a ranker with vectors of both."""

    ranker: Ranker

    def of(self, query: Query, doc_ids: Collection[str]) -> dict[PageKey, float]:
        """Return the cosine of each page of these filings, or of its nearest passage if that is higher."""
        wording, scope = Wording.of(query), Scope(doc_ids=tuple(doc_ids))
        cosines = {place.on: cosine for place, cosine in self.ranker.rank(VectorUnit.PAGE, wording, scope, _ALL)}
        for place, cosine in self.ranker.rank(VectorUnit.PASSAGE, wording, scope, _ALL):
            cosines[place.on] = max(cosine, cosines.get(place.on, cosine))
        return cosines


@dataclass(frozen=True, slots=True)
class Staged:
    """The package's own search; the only strategy that uses more of a query than its words."""

    workspace: Workspace
    documents: int = 5
    pages: int = 20
    likeness: PageSimilarity | None = None
    """Vectors of pages, if the page stage uses them."""

    def search(self, query: Query, scope: Scope = EVERYTHING, depth: Depth = DEFAULT_DEPTH) -> SearchResult:
        """See Search."""
        most = max(self.documents, depth.documents)
        filings = rank_filings(query, self.workspace, within=scope.filings, limit=most)
        searched = filings[: self.documents]
        like = self.likeness.of(query, [filing.doc_id for filing in searched]) if self.likeness else None
        most = max(self.pages, depth.pages)
        pages = rank_pages(query, searched, self.workspace, only=scope.pages, limit=most, likeness=like)
        passages = rank_passages(query, pages, self.workspace, limit=depth.passages)
        return SearchResult(tuple(filings[: depth.documents]), tuple(pages[: depth.pages]), tuple(passages))
