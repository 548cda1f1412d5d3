"""`hirec`: hierarchical retrieval with evidence curation (Choe et al. 2025, HiREC, Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass

from fin_agent.index.protocol import FilingIndex
from fin_agent.retrieval.query import (
    EVERYTHING,
    USUAL_DEPTH,
    Depth,
    Query,
    RankedPassage,
    Scope,
    SearchResult,
)
from fin_agent.retrieval.strategies.curating import Curator
from fin_agent.retrieval.strategies.flat import deep_enough, filings_of, in_this_order, pages_of
from fin_agent.retrieval.strategies.ranking import Ranker, Wording, by_position, narrowed, once, stored
from fin_agent.retrieval.strategies.reranking import CANDIDATES, PassageScorer, reordered


@dataclass(frozen=True, slots=True)
class HiRec:
    """Summaries -> `candidates` filings -> `documents` of them -> `passages` -> curation, at most `rounds` times.

    Curation sees new passages together with those kept before. Where they are not enough, what it lacks is searched for
    in the next round. As published, a cross-encoder orders candidate filings (by their summaries) and passages; where
    none is given they stay as ranked. Where no filing stands out by its summary, all are searched.
    """

    name: str
    index: FilingIndex
    ranker: Ranker
    curator: Curator
    scorer: PassageScorer | None = None
    candidates: int = 100
    documents: int = 5
    passages: int = 5
    rounds: int = 3

    def search(self, query: Query, scope: Scope = EVERYTHING, depth: Depth = USUAL_DEPTH) -> SearchResult:
        """See Strategy.search. What curation kept comes first, then what it dropped, then what it was not shown."""
        asked: Query | None = query
        kept: tuple[RankedPassage, ...] = ()
        judged: list[RankedPassage] = []
        unseen: list[RankedPassage] = []
        filings: list[str] = []
        rounds = 0
        while asked is not None and rounds < self.rounds:
            rounds += 1
            documents = self._documents(asked, scope, max(self.documents, depth.documents))
            filings += [doc_id for doc_id in documents if doc_id not in filings]
            within = narrowed(scope, documents[: self.documents]) if documents else scope
            found = self._passages(asked, within, depth)
            new = found[: self.passages]
            judged += new
            unseen += found[self.passages :]
            verdict = self.curator.curate(query, once([*kept, *new]), filings)
            kept = verdict.kept
            asked = None if verdict.answerable else verdict.complementary
        listed = by_position(once([*kept, *judged, *unseen]))
        of_kept = [passage.stored.doc_id for passage in kept]
        of_listed = [passage.stored.doc_id for passage in listed]
        return SearchResult(
            filings=filings_of(in_this_order([*of_kept, *filings, *of_listed])[: depth.documents], "place"),
            pages=pages_of(in_this_order(passage.stored.key for passage in listed)[: depth.pages], "place"),
            passages=listed[: depth.passages],
            rounds=rounds,
            kept=min(len(kept), depth.passages),
        )

    def _documents(self, asked: Query, scope: Scope, limit: int) -> list[str]:
        candidates = [doc_id for doc_id, _ in self.ranker.filings(Wording.of(asked), scope, self.candidates)]
        if self.scorer is None:
            return candidates[:limit]
        scores = self.scorer.score(asked.text, [self.index.filing(doc_id).summary for doc_id in candidates])
        order = sorted(range(len(candidates)), key=lambda place: (-round(scores[place], 6), place))
        return [candidates[place] for place in order[:limit]]

    def _passages(self, asked: Query, within: Scope, depth: Depth) -> list[RankedPassage]:
        found = deep_enough(self.ranker, Wording.of(asked), within, depth)
        ranked = stored(self.index, found[: max(CANDIDATES, depth.passages, depth.pages)])
        return ranked if self.scorer is None else reordered(asked.text, ranked, self.scorer)
