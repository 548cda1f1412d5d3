"""Strategies of one pass: a wording made of the query, and one arrangement of rankers that is searched with it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.retrieval.query import (
    EVERYTHING,
    USUAL_DEPTH,
    Depth,
    Query,
    RankedFiling,
    RankedPage,
    Scope,
    SearchResult,
)
from fin_agent.retrieval.strategies.ranking import PassageKey, Ranker, Wording, stored

SCORES = {
    "passage": "score of its best passage",
    "page": "score of its best page, or its own as a page",
    "summary": "score of its summary",
    "place": "1 / its place: what several searches or models ordered has no scores that could be compared",
}
"""What the score of a filing or page is, by the name given to `filings_of` and `pages_of`."""

_FIRST_LOOK = 256
_FURTHER = 8

Key = TypeVar("Key", bound=Hashable)


class Arrangement(Protocol):
    """An order in which rankers are asked."""

    def find(self, wording: Wording, scope: Scope, depth: Depth) -> SearchResult:
        """As Strategy.search, by a wording alone."""


@dataclass(frozen=True, slots=True)
class OnePass:
    """A strategy that searches once; see Strategy."""

    name: str
    arrangement: Arrangement
    wording: Callable[[Query], Wording] = Wording.of

    def search(self, query: Query, scope: Scope = EVERYTHING, depth: Depth = USUAL_DEPTH) -> SearchResult:
        """See Strategy.search."""
        return self.arrangement.find(self.wording(query), scope, depth)


@dataclass(frozen=True, slots=True)
class Flat:
    """Passages of everything in scope; pages and filings in the order of their best passage."""

    index: FilingIndex
    ranker: Ranker

    def find(self, wording: Wording, scope: Scope, depth: Depth) -> SearchResult:
        """See Arrangement.find."""
        found = deep_enough(self.ranker, wording, scope, depth)
        return SearchResult(
            filings=filings_of(best_of((key.doc_id, score) for key, score in found), "passage")[: depth.documents],
            pages=pages_of(best_of((key.on, score) for key, score in found), "passage")[: depth.pages],
            passages=tuple(stored(self.index, found[: depth.passages])),
        )


def deep_enough(ranker: Ranker, wording: Wording, scope: Scope, depth: Depth) -> list[tuple[PassageKey, float]]:
    """The best passages, so many that as many pages and filings as wanted are among them, if there are that many."""
    limit = max(_FIRST_LOOK, depth.passages)
    while True:
        found = ranker.passages(wording, scope, limit)
        filings, pages = {key.doc_id for key, _ in found}, {key.on for key, _ in found}
        wanted = depth.documents if scope.filings is None else min(depth.documents, len(scope.filings))
        if len(found) < limit or (len(filings) >= wanted and len(pages) >= depth.pages):
            return found
        limit *= _FURTHER


def best_of(scored: Iterable[tuple[Key, float]]) -> list[tuple[Key, float]]:
    """The first, and so best, score of each, in order."""
    best: dict[Key, float] = {}
    for key, score in scored:
        best.setdefault(key, score)
    return list(best.items())


def in_this_order(keys: Iterable[Key]) -> list[tuple[Key, float]]:
    """Each key once, with a score of 1 / position: what several searches found has no scores that can be compared."""
    return [(key, 1.0 / place) for place, key in enumerate(dict.fromkeys(keys), start=1)]


def filings_of(scored: Sequence[tuple[str, float]], by: str) -> tuple[RankedFiling, ...]:
    """As listed in a result; `by` names what the score is of."""
    return tuple(RankedFiling(doc_id, score, ((by, round(score, 4)),)) for doc_id, score in scored)


def pages_of(scored: Sequence[tuple[PageKey, float]], by: str) -> tuple[RankedPage, ...]:
    """As listed in a result; `by` names what the score is of."""
    return tuple(RankedPage(key, score, ((by, round(score, 4)),)) for key, score in scored)
