"""Components of one-pass strategies: a wording to search with, and rankers that score an index by it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, Protocol, TypeVar

from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.retrieval.search_query import (
    DEFAULT_DEPTH,
    EVERYTHING,
    Depth,
    Query,
    RankedFiling,
    RankedPage,
    RankedPassage,
    Scope,
    SearchResult,
    meanings,
)
from fin_agent.retrieval.search_terms import search_terms, stems_of

_WORD = re.compile(r"\w+")


class PassageKey(NamedTuple):
    """A passage: the `ordinal`-th of its filing, on the 0-based `page`."""

    doc_id: str
    page: int
    ordinal: int

    @property
    def on(self) -> PageKey:
        """The page of the passage."""
        return PageKey(self.doc_id, self.page)


@dataclass(frozen=True, slots=True)
class Wording:
    """The words to search with: texts and synonyms. The published methods use nothing else of a question."""

    texts: tuple[str, ...]
    """One or more texts; encoders use the mean of their vectors."""
    synonyms: tuple[str, ...] = ()
    made_up: bool = False
    """Whether the texts are invented passages rather than questions."""

    @classmethod
    def of(cls, query: Query) -> Wording:
        """Return the question's own words."""
        return cls((query.text,))

    def terms(self) -> tuple[str, ...]:
        """Return search terms for word search, each stem once."""
        return _each_once(search_terms(word for text in self.texts for word in _WORD.findall(text)))

    def passages(self) -> tuple[str, ...]:
        """Return each text followed by the synonyms, for encoders."""
        more = f" ({'; '.join(self.synonyms)})" if self.synonyms else ""
        return tuple(f"{text}{more}" for text in self.texts)


def _each_once(phrases: Iterable[str]) -> tuple[str, ...]:
    """Return the first of the phrases that have the same stems."""
    first: dict[tuple[str, ...], str] = {}
    for phrase in phrases:
        first.setdefault(tuple(stems_of(phrase)) or (phrase.lower(),), phrase)
    return tuple(first.values())


class Ranker(Protocol):
    """Scores filings, pages and passages by a wording; each list is best first, totally ordered, without duplicates."""

    def filings(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[str, float]]:
        """Return (doc_id, score) of filings by their summaries."""

    def pages(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[PageKey, float]]:
        """Return pages with scores by their text."""

    def passages(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[PassageKey, float]]:
        """Return passages with scores by their text."""


def restrict_scope(scope: Scope, doc_ids: Collection[str]) -> Scope:
    """Return `scope` limited to these filings."""
    wanted = tuple(doc_id for doc_id in dict.fromkeys(doc_ids) if scope.filings is None or doc_id in scope.filings)
    if scope.pages is None:
        return Scope(doc_ids=wanted)
    return Scope(doc_ids=wanted, pages=tuple(key for key in scope.pages if key.doc_id in wanted))


def allowed_pages(scope: Scope) -> tuple[PageKey, ...] | None:
    """Return the pages that may be retrieved, within the allowed filings; None where `scope` names no pages."""
    if scope.pages is None or scope.doc_ids is None:
        return scope.pages
    return tuple(key for key in scope.pages if key.doc_id in scope.doc_ids)


def load_passages(index: FilingIndex, scored: Sequence[tuple[PassageKey, float]]) -> list[RankedPassage]:
    """Return the passages with their text, in the same order."""
    pages = list(dict.fromkeys(key.on for key, _ in scored))
    held = {
        PassageKey(passage.doc_id, passage.passage.page, passage.passage.ordinal): passage
        for passage in index.passages(pages)
    }
    return [RankedPassage(held[key], score) for key, score in scored if key in held]


def without_duplicates(passages: Iterable[RankedPassage]) -> list[RankedPassage]:
    """Return each passage once, at its first position."""
    first: dict[PassageKey, RankedPassage] = {}
    for passage in passages:
        first.setdefault(key_of(passage), passage)
    return list(first.values())


def key_of(passage: RankedPassage) -> PassageKey:
    """Return the key of a ranked passage."""
    return PassageKey(passage.stored.doc_id, passage.stored.passage.page, passage.stored.passage.ordinal)


SCORES = meanings("scores")
"""Meaning of the score of a filing or page, by the name passed to `filings_of` and `pages_of`."""

_FIRST_LOOK = 256
_FURTHER = 8

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class ByPassages:
    """Ranks passages of everything in scope, or of the best filings by their summaries (HHR).

    Pages are ordered by their best passage; so are filings where none is chosen by its summary.
    """

    name: str
    index: FilingIndex
    ranker: Ranker
    wording: Callable[[Query], Wording] = Wording.of
    documents: int = 0
    """How many filings are chosen by their summaries; with 0, or if no summary matches, all are searched."""

    def search(self, query: Query, scope: Scope = EVERYTHING, depth: Depth = DEFAULT_DEPTH) -> SearchResult:
        """See Strategy.search."""
        wording = self.wording(query)
        most = max(self.documents, depth.documents)
        chosen = self.ranker.filings(wording, scope, most) if self.documents else []
        within = restrict_scope(scope, [doc_id for doc_id, _ in chosen[: self.documents]]) if chosen else scope
        found = passages_to_depth(self.ranker, wording, within, depth)
        filings = chosen or best_scores((key.doc_id, score) for key, score in found)
        return SearchResult(
            filings=filings_of(filings, "summary" if chosen else "passage")[: depth.documents],
            pages=pages_of(best_scores((key.on, score) for key, score in found), "passage")[: depth.pages],
            passages=tuple(load_passages(self.index, found[: depth.passages])),
        )


