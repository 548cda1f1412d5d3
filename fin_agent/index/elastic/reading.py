"""Read filings from a cluster: search with Lucene's scores, and return content as it was written."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from fin_agent.index import rows
from fin_agent.index.elastic.client import Cluster
from fin_agent.index.elastic.documents import (
    NO_PAGE,
    Source,
    decode_bytes,
    figures_of,
    row_of,
    stored_filing,
    vectors_id,
)
from fin_agent.index.elastic.listing import FilingList, ascending
from fin_agent.index.protocol import FilingVectors, PageKey, RowLabel, SourcedFact, VectorModel, VectorUnit
from fin_agent.index.stored_filing import COLUMNS, Part, StoredFiling, unpack_numbers
from fin_agent.vocabulary.fact import Tag
from fin_agent.vocabulary.page import Statement

T = TypeVar("T")
MAX_WORDS = 900
"""Most words of one query; a cluster accepts at least 1,024 clauses."""
MAX_FILTERED = 50_000
"""Most filings named in one query; a cluster accepts 65,536. Beyond it, all are searched and the results filtered."""
_MAX_HITS = 10_000
_SPARE = 8
"""Additional hits requested, because some may belong to a filing that has just been replaced."""
_AT_ONCE = 1_000
"""Documents per response (some contain the text of a page), and filings per request."""
_COUNTED_AT_ONCE = 500
_ALL = ""
"""Key of the total number of documents among counts of phrases."""
_LEAST = 1e-6
"""The lowest weight of a term in SQLite's bm25()."""
_OF_INCOME = ("revenue", "sales", "cost of")
"""Words in headings of rows that divide revenue in an income statement."""
_SEARCHED = {
    Part.PAGES: ("pages", "text", "number"),
    Part.PASSAGES: ("passages", "text", "ordinal", "page"),
    Part.DETAILS: ("filings", "summary"),
}
"""Parts with full text: their index, the field of the text, and those of the place in the filing and of the page."""
_STORED = {
    Part.PAGES: ("pages", "number", "number", COLUMNS[Part.PAGES]),
    Part.PASSAGES: ("passages", "page", "ordinal", (*COLUMNS[Part.PASSAGES], "card")),
    Part.TABLES: ("figures", "page", "page", ("page", "tables")),
}
"""Parts read by page: their index, the fields of the page and of the order, and all fields of a row."""
_MAX_MODELS = 1_000
_VECTORS_AT_ONCE = 200
"""Number of filings whose vectors are in memory at once."""
_SMALL = {ord(letter): letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}

Filter = Mapping[str, Any]


