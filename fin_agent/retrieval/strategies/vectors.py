"""`dense`, `parent-child` and `splade`: the vector of the question against those of summaries, pages and passages."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import TYPE_CHECKING

from fin_agent.index.protocol import FilingIndex, PageKey, VectorUnit
from fin_agent.retrieval.query import Scope
from fin_agent.retrieval.strategies.names import StrategyError
from fin_agent.retrieval.strategies.places import PassagePlaces
from fin_agent.retrieval.strategies.ranking import PassageKey, Wording, allowed_pages

if TYPE_CHECKING:
    from fin_agent.retrieval.dense.encoder import Encoder
    from fin_agent.retrieval.dense.sparse import SparseEncoder, SparseRow
    from fin_agent.retrieval.dense.store import Scores

_KEPT_IN_MIND = 32
"""Wordings whose vectors are not made twice: stages of one search use the same."""


class VectorRanker:
    """Exact search among the vectors that one model made of an index (Karpukhin et al. 2020 for dense ones).

    With `windows`, a passage counts by its nearest window: small children are matched, their parents returned.
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
        self._vector_of = lru_cache(maxsize=_KEPT_IN_MIND)(vector_of)

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
    """The mean of the vectors of its texts, each of length 1; texts made up are encoded as passages are."""
    encode = encoder.encode_passages if wording.made_up else encoder.encode_queries
    # One at a time: in a batch, what is added to short texts shows in the last digits.
    vectors = [encode([text])[0] for text in wording.passages()]
    mean: Scores = sum(vectors[1:], vectors[0]) / len(vectors)
    return mean


def sparse_vector(encoder: SparseEncoder, wording: Wording) -> SparseRow:
    """The mean of the weights of its texts."""
    import numpy as np

    from fin_agent.retrieval.dense.sparse import SparseRow

    encode = encoder.encode_passages if wording.made_up else encoder.encode_queries
    rows = [encode([text])[0] for text in wording.passages()]
    terms = np.concatenate([row.terms for row in rows])
    weights = np.concatenate([row.weights for row in rows])
    held, at = np.unique(terms, return_inverse=True)
    sums = np.bincount(at, weights=weights, minlength=len(held)) / len(rows)
    return SparseRow(held, sums.astype(np.float32))


def check_vectors(
    index: FilingIndex,
    model: str,
    units: Collection[VectorUnit],
    subject: str,
    notify: Callable[[str], None],
    *,
    sparse: bool = False,
) -> None:
    """Raise StrategyError where `model` has made no vectors of one of `units`; warn where some filings have none."""
    if not index.entries():
        return
    made = {(held.model, held.unit) for held in index.vector_models()}
    lacking = [unit for unit in VectorUnit if unit in units and (model, unit) not in made]
    if lacking:
        raise StrategyError(
            f"it needs vectors of {_named(lacking)} by {model}, and the index holds none",
            subject=subject,
            remedy=f"Make them: {_command(model, lacking, sparse)}",
        )
    without = {unit: index.without_vectors(model, unit) for unit in VectorUnit if unit in units}
    lacking = [unit for unit, doc_ids in without.items() if doc_ids]
    if lacking:
        filings = {doc_id for doc_ids in without.values() for doc_id in doc_ids}
        notify(
            f"{len(filings)} of {len(index.entries())} filings have no vectors of {_named(lacking)} by {model} yet:"
            f" {subject} does not find them. Run {_command(model, lacking, sparse)}"
        )


PLURALS = {
    VectorUnit.SUMMARY: "summaries",
    VectorUnit.PAGE: "pages",
    VectorUnit.PASSAGE: "passages",
    VectorUnit.WINDOW: "windows",
}


def _named(units: Collection[VectorUnit]) -> str:
    return " and ".join(PLURALS[unit] for unit in units)


def _command(model: str, units: Collection[VectorUnit], sparse: bool) -> str:
    kind = " --sparse" if sparse else ""
    return f"`fin-agent embed --model {shlex.quote(model)} --units {','.join(PLURALS[unit] for unit in units)}{kind}`"
