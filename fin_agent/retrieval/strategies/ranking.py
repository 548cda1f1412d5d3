"""What one-pass strategies are made of: a wording to search with, and rankers that score an index by it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.retrieval.query import Query, RankedPassage, Scope
from fin_agent.retrieval.terms import search_terms, stems_of

_WORD = re.compile(r"\w+")


class PassageKey(NamedTuple):
    """A passage: the `ordinal`-th of its filing, on the 0-based `page`."""

    doc_id: str
    page: int
    ordinal: int

    @property
    def on(self) -> PageKey:
        """The page it stands on."""
        return PageKey(self.doc_id, self.page)


@dataclass(frozen=True, slots=True)
class Wording:
    """What is searched with: texts, and terms that mean the same. The published methods see no more of a question."""

    texts: tuple[str, ...]
    """One or more; encoders take the mean of their vectors."""
    synonyms: tuple[str, ...] = ()
    made_up: bool = False
    """Whether the texts are passages as filings might hold them, no questions."""

    @classmethod
    def of(cls, query: Query) -> Wording:
        """The question's own words."""
        return cls((query.text,))

    def terms(self) -> tuple[str, ...]:
        """For word search: the words that say something, each once, however it is written or inflected."""
        first: dict[tuple[str, ...], str] = {}
        for word in search_terms(word for text in self.texts for word in _WORD.findall(text)):
            first.setdefault(tuple(stems_of(word)) or (word.lower(),), word)
        return tuple(first.values())

    def passages(self) -> tuple[str, ...]:
        """For encoders: each text, the synonyms behind it."""
        more = f" ({'; '.join(self.synonyms)})" if self.synonyms else ""
        return tuple(f"{text}{more}" for text in self.texts)


class Ranker(Protocol):
    """Scores filings, pages and passages by a wording; each list best first, in a total order, without duplicates."""

    def filings(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[str, float]]:
        """(doc_id, score) by their summaries."""

    def pages(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[PageKey, float]]:
        """Pages by their text."""

    def passages(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[PassageKey, float]]:
        """Passages by their text."""


def narrowed(scope: Scope, doc_ids: Collection[str]) -> Scope:
    """`scope`, and of it only these filings."""
    wanted = tuple(doc_id for doc_id in dict.fromkeys(doc_ids) if scope.filings is None or doc_id in scope.filings)
    if scope.pages is None:
        return Scope(doc_ids=wanted)
    return Scope(doc_ids=wanted, pages=tuple(key for key in scope.pages if key.doc_id in wanted))


def allowed_pages(scope: Scope) -> tuple[PageKey, ...] | None:
    """The pages that may be retrieved, where pages are named at all; of the filings allowed only."""
    if scope.pages is None or scope.doc_ids is None:
        return scope.pages
    return tuple(key for key in scope.pages if key.doc_id in scope.doc_ids)


def stored(index: FilingIndex, scored: Sequence[tuple[PassageKey, float]]) -> list[RankedPassage]:
    """The passages with their text, in their order."""
    pages = list(dict.fromkeys(key.on for key, _ in scored))
    held = {
        PassageKey(passage.doc_id, passage.passage.page, passage.passage.ordinal): passage
        for passage in index.passages(pages)
    }
    return [RankedPassage(held[key], score) for key, score in scored if key in held]


def once(passages: Iterable[RankedPassage]) -> list[RankedPassage]:
    """Each passage where it comes first."""
    first: dict[PassageKey, RankedPassage] = {}
    for passage in passages:
        first.setdefault(key_of(passage), passage)
    return list(first.values())


def by_position(passages: Iterable[RankedPassage]) -> tuple[RankedPassage, ...]:
    """With a score of 1 / position: what several searches or models ordered has no scores that could be compared."""
    return tuple(RankedPassage(passage.stored, 1.0 / place) for place, passage in enumerate(passages, start=1))


def key_of(passage: RankedPassage) -> PassageKey:
    """Where a ranked passage stands."""
    return PassageKey(passage.stored.doc_id, passage.stored.passage.page, passage.stored.passage.ordinal)