def passages_to_depth(ranker: Ranker, wording: Wording, scope: Scope, depth: Depth) -> list[tuple[PassageKey, float]]:
    """Return the best passages, enough of them to cover the wanted number of pages and filings if possible."""
    limit = max(_FIRST_LOOK, depth.passages)
    while True:
        found = ranker.passages(wording, scope, limit)
        filings, pages = {key.doc_id for key, _ in found}, {key.on for key, _ in found}
        wanted = depth.documents if scope.filings is None else min(depth.documents, len(scope.filings))
        if len(found) < limit or (len(filings) >= wanted and len(pages) >= depth.pages):
            return found
        limit *= _FURTHER


_PAGES_FOR_FILINGS = 500
"""Number of pages that are ranked, so that they come from enough filings."""


@dataclass(frozen=True, slots=True)
class PageThenChunk:
    """Finds the best `pages` pages by their whole text, then passages of those."""

    name: str
    index: FilingIndex
    ranker: Ranker
    wording: Callable[[Query], Wording] = Wording.of
    pages: int = 20

    def search(self, query: Query, scope: Scope = EVERYTHING, depth: Depth = DEFAULT_DEPTH) -> SearchResult:
        """See Strategy.search."""
        wording = self.wording(query)
        pages = self.ranker.pages(wording, scope, max(self.pages, depth.pages, _PAGES_FOR_FILINGS))
        within = Scope(pages=tuple(key for key, _ in pages[: self.pages]))
        found = self.ranker.passages(wording, within, depth.passages) if allowed_pages(within) else []
        return SearchResult(
            filings=filings_of(best_scores((key.doc_id, score) for key, score in pages), "page")[: depth.documents],
            pages=pages_of(pages, "page")[: depth.pages],
            passages=tuple(load_passages(self.index, found)),
        )


def best_scores(scored: Iterable[tuple[Key, float]]) -> list[tuple[Key, float]]:
    """Return each key with its first, and so best, score, in order."""
    best: dict[Key, float] = {}
    for key, score in scored:
        best.setdefault(key, score)
    return list(best.items())


def rank_in_order(keys: Iterable[Key]) -> list[tuple[Key, float]]:
    """Return each key once, with a score of 1 / position, for lists without comparable scores."""
    return [(key, 1.0 / place) for place, key in enumerate(dict.fromkeys(keys), start=1)]


def listed(
    passages: Iterable[RankedPassage], pages: Iterable[PageKey], filings: Iterable[str], depth: Depth, read: int = 0
) -> SearchResult:
    """Return a result from lists without comparable scores; each entry's score is 1 / position.

    `passages` are without duplicates; at least `read` of them are returned, whatever the depth.
    """
    return SearchResult(
        filings=filings_of(rank_in_order(filings)[: depth.documents], "place"),
        pages=pages_of(rank_in_order(pages)[: depth.pages], "place"),
        passages=tuple(
            RankedPassage(passage.stored, 1.0 / place)
            for place, passage in enumerate(islice(passages, max(depth.passages, read)), start=1)
        ),
    )


FUSION = 60


