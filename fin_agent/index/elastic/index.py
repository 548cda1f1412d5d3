"""The index on a cluster, with the vectors it stores."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from fin_agent.index.elastic.address import ClusterAddress, ConnectionSettings
from fin_agent.index.elastic.client import Cluster
from fin_agent.index.elastic.documents import Document, decode_bytes, encode_bytes
from fin_agent.index.elastic.listing import Listing
from fin_agent.index.elastic.mapping import create_indices, open_indices
from fin_agent.index.elastic.reading import ElasticReader
from fin_agent.index.elastic.writing import ElasticWriter
from fin_agent.index.protocol import FilingVectors, VectorModel, VectorUnit
from fin_agent.index.sqlite import missing_filing_error
from fin_agent.index.stored_filing import check_vectors, pack_numbers, unpack_numbers

_AT_ONCE = 200
"""Number of filings whose vectors are in memory at once."""


class _StoredVectors(NamedTuple):
    """The vectors of one filing by one model for one unit, without their values."""

    generation: str
    model: str
    unit: str
    dimensions: int
    sparse: bool
    rows: int
    written: int


class ElasticIndex(ElasticReader, ElasticWriter):
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
        self._vectors_guard = threading.Lock()
        self._known_vectors: tuple[Listing, tuple[int, int, int], tuple[_StoredVectors, ...]] | None = None
        try:
            if create:
                create_indices(cluster)
            open_indices(cluster)
        except BaseException:
            cluster.close()
            raise

    @classmethod
    def create(
        cls,
        address: str | ClusterAddress,
        reaching: ConnectionSettings | None = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> ElasticIndex:
        """Open the index at `address`, creating templates and indices where they are missing."""
        return cls(address, reaching, sleep=sleep, create=True)

    @property
    def address(self) -> ClusterAddress:
        """Its address, without secrets."""
        return self.cluster.address

    def __enter__(self) -> ElasticIndex:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self.cluster.close()

    def check_rows(self, doc_ids: Collection[str], *, words: bool) -> None:
        """See FilingIndex.check_rows."""

    def check_whole(self) -> None:
        """See FilingIndex.check_whole."""

    def replace_summary(self, doc_id: str, summary: str) -> bool:
        """Replace the summary of a filing and delete the old one's vectors; return False if there is no such filing."""
        if not super().replace_summary(doc_id, summary):
            return False
        of_summary = {"generation": self.listing().of[doc_id].generation, "unit": VectorUnit.SUMMARY.value}
        terms = [{"term": {name: {"value": value}}} for name, value in of_summary.items()]
        self.delete_where(self.cluster.alias("vectors"), {"bool": {"filter": terms}})
        return True

    def add_vectors(self, model: str, unit: VectorUnit, vectors: FilingVectors) -> None:
        """See FilingIndex.add_vectors."""
        check_vectors(model, unit, vectors)
        self.invalidate()
        listed = self.listing().of.get(vectors.doc_id)
        if listed is None:
            raise missing_filing_error(vectors.doc_id)
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
        document = Document("vectors", _id(listed.generation, model, unit), source)
        self.write_documents([document], listed.routing, vectors.doc_id)

    def vectors(self, model: str, unit: VectorUnit, doc_ids: Collection[str] | None = None) -> Iterator[FilingVectors]:
        """See FilingIndex.vectors. Filings are read in batches; filings removed meanwhile are left out."""
        listing = self.listing()
        wanted = self._filings_with_vectors(listing, model, unit)
        known = listing.in_order(wanted if doc_ids is None else wanted & set(doc_ids))
        for start in range(0, len(known), _AT_ONCE):
            some = [listing.of[doc_id] for doc_id in known[start : start + _AT_ONCE]]
            asked = [{"_id": _id(each.generation, model, unit), "routing": each.routing} for each in some]
            found = self.cluster.documents(index=self.cluster.alias("vectors"), docs=asked)
            for source in (each["_source"] for each in found if each.get("found")):
                yield FilingVectors(
                    source["doc_id"],
                    unpack_numbers(decode_bytes(source["places"])),
                    source["dimensions"],
                    decode_bytes(source["values"]),
                    source["sparse"],
                )

    def without_vectors(self, model: str, unit: VectorUnit) -> tuple[str, ...]:
        """See FilingIndex.without_vectors."""
        listing = self.listing()
        made = self._filings_with_vectors(listing, model, unit)
        return tuple(entry.doc_id for entry in listing.entries if entry.doc_id not in made)

    def vector_models(self) -> tuple[VectorModel, ...]:
        """See FilingIndex.vector_models."""
        by_model: dict[tuple[str, VectorUnit], list[_StoredVectors]] = {}
        for each in self._stored_vectors(self.listing()):
            by_model.setdefault((each.model, VectorUnit(each.unit)), []).append(each)
        return tuple(
            VectorModel(
                model,
                unit,
                dimensions=max(each.dimensions for each in stored),
                sparse=any(each.sparse for each in stored),
                filings=len(stored),
                rows=sum(each.rows for each in stored),
                latest=max(each.written for each in stored),
            )
            for (model, unit), stored in sorted(by_model.items())
        )

    def _filings_with_vectors(self, listing: Listing, model: str, unit: VectorUnit) -> set[str]:
        """Return the filings that have vectors of this model and unit."""
        stored = self._stored_vectors(listing)
        return {listing.shown[each.generation] for each in stored if (each.model, each.unit) == (model, unit)}

    def _stored_vectors(self, listing: Listing) -> tuple[_StoredVectors, ...]:
        """Return the vectors of the filings listed, read again when they or the list have changed."""
        alias = self.cluster.alias("vectors")
        answer = self.cluster.search(
            alias,
            size=0,
            track_total_hits=True,
            aggregations={"latest": {"max": {"field": "written"}}, "rows": {"sum": {"field": "rows"}}},
        )
        latest, rows = (int(answer["aggregations"][name]["value"] or 0) for name in ("latest", "rows"))
        state = (int(answer["hits"]["total"]["value"]), latest, rows)
        with self._vectors_guard:
            if (
                self._known_vectors is None
                or self._known_vectors[0].of is not listing.of
                or self._known_vectors[1] != state
            ):
                found = (
                    _StoredVectors(*(source[name] for name in _StoredVectors._fields))
                    for source in self.cluster.scan(alias, fields=_StoredVectors._fields)
                )
                stored = tuple(sorted(each for each in found if each.generation in listing.shown))
                self._known_vectors = (listing, state, stored)
            return self._known_vectors[2]


def _id(generation: str, model: str, unit: VectorUnit) -> str:
    return f"{generation}-{hashlib.sha256(model.encode()).hexdigest()[:16]}-{unit.value}"