class ElasticReader(FilingList):
    """The part of an index that searches and returns the content of filings. Parts never change: no lock is needed."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        self._known: dict[str, tuple[object, dict[str, int]]] = {}
        """Kind of document -> state of the index, and in how many documents phrases are."""

    # Words

    def document_frequencies(self, stems: Collection[str]) -> Mapping[str, int]:
        """See FilingIndex.document_frequencies."""
        asked = {stem: {"term": {"text": {"value": stem}}} for stem in sorted(stems)}
        return {stem: count for stem, count in self._counted("pages", asked).items() if count}

    def _search(
        self,
        part: Part,
        terms: Sequence[str],
        doc_ids: Collection[str] | None,
        pages: Collection[PageKey] | None,
        limit: int,
    ) -> list[tuple[float, str, int, int]]:
        """See FilingIndex._search."""
        kind, field, *places = _SEARCHED[part]
        within = [] if pages is None else [self._on_any_of(pages)]
        if pages is not None:
            doc_ids = {key.doc_id for key in pages}
        clauses = list(self._clauses(kind, field, terms))
        listing = self.listing()
        generations = None if doc_ids is None else listing.generations(doc_ids)
        if not clauses or limit < 1 or generations == []:
            return []
        allowed = listing.shown.keys() if generations is None else frozenset(generations)
        query: dict[str, Any] = {"should": clauses, "minimum_should_match": 1, "filter": within}
        if generations is not None and len(generations) <= MAX_FILTERED:
            within.append({"terms": {"generation": generations}})
        elif kind != "filings":
            query["must_not"] = self._hidden()
        hits = self._hits(kind, {"bool": query}, ("content_hash", "doc_id", *places), limit)
        visible = (hit["sort"] for hit in hits if hit["fields"]["generation"][0] in allowed)
        return [(score, doc_id, *(place * 2 or [0, 0])[:2]) for score, _, doc_id, *place in islice(visible, limit)]

    def _hits(self, kind: str, query: dict[str, Any], order: Sequence[str], limit: int) -> Iterator[dict[str, Any]]:
        """Yield all hits, best first, in batches of the size that is probably needed."""
        return self._paged(
            kind,
            min(limit + _SPARE, _MAX_HITS),
            query=query,
            sort=[{"_score": {"order": "desc"}}, *ascending(*order)],
            source=False,
            fields=[{"field": "generation"}],
            # Each shard has statistics of its own words only; with this search type, all score like one index.
            search_type="dfs_query_then_fetch",
            preference=self.cluster.address.prefix,  # copies of a shard may give slightly different scores
        )

    def _paged(self, kind: str, size: int, **asked: Any) -> Iterator[dict[str, Any]]:
        """Yield all hits of a search with a total order, `size` of them per request."""
        while True:
            answer = self.cluster.search(self.cluster.alias(kind), size=size, track_total_hits=False, **asked)
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
        counted: dict[str, int] = {}
        names = list(queries)
        for start in range(0, len(names), _COUNTED_AT_ONCE):
            # Numbered, because not every text is a valid name in a response.
            some = {str(at): name for at, name in enumerate(names[start : start + _COUNTED_AT_ONCE])}
            answer = self.cluster.search(
                self.cluster.alias(kind),
                query={"bool": {"must_not": [] if kind == "filings" else self._hidden()}},
                size=0,
                track_total_hits=False,
                aggregations={"held": {"filters": {"filters": {at: queries[name] for at, name in some.items()}}}},
            )
            buckets = answer["aggregations"]["held"]["buckets"]
            counted |= {name: int(buckets[at]["doc_count"]) for at, name in some.items()}
        return counted

    def _hidden(self) -> list[Filter]:
        """Return filters for parts without a visible filing."""
        hidden = self.listing().hidden
        return [{"terms": {"generation": list(hidden)}}] if hidden else []

    def _on_any_of(self, keys: Collection[PageKey]) -> Filter:
        """Return a filter for documents on these pages."""
        pages_of: dict[str, set[int]] = {}
        for key in keys:
            if key.doc_id in (of := self.listing().of):
                pages_of.setdefault(of[key.doc_id].generation, set()).add(key.page)
        each = [
            {"bool": {"filter": [{"terms": {"generation": [generation]}}, {"terms": {"page": sorted(pages)}}]}}
            for generation, pages in sorted(pages_of.items())
        ]
        return {"bool": {"should": each, "minimum_should_match": 1}} if each else {"match_none": {}}

    # What filings hold

    def stored(self, doc_id: str) -> StoredFiling:
        """See FilingIndex.stored."""
        filing = self.known_document(doc_id)["_source"]
        parts = (
            [source for _, source in self._sources(kind, [doc_id], place, fields)]
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

    def _on_pages(self, part: Part, keys: Sequence[PageKey], make: Callable[[PageKey, Any], T]) -> list[T]:
        """See FilingIndex._on_pages."""
        kind, page, order, fields = _STORED[part]
        found: dict[PageKey, list[Source]] = {}
        within = [{"terms": {page: sorted({key.page for key in keys})}}]
        for doc_id, source in self._sources(kind, {key.doc_id for key in keys}, order, fields, within):
            found.setdefault(PageKey(doc_id, source[page]), []).append(source)
        present = ((key, source) for key in keys for source in found.get(key, ()))
        return [make(key, row_of(part, source)) for key, source in present if fields[-1] in source]

    def _of_filings(
        self, part: Part, doc_ids: Collection[str], columns: Sequence[str], make: Callable[[str, Any], T]
    ) -> list[T]:
        """See FilingIndex._of_filings."""
        kind, _, order, _ = _STORED[part]
        found = self._sources(kind, doc_ids, order, columns)
        return [make(doc_id, [source.get(column) for column in columns]) for doc_id, source in found]

    def facts(
        self,
        doc_ids: Collection[str],
        *,
        metrics: Collection[str] | None = None,
        pages: Collection[PageKey] | None = None,
        years: Collection[int] | None = None,
    ) -> list[SourcedFact]:
        """See FilingIndex.facts."""
        within: list[Filter] = []
        if metrics is not None:
            within.append({"terms": {"metrics": sorted(metrics)}})
        if pages is not None:
            doc_ids = {key.doc_id for key in pages} & set(doc_ids)
            within.append(self._on_any_of(pages))
        found: dict[str, list[tuple[int, SourcedFact]]] = {}
        fields = ("page", "facts", "tags", "linked")
        for doc_id, source in self._sources("figures", doc_ids, "page", fields, within):
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

    def tags(self, doc_id: str, *, page: int | None = None) -> list[Tag]:
        """See FilingIndex.tags."""
        if page == NO_PAGE:
            return []
        within = [] if page is None else [{"term": {"page": {"value": page}}}]
        found = [
            row
            for _, source in self._sources("figures", [doc_id], "page", ("tags",), within)
            for row in source["tags"]["all"]
        ]
        return [rows.tag(row) for row in sorted(found, key=lambda row: row[0])]

    def _sources(
        self, kind: str, doc_ids: Collection[str], place: str, fields: Sequence[str], within: Sequence[Filter] = ()
    ) -> Iterator[tuple[str, Source]]:
        """Yield (doc_id, document) of filings in the order of the entries, and within a filing by `place`."""
        listing = self.listing()
        known = listing.in_order(doc_ids)
        for start in range(0, len(known), _AT_ONCE):
            some = known[start : start + _AT_ONCE]
            found: dict[str, list[Source]] = {}
            for hit in self._paged(
                kind,
                _AT_ONCE,
                query={"bool": {"filter": [{"terms": {"generation": listing.generations(some)}}, *within]}},
                routing=listing.routes(some),
                sort=ascending("generation", place),
                source={"includes": ["generation", *fields]},
            ):
                found.setdefault(listing.shown[hit["_source"]["generation"]], []).append(hit["_source"])
            for doc_id in some:
                for source in found.get(doc_id, ()):
                    yield doc_id, source

    # Vectors

    def vector_models(self) -> tuple[VectorModel, ...]:
        """See FilingIndex.vector_models."""
        counted = {"dimensions": "max", "sparse": "max", "rows": "sum", "written": "max"}
        of_unit = {field: {how: {"field": field}} for field, how in counted.items()}
        by_unit = {"terms": {"field": "unit", "size": len(VectorUnit)}, "aggregations": of_unit}
        by_model = {"terms": {"field": "model", "size": _MAX_MODELS}, "aggregations": {"units": by_unit}}
        answer = self.cluster.search(
            self.cluster.alias("vectors"),
            query={"bool": {"must_not": self._hidden()}},
            size=0,
            track_total_hits=False,
            aggregations={"models": by_model},
        )
        found = []
        for model in answer["aggregations"]["models"]["buckets"]:
            for unit in model["units"]["buckets"]:
                dimensions, sparse, vectors, latest = (int(unit[field]["value"]) for field in counted)
                of = (str(model["key"]), VectorUnit(unit["key"]))
                found.append(VectorModel(*of, dimensions, bool(sparse), unit["doc_count"], vectors, latest))
        return tuple(sorted(found, key=lambda each: (each.model, each.unit)))

    def _filings_with_vectors(self, model: str, unit: VectorUnit) -> frozenset[str]:
        """See FilingIndex._filings_with_vectors."""
        query = {"bool": {"filter": [{"term": {"model": {"value": model}}}, {"term": {"unit": {"value": unit.value}}}]}}
        found = self.cluster.scan(self.cluster.alias("vectors"), query=query, _source={"includes": ["generation"]})
        shown = self.listing().shown
        return frozenset(shown[each["generation"]] for each in found if each["generation"] in shown)

    def _read_vectors(self, model: str, unit: VectorUnit, doc_ids: Sequence[str]) -> Iterator[FilingVectors]:
        """See FilingIndex._read_vectors. Filings are read in batches."""
        listing = self.listing()
        known = listing.in_order(doc_ids)
        for start in range(0, len(known), _VECTORS_AT_ONCE):
            some = [listing.of[doc_id] for doc_id in known[start : start + _VECTORS_AT_ONCE]]
            asked = [{"_id": vectors_id(each.generation, model, unit), "routing": each.routing} for each in some]
            found = self.cluster.documents(index=self.cluster.alias("vectors"), docs=asked)
            for source in (each["_source"] for each in found if each.get("found")):
                yield FilingVectors(
                    source["doc_id"],
                    unpack_numbers(decode_bytes(source["places"])),
                    source["dimensions"],
                    decode_bytes(source["values"]),
                    source["sparse"],
                )


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
