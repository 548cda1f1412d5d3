"""`hybrid`: several rankers fused by rank (reciprocal rank fusion, Cormack et al. 2009, k = 60)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from fin_agent.errors import how_to_install
from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.retrieval.search_query import Depth, Scope, SearchResult
from fin_agent.retrieval.strategies.one_pass import (
    PassageKey,
    Ranker,
    Wording,
    allowed_pages,
    best_of,
    deep_enough,
    filings_of,
    narrowed,
    pages_of,
    stored,
)
from fin_agent.retrieval.strategies.protocol import StrategyError

if TYPE_CHECKING:
    from langchain_classic.retrievers.ensemble import EnsembleRetriever

K = 60
DEPTH = 1000
"""How far into each ranking is looked; further down a rank is worth nothing."""

Ranked = TypeVar("Ranked", bound=Hashable)


class FusedRanker:
    """What several rankers find, fused by rank; what each finds counts the same."""

    def __init__(self, rankers: Sequence[Ranker], fusion: EnsembleRetriever) -> None:
        """`fusion` is a `reciprocal_rank_fusion` of as many rankings as there are rankers."""
        self._rankers = tuple(rankers)
        self._fusion = fusion

    def filings(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[str, float]]:
        """See Ranker.filings."""
        return fused([ranker.filings(wording, scope, DEPTH) for ranker in self._rankers], self._fusion)[:limit]

    def pages(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[PageKey, float]]:
        """See Ranker.pages."""
        return fused([ranker.pages(wording, scope, DEPTH) for ranker in self._rankers], self._fusion)[:limit]

    def passages(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[PassageKey, float]]:
        """See Ranker.passages."""
        return fused([ranker.passages(wording, scope, DEPTH) for ranker in self._rankers], self._fusion)[:limit]


def reciprocal_rank_fusion(rankings: int) -> EnsembleRetriever:
    """LangChain's fusion for this many rankings. Raises StrategyError where the library is not installed."""
    try:
        from langchain_classic.retrievers.ensemble import EnsembleRetriever
    except ImportError as failure:
        raise StrategyError(
            "fusing rankings needs langchain-classic, which is not installed",
            remedy=f"Install it: {how_to_install('dense')}",
        ) from failure
    from langchain_core.runnables import RunnableLambda

    nothing = RunnableLambda(_nothing)  # the rankings are handed over; the retriever has none to ask for them
    return EnsembleRetriever(retrievers=[nothing] * rankings, weights=[1.0] * rankings, c=K, id_key="key")


def fused(rankings: Sequence[Sequence[tuple[Ranked, float]]], fusion: EnsembleRetriever) -> list[tuple[Ranked, float]]:
    """All that is ranked, best first, with a score of 1 / position; of equals the one that the first ranking names."""
    from langchain_core.documents import Document

    found = list(dict.fromkeys(key for ranking in rankings for key, _ in ranking))
    numbers = {key: number for number, key in enumerate(found)}
    listed = [[Document(page_content="", metadata={"key": numbers[key]}) for key, _ in ranking] for ranking in rankings]
    merged = fusion.weighted_reciprocal_rank(listed)
    return [(found[document.metadata["key"]], 1.0 / rank) for rank, document in enumerate(merged, start=1)]


def _nothing(_: str) -> list[object]:
    return []


@dataclass(frozen=True, slots=True)
class Hierarchical:
    """The best `documents` filings by what they are, then passages of those alone; of all, where none stands out."""

    index: FilingIndex
    ranker: Ranker
    documents: int = 5

    def find(self, wording: Wording, scope: Scope, depth: Depth) -> SearchResult:
        """See Arrangement.find."""
        filings = self.ranker.filings(wording, scope, max(self.documents, depth.documents))
        within = narrowed(scope, [doc_id for doc_id, _ in filings[: self.documents]]) if filings else scope
        found = deep_enough(self.ranker, wording, within, depth)
        filings = filings or best_of((key.doc_id, score) for key, score in found)
        return SearchResult(
            filings=filings_of(filings, "summary")[: depth.documents],
            pages=pages_of(best_of((key.on, score) for key, score in found), "passage")[: depth.pages],
            passages=tuple(stored(self.index, found[: depth.passages])),
        )


_PAGES_FOR_FILINGS = 500
"""How many pages are looked at so that enough filings are among them."""


@dataclass(frozen=True, slots=True)
class PageThenChunk:
    """The best `pages` pages by their whole text, then passages of those alone."""

    index: FilingIndex
    ranker: Ranker
    pages: int = 20

    def find(self, wording: Wording, scope: Scope, depth: Depth) -> SearchResult:
        """See Arrangement.find."""
        pages = self.ranker.pages(wording, scope, max(self.pages, depth.pages, _PAGES_FOR_FILINGS))
        within = Scope(pages=tuple(key for key, _ in pages[: self.pages]))
        found = self.ranker.passages(wording, within, depth.passages) if allowed_pages(within) else []
        return SearchResult(
            filings=filings_of(best_of((key.doc_id, score) for key, score in pages), "page")[: depth.documents],
            pages=pages_of(pages, "page")[: depth.pages],
            passages=tuple(stored(self.index, found)),
        )
