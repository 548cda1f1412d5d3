"""One round of our own search, with its depth given one by one."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.retrieval.search_query import Depth, Query, Scope, SearchResult
from fin_agent.retrieval.strategies.staged import Staged
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
    scope = Scope(doc_ids=None if within is None else tuple(within))
    return Staged(workspace, documents, pages).search(query, scope, Depth(documents, pages, passages))
