"""Document search: which filings can answer."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.retrieval.documents import rank_filings
from fin_agent.retrieval.query import Query, RankedFiling
from fin_agent.workspace import Workspace


def search_documents(
    query: Query, workspace: Workspace, *, doc_ids: Sequence[str] | None = None, limit: int = 10
) -> list[RankedFiling]:
    """The best `limit` filings, best first; only of `doc_ids` where given.

    Filings of companies that the query does not ask about come last, with a score of 0: they are listed, not searched.
    Where it is not sure which company is meant, those that fit by their words stand behind, with a score: they are.
    """
    return rank_filings(
        query,
        workspace.index,
        workspace.directory,
        workspace.lexicon.metrics,
        within=doc_ids,
        limit=limit,
        others_too=True,
    )
