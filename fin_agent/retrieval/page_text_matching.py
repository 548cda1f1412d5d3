"""Score how well the text of a page matches a query: the whole text, its headings, and adjacent sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from fin_agent.index.protocol import FilingIndex
from fin_agent.retrieval.search_query import Query
from fin_agent.retrieval.search_terms import overlap, stems_of, weights_of

_SENTENCE_END = re.compile(r"(?<=[.;!?])\s+")
_MAX_HEADING_LENGTH = 90
_MIN_HEADING_LENGTH = 4
_CAPITALS = 0.6
"""Minimum share of a heading's words that begin with a capital letter."""
_TWO_DIGITS = re.compile(r"\d\d")
_WORD = re.compile(r"[A-Za-z]{3}")
_EXPANSION = 0.3
"""Weight of an expansion or synonym relative to one of the question's own words."""


@dataclass(frozen=True, slots=True)
class TextMatch:
    """Shares of a query's weight that a page's text contains, each 0 to 1."""

    synonyms: float
    nearness: float
    headings: float
    expansion_headings: float


NOTHING_READ = TextMatch(0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """Stems of a query with their inverse page frequencies: own words, expansions, synonyms, and all combined."""

    words: Mapping[str, float]
    expansions: Mapping[str, float]
    synonyms: Mapping[str, float]
    both: Mapping[str, float]

    @classmethod
    def of(cls, query: Query, index: FilingIndex) -> QueryTerms:
        """Return the stems of `query`, weighted by the pages of `index`."""
        own = set(stems_of(" ".join(query.terms)))
        more = set(stems_of(" ".join(query.expansions))) - own
        everyday = set(stems_of(" ".join(query.synonyms))) - own
        frequencies, pages = index.document_frequencies(own | more | everyday), index.page_count()
        words, expansions, synonyms = (weights_of(stems, frequencies, pages) for stems in (own, more, everyday))
        lesser = {stem: _EXPANSION * weight for stem, weight in (expansions | synonyms).items()}
        return cls(words, expansions, synonyms, lesser | words)

    def title_coverage(self, title: str) -> float:
        """Return the share of a title's words that the query contains, 0 to 1; short titles count less."""
        stems = set(stems_of(title))
        return len(stems & self.both.keys()) / (len(stems) + 1) if stems else 0.0


def text_match(text: str, wanted: QueryTerms) -> TextMatch:
    """Return how well `text` matches."""
    relevant = wanted.both.keys()
    sentence_stems, headings = _stems_by_sentence(text)
    sentences = [relevant & stems for stems in sentence_stems]
    pairs = {frozenset(first | second) for first, second in zip(sentences, [*sentences[1:], set()], strict=True)}
    return TextMatch(
        synonyms=overlap(set().union(*sentences), wanted.synonyms),
        nearness=max(overlap(pair, wanted.both) for pair in pairs),
        headings=overlap(headings, wanted.words),
        expansion_headings=overlap(headings, wanted.expansions),
    )


@lru_cache(maxsize=512)
def _stems_by_sentence(text: str) -> tuple[tuple[frozenset[str], ...], frozenset[str]]:
    """Return the stems of each sentence and of all headings. Cached, because a batch or chat meets the same pages."""
    headings = " ".join(line for line in text.split("\n") if _is_heading(line.strip()))
    return tuple(frozenset(stems_of(sentence)) for sentence in _SENTENCE_END.split(text)), frozenset(stems_of(headings))


def _is_heading(line: str) -> bool:
    """Return whether a line reads like a heading: short, mostly capitalized, no figures, no punctuation at its end."""
    if not _MIN_HEADING_LENGTH <= len(line) <= _MAX_HEADING_LENGTH or line[-1] in ".,;":
        return False
    if _TWO_DIGITS.search(line) or not _WORD.search(line):
        return False
    words = line.split()
    return sum(word[0].isupper() for word in words) >= _CAPITALS * len(words)
