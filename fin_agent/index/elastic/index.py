"""The index on a cluster: parts of filings are written first, then made visible at once; replaced parts go later.

A cluster has no transactions over several documents. Each filing therefore has one document that names the generation
of its parts, and readers only read parts of generations that are named. Writing that one document makes the whole
filing visible, or replaces it. The journal names generations without a visible filing. It is written before the parts,
so that an interrupted write leaves a trace by which its parts are found and deleted.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from fin_agent.errors import FilingIndexError
from fin_agent.index.elastic.address import ClusterAddress, ConnectionSettings
from fin_agent.index.elastic.client import Cluster, Conflict, NotFound, describe_error, is_busy
from fin_agent.index.elastic.documents import (
    Document,
    Source,
    company_routing,
    encode_bytes,
    filing_source,
    id_of,
    parts_of,
    vectors_id,
)
from fin_agent.index.elastic.listing import ascending
from fin_agent.index.elastic.mapping import PARTS, create_indices, open_indices
from fin_agent.index.elastic.reading import ElasticReader
from fin_agent.index.opening import not_indexed
from fin_agent.index.protocol import FilingVectors, VectorUnit
from fin_agent.index.stored_filing import StoredFiling, check_vectors, pack_numbers

MAX_BYTES = 8_000_000
"""Size limit of one request: between the 5 and 15 MB that Elastic recommends, far below the limit of 100 MB."""
MAX_DOCUMENTS = 2_000
_TRIES = 10
"""Attempts to write what another process writes as well."""
_LEASE = 3_600.0
"""Time limit for writing the parts of one filing in seconds, including retries."""
_MARKS = 2**31
"""Upper limit of marks, which identify one write of a filing, so that their sum over all filings is exact in a
double."""


class ElasticIndex(ElasticReader):
    """Filings on an Elasticsearch cluster, in indices named with the address's prefix. Safe to share between threads.

    >>> index = ElasticIndex("https://localhost:9200/filings")  # doctest: +SKIP
    >>> index.search_pages(["inventory turnover"])  # doctest: +SKIP
    """

    def __init__(
        self,
        address: str | ClusterAddress,
        reaching: ConnectionSettings | None = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
        create: bool = False,
    ) -> None:
        """Open an index.

        Args:
            address: `https://host:9200/prefix`.
            reaching: Connection settings; those of the environment where None.
            sleep: Waits so many seconds between attempts.
            create: Whether to create templates and indices where they are missing.

        Raises:
            FilingIndexError: There is no index, it cannot be reached, or it has another format.
        """
        if not isinstance(address, ClusterAddress):
            address = ClusterAddress.of(address)
        cluster = Cluster(address, reaching or ConnectionSettings.from_environment(), sleep=sleep)
        super().__init__(cluster)
        self._last_written = 0
        self._clock = threading.Lock()
        try:
            if create:
                create_indices(cluster)
            open_indices(cluster)
        except BaseException:
            cluster.close()
            raise

    def put(self, stored: StoredFiling) -> None:
        """See FilingIndex.put. If two processes write the same filing, the later one wins."""
        doc_id, generation = stored.doc_id, secrets.token_hex(12)
        source = filing_source(stored, generation, secrets.randbelow(_MARKS), self.now())
        routing = company_routing(source.get("cik"), source["company"])
        self._journal(generation, doc_id, routing, _LEASE)
        self.write_documents(parts_of(stored, generation), routing, doc_id)
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
                delete = self.cluster.client.delete
                self._write(delete, "filings", expected=(404, 409), id=found["_id"], **_unchanged(found))
            except (Conflict, NotFound):
                continue
            self.invalidate()
            self.sweep()
            return True
        raise _contested(doc_id)

    def replace_summary(self, doc_id: str, summary: str) -> bool:
        """See FilingIndex.replace_summary."""
        for _ in range(_TRIES):
            found = self.document_of(doc_id)
            if found is None:
                return False
            source = {**found["_source"], "summary": summary, "mark": secrets.randbelow(_MARKS), "written": self.now()}
            if self._put_filing(found, doc_id, source):
                self.invalidate()
                of_summary = {"generation": source["generation"], "unit": VectorUnit.SUMMARY.value}
                terms = [{"term": {name: {"value": value}}} for name, value in of_summary.items()]
                self.delete_where(self.cluster.alias("vectors"), {"bool": {"filter": terms}})
                return True
        raise _contested(doc_id)

    def add_vectors(self, model: str, unit: VectorUnit, vectors: FilingVectors) -> None:
        """See FilingIndex.add_vectors."""
        check_vectors(model, unit, vectors)
        self.invalidate()
        listed = self.listing().of.get(vectors.doc_id)
        if listed is None:
            raise not_indexed(vectors.doc_id, (entry.doc_id for entry in self.entries()))
        source = {
            "doc_id": vectors.doc_id,
            "generation": listed.generation,
            "model": model,
            "unit": unit.value,
            "written": self.now(),
            "dimensions": vectors.dimensions,
            "sparse": vectors.sparse,
            "rows": len(vectors.places),
            "places": encode_bytes(pack_numbers(vectors.places)),
            "values": encode_bytes(vectors.values),
        }
        document = ("vectors", vectors_id(listed.generation, model, unit), source)
        self.write_documents([document], listed.routing, vectors.doc_id)

    def sweep(self, ahead: float = 0.0) -> int:
        """Delete expired parts without a visible filing, including those of interrupted writes.

        Args:
            ahead: Also delete parts that expire within this many seconds.

        Returns:
            The number of generations deleted.
        """
        due = {"range": {"due": {"lte": self.now() + int(ahead * 1e6)}}}
        answer = self.cluster.search(self.cluster.alias("journal"), query=due, size=1_000, sort=ascending("due"))
        traces = [hit["_source"] for hit in answer["hits"]["hits"]]
        if not traces:
            return 0
        # A failed lookup must not count as a missing filing, whose parts would be deleted.
        found = self.cluster.documents(
            index=self.cluster.alias("filings"),
            ids=[id_of(doc_id) for doc_id in sorted({trace["doc_id"] for trace in traces})],
            source_includes=["generation"],
        )
        current = {each["_source"]["generation"] for each in found if each.get("found")}
        gone = sorted(trace["generation"] for trace in traces if trace["generation"] not in current)
        if gone:
            parts = ",".join(map(self.cluster.alias, PARTS))
            # Documents that are not refreshed yet are not found and would remain.
            refresh = self.cluster.client.indices.refresh
            self.cluster.request(refresh, doing="written", index=parts, ignore_unavailable=True)
            # Without routing: these are few, and a filing whose company changed has parts on two shards.
            self.delete_where(parts, {"terms": {"generation": gone}})
        self._forget_journal([trace["generation"] for trace in traces])
        return len(gone)

    def now(self) -> int:
        """Return the time in microseconds, strictly increasing within this process."""
        with self._clock:
            self._last_written = max(time.time_ns() // 1_000, self._last_written + 1)
            return self._last_written

    def write_documents(self, documents: Iterable[Document], routing: str, subject: str) -> None:
        """Write documents through their aliases, and refresh them so that searches find them.

        Items that the cluster was too busy for are sent again, and only these.

        Raises:
            FilingIndexError: An item was rejected; the message names the first one.
        """
        actions = [
            {"_index": self.cluster.alias(kind), "_id": id, "_routing": routing, "_source": source}
            for kind, id, source in documents
        ]
        refused = self.cluster.bulk(actions, max_bytes=MAX_BYTES, max_documents=MAX_DOCUMENTS)
        if refused:
            first = next((item for item in refused if not is_busy(item["status"], item)), refused[0])
            prefix = self.cluster.address.prefix
            what, remedy = describe_error(int(first["status"]), {"error": first["error"]}, "written", prefix)
            others = f" ({len(refused)} of {len(actions)} documents)" if len(refused) > 1 else ""
            place = f"{first['_index'].removeprefix(f'{prefix}-')} {first['_id'].rpartition('-')[2]}"
            raise FilingIndexError(f"{place} was rejected{others}: {what}", subject=subject, remedy=remedy)
        if kinds := sorted({str(each["_index"]) for each in actions}):
            self.cluster.request(self.cluster.client.indices.refresh, doing="written", index=kinds)

    def delete_where(self, target: str, query: dict[str, Any]) -> None:
        """Delete the documents that a query finds, and refresh."""
        self.cluster.request(
            self.cluster.client.delete_by_query,
            doing="written",
            index=target,
            query=query,
            conflicts="proceed",
            refresh=True,
            ignore_unavailable=True,
        )

    def _publish(self, doc_id: str, source: Source) -> None:
        """Write the document that makes the parts visible, replacing exactly the current one."""
        for _ in range(_TRIES):
            found = self.document_of(doc_id)
            if found is not None:
                if found["_source"]["generation"] == source["generation"]:
                    break  # written by the previous attempt, whose response was lost
                self._journal_replaced(found["_source"])
            if self._put_filing(found, doc_id, source):
                break
        else:
            raise _contested(doc_id)
        self.invalidate()

    def _put_filing(self, found: dict[str, Any] | None, doc_id: str, source: Source) -> bool:
        """Write the filing's document; return False where another process has written it meanwhile."""
        expected = {"op_type": "create"} if found is None else _unchanged(found)
        try:
            self._index_document("filings", id_of(doc_id), source, **expected)
        except Conflict:
            return False
        return True

    def _journal_replaced(self, source: Source) -> None:
        """Record the parts of a filing that is replaced or removed: answers may read them for a while."""
        routing = company_routing(source.get("cik"), source["company"])
        self._journal(source["generation"], source["doc_id"], routing, self.cluster.reaching.grace)

    def _journal(self, generation: str, doc_id: str, routing: str, kept: float) -> None:
        """Record a generation without a visible filing; it is deleted after `kept` seconds."""
        due = self.now() + int(kept * 1e6)
        trace = {"generation": generation, "doc_id": doc_id, "routing": routing, "due": due}
        self._index_document("journal", generation, trace)

    def _index_document(self, kind: str, id: str, source: Source, **expected: Any) -> None:
        """Write a document; raise Conflict where a condition does not hold."""
        index = self.cluster.client.index
        self._write(index, kind, expected=(409,), id=id, document=source, require_alias=True, **expected)

    def _write(self, ask: Any, kind: str, **arguments: Any) -> None:
        self.cluster.request(ask, doing="written", index=self.cluster.alias(kind), refresh=True, **arguments)

    def _forget_journal(self, generations: Sequence[str]) -> None:
        self.delete_where(self.cluster.alias("journal"), {"terms": {"generation": list(generations)}})


def _contested(doc_id: str) -> FilingIndexError:
    return FilingIndexError(
        "other processes keep writing this filing", subject=doc_id, remedy="Add it from one process only"
    )


def _unchanged(found: dict[str, Any]) -> dict[str, Any]:
    """Return the conditions for a write: that the document has not been written since it was read."""
    return {"if_seq_no": found["_seq_no"], "if_primary_term": found["_primary_term"]}
