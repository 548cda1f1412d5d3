"""The interface of every retrieval strategy."""

from __future__ import annotations

from typing import Protocol

from fin_agent.retrieval.query import EVERYTHING, USUAL_DEPTH, Depth, Query, Scope, SearchResult


class Strategy(Protocol):
    """A way from a query to filings, pages and passages. Deterministic; safe to share between threads.

    A strategy that ranks passages alone lists the pages and filings of its passages in the order of their best one.
    """

    @property
    def name(self) -> str:
        """As it is written in settings and reports: `bm25`, `rerank:hybrid`."""

    def search(self, query: Query, scope: Scope = EVERYTHING, depth: Depth = USUAL_DEPTH) -> SearchResult:
        """The best filings, pages and passages for `query` of what `scope` allows, as many as `depth` says."""
