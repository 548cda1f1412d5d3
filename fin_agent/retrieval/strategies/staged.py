"""`default` and `default-dense`: filings, their pages, then passages, by the interpretation of the question."""

from __future__ import annotations

from dataclasses import dataclass

from fin_agent.retrieval.document_ranking import rank_filings
from fin_agent.retrieval.page_ranking import rank_pages
from fin_agent.retrieval.passage_ranking import rank_passages
from fin_agent.retrieval.search_query import DEFAULT_DEPTH, EVERYTHING, Depth, Query, Scope, SearchResult
from fin_agent.retrieval.strategies.vector_search import PageSimilarity
from fin_agent.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Staged:
    """The package's own search; the only strategy that uses more of a query than its words."""

    workspace: Workspace
    documents: int = 5
    pages: int = 20
    name: str = "default"
    likeness: PageSimilarity | None = None
    """Vectors of pages, if the page stage uses them."""

    def search(self, query: Query, scope: Scope = EVERYTHING, depth: Depth = DEFAULT_DEPTH) -> SearchResult:
        """See Strategy.search."""
        most = max(self.documents, depth.documents)
        filings = rank_filings(query, self.workspace, within=scope.filings, limit=most)
        searched = filings[: self.documents]
        like = self.likeness.of(query, [filing.doc_id for filing in searched]) if self.likeness else None
        most = max(self.pages, depth.pages)
        pages = rank_pages(query, searched, self.workspace, only=scope.pages, limit=most, likeness=like)
        passages = rank_passages(query, pages, self.workspace, limit=depth.passages)
        return SearchResult(tuple(filings[: depth.documents]), tuple(pages[: depth.pages]), tuple(passages))
