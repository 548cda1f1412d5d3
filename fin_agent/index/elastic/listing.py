"""The list of filings on a cluster, cached until it changes, with an inexpensive check for changes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from fin_agent.index import rows
from fin_agent.index.elastic.client import Cluster, NotFound, index_error
from fin_agent.index.elastic.documents import columns_of, company_routing, id_of
from fin_agent.index.elastic.mapping import Layout
from fin_agent.index.opening import not_indexed
from fin_agent.index.protocol import FilingEntry, FilingRecord
from fin_agent.index.stored_filing import Part

_MAX_HIDDEN = 10_000
_RECORDS_AT_ONCE = 500
"""Number of full filing records per response."""
_MAX_ROUTES = 64
"""More routing values than this reach every shard anyway, and make requests long."""
_ENTRY_FIELDS = ("generation", "mark", *rows.ENTRY_COLUMNS)


class ListedFiling(NamedTuple):
    """How the parts of a filing are found: their generation and their routing."""

    generation: str
    routing: str


@dataclass(frozen=True, eq=False, slots=True)
class Listing:
    """The filings at one moment."""

    entries: tuple[FilingEntry, ...]
    of: Mapping[str, ListedFiling]
    """By doc_id."""
    shown: Mapping[str, str]
    """doc_id by generation, for visible generations."""
    positions: Mapping[str, int]
    """Position among the entries by doc_id."""
    state: tuple[int, int]
    """Number of filings and sum of their marks; it differs whenever a filing changes."""
    hidden: tuple[str, ...] = ()
    """Generations without a visible filing: those being written, replaced or removed."""
    records: list[tuple[FilingRecord, ...]] = field(default_factory=list)
    """The full filing records, once they have been read."""

    def generations(self, doc_ids: Iterable[str]) -> list[str]:
        """Return the generations of those of `doc_ids` that exist, in a fixed order."""
        return sorted(self.of[doc_id].generation for doc_id in set(doc_ids) if doc_id in self.of)

    def routes(self, doc_ids: Iterable[str]) -> str | None:
        """Return the routing of their parts; None where all shards may have them."""
        routes = sorted({self.of[doc_id].routing for doc_id in set(doc_ids) if doc_id in self.of})
        return ",".join(routes) if 0 < len(routes) <= _MAX_ROUTES else None

    def in_order(self, doc_ids: Iterable[str]) -> list[str]:
        """Return those of `doc_ids` that exist, in the order of the entries."""
        return sorted((doc_id for doc_id in set(doc_ids) if doc_id in self.of), key=self.positions.__getitem__)

    def place_filter(self, places: Iterable[tuple[str, int]], name: str) -> dict[str, Any]:
        """Return a filter for (doc_id, place) pairs, where `name` is the field of the place."""
        by_filing: dict[str, set[int]] = {}
        for doc_id, place in places:
            if doc_id in self.of:
                by_filing.setdefault(self.of[doc_id].generation, set()).add(place)
        each = [
            {"bool": {"filter": [term("generation", generation), {"terms": {name: sorted(by_filing[generation])}}]}}
            for generation in sorted(by_filing)
        ]
        return {"bool": {"should": each, "minimum_should_match": 1}} if each else {"match_none": {}}


_PINNED: ContextVar[tuple[FilingList, Listing] | None] = ContextVar("_PINNED", default=None)
"""The listing used by all reads inside a snapshot."""


class FilingList:
    """The part of an index that lists filings. Lists are shared between threads."""

    def __init__(self, cluster: Cluster, layout: Layout) -> None:
        self.cluster = cluster
        self.layout = layout
        self._guard = threading.Lock()
        self._kept: Listing | None = None
        self._checked = 0.0

    def filings(self) -> tuple[FilingRecord, ...]:
        """See FilingIndex.filings."""
        while True:
            listing = self.listing()
            if listing.records:
                return listing.records[0]
            found = {source["doc_id"]: source for source in self.cluster.scan(self._alias, size=_RECORDS_AT_ONCE)}
            generations = {doc_id: source["generation"] for doc_id, source in found.items()}
            if generations == {doc_id: listed.generation for doc_id, listed in listing.of.items()}:
                records = tuple(filing_record(found[entry.doc_id]) for entry in listing.entries)
                listing.records[:] = listing.records or [records]
                return listing.records[0]
            self.invalidate()

    def entries(self) -> tuple[FilingEntry, ...]:
        """See FilingIndex.entries."""
        return self.listing().entries

    def filing(self, doc_id: str) -> FilingRecord:
        """See FilingIndex.filing."""
        return filing_record(self.known_document(doc_id)["_source"])

    def page_count(self) -> int:
        """See FilingIndex.page_count."""
        return sum(entry.page_count for entry in self.entries())

    def document_of(self, doc_id: str) -> dict[str, Any] | None:
        """Return a filing's own document with its sequence number, or None where there is none."""
        try:
            found = self.cluster.request(self.cluster.client.get, expected=(404,), index=self._alias, id=id_of(doc_id))
        except NotFound as error:
            if isinstance(error.body, dict) and error.body.get("found") is False:
                return None
            raise index_error(self.cluster.address, error, "read") from error
        return dict(found.body)

    def known_document(self, doc_id: str) -> dict[str, Any]:
        """Return the same document. Raises FilingIndexError where there is none."""
        found = self.document_of(doc_id)
        if found is None:
            raise not_indexed(doc_id, (entry.doc_id for entry in self.entries()))
        return found

    def listing(self) -> Listing:
        """Return the current list of filings, which may be as old as `checked_every`."""
        pinned = _PINNED.get()
        if pinned is not None and pinned[0] is self:
            return pinned[1]
        with self._guard:
            kept = self._kept
            if kept is not None and time.monotonic() - self._checked < self.cluster.reaching.checked_every:
                return kept
            self._checked = time.monotonic()
            state, hidden = self._state()
            if kept is None or kept.state != state:
                kept = self._read()
            hidden = tuple(generation for generation in hidden if generation not in kept.shown)
            self._kept = kept if kept.hidden == hidden else replace(kept, hidden=hidden)
            return self._kept

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Make all reads inside see one state, also those of threads that inherit the context.

        It may last as long as replaced parts are kept (`ConnectionSettings.grace`).
        """
        token = _PINNED.set((self, self.listing()))
        try:
            yield
        finally:
            _PINNED.reset(token)

    def invalidate(self) -> None:
        """Make the next read check the cluster, after a write or an inconsistency."""
        with self._guard:
            self._checked = float("-inf")

    @property
    def _alias(self) -> str:
        return self.layout.alias("filings")

    def _state(self) -> tuple[tuple[int, int], tuple[str, ...]]:
        """Return the value that identifies a state of the list, and the generations in the journal."""
        filings = self.cluster.search(
            self._alias, size=0, track_total_hits=True, aggregations={"marks": {"sum": {"field": "mark"}}}
        )
        journal = self.cluster.search(
            self.layout.alias("journal"),
            size=_MAX_HIDDEN,
            source={"includes": ["generation"]},
            sort=[{"due": {"order": "desc"}}],
        )
        hidden = sorted({hit["_source"]["generation"] for hit in journal["hits"]["hits"]})
        return (filings["hits"]["total"]["value"], int(filings["aggregations"]["marks"]["value"])), tuple(hidden)

    def _read(self) -> Listing:
        found: list[tuple[FilingEntry, ListedFiling, int]] = []
        for source in self.cluster.scan(self._alias, fields=_ENTRY_FIELDS):
            entry = rows.filing_entry([source.get(column) for column in rows.ENTRY_COLUMNS])
            routing = company_routing(entry.identity.cik, entry.identity.company)
            found.append((entry, ListedFiling(source["generation"], routing), source["mark"]))
        found.sort(key=lambda each: (each[0].content_hash, each[0].doc_id))
        entries = tuple(entry for entry, _, _ in found)
        if self._kept is not None and self._kept.entries == entries:
            entries = self._kept.entries
        return Listing(
            entries=entries,
            of={entry.doc_id: listed for entry, listed, _ in found},
            shown={listed.generation: entry.doc_id for entry, listed, _ in found},
            positions={entry.doc_id: at for at, entry in enumerate(entries)},
            state=(len(found), sum(mark for _, _, mark in found)),
        )


def filing_record(source: Mapping[str, Any]) -> FilingRecord:
    """Return the filing record from a filing's own document."""
    return rows.filing_record(columns_of(Part.FILING, source), [*source["details"]["row"], source["summary"]])


def term(name: str, value: str) -> dict[str, Any]:
    """Return a filter for one value of a field."""
    return {"term": {name: {"value": value}}}


def ascending(fields: Sequence[str]) -> list[dict[str, dict[str, str]]]:
    """Return a sort order by these fields, one after another."""
    return [{name: {"order": "asc"}} for name in fields]
