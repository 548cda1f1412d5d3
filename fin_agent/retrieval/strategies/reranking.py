"""`rerank`, `tournament`: reorder the first passages of another strategy.

The order comes from a cross-encoder (Nogueira and Cho 2019), or from a tournament of their cards (FinCards).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fin_agent.retrieval.search_query import (
    DEFAULT_DEPTH,
    EVERYTHING,
    Depth,
    Query,
    RankedPassage,
    Scope,
    SearchResult,
)
from fin_agent.retrieval.strategies.one_pass import listed
from fin_agent.retrieval.strategies.protocol import PassageOrder, PassageScorer, Strategy

CANDIDATES = 50


@dataclass(frozen=True, slots=True)
class Reranked:
    """Reorders the `candidates` best passages of `base`; the others keep their order.

    Pages and filings are ordered by their best passage, then as in `base`.
    """

    name: str
    base: Strategy
    order: PassageOrder
    candidates: int = CANDIDATES

    def search(self, query: Query, scope: Scope = EVERYTHING, depth: Depth = DEFAULT_DEPTH) -> SearchResult:
        """See Strategy.search. Passages that `base` keeps for an answer stay before the others."""
        deep = Depth(depth.documents, depth.pages, max(depth.passages, self.candidates))
        found = self.base.search(query, scope, deep)
        first, behind = found.passages[: self.candidates], found.passages[self.candidates :]
        kept = min(found.kept or 0, len(first))
        orderings = [self.order(query, part) for part in (first[:kept], first[kept:]) if part]
        ordered = [passage for passages, _ in orderings for passage in passages]
        pages = [*(passage.stored.key for passage in ordered), *(page.key for page in found.pages)]
        filings = [*(passage.stored.doc_id for passage in ordered), *(filing.doc_id for filing in found.filings)]
        return replace(
            listed([*ordered, *behind], pages, filings, depth),
            rounds=found.rounds,
            kept=None if found.kept is None else min(found.kept, depth.passages),
            groups=tuple(group for _, groups in orderings for group in groups),
        )


def score_order(scorer: PassageScorer) -> PassageOrder:
    """Return the order by the scores of a scorer."""
    return lambda query, passages: (order_by_scores(query.text, passages, scorer), ())


def order_by_scores(
    question: str,
    passages: Sequence[RankedPassage],
    scorer: PassageScorer,
    title: Callable[[str], str] = lambda doc_id: "",
) -> list[RankedPassage]:
    """Return the passages ordered by the scorer's scores, best first; ties keep their order.

    `title` returns the prefix of a passage's text for its filing.
    """
    if not passages:
        return []
    scores = scorer(question, [title(each.stored.doc_id) + each.stored.passage.text for each in passages])
    order = sorted(range(len(passages)), key=lambda place: (-round(scores[place], 6), place))
    return [RankedPassage(passages[place].stored, scores[place]) for place in order]
