"""The list of filings on a cluster, cached until it changes, with an inexpensive check for changes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from fin_agent.index import rows
from fin_agent.index.elastic.address import ClusterAddress
from fin_agent.index.elastic.client import Cluster, NotFound, index_error
from fin_agent.index.elastic.documents import columns_of, company_routing, id_of
from fin_agent.index.opening import not_indexed
from fin_agent.index.protocol import FilingEntry, FilingIndex, FilingRecord
from fin_agent.index.stored_filing import Part

_MAX_HIDDEN = 10_000
_RECORDS_AT_ONCE = 500
"""Number of full filing records per response."""
_MAX_ROUTES = 64
"""More routing values than this reach every shard anyway, and make requests long."""


class ListedFiling(NamedTuple):
    """How the parts of a filing are found: their generation and their routing."""

    generation: str
    routing: str
    position: int
    """Among the entries."""


@dataclass(frozen=True, eq=False, slots=True)
class Listing:
    """The filings at one moment."""

    entries: tuple[FilingEntry, ...]
    of: Mapping[str, ListedFiling]
    """By doc_id."""
    shown: Mapping[str, str]
    """doc_id by generation, for visible generations."""
    state: tuple[int, int]
    """Number of filings and sum of their marks; it differs whenever a filing changes."""
    hidden: tuple[str, ...] = ()
    """Generations without a visible filing: those being written, replaced or removed."""

    def in_order(self, doc_ids: Iterable[str]) -> list[str]:
        """Return those of `doc_ids` that exist, in the order of the entries."""
        known = (doc_id for doc_id in set(doc_ids) if doc_id in self.of)
        return sorted(known, key=lambda doc_id: self.of[doc_id].position)

    def generations(self, doc_ids: Iterable[str]) -> list[str]:
        """Return the generations of those of `doc_ids` that exist, in a fixed order."""
        return sorted(self.of[doc_id].generation for doc_id in set(doc_ids) if doc_id in self.of)

    def routes(self, doc_ids: Iterable[str]) -> str | None:
        """Return the routing of their parts; None where they may be on all shards."""
        routes = sorted({self.of[doc_id].routing for doc_id in doc_ids})
        return ",".join(routes) if len(routes) <= _MAX_ROUTES else None


_PINNED: ContextVar[tuple[FilingList, Listing] | None] = ContextVar("_PINNED", default=None)
"""The listing used by all reads inside a snapshot."""


class FilingList(FilingIndex):
    """The part of an index that lists filings. Lists are shared between threads."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._guard = threading.Lock()
        self._kept: Listing | None = None
        self._checked = 0.0

    @property
    def address(self) -> ClusterAddress:
        """Its address, without secrets."""
        return self.cluster.address

    def close(self) -> None:
        """See FilingIndex.close."""
        self.cluster.close()

    def filings(self) -> tuple[FilingRecord, ...]:
        """See FilingIndex.filings."""
        sources = self.cluster.scan(self.cluster.alias("filings"), size=_RECORDS_AT_ONCE)
        found = {source["doc_id"]: filing_record(source) for source in sources}
        return tuple(found[entry.doc_id] for entry in self.entries() if entry.doc_id in found)

    def entries(self) -> tuple[FilingEntry, ...]:
        """See FilingIndex.entries."""
        return self.listing().entries

    def filing(self, doc_id: str) -> FilingRecord:
        """See FilingIndex.filing."""
        return filing_record(self.known_document(doc_id)["_source"])

    def document_of(self, doc_id: str) -> dict[str, Any] | None:
        """Return a filing's own document with its sequence number, or None where there is none."""
        get, alias = self.cluster.client.get, self.cluster.alias("filings")
        try:
            return dict(self.cluster.request(get, expected=(404,), index=alias, id=id_of(doc_id)).body)
        except NotFound as error:
            if isinstance(error.body, dict) and error.body.get("found") is False:
                return None
            raise index_error(self.cluster.address, error, "read") from error

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
        """Make the next read check the cluster, after a write."""
        with self._guard:
            self._checked = float("-inf")

    def _state(self) -> tuple[tuple[int, int], tuple[str, ...]]:
        """Return the value that identifies a state of the list, and the generations in the journal."""
        filings = self.cluster.search(
            self.cluster.alias("filings"),
            size=0,
            track_total_hits=True,
            aggregations={"marks": {"sum": {"field": "mark"}}},
        )
        journal = self.cluster.search(
            self.cluster.alias("journal"),
            size=_MAX_HIDDEN,
            source={"includes": ["generation"]},
            sort=[{"due": {"order": "desc"}}],
        )
        hidden = sorted({hit["_source"]["generation"] for hit in journal["hits"]["hits"]})
        return (filings["hits"]["total"]["value"], int(filings["aggregations"]["marks"]["value"])), tuple(hidden)

    def _read(self) -> Listing:
        fields = ["generation", "mark", *rows.ENTRY_COLUMNS]
        found = [
            (FilingEntry.of([source.get(column) for column in rows.ENTRY_COLUMNS]), source)
            for source in self.cluster.scan(self.cluster.alias("filings"), _source={"includes": fields})
        ]
        found.sort(key=lambda each: (each[0].content_hash, each[0].doc_id))
        entries = tuple(entry for entry, _ in found)
        if self._kept is not None and self._kept.entries == entries:
            entries = self._kept.entries
        return Listing(
            entries=entries,
            of={
                entry.doc_id: ListedFiling(
                    source["generation"], company_routing(entry.identity.cik, entry.identity.company), position
                )
                for position, (entry, source) in enumerate(found)
            },
            shown={source["generation"]: entry.doc_id for entry, source in found},
            state=(len(found), sum(source["mark"] for _, source in found)),
        )


def filing_record(source: Mapping[str, Any]) -> FilingRecord:
    """Return the filing record from a filing's own document."""
    return FilingRecord.of(columns_of(Part.FILING, source), [*source["details"]["row"], source["summary"]])


def ascending(*fields: str) -> list[dict[str, dict[str, str]]]:
    """Return a sort order by these fields, one after another."""
    return [{name: {"order": "asc"}} for name in fields]
