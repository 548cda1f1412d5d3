"""How much each term of a search weighs: as in the embedded index, whose limits are other than Lucene's.

Both compute BM25. SQLite gives a term that half of all documents hold (next to) no weight and lets a phrase weigh by
the documents that hold the phrase; Lucene gives common terms some weight and a phrase those of its words together. A
boost on each clause makes one of the other. What it takes is in how many documents terms and phrases are.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from fin_agent.index.elastic.filing_list import FilingList, Listing

_COUNTED_AT_ONCE = 500
_LEAST = 1e-6
"""The least weight of a term in SQLite's bm25()."""
LENGTH = "words"
"""The part of a text field that says how many words the text has."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much text the visible documents of an index hold."""

    documents: int
    worded: int
    """Documents with any word: Lucene counts no others."""
    words: int


@dataclass(frozen=True, slots=True)
class Weight:
    """How much a term tells."""

    boost: float
    """What Lucene's weight is multiplied by."""
    weight: float
    """What comes of it: SQLite's weight, without the constant k1 + 1."""


@dataclass(slots=True)
class _Met:
    """What was counted in one state of the index."""

    state: tuple[tuple[int, int], tuple[str, ...]]
    size: Size
    counts: dict[str, int] = field(default_factory=dict)


class TermCounts:
    """In how many visible documents terms and phrases are, each looked up once while the index stays as it is."""

    def __init__(self, filings: FilingList) -> None:
        self._filings = filings
        self._met: dict[str, _Met] = {}
        self._guard = threading.Lock()

    def weights(self, kind: str, text: str, phrases: Collection[str]) -> tuple[dict[str, Weight], Size]:
        """Of each phrase that any document of `kind` holds in its field `text`, rarest first; and the size of all."""
        words = {phrase: re.findall(r"[^\W_]+", phrase) for phrase in phrases}
        singles = {word for of_phrase in words.values() for word in of_phrase}
        counts, size = self._counted(kind, text, {*phrases, *singles})
        found: dict[str, Weight] = {}
        for phrase in sorted((each for each in words if counts[each]), key=lambda each: (counts[each], each)):
            lucene = sum(_lucene(counts[word], size.worded) for word in words[phrase] or [phrase])
            weight = _sqlite(counts[phrase], size.documents)
            found[phrase] = Weight(weight / lucene, weight) if lucene else Weight(1.0, 0.0)
        return found, size

    def _counted(self, kind: str, text: str, phrases: Collection[str]) -> tuple[Mapping[str, int], Size]:
        """In how many visible documents of `kind` each phrase is, and how many there are."""
        listing = self._filings.listing()
        state = (listing.state, listing.hidden)
        with self._guard:
            kept = self._met.get(kind)
        if kept is None or kept.state != state:
            kept = _Met(state, _size(self._filings, kind, text, listing))
            with self._guard:
                self._met[kind] = kept
        with self._guard:
            new = sorted(set(phrases) - kept.counts.keys())
        queries: dict[str, dict[str, Any]] = {phrase: {"match_phrase": {text: {"query": phrase}}} for phrase in new}
        counted = count(self._filings, kind, listing, queries)
        with self._guard:
            kept.counts.update({phrase: counted.get(phrase, 0) for phrase in new})
            return {phrase: kept.counts[phrase] for phrase in phrases}, kept.size


def count(filings: FilingList, kind: str, listing: Listing, queries: Mapping[str, dict[str, Any]]) -> dict[str, int]:
    """In how many visible documents each query is met, without those that none meets."""
    counted: dict[str, int] = {}
    names = list(queries)
    for start in range(0, len(names), _COUNTED_AT_ONCE):
        some = names[start : start + _COUNTED_AT_ONCE]
        # Numbered, since names in an answer are not those of any text.
        filters = {str(at): queries[name] for at, name in enumerate(some)}
        buckets = _aggregated(filings, kind, listing, {"held": {"filters": {"filters": filters}}})["held"]["buckets"]
        found = {name: int(buckets[str(at)]["doc_count"]) for at, name in enumerate(some)}
        counted |= {name: number for name, number in found.items() if number}
    return counted


def _size(filings: FilingList, kind: str, text: str, listing: Listing) -> Size:
    lengths = f"{text}.{LENGTH}"
    filters = {"all": {"match_all": {}}, "worded": {"range": {lengths: {"gt": 0}}}}
    asked = {"held": {"filters": {"filters": filters}}, "words": {"sum": {"field": lengths}}}
    found = _aggregated(filings, kind, listing, asked)
    held = found["held"]["buckets"]
    return Size(held["all"]["doc_count"], held["worded"]["doc_count"], round(found["words"]["value"]))


def _aggregated(filings: FilingList, kind: str, listing: Listing, asked: dict[str, Any]) -> dict[str, Any]:
    """What is asked of all visible documents of `kind`."""
    visible: dict[str, Any] = {"match_all": {}}
    if listing.hidden and kind != "filings":
        visible = {"bool": {"must_not": [{"terms": {"generation": list(listing.hidden)}}]}}
    answer = filings.cluster.answered(
        filings.cluster.client.search,
        allow_partial_search_results=False,
        index=filings.layout.alias(kind),
        query=visible,
        size=0,
        track_total_hits=False,
        aggregations=asked,
    )
    found: dict[str, Any] = answer["aggregations"]
    return found


def _lucene(holding: int, of: int) -> float:
    return math.log(1 + (of - holding + 0.5) / (holding + 0.5)) if holding else 0.0


def _sqlite(holding: int, of: int) -> float:
    return max(math.log((of - holding + 0.5) / (holding + 0.5)), _LEAST) if 2 * holding < of else _LEAST