def reciprocal_ranks(rankings: Iterable[Iterable[Key]]) -> dict[Key, float]:
    """Return for each key the sum of 1 / (60 + rank) over the rankings (Cormack et al. 2009), in order of appearance.

    >>> fused = reciprocal_ranks([["a", "b", "c"], ["c", "b", "d"]])
    >>> sorted(fused, key=lambda key: -fused[key])
    ['c', 'b', 'a', 'd']
    """
    scores: dict[Key, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(ranking, start=1):
            scores[key] = scores.get(key, 0.0) + 1.0 / (FUSION + rank)
    return scores


def filings_of(scored: Sequence[tuple[str, float]], by: str) -> tuple[RankedFiling, ...]:
    """Return filings as a result lists them; `by` names the kind of score (see SCORES)."""
    return tuple(RankedFiling(doc_id, score, ((by, round(score, 4)),)) for doc_id, score in scored)


def pages_of(scored: Sequence[tuple[PageKey, float]], by: str) -> tuple[RankedPage, ...]:
    """Return pages as a result lists them; `by` names the kind of score (see SCORES)."""
    return tuple(RankedPage(key, score, ((by, round(score, 4)),)) for key, score in scored)


MAX_TERMS = 64
"""Most terms of a search, the rarest first; the longest questions of the benchmarks have about forty."""
SYNONYM_WEIGHT = 0.5
"""Weight of a synonym relative to a word of the question (Voorhees 1994: a higher weight harms)."""
SYNONYM_DEPTH = 1000
"""Depth to which the rankings by words and by synonyms are read before their scores are added."""
_ALL = 1_000_000_000


class WordRanker:
    """BM25 as the index computes it: statistics of the whole index, whatever the scope; k1 = 1.2, b = 0.75.

    Each word counts once. Synonyms of a wording are phrases and count half, like a boost in Lucene.
    """

    def __init__(self, index: FilingIndex) -> None:
        self._index = index

    def filings(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[str, float]]:
        """See Ranker.filings."""
        return self._sum_scores(
            wording, limit, lambda terms, most: self._index.search_summaries(terms, doc_ids=scope.filings, limit=most)
        )

    def pages(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[PageKey, float]]:
        """See Ranker.pages."""
        pages = allowed_pages(scope)
        wanted = None if pages is None else frozenset(pages)

        def search(terms: Sequence[str], most: int) -> list[tuple[PageKey, float]]:
            hits = self._index.search_pages(terms, doc_ids=scope.filings, limit=most if wanted is None else _ALL)
            return [(hit.key, hit.score) for hit in hits if wanted is None or hit.key in wanted][:most]

        return self._sum_scores(wording, limit, search)

    def passages(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[PassageKey, float]]:
        """See Ranker.passages."""
        pages = allowed_pages(scope)

        def search(terms: Sequence[str], most: int) -> list[tuple[PassageKey, float]]:
            hits = self._index.search_passages(terms, doc_ids=scope.filings, pages=pages, limit=most)
            return [(PassageKey(hit.doc_id, hit.page, hit.ordinal), hit.score) for hit in hits]

        return self._sum_scores(wording, limit, search)

    def _sum_scores(
        self, wording: Wording, limit: int, search: Callable[[Sequence[str], int], list[tuple[Key, float]]]
    ) -> list[tuple[Key, float]]:
        terms = rarest_terms(wording.terms(), self._index)
        if not wording.synonyms:
            return search(terms, limit)
        deep = max(limit, SYNONYM_DEPTH)
        scores = dict(search(terms, deep))
        for key, score in search(rarest_terms(wording.synonyms, self._index), deep):
            scores[key] = scores.get(key, 0.0) + SYNONYM_WEIGHT * score
        # A stable sort: equal scores keep the order of the question's words, then of the synonyms.
        return sorted(scores.items(), key=lambda scored: -round(scored[1], 9))[:limit]


FUSED_DEPTH = 1000
"""Depth to which fused rankings are read; lower ranks add almost nothing."""


@dataclass(frozen=True, slots=True)
class FusedRanker:
    """Fuses the results of several rankers by rank, with equal weights."""

    rankers: tuple[Ranker, ...]

    def filings(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[str, float]]:
        """See Ranker.filings."""
        return fuse_rankings([ranker.filings(wording, scope, FUSED_DEPTH) for ranker in self.rankers])[:limit]

    def pages(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[PageKey, float]]:
        """See Ranker.pages."""
        return fuse_rankings([ranker.pages(wording, scope, FUSED_DEPTH) for ranker in self.rankers])[:limit]

    def passages(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[PassageKey, float]]:
        """See Ranker.passages."""
        return fuse_rankings([ranker.passages(wording, scope, FUSED_DEPTH) for ranker in self.rankers])[:limit]


def fuse_rankings(rankings: Sequence[Sequence[tuple[Key, float]]]) -> list[tuple[Key, float]]:
    """Return all keys, best first, with scores of 1 / position; ties are in the order of the first ranking."""
    scores = reciprocal_ranks([key for key, _ in ranking] for ranking in rankings)
    return rank_in_order(sorted(scores, key=lambda key: -scores[key]))


def rarest_terms(terms: Sequence[str], index: FilingIndex, most: int = MAX_TERMS) -> tuple[str, ...]:
    """Return `terms`, or if there are more than `most`, those on the fewest pages, in the order given.

    A phrase counts by its rarest word. Terms that occur nowhere come last.
    """
    if len(terms) <= most:
        return tuple(terms)
    stems = {term: stems_of(term) for term in terms}
    pages = index.document_frequencies({stem for of_term in stems.values() for stem in of_term})
    counts = {term: min((pages.get(stem, 0) for stem in of_term), default=0) for term, of_term in stems.items()}
    chosen = set(sorted(terms, key=lambda term: (counts[term] == 0, counts[term]))[:most])
    return tuple(term for term in terms if term in chosen)


def expand_question(query: Query) -> Wording:
    """Return the question as `bm25` searches for it, with company, year, expansions and synonyms.

    Each phrase counts once, however it is written or inflected, like a word of the question. Otherwise phrases that the
    lexicon lists in several forms (`Net revenue`, `net revenues`) would outweigh the question.
    """
    years = (f"fiscal year {'20' * (len(year) == 2)}{year}" for year in _SHORT_YEAR.findall(query.text))
    return Wording((query.text,), _each_once((*query.expansions, *query.synonyms, *years)))


_SHORT_YEAR = re.compile(r"\bFY\s?'?(\d{2}|\d{4})\b", re.I)
