"""How near the vectors of pages are to a question's: one more feature of our own page scorer."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from fin_agent.index.protocol import PageKey
from fin_agent.retrieval.query import Query, Scope
from fin_agent.retrieval.strategies.ranking import Ranker, Wording

_ALL = 100_000
"""More than the pages and passages of the few filings searched."""


@dataclass(frozen=True, slots=True)
class PageLikeness:
    """Cosines of whole pages and of the passages on them, by a ranker that has vectors of both."""

    ranker: Ranker

    def of(self, query: Query, doc_ids: Collection[str]) -> dict[PageKey, float]:
        """The cosine of each page of these filings, or of its nearest passage where that is nearer."""
        wording, scope = Wording.of(query), Scope(doc_ids=tuple(doc_ids))
        cosines = dict(self.ranker.pages(wording, scope, _ALL))
        for passage, cosine in self.ranker.passages(wording, scope, _ALL):
            key = PageKey(passage.doc_id, passage.page)
            cosines[key] = max(cosine, cosines.get(key, cosine))
        return cosines
