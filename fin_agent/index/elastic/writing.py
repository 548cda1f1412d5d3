"""Filings written to a cluster: parts first, visible at once, and what they replace taken away later.

A cluster has no transactions over several documents. Here each filing has one document of its own that names the
generation of its parts; readers look at parts of generations that are named. So writing that one document shows the
whole filing, and replacing it shows the other whole filing. The journal names generations that no filing shows: it is
written before the parts are, so whatever is interrupted leaves a trace by which the rest is found and deleted.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from elasticsearch import helpers

from fin_agent.errors import FilingIndexError
from fin_agent.index.elastic.client import (
    BUSY,
    DISK_FULL,
    BusyError,
    Cluster,
    Conflict,
    NotFound,
    describe_error,
    error_type,
)
from fin_agent.index.elastic.documents import Document, Source, company_routing, filing_source, id_of, parts_of
from fin_agent.index.elastic.listing import FilingList, ascending
from fin_agent.index.elastic.mapping import Layout
from fin_agent.index.stored_filing import StoredFiling
from fin_agent.vocabulary.filing import Filing

MAX_BYTES = 8_000_000
"""Of one request: between the 5 and 15 MB that Elastic advises, far below the 100 MB that a node takes."""
MAX_DOCUMENTS = 2_000
_TRIES = 10
_LEASE = 3_600.0
"""Seconds that writing the parts of one filing may take, tries included."""
_MARKS = 2**31
"""Marks, which tell one writing of a filing from another in a sum over all filings, are below this: so that the sum is
exact in a double."""


class ElasticWriter(FilingList):
    """The part of an index that writes filings."""

    def __init__(self, cluster: Cluster, layout: Layout) -> None:
        super().__init__(cluster, layout)
        self._last_written = 0
        self._clock = threading.Lock()

    def add(self, filing: Filing, cards: Sequence[str], summary: str) -> None:
        """See FilingIndex.add. Of two that write the same filing at once the later one stays."""
        self.put(StoredFiling.of(filing, cards, summary))

    def put(self, stored: StoredFiling) -> None:
        """See FilingIndex.put."""
        doc_id, generation = stored.doc_id, secrets.token_hex(12)
        source = filing_source(stored, generation, secrets.randbelow(_MARKS), self.now())
        routing = company_routing(source.get("cik"), source["company"])
        parts = list(parts_of(stored, generation))
        self._journal(generation, doc_id, routing, _LEASE)
        self.write_documents(parts, routing, doc_id)
        self._publish(doc_id, source)
        self._forget_journal([generation])
        self.sweep()

    def remove(self, doc_id: str) -> bool:
        """See FilingIndex.remove."""
        for _ in range(_TRIES):
            found = self.document_of(doc_id)
            if found is None:
                self.invalidate()
                return False
            self._journal_replaced(found["_source"])
            try:
                delete, found_then = self.cluster.client.delete, _unchanged(found)
                self._write_document(delete, "filings", expected=(404, 409), id=found["_id"], **found_then)
            except (Conflict, NotFound):
                continue
            self.invalidate()
            self.sweep()
            return True
        raise self._is_contested(doc_id)

    def replace_summary(self, doc_id: str, summary: str) -> bool:
        """Another summary for a filing; vectors of the one before go. False where there is no such filing."""
        for _ in range(_TRIES):
            found = self.document_of(doc_id)
            if found is None:
                return False
            source = {**found["_source"], "summary": summary, "mark": secrets.randbelow(_MARKS), "written": self.now()}
            if self._put_filing(found, doc_id, source):
                self.invalidate()
                return True
        raise self._is_contested(doc_id)

    def sweep(self, ahead: float = 0.0) -> int:
        """Delete parts that no filing shows and whose time is up, or is in `ahead` seconds; of how many generations.

        What was interrupted is found here too, by whoever writes next.
        """
        traces = self._traces({"range": {"due": {"lte": self.now() + int(ahead * 1e6)}}})
        if not traces:
            return 0
        # What is not told must not be taken for a filing that is gone: its parts would be deleted.
        found = self.cluster.documents(
            index=self.layout.alias("filings"),
            ids=[id_of(doc_id) for doc_id in sorted({trace["doc_id"] for trace in traces})],
            source_includes=["generation"],
        )
        current = {each["_source"]["generation"] for each in found if each.get("found")}
        gone = sorted(trace["generation"] for trace in traces if trace["generation"] not in current)
        if gone:
            # What was not refreshed yet is not found, and so would stay.
            refresh = self.cluster.client.indices.refresh
            self.cluster.request(refresh, doing="written", index=self.layout.parts, ignore_unavailable=True)
            # Through no routing: few, and a filing whose company changed has parts in two places.
            self.delete_where(self.layout.parts, {"terms": {"generation": gone}})
        self._forget_journal([trace["generation"] for trace in traces])
        return len(gone)

    def now(self) -> int:
        """Microseconds, later than the last time in this process."""
        with self._clock:
            self._last_written = max(time.time_ns() // 1_000, self._last_written + 1)
            return self._last_written

    def write_documents(self, documents: Iterable[Document], routing: str, subject: str) -> None:
        """Write documents through their aliases, so that searches find them.

        Items that the cluster was too busy for are sent again, and only these. Raises FilingIndexError that names the
        first item refused for good.
        """
        left = [
            {"_index": self.layout.alias(each.kind), "_id": each.id, "_routing": routing, "_source": each.source}
            for each in documents
        ]
        kinds = sorted({str(each["_index"]) for each in left})
        count = len(left)
        refused: list[dict[str, Any]] = []

        def send() -> None:
            nonlocal left
            sent = helpers.streaming_bulk(
                self.cluster.client,
                left,
                chunk_size=MAX_DOCUMENTS,
                max_chunk_bytes=MAX_BYTES,
                raise_on_error=False,
                yield_ok=False,
                require_alias=True,
            )
            refused[:] = [item["index"] for _, item in sent]
            if refused and all(_is_busy(item) for item in refused):
                again = {item["_id"] for item in refused}
                left = [each for each in left if each["_id"] in again]
                raise BusyError

        with suppress(BusyError):  # for too long
            self.cluster.request(send, doing="written")
        if refused:
            raise self._refusal(refused, count, subject)
        if kinds:
            self.cluster.request(self.cluster.client.indices.refresh, doing="written", index=kinds)

    def delete_where(self, target: str, query: dict[str, Any]) -> None:
        """Delete what a query finds, and let searches find it no more."""
        self.cluster.request(
            self.cluster.client.delete_by_query,
            doing="written",
            index=target,
            query=query,
            conflicts="proceed",
            refresh=True,
            ignore_unavailable=True,
        )

    def _refusal(self, refused: list[dict[str, Any]], count: int, subject: str) -> FilingIndexError:
        first = next((item for item in refused if not _is_busy(item)), refused[0])
        prefix = self.cluster.address.prefix
        what, remedy = describe_error(int(first["status"]), {"error": first["error"]}, "written", prefix)
        others = f" ({len(refused)} of {count} documents)" if len(refused) > 1 else ""
        kind = first["_index"].removeprefix(f"{prefix}-").rpartition("-0")[0] or first["_index"].removeprefix(
            f"{prefix}-"
        )
        place = f"{kind} {first['_id'].rpartition('-')[2]}"
        return FilingIndexError(f"{place} was not taken{others}: {what}", subject=subject, remedy=remedy)

    def _publish(self, doc_id: str, source: Source) -> None:
        """Write the document that makes parts visible, over the one that is there now and no other."""
        for _ in range(_TRIES):
            found = self.document_of(doc_id)
            if found is not None:
                if found["_source"]["generation"] == source["generation"]:
                    break  # written by the try before, whose answer was lost
                self._journal_replaced(found["_source"])
            if self._put_filing(found, doc_id, source):
                break
        else:
            raise self._is_contested(doc_id)
        self.invalidate()

    def _put_filing(self, found: dict[str, Any] | None, doc_id: str, source: Source) -> bool:
        """Whether the filing's document could be written: False where somebody else has written it meanwhile."""
        expected = {"op_type": "create"} if found is None else _unchanged(found)
        try:
            self._index_document("filings", id_of(doc_id), source, **expected)
        except Conflict:
            return False
        return True

    def _journal_replaced(self, source: Source) -> None:
        """Note the parts of a filing that is replaced or taken out: answers may be reading them for a while."""
        routing = company_routing(source.get("cik"), source["company"])
        self._journal(source["generation"], source["doc_id"], routing, self.cluster.reaching.grace)

    def _journal(self, generation: str, doc_id: str, routing: str, kept: float) -> None:
        """Note a generation that no filing shows, with its filing and routing; it is deleted after `kept` seconds."""
        due = self.now() + int(kept * 1e6)
        trace = {"generation": generation, "doc_id": doc_id, "routing": routing, "due": due}
        self._index_document("journal", generation, trace)

    def _index_document(self, kind: str, id: str, source: Source, **expected: Any) -> None:
        """Raises Conflict where a condition does not hold."""
        index = self.cluster.client.index
        self._write_document(index, kind, expected=(409,), id=id, document=source, require_alias=True, **expected)

    def _write_document(self, ask: Any, kind: str, **arguments: Any) -> None:
        self.cluster.request(ask, doing="written", index=self.layout.alias(kind), refresh=True, **arguments)

    def _forget_journal(self, generations: Sequence[str]) -> None:
        self.delete_where(self.layout.alias("journal"), {"terms": {"generation": list(generations)}})

    def _traces(self, query: dict[str, Any]) -> list[Source]:
        journal = self.layout.alias("journal")
        found = self.cluster.search(journal, query=query, size=1_000, sort=ascending(["due"]))
        return [hit["_source"] for hit in found["hits"]["hits"]]

    def _is_contested(self, doc_id: str) -> FilingIndexError:
        return FilingIndexError(
            "other processes keep writing this filing", subject=doc_id, remedy="Add it from one process only"
        )


def _unchanged(found: dict[str, Any]) -> dict[str, Any]:
    """Conditions under which a document is written: that nobody has written it since it was read."""
    return {"if_seq_no": found["_seq_no"], "if_primary_term": found["_primary_term"]}


def _is_busy(item: dict[str, Any]) -> bool:
    return int(item["status"]) in BUSY and error_type({"error": item["error"]}) != DISK_FULL
