"""One round of search: documents, then their pages, then passages on those."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.retrieval.documents import rank_filings
from fin_agent.retrieval.pages import rank_pages
from fin_agent.retrieval.passages import rank_passages
from fin_agent.retrieval.query import Query, SearchResult
from fin_agent.workspace import Workspace


def search(
    query: Query,
    workspace: Workspace,
    *,
    within: Sequence[str] | None = None,
    documents: int = 5,
    pages: int = 20,
    passages: int = 10,
) -> SearchResult:
    """The best documents, pages and passages for `query`; only of the filings `within` where given."""
    metrics = workspace.lexicon.metrics
    filings = rank_filings(query, workspace.index, workspace.directory, metrics, within=within, limit=documents)
    owners = workspace.directory.owners
    ranked = rank_pages(query, filings, workspace.index, metrics, owners, limit=pages)
    found = rank_passages(query, ranked, workspace.index, metrics, owners, limit=passages)
    return SearchResult(tuple(filings), tuple(ranked), tuple(found))
