"""How well the words of filings fit a question: those of their pages, one after another, and of their summaries."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from weakref import WeakKeyDictionary

from fin_agent.index.protocol import FilingEntry, FilingIndex
from fin_agent.retrieval.search_query import Query
from fin_agent.retrieval.search_terms import stem, stems_of, stopwords

_DEAREST = 5
"""How many times the cost allowed even the only term may have."""
_VERY_MANY = 50_000
"""Pages up to which no single word costs enough to matter."""
_COMMON = 0.5
"""Share of pages from which SQLite's BM25 gives a word no weight."""


@dataclass(frozen=True, slots=True)
class SearchCost:
    """What a search costs for each page that holds a word of it, and how much it may cost in all."""

    of_word: float
    of_phrase: float
    most: float


_PAGES_LOOKED_AT = 200
_EXPANSIONS = 0.4
"""What terms that filings use for the same thing count beside the question's own."""
_COST_OF_ALL = SearchCost(of_word=1.0, of_phrase=0.25, most=10_000)
"""Every page that holds a word is scored, at some three microseconds."""
_COST_WITHIN = SearchCost(of_word=1.0, of_phrase=12.0, most=2_500_000)
"""Few pages are scored, but how many hold a phrase is counted over all, at a quarter of a microsecond for each word."""


@dataclass(frozen=True, slots=True)
class WordFit:
    """Scores of a filing, each from 0 to 1: 1 is the score of the best filing."""

    pages: float = 0.0
    """Its best page by the question's words, and less by those that filings use for the same."""
    phrases: float = 0.0
    """Its best page by words that stand side by side in the question; 1 is the best by words, where that is better."""
    summary: float = 0.0


NO_WORDS = WordFit()


def word_fits(query: Query, index: FilingIndex, doc_ids: Sequence[str]) -> dict[str, WordFit]:
    """The fit of those of `doc_ids` that hold any of the words."""
    terms = _best_pages(index, query.terms, doc_ids)
    pages = _combine_scores(terms, _best_pages(index, query.expansions, doc_ids))
    return {doc_id: WordFit(pages=score) for doc_id, score in pages.items()}


def word_fits_of_all(query: Query, index: FilingIndex, doc_ids: Sequence[str] | None) -> dict[str, WordFit]:
    """The fit of filings that fit best by their words, of all there are or of `doc_ids`: words are all to go by."""
    terms = _best_pages(index, query.terms, doc_ids)
    pages = _combine_scores(terms, _best_pages(index, query.expansions, doc_ids))
    phrases = _best_pages(index, phrases_of(query), doc_ids)
    best = max(_top(phrases), _top(terms))  # two common words side by side are no better than one rare word
    summaries = dict(index.search_summaries(query.terms, doc_ids=doc_ids, limit=_PAGES_LOOKED_AT))
    best_summary = _top(summaries)
    return {
        doc_id: WordFit(
            pages.get(doc_id, 0.0), phrases.get(doc_id, 0.0) / best, summaries.get(doc_id, 0.0) / best_summary
        )
        for doc_id in {**pages, **phrases, **summaries}
    }


def phrases_of(query: Query) -> tuple[str, ...]:
    """Pairs of search terms that stand side by side in the question."""
    wanted = {stem(word) for term in query.terms for word in re.findall(r"\w+", term.lower())}
    words = re.findall(r"[^\W_]+|[.,;:?!()]", query.text.lower())
    pairs = (
        f"{first} {second}"
        for first, second in pairwise(words)
        if first not in stopwords() and second not in stopwords() and {stem(first), stem(second)} <= wanted
    )
    return tuple(dict.fromkeys(pairs))


def _combine_scores(terms: Mapping[str, float], expansions: Mapping[str, float]) -> dict[str, float]:
    """Both scores of each filing as one, that of the best filing 1."""
    best: dict[str, float] = {}
    for found, weight in ((terms, 1.0), (expansions, _EXPANSIONS)):
        top = next(iter(found.values()), 1.0)
        best = {doc_id: best.get(doc_id, 0.0) + weight * found.get(doc_id, 0.0) / top for doc_id in {**best, **found}}
    top = _top(best)
    return {doc_id: score / top for doc_id, score in best.items()}


def _best_pages(index: FilingIndex, terms: Sequence[str], doc_ids: Sequence[str] | None) -> dict[str, float]:
    """BM25 of the best page of each filing, best first."""
    affordable = affordable_terms(terms, index, _COST_WITHIN if doc_ids is not None else _COST_OF_ALL)
    found: dict[str, float] = {}
    for hit in index.search_pages(affordable, doc_ids=doc_ids, limit=_PAGES_LOOKED_AT):
        found.setdefault(hit.key.doc_id, hit.score)
    return found


def _top(scores: Mapping[str, float]) -> float:
    return max(scores.values(), default=0.0) or 1.0


def affordable_terms(terms: Sequence[str], index: FilingIndex, cost: SearchCost) -> tuple[str, ...]:
    """The rarest of `terms`, in the order given, that a search of `cost` can afford: all of them in most indexes.

    The rarest one is kept even where it alone costs somewhat more. Terms that no page holds cost nothing. Of very many
    pages, words that most of them hold are left out where there are others: BM25 gives nothing for them.
    """
    stems = {term: stems_of(term) for term in terms}
    pages, held = _counted({one for of_term in stems.values() for one in of_term}, index)
    common = _COMMON * pages if pages > _VERY_MANY else pages
    telling = {term: of_term for term, of_term in stems.items() if len(of_term) != 1 or held[of_term[0]] <= common}
    costs = sorted((_cost([held[one] for one in of_term], cost), term) for term, of_term in (telling or stems).items())
    kept: set[str] = set()
    spent = 0.0
    for price, term in costs:
        most = cost.most * _DEAREST if not spent else cost.most
        if spent + price > most:
            break
        spent += price
        kept.add(term)
    return tuple(term for term in terms if term in kept)


def _cost(pages: Sequence[int], cost: SearchCost) -> float:
    """Of a term whose words stand on so many pages each."""
    if len(pages) < 2:
        return cost.of_word * sum(pages)
    return cost.of_phrase * sum(pages) if all(pages) else 0.0


@dataclass(slots=True)
class _Counted:
    """Numbers of pages: of all, and of those that hold each stem asked for before."""

    entries: tuple[FilingEntry, ...]
    pages: int
    held: dict[str, int]


_COUNTED: WeakKeyDictionary[FilingIndex, _Counted] = WeakKeyDictionary()
"""Counting pages takes time with very many: what was counted is kept until the index changes."""


def _counted(stems: Collection[str], index: FilingIndex) -> tuple[int, Mapping[str, int]]:
    """How many pages there are, and on how many each of `stems` stands."""
    entries = index.entries()
    kept = _COUNTED.get(index)
    if kept is None or kept.entries is not entries:
        kept = _COUNTED[index] = _Counted(entries, sum(entry.page_count for entry in entries), {})
    missing = [stem for stem in stems if stem not in kept.held]
    if missing:
        counted = index.document_frequencies(missing)
        kept.held.update({stem: counted.get(stem, 0) for stem in missing})
    return kept.pages, kept.held
