"""`hybrid`: several rankers fused by rank (reciprocal rank fusion, Cormack et al. 2009, k = 60)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.retrieval.search_query import Depth, Scope, SearchResult
from fin_agent.retrieval.strategies.one_pass import (
    PassageKey,
    Ranker,
    Wording,
    allowed_pages,
    best_scores,
    filings_of,
    load_passages,
    pages_of,
    rank_in_order,
    reciprocal_ranks,
)

DEPTH = 1000
"""Depth to which each ranking is read; lower ranks add almost nothing."""

Ranked = TypeVar("Ranked", bound=Hashable)


@dataclass(frozen=True, slots=True)
class FusedRanker:
    """Fuses the results of several rankers by rank, with equal weights."""

    rankers: tuple[Ranker, ...]

    def filings(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[str, float]]:
        """See Ranker.filings."""
        return fuse_rankings([ranker.filings(wording, scope, DEPTH) for ranker in self.rankers])[:limit]

    def pages(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[PageKey, float]]:
        """See Ranker.pages."""
        return fuse_rankings([ranker.pages(wording, scope, DEPTH) for ranker in self.rankers])[:limit]

    def passages(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[PassageKey, float]]:
        """See Ranker.passages."""
        return fuse_rankings([ranker.passages(wording, scope, DEPTH) for ranker in self.rankers])[:limit]


def fuse_rankings(rankings: Sequence[Sequence[tuple[Ranked, float]]]) -> list[tuple[Ranked, float]]:
    """Return all keys, best first, with scores of 1 / position; ties are in the order of the first ranking."""
    scores = reciprocal_ranks([key for key, _ in ranking] for ranking in rankings)
    return rank_in_order(sorted(scores, key=lambda key: -scores[key]))


_PAGES_FOR_FILINGS = 500
"""Number of pages that are ranked, so that they come from enough filings."""


@dataclass(frozen=True, slots=True)
class PageThenChunk:
    """Finds the best `pages` pages by their whole text, then passages of those."""

    index: FilingIndex
    ranker: Ranker
    pages: int = 20

    def find(self, wording: Wording, scope: Scope, depth: Depth) -> SearchResult:
        """See Arrangement.find."""
        pages = self.ranker.pages(wording, scope, max(self.pages, depth.pages, _PAGES_FOR_FILINGS))
        within = Scope(pages=tuple(key for key, _ in pages[: self.pages]))
        found = self.ranker.passages(wording, within, depth.passages) if allowed_pages(within) else []
        return SearchResult(
            filings=filings_of(best_scores((key.doc_id, score) for key, score in pages), "page")[: depth.documents],
            pages=pages_of(pages, "page")[: depth.pages],
            passages=tuple(load_passages(self.index, found)),
        )
