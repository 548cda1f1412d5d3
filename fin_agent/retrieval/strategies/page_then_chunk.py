"""`page-then-chunk`: the best pages of everything, then the best passages on those (Kobeissi and Langlais)."""

from __future__ import annotations

from dataclasses import dataclass

from fin_agent.index.protocol import FilingIndex
from fin_agent.retrieval.query import Depth, Scope, SearchResult
from fin_agent.retrieval.strategies.flat import best_of, filings_of, pages_of
from fin_agent.retrieval.strategies.ranking import Ranker, Wording, allowed_pages, stored

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
