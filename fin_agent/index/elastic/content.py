"""What a cluster keeps of each filing, handed out: pages, outline, passages, facts, tables, tags."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from fin_agent.index.elastic import stored
from fin_agent.index.elastic.documents import NO_PAGE
from fin_agent.index.elastic.filing_list import FilingList, Listing
from fin_agent.index.elastic.scanning import ascending
from fin_agent.index.elastic.searching import on_pages
from fin_agent.index.protocol import PageKey, PageOutline, RowLabel, SourcedFact, StoredPage, StoredPassage
from fin_agent.vocabulary.fact import Tag
from fin_agent.vocabulary.table import Table

_AT_ONCE = 1_000
"""Documents of one answer: some hold a page's text."""
_FILINGS_AT_ONCE = 1_000
_PAGES_AT_ONCE = 500

Source = dict[str, Any]


class StoredContent(FilingList):
    """The part of an index that hands out what filings hold. Parts never change, so they are read without a lock."""

    def pages(self, keys: Sequence[PageKey]) -> list[StoredPage]:
        """See FilingIndex.pages."""
        found = {
            place: StoredPage(place[0], stored.page(source))
            for place, source in self._by_place("pages", keys, "number", _PAGE_FIELDS)
        }
        return [found[key] for key in map(tuple, keys) if key in found]

    def outline(self, doc_ids: Collection[str]) -> list[PageOutline]:
        """See FilingIndex.outline."""
        return [
            PageOutline(
                key=PageKey(doc_id, source["number"]),
                item=source.get("item"),
                statement=source.get("statement"),
                title=source["title"],
                kind=source.get("kind"),
                note=source.get("note"),
                further_statements=tuple(source["further_statements"]),
            )
            for doc_id, source in self._of_filings("pages", doc_ids, "number", _OUTLINE_FIELDS)
        ]

    def passages(self, keys: Sequence[PageKey]) -> list[StoredPassage]:
        """See FilingIndex.passages."""
        found: dict[tuple[str, int], list[StoredPassage]] = {}
        for place, source in self._on_pages("passages", keys, "ordinal", _PASSAGE_FIELDS):
            found.setdefault(place, []).append(StoredPassage(place[0], stored.passage(source), source["card"]))
        return [passage for key in keys for passage in found.get((key.doc_id, key.page), ())]

    def facts(
        self,
        doc_ids: Collection[str],
        *,
        metrics: Collection[str] | None = None,
        pages: Collection[PageKey] | None = None,
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
        found = [
            (doc_id, ordinal, fact)
            for doc_id, source in self._of_filings("figures", doc_ids, "page", _FACT_FIELDS, within)
            if wanted is None or (doc_id, source["page"]) in wanted
            for ordinal, fact in stored.facts(source)
            if metrics is None or fact.metric in metrics
        ]
        order = {doc_id: at for at, doc_id in enumerate(dict.fromkeys(doc_id for doc_id, _, _ in found))}
        found.sort(key=lambda each: (order[each[0]], each[1]))
        return [SourcedFact(doc_id, fact) for doc_id, _, fact in found]

    def row_labels(self, doc_ids: Collection[str], *, holding: Collection[str]) -> list[RowLabel]:
        """See FilingIndex.row_labels."""
        letters = sorted(each.lower() for each in holding)
        if not letters:
            return []
        found: list[RowLabel] = []
        for doc_id, source in self._of_filings("figures", doc_ids, "page", ["page", "rows"]):
            for label, statement, fiscal_year, quarter in source["rows"]["all"]:
                small = label.translate(_SMALL)
                if any(each in small for each in letters):
                    found.append(RowLabel(doc_id, source["page"], label, statement, fiscal_year, quarter))
        return found

    def parts(self, doc_ids: Collection[str]) -> frozenset[str]:
        """See FilingIndex.parts."""
        listing = self.listing()
        generations = listing.generations(doc_ids)
        parts: set[str] = set()
        for start in range(0, len(generations), _FILINGS_AT_ONCE):
            of_some = {"terms": {"generation": generations[start : start + _FILINGS_AT_ONCE]}}
            for source in self._pages_of("filings", [of_some], ["generation"], ["parts"], None):
                parts.update(source["parts"])
        return frozenset(parts)

    def tables(self, keys: Sequence[PageKey]) -> list[Table]:
        """See FilingIndex.tables."""
        found = {
            place: stored.tables(source)
            for place, source in self._by_place("figures", keys, "page", ["page", "generation", "tables"])
        }
        return [table for key in keys for table in found.get((key.doc_id, key.page), ())]

    def tags(self, doc_id: str, *, page: int | None = None) -> list[Tag]:
        """See FilingIndex.tags."""
        within = [] if page is None else [{"term": {"page": {"value": page}}}]
        if page == NO_PAGE:
            return []
        found = [
            each
            for _, source in self._of_filings("figures", [doc_id], "page", ["page", "tags"], within)
            for each in stored.tags(source)
        ]
        return [tag for _, tag in sorted(found, key=lambda each: each[0])]

    def _of_filings(
        self,
        kind: str,
        doc_ids: Collection[str],
        place: str,
        fields: Sequence[str],
        within: Sequence[Mapping[str, Any]] = (),
    ) -> Iterator[tuple[str, Source]]:
        """(doc_id, document) of these filings in the order of the entries, by `place` in each."""
        listing = self.listing()
        known = listing.in_order(doc_ids)
        for start in range(0, len(known), _FILINGS_AT_ONCE):
            some = known[start : start + _FILINGS_AT_ONCE]
            filters = [{"terms": {"generation": listing.generations(some)}}, *within]
            found: dict[str, list[Source]] = {}
            order = ["generation", place]
            for source in self._pages_of(kind, filters, order, ["generation", *fields], listing.routes(some)):
                found.setdefault(listing.shown[source["generation"]], []).append(source)
            for doc_id in some:
                for source in found.get(doc_id, ()):
                    yield doc_id, source

    def _on_pages(
        self, kind: str, keys: Sequence[PageKey], place: str, fields: Sequence[str]
    ) -> Iterator[tuple[tuple[str, int], Source]]:
        """(page, document) of what stands on these pages, by `place` in each filing."""
        listing = self.listing()
        wanted = sorted({key for key in keys if key.doc_id in listing.of})
        for start in range(0, len(wanted), _PAGES_AT_ONCE):
            some = wanted[start : start + _PAGES_AT_ONCE]
            routes = listing.routes(key.doc_id for key in some)
            order = ["generation", place]
            for source in self._pages_of(kind, [on_pages(some, listing)], order, ["generation", *fields], routes):
                yield (listing.shown[source["generation"]], source["page"]), source

    def _pages_of(
        self,
        kind: str,
        filters: Sequence[Mapping[str, Any]],
        order: Sequence[str],
        fields: Sequence[str],
        routing: str | None,
    ) -> Iterator[Source]:
        """Sources of all documents that pass the filters, in an order that no two share."""
        asked: dict[str, Any] = {} if routing is None else {"routing": routing}
        while True:
            answer = self.cluster.answered(
                self.cluster.client.search,
                allow_partial_search_results=False,
                index=self.layout.alias(kind),
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

    def _by_place(
        self, kind: str, keys: Sequence[PageKey], place: str, fields: Sequence[str]
    ) -> Iterator[tuple[tuple[str, int], Source]]:
        """(page, document) of documents that stand for a page each, asked for by their ids."""
        listing = self.listing()
        wanted = sorted({key for key in keys if key.doc_id in listing.of})
        for start in range(0, len(wanted), _PAGES_AT_ONCE):
            documents = [_named(key, listing) for key in wanted[start : start + _PAGES_AT_ONCE]]
            for each in self.cluster.documents(
                index=self.layout.alias(kind), docs=documents, source_includes=["generation", *fields]
            ):
                if each.get("found"):
                    source = each["_source"]
                    yield (listing.shown[source["generation"]], source[place]), source


_OUTLINE_FIELDS = ("number", "item", "statement", "title", "kind", "note", "further_statements")
_PAGE_FIELDS = (*_OUTLINE_FIELDS, "text")
_PASSAGE_FIELDS = ("page", "ordinal", "kind", "text", "box", "card")
_FACT_FIELDS = ("page", "facts", "tags", "linked")

_SMALL = {ord(letter): letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


def _named(key: PageKey, listing: Listing) -> dict[str, str]:
    listed = listing.of[key.doc_id]
    return {"_id": f"{listed.generation}-{key.page}", "routing": listed.routing}
