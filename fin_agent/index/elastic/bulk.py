"""Many documents written at once: as much as a cluster takes, item by item told what it did not take."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from fin_agent.errors import FilingIndexError
from fin_agent.index.elastic.connection import Cluster
from fin_agent.index.elastic.documents import Document
from fin_agent.index.elastic.faults import BUSY, NotFound, fault, meaning_of
from fin_agent.index.elastic.layout import Layout

MOST_BYTES = 8_000_000
"""Of one request: between the 5 and 15 MB that Elastic advises, far below the 100 MB that a node takes."""
MOST_DOCUMENTS = 2_000
_LEAST_DOCUMENTS = 50
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 20.0


class BulkWriter:
    """Writes documents through their aliases. Where the cluster is busy, requests become smaller and rarer.

    Items that it was too busy for are sent again, and only these. Safe to share between threads, each of which has its
    own requests; how much a request holds is known to all.
    """

    def __init__(self, cluster: Cluster, layout: Layout) -> None:
        self._cluster = cluster
        self._layout = layout
        self._most = MOST_DOCUMENTS

    def write(self, documents: Iterable[Document], routing: str, subject: str) -> int:
        """Index `documents`; returns how many. Raises FilingIndexError that names the first item refused for good.

        They are found by searches after a refresh only.
        """
        count = 0
        for batch in self._batches(documents):
            self._send(batch, routing, subject)
            count += len(batch)
        return count

    def _batches(self, documents: Iterable[Document]) -> Iterator[list[Document]]:
        batch: list[Document] = []
        size = 0
        for document in documents:
            if batch and (len(batch) >= self._most or size + len(document.source) > MOST_BYTES):
                yield batch
                batch, size = [], 0
            batch.append(document)
            size += len(document.source)
        if batch:
            yield batch

    def _send(self, batch: list[Document], routing: str, subject: str) -> None:
        pause, asking = _FIRST_PAUSE, self._cluster.asking()
        while batch:
            refused = self._refused(batch, routing)
            for each in refused:
                if each.status not in BUSY or asking.is_over():
                    raise self._refusal(each, refused, batch, subject)
            if not refused:
                self._most = min(MOST_DOCUMENTS, self._most * 2)
                return
            self._most = max(_LEAST_DOCUMENTS, self._most // 2)
            batch = [each.document for each in refused]
            asking.waits(pause, "it is too busy")
            self._cluster.pause(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _refused(self, batch: list[Document], routing: str) -> list[_Refused]:
        lines: list[bytes] = []
        for document in batch:
            action = {"index": {"_index": self._layout.alias(document.kind), "_id": document.id, "routing": routing}}
            lines += [json.dumps(action).encode(), document.source]
        try:
            answer = self._cluster.asked(
                self._cluster.client.bulk, doing="written", operations=lines, require_alias=True
            )
        except NotFound as error:
            raise fault(self._cluster.address, error, "written") from error
        if not answer["errors"]:
            return []
        items = [item["index"] for item in answer["items"]]
        return [
            _Refused(document, int(item["status"]), item["error"])
            for document, item in zip(batch, items, strict=True)
            if "error" in item
        ]

    def _refusal(
        self, first: _Refused, refused: list[_Refused], batch: list[Document], subject: str
    ) -> FilingIndexError:
        what, remedy = meaning_of(first.status, {"error": first.error}, "written", self._cluster.address.prefix)
        others = f" ({len(refused)} of {len(batch)} documents)" if len(refused) > 1 else ""
        place = f"{first.document.kind} {first.document.id.rpartition('-')[2]}"
        return FilingIndexError(f"{place} was not taken{others}: {what}", subject=subject, remedy=remedy)


@dataclass(frozen=True, slots=True)
class _Refused:
    document: Document
    status: int
    error: dict[str, Any]
