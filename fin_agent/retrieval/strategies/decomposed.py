"""`sub-questions`: a question taken apart, each part searched for on its own, the findings dealt out in turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Protocol, TypeVar

from fin_agent.retrieval.query import EVERYTHING, USUAL_DEPTH, Depth, Query, Scope, SearchResult
from fin_agent.retrieval.strategies.flat import filings_of, in_this_order, pages_of
from fin_agent.retrieval.strategies.protocol import Strategy
from fin_agent.retrieval.strategies.ranking import by_position, once

Found = TypeVar("Found")

_READ_OF_EACH = 2
"""Passages of each part that an answer is written from at least."""


class Decomposer(Protocol):
    """Takes a query apart. Deterministic where no model is asked; safe to share between threads."""

    def parts(self, query: Query) -> Sequence[Query]:
        """Queries that each look for one thing of what `query` looks for; none where it cannot be taken apart."""


class Decomposed:
    """Searches for the whole question and for each of its parts, by another strategy.

    The best of each search come first, then the second best and so on: a part that is hard to find is not crowded out
    by one that many pages speak of.
    """

    def __init__(self, name: str, base: Strategy, decomposer: Decomposer, *, passages: int = 5) -> None:
        self._name = name
        self._base = base
        self._decomposer = decomposer
        self._passages = passages

    @property
    def name(self) -> str:
        """See Strategy.name."""
        return self._name

    def search(self, query: Query, scope: Scope = EVERYTHING, depth: Depth = USUAL_DEPTH) -> SearchResult:
        """See Strategy.search."""
        asked = [query, *self._decomposer.parts(query)]
        results = [self._base.search(each, scope, depth) for each in asked]
        if len(results) == 1:
            return results[0]
        listed = once(_in_turn(result.passages for result in results))
        read = max(self._passages, _READ_OF_EACH * len(results))
        filings = _in_turn([filing.doc_id for filing in result.filings] for result in results)
        pages = _in_turn([page.key for page in result.pages] for result in results)
        return SearchResult(
            filings=filings_of(in_this_order(filings)[: depth.documents], "place"),
            pages=pages_of(in_this_order(pages)[: depth.pages], "place"),
            passages=by_position(listed)[: depth.passages],
            kept=min(len(listed), read, depth.passages),
        )


def _in_turn(lists: Iterable[Sequence[Found]]) -> list[Found]:
    """The first of each list, then the second of each, and so on."""
    missing = object()
    dealt = zip_longest(*lists, fillvalue=missing)
    return [each for row in dealt for each in row if each is not missing]  # type: ignore[misc]
