"""How well the words of filings fit a question: those of their pages, one after another, and of their summaries."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fin_agent.index.protocol import FilingIndex
from fin_agent.retrieval.search_query import Query
from fin_agent.retrieval.search_term_selection import SearchCost, affordable_terms
from fin_agent.retrieval.search_terms import stem, stopwords

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
    pages = _together(terms, _best_pages(index, query.expansions, doc_ids))
    return {doc_id: WordFit(pages=score) for doc_id, score in pages.items()}


def word_fits_of_all(query: Query, index: FilingIndex, doc_ids: Sequence[str] | None) -> dict[str, WordFit]:
    """The fit of filings that fit best by their words, of all there are or of `doc_ids`: words are all to go by."""
    terms = _best_pages(index, query.terms, doc_ids)
    pages = _together(terms, _best_pages(index, query.expansions, doc_ids))
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


def _together(terms: Mapping[str, float], expansions: Mapping[str, float]) -> dict[str, float]:
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
