"""Score how well filings fit a question by the words of their pages, by adjacent words, and by their summaries."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fin_agent.index.protocol import FilingIndex
from fin_agent.retrieval.search_query import Query
from fin_agent.retrieval.search_terms import stem, stems_of, stopwords

_DEAREST = 5
"""Multiple of the allowed cost that is acceptable for a single term."""
_VERY_MANY = 50_000
"""Number of pages up to which the cost of a single word does not matter."""
_COMMON = 0.5
"""Share of pages from which SQLite's BM25 gives a word no weight."""


@dataclass(frozen=True, slots=True)
class SearchCost:
    """Cost of a search per page that contains a word or phrase, and the limit for all of them."""

    of_word: float
    of_phrase: float
    most: float


_PAGES_LOOKED_AT = 200
_EXPANSIONS = 0.4
"""Weight of expansions relative to the question's own terms."""
_COST_OF_ALL = SearchCost(of_word=1.0, of_phrase=0.25, most=10_000)
"""Every page that contains a word is scored, at about three microseconds each."""
_COST_WITHIN = SearchCost(of_word=1.0, of_phrase=12.0, most=2_500_000)
"""Few pages are scored, but pages with a phrase are counted over the whole index, at a quarter of a microsecond per
word."""


@dataclass(frozen=True, slots=True)
class WordFit:
    """Scores of a filing, each 0 to 1, where 1 is the score of the best filing."""

    pages: float = 0.0
    """Its best page by the question's terms and, with less weight, by their expansions."""
    phrases: float = 0.0
    """Its best page by adjacent words of the question, relative to the best page by phrases or by words, whichever is
    higher."""
    summary: float = 0.0


NO_MATCH = WordFit()


def word_fits(query: Query, index: FilingIndex, doc_ids: Sequence[str] | None) -> dict[str, WordFit]:
    """Return the fit of those of `doc_ids`, or of all filings, that contain any of the words.

    Phrases and summaries count for questions without a company only.
    """
    terms = _best_pages(index, query.terms, doc_ids)
    pages = _combine_scores(terms, _best_pages(index, query.expansions, doc_ids))
    if query.companies:
        return {doc_id: WordFit(pages=score) for doc_id, score in pages.items()}
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
    """Return pairs of search terms that are adjacent in the question."""
    wanted = {stem(word) for term in query.terms for word in re.findall(r"\w+", term.lower())}
    words = re.findall(r"[^\W_]+|[.,;:?!()]", query.text.lower())
    pairs = (
        f"{first} {second}"
        for first, second in pairwise(words)
        if first not in stopwords() and second not in stopwords() and {stem(first), stem(second)} <= wanted
    )
    return tuple(dict.fromkeys(pairs))


def _combine_scores(terms: Mapping[str, float], expansions: Mapping[str, float]) -> dict[str, float]:
    """Return both scores of each filing combined, with 1 for the best filing."""
    best: dict[str, float] = {}
    for found, weight in ((terms, 1.0), (expansions, _EXPANSIONS)):
        top = next(iter(found.values()), 1.0)
        best = {doc_id: best.get(doc_id, 0.0) + weight * found.get(doc_id, 0.0) / top for doc_id in {**best, **found}}
    top = _top(best)
    return {doc_id: score / top for doc_id, score in best.items()}


def _best_pages(index: FilingIndex, terms: Sequence[str], doc_ids: Sequence[str] | None) -> dict[str, float]:
    """Return BM25 of the best page of each filing, best first."""
    affordable = affordable_terms(terms, index, _COST_WITHIN if doc_ids is not None else _COST_OF_ALL)
    found: dict[str, float] = {}
    for hit in index.search_pages(affordable, doc_ids=doc_ids, limit=_PAGES_LOOKED_AT):
        found.setdefault(hit.key.doc_id, hit.score)
    return found


def _top(scores: Mapping[str, float]) -> float:
    return max(scores.values(), default=0.0) or 1.0


def affordable_terms(terms: Sequence[str], index: FilingIndex, cost: SearchCost) -> tuple[str, ...]:
    """Return the rarest of `terms`, in the order given, that a search can afford: in most indexes, all of them.

    The rarest term is used even if it alone costs somewhat more than allowed. Terms on no page cost nothing. In an
    index with very many pages, words on most pages are left out if there are others, because BM25 gives them no weight.
    """
    stems = {term: stems_of(term) for term in terms}
    pages = index.document_frequencies({stem for of_term in stems.values() for stem in of_term})
    count = index.page_count()
    common = _COMMON * count if count > _VERY_MANY else count
    telling = {term: stems[term] for term in terms if len(stems[term]) != 1 or pages.get(stems[term][0], 0) <= common}
    costs: list[tuple[float, str]] = []
    for term, of_term in (telling or stems).items():
        counts = [pages.get(stem, 0) for stem in of_term]
        found_at = sum(counts) if all(counts) else 0  # a phrase with a word on no page is on none
        costs.append((found_at * (cost.of_word if len(counts) < 2 else cost.of_phrase), term))
    kept: set[str] = set()
    spent = 0.0
    for price, term in sorted(costs):
        if spent + price > (cost.most if spent else _DEAREST * cost.most):
            break
        spent += price
        kept.add(term)
    return tuple(term for term in terms if term in kept)
