"""Full-text search on a cluster: BM25 with the total order of the embedded index, over what is visible."""

from __future__ import annotations

import heapq
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fin_agent.index.elastic.connection import Cluster
from fin_agent.index.elastic.exact_scores import ExactScores
from fin_agent.index.elastic.filing_list import FilingList, Listing
from fin_agent.index.elastic.layout import Layout
from fin_agent.index.elastic.scanning import ascending
from fin_agent.index.elastic.weighing import LENGTH, Size, TermCounts, count
from fin_agent.index.protocol import PageHit, PageKey, PassageHit

MOST_WORDS = 900
"""Words of one query; a cluster takes 1,024 clauses and more."""
MOST_FILTERED = 50_000
"""Filings named in one query; a cluster takes 65,536. Beyond, all are searched and those named are kept."""
_MOST_HITS = 10_000
_SPARE = 8
"""Hits asked for beyond those wanted: some may be of a filing that was replaced this moment."""
_CLOSE = 1e-6
"""Scores come in single precision."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found."""

    score: float
    place: tuple[Any, ...]
    """What tells equals apart."""


class FullTextSearch(FilingList):
    """The part of an index that finds things by their words."""

    def __init__(self, cluster: Cluster, layout: Layout) -> None:
        super().__init__(cluster, layout)
        self._counts = TermCounts(self)

    def search_pages(
        self, terms: Sequence[str], *, doc_ids: Collection[str] | None = None, limit: int = 100
    ) -> list[PageHit]:
        """See FilingIndex.search_pages."""
        found = self._search("pages", ("content_hash", "doc_id", "number"), terms, doc_ids, (), limit)
        return [PageHit(PageKey(doc_id, number), hit.score) for hit in found for _, doc_id, number in [hit.place]]

    def search_passages(
        self,
        terms: Sequence[str],
        *,
        doc_ids: Collection[str] | None = None,
        pages: Collection[PageKey] | None = None,
        limit: int = 100,
    ) -> list[PassageHit]:
        """See FilingIndex.search_passages."""
        order = ("content_hash", "doc_id", "ordinal", "page")
        within: tuple[Mapping[str, Any], ...] = ()
        if pages is not None:
            wanted = [key for key in set(pages) if doc_ids is None or key.doc_id in doc_ids]
            within = (on_pages(wanted, self.listing()),)
            doc_ids = {key.doc_id for key in wanted}
        found = self._search("passages", order, terms, doc_ids, within, limit)
        places = ((hit.place, hit.score) for hit in found)
        return [PassageHit(doc_id, page, ordinal, score) for (_, doc_id, ordinal, page), score in places]

    def search_summaries(
        self, terms: Sequence[str], *, doc_ids: Collection[str] | None = None, limit: int = 100
    ) -> list[tuple[str, float]]:
        """See FilingIndex.search_summaries. Every term is scored: a cluster does that with very many summaries, too."""
        found = self._search("filings", ("content_hash", "doc_id"), terms, doc_ids, (), limit)
        return [(hit.place[1], hit.score) for hit in found]

    def document_frequencies(self, stems: Collection[str]) -> Mapping[str, int]:
        """See FilingIndex.document_frequencies."""
        queries = {stem: {"term": {"text": {"value": stem}}} for stem in sorted(stems)}
        return count(self, "pages", self.listing(), queries)

    def _search(
        self,
        kind: str,
        order: tuple[str, ...],
        terms: Sequence[str],
        doc_ids: Collection[str] | None,
        within: tuple[Mapping[str, Any], ...],
        limit: int,
    ) -> list[Hit]:
        """The best `limit` documents that are visible; `place` of each has the fields of `order`."""
        field = "summary" if kind == "filings" else "text"
        clauses, scores = self._clauses(kind, field, terms)
        listing = self.listing()
        generations = None if doc_ids is None else listing.generations(doc_ids)
        if not clauses or limit < 1 or (generations is not None and not generations):
            return []
        allowed = listing.shown.keys() if generations is None else frozenset(generations)
        query: dict[str, Any] = {"should": clauses, "minimum_should_match": 1, "filter": list(within)}
        if generations is not None and len(generations) <= MOST_FILTERED:
            query["filter"].append({"terms": {"generation": generations}})
        elif listing.hidden and kind != "filings":
            query["must_not"] = [{"terms": {"generation": list(listing.hidden)}}]
        lengths = f"{field}.{LENGTH}"
        kept: list[Hit] = []
        best: list[float] = []
        for hit in self._hits(kind, {"bool": query}, order, ("generation", lengths), limit):
            # A rounded length is no longer than the exact one: nobody's score gets better than what is told here.
            told, *place = hit["sort"]
            if len(best) == limit and told < best[0] * (1 - _CLOSE):
                break
            if hit["fields"]["generation"][0] in allowed:
                exact = scores.of(hit["fields"][lengths][0], hit["matched_queries"])
                kept.append(Hit(exact, tuple(place)))
                (heapq.heappush if len(best) < limit else heapq.heappushpop)(best, exact)
        return sorted(kept, key=lambda hit: (-round(hit.score, 9), *hit.place))[:limit]

    def _hits(
        self, kind: str, query: dict[str, Any], order: tuple[str, ...], fields: tuple[str, ...], limit: int
    ) -> Iterator[dict[str, Any]]:
        """All hits, best first by their rounded lengths, as many at a time as are probably needed."""
        size, after = min(limit + max(limit // 2, _SPARE), _MOST_HITS), None
        while True:
            asked: dict[str, Any] = {"search_after": after} if after is not None else {}
            answer = self.cluster.answered(
                self.cluster.client.search,
                allow_partial_search_results=False,
                index=self.layout.alias(kind),
                query=query,
                size=size,
                sort=[{"_score": {"order": "desc"}}, *ascending(order)],
                source=False,
                fields=[{"field": name} for name in fields],
                track_total_hits=False,
                include_named_queries_score=True,
                # Each shard knows its own words only; asked first, all score as one index would.
                search_type="dfs_query_then_fetch",
                preference=self.layout.prefix,  # copies of a shard may score a little otherwise
                **asked,
            )
            hits = answer["hits"]["hits"]
            yield from hits
            if len(hits) < size:
                return
            after = hits[-1]["sort"]

    def _clauses(self, kind: str, field: str, terms: Sequence[str]) -> tuple[list[dict[str, Any]], ExactScores]:
        """A query for each term that any document holds, as heavy as in the embedded index; of very many the rarest.

        Each is named by its place, so that hits tell what it adds to their score.
        """
        asked = {phrase: len(words) for phrase, words in phrases(terms).items() if len(words) <= MOST_WORDS}
        if not asked:
            return [], ExactScores([], Size(0, 0, 0))
        weights, size = self._counts.weights(kind, field, asked)
        clauses: list[dict[str, Any]] = []
        left = MOST_WORDS
        for phrase, weight in weights.items():
            if asked[phrase] > left:
                break
            left -= asked[phrase]
            said = {"query": phrase, "boost": weight.boost, "_name": str(len(clauses))}
            clauses.append({"match_phrase": {field: said}})
        return clauses, ExactScores([weight.weight for weight in weights.values()], size)


def phrases(terms: Sequence[str]) -> dict[str, list[str]]:
    """Each different term as its words; what holds none is left out."""
    found: dict[str, list[str]] = {}
    for term in terms:
        words = re.findall(r"\w+", term.encode("utf-8", "replace").decode())
        if words:
            found.setdefault(" ".join(words), words)
    return found


def on_pages(keys: Sequence[PageKey], listing: Listing) -> dict[str, Any]:
    """A filter for what stands on these pages."""
    by_filing: dict[str, set[int]] = {}
    for key in keys:
        if key.doc_id in listing.of:
            by_filing.setdefault(listing.of[key.doc_id].generation, set()).add(key.page)
    each = [
        {
            "bool": {
                "filter": [
                    {"term": {"generation": {"value": generation}}},
                    {"terms": {"page": sorted(by_filing[generation])}},
                ]
            }
        }
        for generation in sorted(by_filing)
    ]
    return {"bool": {"should": each, "minimum_should_match": 1}} if each else {"match_none": {}}
