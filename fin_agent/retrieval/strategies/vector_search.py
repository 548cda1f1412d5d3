"""`dense`, `parent-child` and `splade`: compare the question's vector with those of summaries, pages and passages."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from fin_agent.index.protocol import FilingIndex, PageKey, VectorUnit
from fin_agent.retrieval.document_ranking import rank_filings
from fin_agent.retrieval.page_ranking import rank_pages, rank_passages
from fin_agent.retrieval.search_query import DEFAULT_DEPTH, EVERYTHING, Depth, Query, Scope, SearchResult
from fin_agent.retrieval.strategies.one_pass import Place, Ranker, Scored, Wording, allowed_pages, passages_by_ordinal
from fin_agent.workspace import Workspace

if TYPE_CHECKING:
    from fin_agent.retrieval.dense.encoder import Encoder, SparseEncoder, SparseRow
    from fin_agent.retrieval.dense.store import Scores


_CACHE_SIZE, _FILINGS_KEPT = 32, 1024
"""Numbers of wordings whose vectors are cached, because the stages of one search use the same ones, and of filings the
pages of whose passages are."""


def vector_ranker(
    index: FilingIndex,
    model: str,
    vector_of: Callable[[Wording], Scores | SparseRow],
    *,
    windows: bool = False,
) -> Ranker:
    """Return exact search in the vectors that one model made of an index (Karpukhin et al. 2020 for dense ones).

    With `windows`, a passage has the score of its nearest window: small windows are matched, their passages returned.
    """
    from fin_agent.retrieval.dense.store import VectorStore

    stores = {unit: VectorStore(index, model, unit) for unit in VectorUnit}
    vectors = lru_cache(maxsize=_CACHE_SIZE)(vector_of)

    @lru_cache(maxsize=_FILINGS_KEPT)
    def pages_of(doc_id: str, content_hash: str) -> dict[int, int]:
        return {ordinal: stored.passage.page for ordinal, stored in passages_by_ordinal(index, doc_id).items()}

    def rank(unit: VectorUnit, wording: Wording, scope: Scope, limit: int) -> Scored:
        pages, vector = allowed_pages(scope), vectors(wording)
        places: Collection[tuple[str, int]] | None = pages if unit is VectorUnit.PAGE else None
        if unit is VectorUnit.PASSAGE:
            unit = VectorUnit.WINDOW if windows else VectorUnit.PASSAGE
            held = None if pages is None else index.passages(list(dict.fromkeys(pages)))
            places = None if held is None else [(stored.doc_id, stored.passage.ordinal) for stored in held]
        hits = stores[unit].search(vector, limit, doc_ids=scope.filings, places=places)
        if unit is VectorUnit.SUMMARY:
            return [(Place(hit.doc_id), hit.score) for hit in hits]
        if unit is VectorUnit.PAGE:
            return [(Place(hit.doc_id, hit.place), hit.score) for hit in hits]
        on = {doc_id: pages_of(doc_id, index.filing(doc_id).content_hash) for doc_id in {hit.doc_id for hit in hits}}
        found = [(hit, on[hit.doc_id].get(hit.place)) for hit in hits]
        return [(Place(hit.doc_id, page, hit.place), hit.score) for hit, page in found if page is not None]

    return rank


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


_ALL = 100_000
"""More than the number of pages and passages in the few filings searched."""


def page_similarity(ranker: Ranker, query: Query, doc_ids: Collection[str]) -> dict[PageKey, float]:
    """Return the cosine of each page of these filings, or of its nearest passage if that is higher.

    The ranker has vectors of pages and of passages.
    """
    wording, scope = Wording.of(query), Scope(doc_ids=tuple(doc_ids))
    cosines = {place.on: cosine for place, cosine in ranker(VectorUnit.PAGE, wording, scope, _ALL)}
    for place, cosine in ranker(VectorUnit.PASSAGE, wording, scope, _ALL):
        cosines[place.on] = max(cosine, cosines.get(place.on, cosine))
    return cosines


@dataclass(frozen=True, slots=True)
class Staged:
    """The package's own search; the only strategy that uses more of a query than its words."""

    workspace: Workspace
    documents: int = 5
    pages: int = 20
    likeness: Callable[[Query, Collection[str]], dict[PageKey, float]] | None = None
    """Cosines of the pages of filings, if the page stage uses vectors."""

    def search(self, query: Query, scope: Scope = EVERYTHING, depth: Depth = DEFAULT_DEPTH) -> SearchResult:
        """See Search."""
        most = max(self.documents, depth.documents)
        filings = rank_filings(query, self.workspace, within=scope.filings, limit=most)
        searched = filings[: self.documents]
        like = self.likeness(query, [filing.doc_id for filing in searched]) if self.likeness else None
        most = max(self.pages, depth.pages)
        pages = rank_pages(query, searched, self.workspace, only=scope.pages, limit=most, likeness=like)
        passages = rank_passages(query, pages, self.workspace, limit=depth.passages)
        return SearchResult(tuple(filings[: depth.documents]), tuple(pages[: depth.pages]), tuple(passages))
