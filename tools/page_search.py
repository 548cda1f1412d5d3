"""Page search: which pages, and which passages on them, hold the answer."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.retrieval.pages import rank_pages
from fin_agent.retrieval.passages import rank_passages
from fin_agent.retrieval.query import Query, RankedFiling, RankedPage, RankedPassage
from fin_agent.workspace import Workspace


def search_pages(
    query: Query, filings: Sequence[RankedFiling], workspace: Workspace, *, limit: int = 20
) -> list[RankedPage]:
    """The best `limit` pages of `filings`, best first."""
    metrics, owners = workspace.lexicon.metrics, workspace.directory.owners
    return rank_pages(query, filings, workspace.index, metrics, owners, limit=limit)


def search_passages(
    query: Query, pages: Sequence[RankedPage], workspace: Workspace, *, limit: int = 10
) -> list[RankedPassage]:
    """The best `limit` passages of `pages`, best first."""
    metrics, owners = workspace.lexicon.metrics, workspace.directory.owners
    return rank_passages(query, pages, workspace.index, metrics, owners, limit=limit)
