"""Read filings from a cluster: search with Lucene's scores, and return content as it was written."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from fin_agent.index import rows
from fin_agent.index.elastic.client import Cluster
from fin_agent.index.elastic.documents import NO_PAGE, Source, columns_of, decode_bytes, figures_of, stored_filing
from fin_agent.index.elastic.listing import FilingList, ascending
from fin_agent.index.elastic.mapping import Layout
from fin_agent.index.protocol import (
    PageHit,
    PageKey,
    PageOutline,
    PassageHit,
    RowLabel,
    SourcedFact,
    StoredPage,
    StoredPassage,
)
from fin_agent.index.stored_filing import COLUMNS, Part, StoredFiling
from fin_agent.vocabulary.fact import Tag
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.table import Table

MAX_WORDS = 900
"""Most words of one query; a cluster accepts at least 1,024 clauses."""
MAX_FILTERED = 50_000
"""Most filings named in one query; a cluster accepts 65,536. Beyond it, all are searched and the results filtered."""
_MAX_HITS = 10_000
_SPARE = 8
"""Additional hits requested, because some may belong to a filing that has just been replaced."""
_AT_ONCE = 1_000
"""Documents per response; some contain the text of a page."""
_FILINGS_AT_ONCE = 1_000
_PAGES_AT_ONCE = 500
_COUNTED_AT_ONCE = 500
_ALL = ""
"""Key of the total number of documents among counts of phrases."""
_LEAST = 1e-6
"""The lowest weight of a term in SQLite's bm25()."""
_OF_INCOME = ("revenue", "sales", "cost of")
"""Words in headings of rows that divide revenue in an income statement."""
_SMALL = {ord(letter): letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


class ElasticReader(FilingList):
    """The part of an index that searches and returns the content of filings. Parts never change: no lock is needed."""

    def __init__(self, cluster: Cluster, layout: Layout) -> None:
        super().__init__(cluster, layout)
        self._known: dict[str, tuple[object, dict[str, int]]] = {}
        """Kind of document -> state of the index, and in how many documents phrases are."""

    # Words

    def search_pages(
        self, terms: Sequence[str], *, doc_ids: Collection[str] | None = None, limit: int = 100
    ) -> list[PageHit]:
        """See FilingIndex.search_pages."""
        found = self._search("pages", ("content_hash", "doc_id", "number"), terms, doc_ids, [], limit)
        return [PageHit(PageKey(doc_id, number), score) for score, (_, doc_id, number) in found]

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
        within: list[Mapping[str, Any]] = []
        if pages is not None:
            wanted = [key for key in set(pages) if doc_ids is None or key.doc_id in doc_ids]
            within = [self.listing().place_filter(wanted, "page")]
            doc_ids = {key.doc_id for key in wanted}
        found = self._search("passages", order, terms, doc_ids, within, limit)
        return [PassageHit(doc_id, page, ordinal, score) for score, (_, doc_id, ordinal, page) in found]

    def search_summaries(
        self, terms: Sequence[str], *, doc_ids: Collection[str] | None = None, limit: int = 100
    ) -> list[tuple[str, float]]:
        """See FilingIndex.search_summaries. Every term is scored: a cluster can do that even with many summaries."""
        found = self._search("filings", ("content_hash", "doc_id"), terms, doc_ids, [], limit)
        return [(doc_id, score) for score, (_, doc_id) in found]

    def document_frequencies(self, stems: Collection[str]) -> Mapping[str, int]:
        """See FilingIndex.document_frequencies."""
        asked = {stem: {"term": {"text": {"value": stem}}} for stem in sorted(stems)}
        return {stem: count for stem, count in self._counted("pages", asked).items() if count}

    def _search(
        self,
        kind: str,
        order: tuple[str, ...],
        terms: Sequence[str],
        doc_ids: Collection[str] | None,
        within: list[Mapping[str, Any]],
        limit: int,
    ) -> list[tuple[float, list[Any]]]:
        """Return (score, values of the fields of `order`) of the best `limit` visible documents."""
        clauses = list(self._clauses(kind, "summary" if kind == "filings" else "text", terms))
        listing = self.listing()
        generations = None if doc_ids is None else listing.generations(doc_ids)
        if not clauses or limit < 1 or (generations is not None and not generations):
            return []
        allowed = listing.shown.keys() if generations is None else frozenset(generations)
        query: dict[str, Any] = {"should": clauses, "minimum_should_match": 1, "filter": within}
        if generations is not None and len(generations) <= MAX_FILTERED:
            query["filter"] = [*within, {"terms": {"generation": generations}}]
        elif kind != "filings":
            query["must_not"] = self._hidden()
        found: list[tuple[float, list[Any]]] = []
        for hit in self._hits(kind, {"bool": query}, order, limit):
            score, *place = hit["sort"]
            if hit["fields"]["generation"][0] in allowed:
                found.append((score, place))
                if len(found) == limit:
                    break
        return found

    def _hits(self, kind: str, query: dict[str, Any], order: tuple[str, ...], limit: int) -> Iterator[dict[str, Any]]:
        """Yield all hits, best first, in batches of the size that is probably needed."""
        size = min(limit + _SPARE, _MAX_HITS)
        asked: dict[str, Any] = {}
        while True:
            answer = self.cluster.search(
                self.layout.alias(kind),
                query=query,
                size=size,
                sort=[{"_score": {"order": "desc"}}, *ascending(order)],
                source=False,
                fields=[{"field": "generation"}],
                track_total_hits=False,
                # Each shard has statistics of its own words only; with this search type, all score like one index.
                search_type="dfs_query_then_fetch",
                preference=self.layout.prefix,  # copies of a shard may give slightly different scores
                **asked,
            )
            hits = answer["hits"]["hits"]
            yield from hits
            if len(hits) < size:
                return
            asked["search_after"] = hits[-1]["sort"]

    def _clauses(self, kind: str, field: str, terms: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield a query for each term that occurs, boosted to its weight in the embedded index; rarest first.

        SQLite weighs a phrase by the documents that contain it, and words in half of all documents have almost no
        weight; Lucene adds the weights of a phrase's words and gives common words some weight.
        """
        asked = _phrases(terms)
        held = self._frequencies(kind, field, {*asked, *(word for words in asked.values() for word in words)})
        total, left = held[_ALL], MAX_WORDS
        for phrase in sorted((each for each in asked if held[each]), key=lambda each: (held[each], each)):
            left -= len(asked[phrase])
            if left < 0:
                return
            lucene = sum(_lucene_weight(held[word], total) for word in asked[phrase])
            boost = _sqlite_weight(held[phrase], total) / lucene if lucene else 1.0
            yield {"match_phrase": {field: {"query": phrase, "boost": boost}}}

    def _frequencies(self, kind: str, field: str, phrases: Collection[str]) -> Mapping[str, int]:
        """Return the number of visible documents with each phrase (_ALL: of all), cached until something changes."""
        listing = self.listing()
        state = (listing.state, listing.hidden)
        known_at, known = self._known.get(kind, (state, {}))
        if known_at != state:
            known = {}
        new = {phrase: {"match_phrase": {field: {"query": phrase}}} for phrase in sorted(set(phrases) - known.keys())}
        if _ALL not in known:
            new[_ALL] = {"match_all": {}}
        known = {**known, **self._counted(kind, new)}
        self._known[kind] = (state, known)
        return known

    def _counted(self, kind: str, queries: Mapping[str, dict[str, Any]]) -> dict[str, int]:
        """Return the number of visible documents that match each query."""
        hidden = [] if kind == "filings" else self._hidden()
        counted: dict[str, int] = {}
        names = list(queries)
        for start in range(0, len(names), _COUNTED_AT_ONCE):
            # Numbered, because not every text is a valid name in a response.
            some = dict(enumerate(names[start : start + _COUNTED_AT_ONCE]))
            answer = self.cluster.search(
                self.layout.alias(kind),
                query={"bool": {"must_not": hidden}},
                size=0,
                track_total_hits=False,
                aggregations={"held": {"filters": {"filters": {str(at): queries[name] for at, name in some.items()}}}},
            )
            buckets = answer["aggregations"]["held"]["buckets"]
            counted |= {name: int(buckets[str(at)]["doc_count"]) for at, name in some.items()}
        return counted

    def _hidden(self) -> list[dict[str, Any]]:
        """Return filters for parts without a visible filing."""
        hidden = self.listing().hidden
        return [{"terms": {"generation": list(hidden)}}] if hidden else []

    # What filings hold

    def stored(self, doc_id: str) -> StoredFiling:
        """See FilingIndex.stored."""
        filing = self.known_document(doc_id)["_source"]
        parts = (
            [source for _, source in self._of_filings(kind, [doc_id], place, fields)]
            for kind, place, fields in (
                ("pages", "number", COLUMNS[Part.PAGES]),
                ("passages", "ordinal", (*COLUMNS[Part.PASSAGES], "card")),
                ("figures", "page", ("page", "facts", "tags", "tables")),
            )
        )
        return stored_filing(filing, *parts)

    def checksums(self, doc_id: str) -> dict[str, str]:
        """See FilingIndex.checksums."""
        found = self.document_of(doc_id)
        return {} if found is None else dict(found["_source"]["checksums"])

    def pages(self, keys: Sequence[PageKey]) -> list[StoredPage]:
        """See FilingIndex.pages."""
        found = self._on_pages("pages", keys, "number", "number", COLUMNS[Part.PAGES])
        return [
            StoredPage(key.doc_id, rows.page(columns_of(Part.PAGES, source)))
            for key in keys
            for source in found.get(key, ())
        ]

    def outline(self, doc_ids: Collection[str]) -> list[PageOutline]:
        """See FilingIndex.outline."""
        found = self._of_filings("pages", doc_ids, "number", rows.OUTLINE_COLUMNS)
        return [
            rows.page_outline(doc_id, [source.get(each) for each in rows.OUTLINE_COLUMNS]) for doc_id, source in found
        ]

    def passages(self, keys: Sequence[PageKey]) -> list[StoredPassage]:
        """See FilingIndex.passages."""
        found = self._on_pages("passages", keys, "page", "ordinal", (*COLUMNS[Part.PASSAGES], "card"))
        return [
            StoredPassage(key.doc_id, rows.passage(columns_of(Part.PASSAGES, source)), source["card"])
            for key in keys
            for source in found.get(key, ())
        ]

    def facts(
        self,
        doc_ids: Collection[str],
        *,
        metrics: Collection[str] | None = None,
        pages: Collection[PageKey] | None = None,
        years: Collection[int] | None = None,
    ) -> list[SourcedFact]:
        """See FilingIndex.facts."""
        if (metrics is not None and not metrics) or (pages is not None and not pages):
            return []
        within: list[Mapping[str, Any]] = []
        if metrics is not None:
            within.append({"terms": {"metrics": sorted(metrics)}})
        if pages is not None:
            doc_ids = {key.doc_id for key in pages} & set(doc_ids)
            within.append({"terms": {"page": sorted({key.page for key in pages})}})
        wanted = None if pages is None else {tuple(key) for key in pages}
        found: dict[str, list[tuple[int, SourcedFact]]] = {}
        fields = ("page", "facts", "tags", "linked")
        for doc_id, source in self._of_filings("figures", doc_ids, "page", fields, within):
            if wanted is not None and (doc_id, source["page"]) not in wanted:
                continue
            for ordinal, row, tag in figures_of(source):
                fact = rows.fact(row, None if tag is None else rows.tag(tag))
                if (metrics is None or fact.metric in metrics) and (years is None or fact.period.fiscal_year in years):
                    found.setdefault(doc_id, []).append((ordinal, SourcedFact(doc_id, fact)))
        return [fact for facts in found.values() for _, fact in sorted(facts, key=lambda each: each[0])]

    def row_labels(self, doc_ids: Collection[str], *, holding: Collection[str]) -> list[RowLabel]:
        """See FilingIndex.row_labels."""
        letters = [each.translate(_SMALL) for each in holding]
        whole = ((s.doc_id, s.fact) for s in self.facts(doc_ids) if s.fact.scope is None and s.fact.source != "text")
        found = (
            RowLabel(doc_id, fact.page, fact.label, fact.statement, fact.period.fiscal_year, fact.period.quarter)
            for doc_id, fact in whole
            if any(each in fact.label.translate(_SMALL) for each in letters)
        )
        return list(dict.fromkeys(found))

    def parts(self, doc_ids: Collection[str]) -> frozenset[str]:
        """See FilingIndex.parts."""
        named: set[str | None] = set()
        for fact in (sourced.fact for sourced in self.facts(doc_ids)):
            if fact.scope is not None and fact.metric is not None and fact.statement != Statement.EQUITY:
                named |= {fact.scope, fact.label if fact.tag is not None else None}
            section = json.dumps(fact.section).lower()
            if fact.statement == Statement.INCOME and any(word in section for word in _OF_INCOME):
                named.add(fact.label)
        return frozenset(name for name in named if name is not None)

    def address_texts(self, doc_ids: Collection[str]) -> frozenset[str]:
        """See FilingIndex.address_texts."""
        facts = (sourced.fact for sourced in self.facts(doc_ids))
        return frozenset(
            text for fact in facts for text in (fact.label, *fact.section, *fact.column_path, fact.caption)
        )

    def tables(self, keys: Sequence[PageKey]) -> list[Table]:
        """See FilingIndex.tables."""
        found = self._on_pages("figures", keys, "page", "page", ("page", "tables"))
        return [
            table
            for key in keys
            for source in found.get(key, ())
            if source.get("tables")
            for table in rows.tables(source["page"], decode_bytes(source["tables"]))
        ]

    def tags(self, doc_id: str, *, page: int | None = None) -> list[Tag]:
        """See FilingIndex.tags."""
        if page == NO_PAGE:
            return []
        within = [] if page is None else [{"term": {"page": {"value": page}}}]
        found = [
            row
            for _, source in self._of_filings("figures", [doc_id], "page", ("tags",), within)
            for row in source["tags"]["all"]
        ]
        return [rows.tag(row) for row in sorted(found, key=lambda row: row[0])]

    def _of_filings(
        self,
        kind: str,
        doc_ids: Collection[str],
        place: str,
        fields: Sequence[str],
        within: Sequence[Mapping[str, Any]] = (),
    ) -> Iterator[tuple[str, Source]]:
        """Yield (doc_id, document) of filings in the order of the entries, and within a filing by `place`."""
        listing = self.listing()
        known = listing.in_order(doc_ids)
        for start in range(0, len(known), _FILINGS_AT_ONCE):
            some = known[start : start + _FILINGS_AT_ONCE]
            filters = [{"terms": {"generation": listing.generations(some)}}, *within]
            found: dict[str, list[Source]] = {}
            order = ("generation", place)
            for source in self._sources(kind, filters, order, ("generation", *fields), listing.routes(some)):
                found.setdefault(listing.shown[source["generation"]], []).append(source)
            for doc_id in some:
                for source in found.get(doc_id, ()):
                    yield doc_id, source

    def _sources(
        self,
        kind: str,
        filters: Sequence[Mapping[str, Any]],
        order: Sequence[str],
        fields: Sequence[str],
        routing: str | None,
    ) -> Iterator[Source]:
        """Yield sources of all documents that pass the filters, in a total order."""
        asked: dict[str, Any] = {} if routing is None else {"routing": routing}
        while True:
            answer = self.cluster.search(
                self.layout.alias(kind),
                query={"bool": {"filter": list(filters)}},
                sort=ascending(order),
                source={"includes": list(fields)},
                size=_AT_ONCE,
                track_total_hits=False,
                **asked,
            )
            hits = answer["hits"]["hits"]
            yield from (hit["_source"] for hit in hits)
            if len(hits) < _AT_ONCE:
                return
            asked["search_after"] = hits[-1]["sort"]

    def _on_pages(
        self, kind: str, keys: Sequence[PageKey], place: str, order: str, fields: Sequence[str]
    ) -> dict[PageKey, list[Source]]:
        """Return the documents on each of these pages; `place` is the field of the page."""
        listing = self.listing()
        found: dict[PageKey, list[Source]] = {}
        wanted = sorted({key for key in keys if key.doc_id in listing.of})
        for start in range(0, len(wanted), _PAGES_AT_ONCE):
            some = wanted[start : start + _PAGES_AT_ONCE]
            within, routes = [listing.place_filter(some, place)], listing.routes(key.doc_id for key in some)
            for source in self._sources(kind, within, ("generation", order), ("generation", *fields), routes):
                found.setdefault(PageKey(listing.shown[source["generation"]], source[place]), []).append(source)
        return found


def _phrases(terms: Sequence[str]) -> dict[str, list[str]]:
    """Return each distinct term with its words; terms without words are left out."""
    found: dict[str, list[str]] = {}
    for term in terms:
        words = re.findall(r"\w+", term.encode("utf-8", "replace").decode())
        if 0 < len(words) <= MAX_WORDS:
            found[" ".join(words)] = re.findall(r"[^\W_]+", " ".join(words)) or words
    return found


def _lucene_weight(holding: int, of: int) -> float:
    return math.log(1 + (of - holding + 0.5) / (holding + 0.5)) if holding else 0.0


def _sqlite_weight(holding: int, of: int) -> float:
    """Return SQLite's weight of a term; almost zero where half of all documents contain it."""
    return max(math.log((of - holding + 0.5) / (holding + 0.5)), _LEAST) if 2 * holding < of else _LEAST
