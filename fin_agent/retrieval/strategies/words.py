"""`bm25`: the words of the question against summaries, pages and passages (Robertson and Zaragoza 2009), by FTS5.

Filings are near-duplicates of each other: thousands of passages hold the words of a question, and few print the name of
the company and the year that tell them apart. That is what BM25 loses on filings, and it is left to lose it: tables
apart or not, whole pages for passages, repeated words counted or not, and more or fewer stopwords all move the page
recall on FinanceBench by a few points at most, and so do company, form and year written above every passage.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.retrieval.query import Scope
from fin_agent.retrieval.strategies.ranking import PassageKey, Wording, allowed_pages
from fin_agent.retrieval.terms import stems_of

MOST_TERMS = 64
"""Terms searched for, the rarest first: the longest questions of the benchmarks have about forty."""
SYNONYM_WEIGHT = 0.5
"""What a synonym counts beside a word of the question (Voorhees 1994: more harms)."""
SYNONYM_DEPTH = 1000
"""How far into the rankings of words and of synonyms is looked before they are added up."""
_ALL = 1_000_000_000

Key = TypeVar("Key", bound=Hashable)


class WordRanker:
    """BM25 as the index computes it: statistics of the whole index, whatever the scope; k1 = 1.2, b = 0.75.

    Each word counts once. Synonyms of a wording are phrases and count half, as under a boost in Lucene.
    """

    def __init__(self, index: FilingIndex) -> None:
        self._index = index

    def filings(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[str, float]]:
        """See Ranker.filings."""
        return self._added_up(
            wording, limit, lambda terms, most: self._index.search_summaries(terms, doc_ids=scope.filings, limit=most)
        )

    def pages(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[PageKey, float]]:
        """See Ranker.pages."""
        pages = allowed_pages(scope)
        wanted = None if pages is None else frozenset(pages)

        def search(terms: Sequence[str], most: int) -> list[tuple[PageKey, float]]:
            hits = self._index.search_pages(terms, doc_ids=scope.filings, limit=most if wanted is None else _ALL)
            return [(hit.key, hit.score) for hit in hits if wanted is None or hit.key in wanted][:most]

        return self._added_up(wording, limit, search)

    def passages(self, wording: Wording, scope: Scope, limit: int) -> list[tuple[PassageKey, float]]:
        """See Ranker.passages."""
        pages = allowed_pages(scope)

        def search(terms: Sequence[str], most: int) -> list[tuple[PassageKey, float]]:
            hits = self._index.search_passages(terms, doc_ids=scope.filings, pages=pages, limit=most)
            return [(PassageKey(hit.doc_id, hit.page, hit.ordinal), hit.score) for hit in hits]

        return self._added_up(wording, limit, search)

    def _added_up(
        self, wording: Wording, limit: int, search: Callable[[Sequence[str], int], list[tuple[Key, float]]]
    ) -> list[tuple[Key, float]]:
        terms = rarest(wording.terms(), self._index)
        if not wording.synonyms:
            return search(terms, limit)
        deep = max(limit, SYNONYM_DEPTH)
        scores = dict(search(terms, deep))
        for key, score in search(rarest(wording.synonyms, self._index), deep):
            scores[key] = scores.get(key, 0.0) + SYNONYM_WEIGHT * score
        # A stable sort: equals stay as the words of the question, then the synonyms, list them.
        return sorted(scores.items(), key=lambda scored: -round(scored[1], 9))[:limit]


def rarest(terms: Sequence[str], index: FilingIndex, most: int = MOST_TERMS) -> tuple[str, ...]:
    """`terms`, or of very many those `most` that stand on the fewest pages, in the order given.

    Of a phrase its rarest word counts. What stands nowhere goes last.
    """
    if len(terms) <= most:
        return tuple(terms)
    stems = {term: stems_of(term) for term in terms}
    pages = index.document_frequencies({stem for of_term in stems.values() for stem in of_term})
    counts = {term: min((pages.get(stem, 0) for stem in of_term), default=0) for term, of_term in stems.items()}
    chosen = set(sorted(terms, key=lambda term: (counts[term] == 0, counts[term]))[:most])
    return tuple(term for term in terms if term in chosen)
