"""`bm25`: the words of the question against summaries, pages and passages (Robertson and Zaragoza 2009), by FTS5."""

from __future__ import annotations

from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.retrieval.query import Scope
from fin_agent.retrieval.strategies.ranking import PassageKey, Wording, allowed_pages

_ALL = 1_000_000_000


class WordRanker:
    """BM25 as the index computes it: statistics of the whole index, whatever the scope."""

    def __init__(self, index: FilingIndex) -> None:
        self._index = index

    def filings(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[str, float]]:
        """See Ranker.filings."""
        return self._index.search_summaries(wording.terms(), doc_ids=scope.filings, limit=limit)

    def pages(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[PageKey, float]]:
        """See Ranker.pages."""
        pages = allowed_pages(scope)
        hits = self._index.search_pages(wording.terms(), doc_ids=scope.filings, limit=limit if pages is None else _ALL)
        return [(hit.key, hit.score) for hit in hits if pages is None or hit.key in set(pages)][:limit]

    def passages(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[PassageKey, float]]:
        """See Ranker.passages."""
        hits = self._index.search_passages(
            wording.terms(), doc_ids=scope.filings, pages=allowed_pages(scope), limit=limit
        )
        return [(PassageKey(hit.doc_id, hit.page, hit.ordinal), hit.score) for hit in hits]
