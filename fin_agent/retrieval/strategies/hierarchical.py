"""`hhr`: hybrid hierarchical retrieval (Arivazhagan et al. 2023): filings by their summaries, then their passages."""

from __future__ import annotations

from dataclasses import dataclass

from fin_agent.index.protocol import FilingIndex
from fin_agent.retrieval.query import Depth, Scope, SearchResult
from fin_agent.retrieval.strategies.flat import best_of, deep_enough, filings_of, pages_of
from fin_agent.retrieval.strategies.ranking import Ranker, Wording, narrowed, stored


@dataclass(frozen=True, slots=True)
class Hierarchical:
    """The best `documents` filings by what they are, then passages of those alone; of all, where none stands out."""

    index: FilingIndex
    ranker: Ranker
    documents: int = 5

    def find(self, wording: Wording, scope: Scope, depth: Depth) -> SearchResult:
        """See Arrangement.find."""
        filings = self.ranker.filings(wording, scope, max(self.documents, depth.documents))
        within = narrowed(scope, [doc_id for doc_id, _ in filings[: self.documents]]) if filings else scope
        found = deep_enough(self.ranker, wording, within, depth)
        filings = filings or best_of((key.doc_id, score) for key, score in found)
        return SearchResult(
            filings=filings_of(filings, "summary")[: depth.documents],
            pages=pages_of(best_of((key.on, score) for key, score in found), "passage")[: depth.pages],
            passages=tuple(stored(self.index, found[: depth.passages])),
        )
