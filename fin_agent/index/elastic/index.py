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
from base64 import b64encode
from collections.abc import Callable, Collection, Iterable
from typing import Any

from fin_agent.errors import FilingIndexError
from fin_agent.index.elastic.address import ClusterAddress, ConnectionSettings
from fin_agent.index.elastic.client import Cluster, Conflict, NotFound
from fin_agent.index.elastic.documents import (
    Document,
    Source,
    company_routing,
    filing_source,
    id_of,
    parts_of,
    vectors_id,
)
from fin_agent.index.elastic.mapping import PARTS, create_indices, open_indices
from fin_agent.index.elastic.reading import ElasticReader, any_of, ascending
from fin_agent.index.opening import not_indexed
from fin_agent.index.protocol import FilingVectors, VectorUnit
from fin_agent.index.stored_filing import StoredFiling, pack_numbers

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
        self._journal(generation, doc_id, _LEASE)
        routing = company_routing(source.get("cik"), source["company"])
        self._write_parts(parts_of(stored, generation), routing, doc_id)
        self._exchange(doc_id, lambda current: source)
        self._forget_journal([generation])
        self.sweep()

    def remove(self, doc_id: str) -> bool:
        """See FilingIndex.remove."""
        if self._exchange(doc_id, lambda current: None) is None:
            return False
        self.sweep()
        return True

    def replace_summary(self, doc_id: str, summary: str) -> bool:
        """See FilingIndex.replace_summary."""
        changed = {"summary": summary, "mark": secrets.randbelow(_MARKS), "written": self.now()}
        replaced = self._exchange(doc_id, lambda current: current and {**current, **changed})
        if replaced is None:
            return False
        of_summary = [any_of("generation", [replaced["generation"]]), any_of("unit", [VectorUnit.SUMMARY.value])]
        self._delete_where(["vectors"], {"bool": {"filter": of_summary}})
        return True

    def add_vectors(self, model: str, unit: VectorUnit, vectors: FilingVectors) -> None:
        """See FilingIndex.add_vectors."""
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
            "places": b64encode(pack_numbers(vectors.places)).decode(),
            "values": b64encode(vectors.values).decode(),
        }
        document = ("vectors", vectors_id(listed.generation, model, unit), source)
        self._write_parts([document], listed.routing, vectors.doc_id)

    def sweep(self, ahead: float = 0.0) -> int:
        """Delete parts without a visible filing that expire within `ahead` seconds, those of interrupted writes too.

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
        expired = {trace["generation"] for trace in traces}
        if gone := expired - current:
            self._refresh(PARTS)  # documents that are not refreshed yet are not found and would remain
            # Without routing: these are few, and a filing whose company changed has parts on two shards.
            self._delete_where(PARTS, any_of("generation", gone))
        self._forget_journal(expired)
        return len(gone)

    def now(self) -> int:
        """Return the time in microseconds, strictly increasing within this process."""
        with self._clock:
            self._last_written = max(time.time_ns() // 1_000, self._last_written + 1)
            return self._last_written

    def _exchange(self, doc_id: str, make: Callable[[Source | None], Source | None]) -> Source | None:
        """Exchange the document that makes a filing visible, and return the old one; None stands for no document.

        `make` returns the new one of the current one, again where another process was faster. The parts of the old one
        are named in the journal first, because answers may read them for a while.
        """
        for _ in range(_TRIES):
            found = self.document_of(doc_id)
            current: Source | None = found["_source"] if found else None
            new = make(current)
            if new == current:  # also where the response to the previous attempt was lost
                break
            if current and (new is None or new["generation"] != current["generation"]):
                self._journal(current["generation"], doc_id, self.cluster.reaching.grace)
            expected = {"if_seq_no": found["_seq_no"], "if_primary_term": found["_primary_term"]} if found else {}
            try:
                if new is None:
                    self._write(self.cluster.client.delete, "filings", id=id_of(doc_id), **expected)
                else:
                    self._put_document("filings", id_of(doc_id), new, **(expected or {"op_type": "create"}))
            except (Conflict, NotFound):
                continue
            break
        else:
            raise FilingIndexError(
                "other processes keep writing this filing", subject=doc_id, remedy="Add it from one process only"
            )
        self.invalidate()
        return current

    def _journal(self, generation: str, doc_id: str, kept: float) -> None:
        """Record a generation without a visible filing; it is deleted after `kept` seconds."""
        trace = {"generation": generation, "doc_id": doc_id, "due": self.now() + int(kept * 1e6)}
        self._put_document("journal", generation, trace)

    def _forget_journal(self, generations: Collection[str]) -> None:
        self._delete_where(["journal"], any_of("generation", generations))

    def _put_document(self, kind: str, id: str, source: Source, **expected: Any) -> None:
        self._write(self.cluster.client.index, kind, id=id, document=source, require_alias=True, **expected)

    def _write(self, ask: Callable[..., object], kind: str, **arguments: Any) -> None:
        """Write or delete a document; raise Conflict or NotFound where a condition does not hold."""
        expected = (409,) if "document" in arguments else (404, 409)
        alias = self.cluster.alias(kind)
        self.cluster.request(ask, doing="written", expected=expected, index=alias, refresh=True, **arguments)

    def _write_parts(self, documents: Iterable[Document], routing: str, doc_id: str) -> None:
        """Write documents of a filing, and refresh them so that searches find them."""
        parts = list(documents)
        actions = [
            {"_index": self.cluster.alias(kind), "_id": id, "_routing": routing, "_source": source}
            for kind, id, source in parts
        ]
        self.cluster.bulk(actions, doc_id)
        self._refresh(sorted({kind for kind, *_ in parts}))

    def _refresh(self, kinds: Collection[str]) -> None:
        if kinds:
            refresh, names = self.cluster.client.indices.refresh, list(map(self.cluster.alias, kinds))
            self.cluster.request(refresh, doing="written", index=names, ignore_unavailable=True)

    def _delete_where(self, kinds: Collection[str], query: dict[str, Any]) -> None:
        """Delete the documents that a query finds, and refresh."""
        self.cluster.request(
            self.cluster.client.delete_by_query,
            doing="written",
            index=",".join(map(self.cluster.alias, kinds)),
            query=query,
            conflicts="proceed",
            refresh=True,
            ignore_unavailable=True,
        )
