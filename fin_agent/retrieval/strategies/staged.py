"""`default`: filings, then their pages, then passages on those, by company, period, statement, figures and words."""

from __future__ import annotations

from dataclasses import dataclass

from fin_agent.retrieval.documents import rank_filings
from fin_agent.retrieval.pages import rank_pages
from fin_agent.retrieval.passages import rank_passages
from fin_agent.retrieval.query import EVERYTHING, USUAL_DEPTH, Depth, Query, Scope, SearchResult
from fin_agent.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Staged:
    """Our own search; the only strategy that reads more of a query than its words."""

    workspace: Workspace
    documents: int = 5
    pages: int = 20
    name: str = "default"

    def search(self, query: Query, scope: Scope = EVERYTHING, depth: Depth = USUAL_DEPTH) -> SearchResult:
        """See Strategy.search."""
        index, metrics = self.workspace.index, self.workspace.lexicon.metrics
        directory = self.workspace.directory
        filings = rank_filings(
            query, index, directory, metrics, within=scope.filings, limit=max(self.documents, depth.documents)
        )
        searched = filings[: self.documents]
        pages = rank_pages(
            query, searched, index, metrics, directory.owners, only=scope.pages, limit=max(self.pages, depth.pages)
        )
        passages = rank_passages(query, pages, index, metrics, directory.owners, limit=depth.passages)
        return SearchResult(tuple(filings[: depth.documents]), tuple(pages[: depth.pages]), tuple(passages))
