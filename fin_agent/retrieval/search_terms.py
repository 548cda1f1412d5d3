"""Search terms: stems of questions and passages, and their weights."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

import snowballstemmer

from fin_agent.index.protocol import FilingIndex
from fin_agent.lexicon.words import word_lists

_WORD = re.compile(r"[A-Za-z0-9]+")


def search_terms(words: Iterable[str]) -> tuple[str, ...]:
    """Return the words without stopwords, each once, in order; phrases stay whole.

    >>> search_terms(["what", "is", "the", "net income"])
    ('net income',)
    """
    stop = stopwords()
    return tuple(dict.fromkeys(word for word in words if word.lower() not in stop and re.search(r"\w\w", word)))


def stems_of(text: str) -> list[str]:
    """Return Porter stems of the words of `text` in order, without stopwords: the terms of the full-text index."""
    stop = stopwords()
    return [stem(word) for word in _WORD.findall(text.lower()) if word not in stop]


def stem_set(text: str) -> frozenset[str]:
    """Return the same stems without order, each once: most words of a page occur several times."""
    return frozenset(map(stem, set(_WORD.findall(text.lower())) - stopwords()))


def weights_of(stems: Collection[str], frequencies: Mapping[str, int], pages: int) -> dict[str, float]:
    """Return the inverse page frequency of each stem (Robertson and Sparck Jones, as in BM25)."""
    return {
        term: math.log(1 + (pages - frequencies.get(term, 0) + 0.5) / (frequencies.get(term, 0) + 0.5))
        for term in sorted(stems)
    }


def page_counts(terms: Iterable[str], index: FilingIndex) -> dict[str, list[int]]:
    """Return on how many pages of the index each word of each term occurs."""
    stems = {term: stems_of(term) for term in terms}
    pages = index.document_frequencies({stem for of_term in stems.values() for stem in of_term})
    return {term: [pages.get(stem, 0) for stem in of_term] for term, of_term in stems.items()}


def overlap(text_stems: Collection[str], weights: Mapping[str, float]) -> float:
    """Return the share of the query's weight that the text contains, 0 to 1."""
    total = sum(weights.values())
    if not total:
        return 0.0
    held = set(text_stems)
    return sum(weight for term, weight in weights.items() if term in held) / total


def stopwords() -> frozenset[str]:
    """Return words of a question that do not help to find its answer."""
    return word_lists("stopwords")["words"]


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Return the Porter stem, as SQLite's full-text index computes it."""
    # A stemmer keeps the current word as state: threads must not share one.
    return str(snowballstemmer.stemmer("porter").stemWord(word))
