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
from typing import Any

from fin_agent.errors import FilingIndexError
from fin_agent.index.elastic import stored
from fin_agent.index.elastic.bulk import BulkWriter
from fin_agent.index.elastic.connection import Cluster
from fin_agent.index.elastic.documents import filing_source, id_of, parts_of, routing_of, written_out
from fin_agent.index.elastic.faults import Conflict, NotFound, fault
from fin_agent.index.elastic.filing_list import FilingList
from fin_agent.index.elastic.layout import Layout
from fin_agent.index.elastic.scanning import ascending, scanned
from fin_agent.index.read_by import read_by
from fin_agent.vocabulary.filing import Filing

_TRIES = 10
_LEASE = 3_600.0
"""Seconds that writing the parts of one filing may take, tries included."""
_MARKS = 2**31
"""Marks are below this, so that the sum of those of very many filings is exact in a double."""


class Writing(FilingList):
    """The part of an index that writes filings."""

    def __init__(self, cluster: Cluster, layout: Layout) -> None:
        super().__init__(cluster, layout)
        self.bulk = BulkWriter(cluster, layout)
        self._last_written = 0
        self._clock = threading.Lock()

    def add(self, filing: Filing, cards: Sequence[str], summary: str) -> None:
        """See FilingIndex.add. Of two that write the same filing at once the later one stays."""
        self.add_as_read(filing, cards, summary, read_by())

    def add_as_read(self, filing: Filing, cards: Sequence[str], summary: str, reader: str) -> None:
        """As `add`, of a filing that `reader` has read: what is copied keeps by what it was read."""
        generation, routing = new_generation(), routing_of(filing.identity)
        parts = list(parts_of(filing, cards, generation))
        source = filing_source(filing, summary, generation, new_mark(), self.now()) | {"reader_version": reader}
        written_out(source)  # what cannot be written is found out before anything is
        self._journal((generation, filing.doc_id, routing), _LEASE)
        self.bulk.write(parts, routing, filing.doc_id)
        self._refresh(sorted({part.kind for part in parts}))
        self._show(filing.doc_id, source)
        self._forget([generation])
        self.sweep()

    def readers(self) -> dict[str, str]:
        """doc_id -> version of what read it."""
        found = scanned(
            self.cluster, self.layout.alias("filings"), ["content_hash", "doc_id"], fields=["doc_id", "reader_version"]
        )
        return {source["doc_id"]: source["reader_version"] for source in found}

    def remove(self, doc_id: str) -> bool:
        """See FilingIndex.remove."""
        for _ in range(_TRIES):
            found = self.document_of(doc_id)
            if found is None:
                self.look_again()
                return False
            self._journal(_trace(found["_source"]), self.cluster.reaching.grace)
            try:
                self.cluster.asked(
                    self.cluster.client.delete,
                    doing="written",
                    index=self.layout.alias("filings"),
                    id=found["_id"],
                    if_seq_no=found["_seq_no"],
                    if_primary_term=found["_primary_term"],
                    refresh=True,
                )
            except (Conflict, NotFound):
                continue
            self.look_again()
            self.sweep()
            return True
        raise self._contested(doc_id)

    def replace_summary(self, doc_id: str, summary: str) -> bool:
        """Another summary for a filing; vectors of the one before go. False where there is no such filing."""
        for _ in range(_TRIES):
            found = self.document_of(doc_id)
            if found is None:
                return False
            source = {**found["_source"], "summary": summary, "mark": new_mark(), "written": self.now()}
            if self._put(found, doc_id, source):
                self.look_again()
                return True
        raise self._contested(doc_id)

    def sweep(self, ahead: float = 0.0) -> int:
        """Delete parts that no filing shows and whose time is up, or is in `ahead` seconds; of how many generations.

        What was interrupted is found here too, by whoever writes next.
        """
        answer = self._journal_search({"range": {"due": {"lte": self.now() + int(ahead * 1e6)}}})
        traces = [hit["_source"] for hit in answer["hits"]["hits"]]
        if not traces:
            return 0
        current = self._generations_of({trace["doc_id"] for trace in traces})
        gone = [trace for trace in traces if trace["generation"] not in current]
        if gone:
            # What was not refreshed yet is not found, and so would stay.
            self.cluster.asked(
                self.cluster.client.indices.refresh, doing="written", index=self.layout.parts, ignore_unavailable=True
            )
            # Through no routing: few, and a filing whose company changed has parts in two places.
            self._delete_where(self.layout.parts, {"terms": {"generation": [each["generation"] for each in gone]}})
        self._forget([trace["generation"] for trace in traces])
        return len(gone)

    def now(self) -> int:
        """Microseconds, later than the last time in this process."""
        with self._clock:
            self._last_written = max(time.time_ns() // 1_000, self._last_written + 1)
            return self._last_written

    def _show(self, doc_id: str, source: dict[str, Any]) -> None:
        """Write the document that makes parts visible, over the one that is there now and no other."""
        for _ in range(_TRIES):
            found = self.document_of(doc_id)
            if found is not None:
                if found["_source"]["generation"] == source["generation"]:
                    break  # written by the try before, whose answer was lost
                self._journal(_trace(found["_source"]), self.cluster.reaching.grace)
            if self._put(found, doc_id, source):
                break
        else:
            raise self._contested(doc_id)
        self.look_again()

    def _put(self, found: dict[str, Any] | None, doc_id: str, source: dict[str, Any]) -> bool:
        """Whether the filing's document could be written: False where somebody else has written it meanwhile."""
        held = written_out(source)
        expected: dict[str, Any] = {"op_type": "create"}
        if found is not None:
            expected = {"if_seq_no": found["_seq_no"], "if_primary_term": found["_primary_term"]}
        try:
            self.cluster.asked(
                self.cluster.client.index,
                doing="written",
                index=self.layout.alias("filings"),
                id=id_of(doc_id),
                document=held,
                require_alias=True,
                refresh=True,
                **expected,
            )
        except Conflict:
            return False
        except NotFound as error:
            raise fault(self.cluster.address, error, "written") from error
        return True

    def _journal(self, trace: tuple[str, str, str], kept: float) -> None:
        """Note a generation that no filing shows, with its filing and routing; it is deleted after `kept` seconds."""
        generation, doc_id, routing = trace
        due = self.now() + int(kept * 1e6)
        try:
            self.cluster.asked(
                self.cluster.client.index,
                doing="written",
                index=self.layout.alias("journal"),
                id=generation,
                document={"generation": generation, "doc_id": doc_id, "routing": routing, "due": due},
                require_alias=True,
                refresh=True,
            )
        except NotFound as error:
            raise fault(self.cluster.address, error, "written") from error

    def _forget(self, generations: Sequence[str]) -> None:
        self._delete_where(self.layout.alias("journal"), {"terms": {"generation": list(generations)}})

    def _journal_search(self, query: dict[str, Any]) -> dict[str, Any]:
        found = self.cluster.asked(
            self.cluster.client.search,
            allow_partial_search_results=False,
            index=self.layout.alias("journal"),
            query=query,
            size=1_000,
            sort=ascending(["due"]),
        )
        return dict(found.body)

    def _generations_of(self, doc_ids: Iterable[str]) -> set[str]:
        """Generations that these filings show now, asked of the documents themselves."""
        # What is not told must not be taken for a filing that is gone: its parts would be deleted.
        found = self.cluster.documents(
            index=self.layout.alias("filings"),
            ids=[id_of(doc_id) for doc_id in sorted(doc_ids)],
            source_includes=["generation"],
        )
        return {each["_source"]["generation"] for each in found if each.get("found")}

    def _delete_where(self, target: str, query: dict[str, Any]) -> None:
        self.cluster.asked(
            self.cluster.client.delete_by_query,
            doing="written",
            index=target,
            query=query,
            conflicts="proceed",
            refresh=True,
            ignore_unavailable=True,
        )

    def _refresh(self, kinds: Sequence[str]) -> None:
        """Let searches find what was written to these indices."""
        if kinds:
            self.cluster.asked(
                self.cluster.client.indices.refresh, doing="written", index=[self.layout.alias(kind) for kind in kinds]
            )

    def _contested(self, doc_id: str) -> FilingIndexError:
        return FilingIndexError(
            "others are writing this filing again and again", subject=doc_id, remedy="Let one process bring it in"
        )


def new_generation() -> str:
    """A name for the parts of one writing of one filing."""
    return secrets.token_hex(12)


def new_mark() -> int:
    """A number that tells one writing of a filing from another in a sum over all filings."""
    return secrets.randbelow(_MARKS)


def _trace(source: dict[str, Any]) -> tuple[str, str, str]:
    return source["generation"], source["doc_id"], routing_of(stored.filing_entry(source).identity)
