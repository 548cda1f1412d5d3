"""One-pass strategies: a wording to search with, rankers that score an index by it, and the package's own search."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from fin_agent.index.protocol import FilingIndex, PageKey, StoredPassage, VectorUnit
from fin_agent.retrieval.document_ranking import rank_filings
from fin_agent.retrieval.page_ranking import rank_pages, rank_passages
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
from fin_agent.retrieval.search_terms import page_counts, search_terms, stems_of
from fin_agent.workspace import Workspace

if TYPE_CHECKING:
    from fin_agent.retrieval.dense.encoder import Encoder, SparseEncoder, SparseRow
    from fin_agent.retrieval.dense.store import Scores

_WORD = re.compile(r"\w+")
Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)
SCORES = meanings("scores")
"""Meaning of the score of a filing or page, by the name passed to `filings_of` and `pages_of`."""
_FIRST_LOOK, _FURTHER = 256, 8
_PAGES_FOR_FILINGS = 500
"""Number of pages that are ranked, so that they come from enough filings."""
FUSION = 60
MAX_TERMS = 64
"""Most terms of a search, the rarest first; the longest questions of the benchmarks have about forty."""
SYNONYM_WEIGHT = 0.5
"""Weight of a synonym relative to a word of the question (Voorhees 1994: a higher weight harms)."""
SYNONYM_DEPTH = 1000
"""Depth to which the rankings by words and by synonyms are read before their scores are added."""
_ALL = 1_000_000_000
FUSED_DEPTH = 1000
"""Depth to which fused rankings are read; lower ranks add almost nothing."""
_SHORT_YEAR = re.compile(r"\bFY\s?'?(\d{2}|\d{4})\b", re.I)
_CACHE_SIZE, _FILINGS_KEPT = 32, 1024
"""Numbers of wordings whose vectors are cached, because the stages of one search use the same ones, and of filings the
pages of whose passages are."""


class Place(NamedTuple):
    """A passage: the `ordinal`-th of its filing, on the 0-based `page`; without the ordinal a page, else a filing."""

    doc_id: str
    page: int = -1
    ordinal: int = -1

    @property
    def on(self) -> PageKey:
        """The page."""
        return PageKey(self.doc_id, self.page)


Scored = list[tuple[Place, float]]
"""Places with their scores, best first, totally ordered, without duplicates."""


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
    return _first_of_each(phrases, lambda phrase: tuple(stems_of(phrase)) or (phrase.lower(),))


def _first_of_each(items: Iterable[Item], key: Callable[[Item], Hashable]) -> tuple[Item, ...]:
    """Return the first item of each key, in order."""
    first: dict[Hashable, Item] = {}
    for item in items:
        first.setdefault(key(item), item)
    return tuple(first.values())


Ranker = Callable[[VectorUnit, Wording, Scope, int], Scored]
"""Returns the best summaries, pages or passages for a wording, as many as the last argument says: filings are scored by
their summaries, pages and passages by their text."""


def restrict_scope(scope: Scope, doc_ids: Collection[str]) -> Scope:
    """Return `scope` limited to these filings."""
    within = scope.filings
    return Scope(tuple(doc_id for doc_id in dict.fromkeys(doc_ids) if within is None or doc_id in within), scope.pages)


def allowed_pages(scope: Scope) -> frozenset[PageKey] | None:
    """Return the pages that may be retrieved, within the allowed filings; None where `scope` names no pages."""
    return None if scope.pages is None else frozenset(filter(scope.holds, scope.pages))


def passages_by_ordinal(index: FilingIndex, doc_id: str) -> dict[int, StoredPassage]:
    """Return all passages of a filing by ordinal, in order."""
    return {stored.passage.ordinal: stored for stored in index.passages(index.filing(doc_id).page_keys)}


def load_passages(index: FilingIndex, scored: Scored) -> list[RankedPassage]:
    """Return the passages with their text, in the same order."""
    pages = list(dict.fromkeys(place.on for place, _ in scored))
    held = {(stored.doc_id, stored.passage.ordinal): stored for stored in index.passages(pages)}
    keys = [((place.doc_id, place.ordinal), score) for place, score in scored]
    return [RankedPassage(held[key], score) for key, score in keys if key in held]


def without_duplicates(passages: Iterable[RankedPassage]) -> list[RankedPassage]:
    """Return each passage once, at its first position."""
    return list(_first_of_each(passages, lambda passage: (passage.stored.doc_id, passage.stored.passage.ordinal)))


def search_passages(
    index: FilingIndex,
    ranker: Ranker,
    wording_of: Callable[[Query], Wording],
    documents: int,
    query: Query,
    scope: Scope,
    depth: Depth,
) -> SearchResult:
    """Search passages of everything in scope, or of the `documents` best filings by their summaries (HHR).

    With 0 documents, or if no summary matches, all are searched. Pages are ordered by their best passage; so are
    filings where none is chosen by its summary.
    """
    wording = wording_of(query)
    most = max(documents, depth.documents)
    chosen = ranker(VectorUnit.SUMMARY, wording, scope, most) if documents else []
    within = restrict_scope(scope, [place.doc_id for place, _ in chosen[:documents]]) if chosen else scope
    found = passages_to_depth(ranker, wording, within, depth)
    return SearchResult(
        filings=filings_of(chosen or found, "summary" if chosen else "passage")[: depth.documents],
        pages=pages_of(found, "passage")[: depth.pages],
        passages=tuple(load_passages(index, found[: depth.passages])),
    )


def passages_to_depth(ranker: Ranker, wording: Wording, scope: Scope, depth: Depth) -> Scored:
    """Return the best passages, enough of them to cover the wanted number of pages and filings if possible."""
    limit = max(_FIRST_LOOK, depth.passages)
    while True:
        found = ranker(VectorUnit.PASSAGE, wording, scope, limit)
        filings, pages = {place.doc_id for place, _ in found}, {place.on for place, _ in found}
        wanted = depth.documents if scope.filings is None else min(depth.documents, len(scope.filings))
        if len(found) < limit or (len(filings) >= wanted and len(pages) >= depth.pages):
            return found
        limit *= _FURTHER


def search_pages_first(
    index: FilingIndex,
    ranker: Ranker,
    wording_of: Callable[[Query], Wording],
    most: int,
    query: Query,
    scope: Scope,
    depth: Depth,
) -> SearchResult:
    """Search for the `most` best pages by their whole text, then for passages of those."""
    wording = wording_of(query)
    pages = ranker(VectorUnit.PAGE, wording, scope, max(most, depth.pages, _PAGES_FOR_FILINGS))
    within = Scope(pages=tuple(place.on for place, _ in pages[:most]))
    found = ranker(VectorUnit.PASSAGE, wording, within, depth.passages) if within.pages else []
    return SearchResult(
        filings=filings_of(pages, "page")[: depth.documents],
        pages=pages_of(pages, "page")[: depth.pages],
        passages=tuple(load_passages(index, found)),
    )


def listed(
    passages: Iterable[RankedPassage], pages: Iterable[PageKey], filings: Iterable[str], depth: Depth, read: int = 0
) -> SearchResult:
    """Return a result from lists without comparable scores; each entry's score is 1 / position.

    `passages` are without duplicates; at least `read` of them are returned, whatever the depth.
    """
    taken = islice(passages, max(depth.passages, read))
    return SearchResult(
        filings=filings_of(_by_position(map(Place, dict.fromkeys(filings))), "place")[: depth.documents],
        pages=pages_of(_by_position(Place(*key) for key in dict.fromkeys(pages)), "place")[: depth.pages],
        passages=tuple(RankedPassage(passage.stored, 1.0 / place) for place, passage in enumerate(taken, start=1)),
    )


def _by_position(places: Iterable[Place]) -> Scored:
    return [(key, 1.0 / place) for place, key in enumerate(places, start=1)]


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


def filings_of(scored: Scored, by: str) -> tuple[RankedFiling, ...]:
    """Return each filing with its first, and so best, score; `by` names the kind of score (see SCORES)."""
    best = _first_of_each(scored, lambda pair: pair[0].doc_id)
    return tuple(RankedFiling(place.doc_id, score, ((by, round(score, 4)),)) for place, score in best)


def pages_of(scored: Scored, by: str) -> tuple[RankedPage, ...]:
    """Return each page with its first, and so best, score; `by` names the kind of score (see SCORES)."""
    best = _first_of_each(scored, lambda pair: pair[0].on)
    return tuple(RankedPage(place.on, score, ((by, round(score, 4)),)) for place, score in best)


def rank_by_words(index: FilingIndex, unit: VectorUnit, wording: Wording, scope: Scope, limit: int) -> Scored:
    """Rank by BM25 as the index computes it: statistics of the whole index, whatever the scope; k1 = 1.2, b = 0.75.

    Each word counts once. Synonyms of a wording are phrases and count half, like a boost in Lucene.
    """

    def search(terms: Sequence[str], most: int) -> Scored:
        terms = rarest_terms(terms, index)
        if unit is VectorUnit.SUMMARY:
            found = index.search_summaries(terms, doc_ids=scope.filings, limit=most)
            return [(Place(doc_id), score) for doc_id, score in found]
        pages = allowed_pages(scope)
        filings = scope.filings if pages is None else {key.doc_id for key in pages}
        find, of_passage = (index.search_pages, False) if unit is VectorUnit.PAGE else (index.search_passages, True)
        hits = find(terms, doc_ids=filings, limit=most if pages is None else _ALL)
        inside = [hit for hit in hits if pages is None or hit.key in pages][:most]
        return [(Place(*(hit[:3] if of_passage else hit.key)), hit.score) for hit in inside]

    if not wording.synonyms:
        return search(wording.terms(), limit)
    deep = max(limit, SYNONYM_DEPTH)
    scores = dict(search(wording.terms(), deep))
    for place, score in search(wording.synonyms, deep):
        scores[place] = scores.get(place, 0.0) + SYNONYM_WEIGHT * score
    # A stable sort: equal scores keep the order of the question's words, then of the synonyms.
    return sorted(scores.items(), key=lambda scored: -round(scored[1], 9))[:limit]


def rank_fused(rankers: Sequence[Ranker], unit: VectorUnit, wording: Wording, scope: Scope, limit: int) -> Scored:
    """Fuse the results of several rankers by rank, with equal weights; ties are in the order of the first.

    A score is 1 / position.
    """
    rankings = [ranker(unit, wording, scope, FUSED_DEPTH) for ranker in rankers]
    scores = reciprocal_ranks([place for place, _ in ranking] for ranking in rankings)
    return _by_position(sorted(scores, key=lambda place: -scores[place]))[:limit]


def rarest_terms(terms: Sequence[str], index: FilingIndex, most: int = MAX_TERMS) -> tuple[str, ...]:
    """Return `terms`, or if there are more than `most`, those on the fewest pages, in the order given.

    A phrase counts by its rarest word. Terms that occur nowhere come last.
    """
    if len(terms) <= most:
        return tuple(terms)
    counts = {term: min(pages, default=0) for term, pages in page_counts(terms, index).items()}
    chosen = set(sorted(terms, key=lambda term: (counts[term] == 0, counts[term]))[:most])
    return tuple(term for term in terms if term in chosen)


def expand_question(query: Query) -> Wording:
    """Return the question as `bm25` searches for it, with company, year, expansions and synonyms.

    Each phrase counts once, however it is written or inflected, like a word of the question. Otherwise phrases that the
    lexicon lists in several forms (`Net revenue`, `net revenues`) would outweigh the question.
    """
    years = (f"fiscal year {'20' * (len(year) == 2)}{year}" for year in _SHORT_YEAR.findall(query.text))
    return Wording((query.text,), _each_once((*query.expansions, *query.synonyms, *years)))


def vector_ranker(
    index: FilingIndex,
    model: str,
    vector_of: Callable[[Wording], Scores | SparseRow],
    *,
    windows: bool = False,
) -> Ranker:
    """Return exact search in the vectors that one model made of an index (Karpukhin et al. 2020 for dense ones).

    With `windows`, a passage has the score of its nearest window: small windows are matched, their passages returned.
    """
    from fin_agent.retrieval.dense.store import VectorStore

    stores = {unit: VectorStore(index, model, unit) for unit in VectorUnit}
    vectors = lru_cache(maxsize=_CACHE_SIZE)(vector_of)

    @lru_cache(maxsize=_FILINGS_KEPT)
    def pages_of(doc_id: str, content_hash: str) -> dict[int, int]:
        return {ordinal: stored.passage.page for ordinal, stored in passages_by_ordinal(index, doc_id).items()}

    def rank(unit: VectorUnit, wording: Wording, scope: Scope, limit: int) -> Scored:
        pages, vector = allowed_pages(scope), vectors(wording)
        places: Collection[tuple[str, int]] | None = pages if unit is VectorUnit.PAGE else None
        if unit is VectorUnit.PASSAGE:
            unit = VectorUnit.WINDOW if windows else VectorUnit.PASSAGE
            held = None if pages is None else index.passages(sorted(pages))
            places = None if held is None else [(stored.doc_id, stored.passage.ordinal) for stored in held]
        hits = stores[unit].search(vector, limit, doc_ids=scope.filings, places=places)
        if unit is VectorUnit.SUMMARY:
            return [(Place(hit.doc_id), hit.score) for hit in hits]
        if unit is VectorUnit.PAGE:
            return [(Place(hit.doc_id, hit.place), hit.score) for hit in hits]
        on = {doc_id: pages_of(doc_id, index.filing(doc_id).content_hash) for doc_id in {hit.doc_id for hit in hits}}
        found = [(hit, on[hit.doc_id].get(hit.place)) for hit in hits]
        return [(Place(hit.doc_id, page, hit.place), hit.score) for hit, page in found if page is not None]

    return rank


def dense_vector(encoder: Encoder, wording: Wording) -> Scores:
    """Return the mean of the vectors of the texts, each of length 1; invented texts are encoded as passages."""
    encode = encoder.encode_passages if wording.made_up else encoder.encode_queries
    # One at a time: in a batch, the padding of short texts changes the last digits.
    vectors = [encode([text])[0] for text in wording.passages()]
    mean: Scores = sum(vectors[1:], vectors[0]) / len(vectors)
    return mean


def sparse_vector(encoder: SparseEncoder, wording: Wording) -> SparseRow:
    """Return the mean of the term weights of the texts."""
    import numpy as np

    from fin_agent.retrieval.dense.encoder import SparseRow

    encode = encoder.encode_passages if wording.made_up else encoder.encode_queries
    rows = [encode([text])[0] for text in wording.passages()]
    terms = np.concatenate([row.terms for row in rows])
    weights = np.concatenate([row.weights for row in rows])
    held, at = np.unique(terms, return_inverse=True)
    sums = np.bincount(at, weights=weights, minlength=len(held)) / len(rows)
    return SparseRow(held, sums.astype(np.float32))


def page_similarity(ranker: Ranker, query: Query, doc_ids: Collection[str]) -> dict[PageKey, float]:
    """Return the cosine of each page of these filings, or of its nearest passage if that is higher.

    The ranker has vectors of pages and of passages.
    """
    wording, scope = Wording.of(query), Scope(doc_ids=tuple(doc_ids))
    cosines = {place.on: cosine for place, cosine in ranker(VectorUnit.PAGE, wording, scope, _ALL)}
    for place, cosine in ranker(VectorUnit.PASSAGE, wording, scope, _ALL):
        cosines[place.on] = max(cosine, cosines.get(place.on, cosine))
    return cosines


@dataclass(frozen=True, slots=True)
class Staged:
    """The package's own search; the only strategy that uses more of a query than its words."""

    workspace: Workspace
    documents: int = 5
    pages: int = 20
    likeness: Callable[[Query, Collection[str]], dict[PageKey, float]] | None = None
    """Cosines of the pages of filings, if the page stage uses vectors."""

    def search(self, query: Query, scope: Scope = EVERYTHING, depth: Depth = DEFAULT_DEPTH) -> SearchResult:
        """See Search."""
        most = max(self.documents, depth.documents)
        filings = rank_filings(query, self.workspace, within=scope.filings, limit=most)
        searched = filings[: self.documents]
        like = self.likeness(query, [filing.doc_id for filing in searched]) if self.likeness else None
        most = max(self.pages, depth.pages)
        pages = rank_pages(query, searched, self.workspace, only=scope.pages, limit=most, likeness=like)
        passages = rank_passages(query, pages, self.workspace, limit=depth.passages)
        return SearchResult(tuple(filings[: depth.documents]), tuple(pages[: depth.pages]), tuple(passages))
