"""The index on a cluster, and the vectors that it keeps: handed out as they came, and searched for neighbours."""

from __future__ import annotations

import hashlib
import struct
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

from fin_agent.errors import FilingIndexError
from fin_agent.index.elastic.address import ClusterAddress, Reaching
from fin_agent.index.elastic.client import Cluster
from fin_agent.index.elastic.documents import Document, packed, unpacked
from fin_agent.index.elastic.listing import Listed, Listing, term
from fin_agent.index.elastic.mapping import Layout, create_indices, make_index, nearest_index, open_indices
from fin_agent.index.elastic.reading import MOST_FILTERED, Reading
from fin_agent.index.elastic.writing import Writing
from fin_agent.index.protocol import FilingVectors, NearPlace, VectorModel, VectorUnit
from fin_agent.index.sqlite import without_filing
from fin_agent.index.stored_filing import check_vectors, packed_numbers, unpacked_numbers

_CANDIDATES = 4
"""Neighbours looked at on each shard for each one wanted: more are found, and more of them the right ones."""
_LEAST_CANDIDATES = 100
_MOST_CANDIDATES = 10_000
_AT_ONCE = 200
"""Filings whose vectors are held at once."""


class _Held(NamedTuple):
    """What there is of one filing, one model and one unit."""

    generation: str
    model: str
    unit: str
    dimensions: int
    sparse: bool
    rows: int
    written: int


class ElasticIndex(Reading, Writing):
    """Filings on an Elasticsearch cluster, under names that begin with the address's prefix. Safe to share.

    >>> index = ElasticIndex("https://localhost:9200/filings")  # doctest: +SKIP
    >>> index.search_pages(["inventory turnover"])  # doctest: +SKIP
    """

    _vectors_guard = threading.Lock()
    _held_then: tuple[Listing, tuple[int, int, int], tuple[_Held, ...]] | None = None

    def __init__(
        self,
        address: str | ClusterAddress,
        reaching: Reaching | None = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Open an index that exists; keys are taken from the environment where no `reaching` is given.

        Raises FilingIndexError where there is none, it cannot be reached, or it is of another format.
        """
        cluster = _cluster(address, reaching, sleep)
        super().__init__(cluster, Layout(cluster.address.prefix))
        try:
            open_indices(cluster, self.layout)
        except BaseException:
            cluster.close()
            raise

    @classmethod
    def create(
        cls,
        address: str | ClusterAddress,
        reaching: Reaching | None = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> ElasticIndex:
        """Open the index at `address`, making templates and indices where there are none."""
        cluster = _cluster(address, reaching, sleep)
        try:
            create_indices(cluster, Layout(cluster.address.prefix))
        finally:
            cluster.close()
        return cls(address, reaching, sleep=sleep)

    @property
    def address(self) -> ClusterAddress:
        """Where it is; holds no secret."""
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
        """Another summary for a filing; vectors of the one before go. False where there is no such filing."""
        if not super().replace_summary(doc_id, summary):
            return False
        generation = self.listing().of[doc_id].generation
        self._delete_vectors(term("generation", generation), term("unit", VectorUnit.SUMMARY.value))
        return True

    def add_vectors(self, model: str, unit: VectorUnit, vectors: FilingVectors) -> None:
        """See FilingIndex.add_vectors."""
        check_vectors(model, unit, vectors)
        self.look_again()
        listed = self.listing().of.get(vectors.doc_id)
        if listed is None:
            raise without_filing(vectors.doc_id)
        written = self.now()
        common = {
            "doc_id": vectors.doc_id,
            "generation": listed.generation,
            "model": model,
            "unit": unit.value,
            "written": written,
        }
        if not vectors.sparse:
            self._add_neighbours(vectors, listed, common)
        kept = {
            "dimensions": vectors.dimensions,
            "sparse": vectors.sparse,
            "rows": len(vectors.places),
            "places": packed(packed_numbers(vectors.places)),
            "values": packed(vectors.values),
        }
        document = Document("vectors", _id(listed.generation, model, unit), common | kept)
        self.write_documents([document], listed.routing, vectors.doc_id)

    def vectors(self, model: str, unit: VectorUnit, doc_ids: Collection[str] | None = None) -> Iterator[FilingVectors]:
        """See FilingIndex.vectors. A few filings at a time are read; one that goes meanwhile is left out."""
        listing = self.listing()
        wanted = self._having(listing, model, unit)
        known = listing.in_order(wanted if doc_ids is None else wanted & set(doc_ids))
        for start in range(0, len(known), _AT_ONCE):
            some = [listing.of[doc_id] for doc_id in known[start : start + _AT_ONCE]]
            asked = [{"_id": _id(each.generation, model, unit), "routing": each.routing} for each in some]
            for each, found in zip(
                some, self.cluster.documents(index=self.layout.alias("vectors"), docs=asked), strict=True
            ):
                if found.get("found"):
                    source = found["_source"]
                    yield FilingVectors(
                        listing.shown[each.generation],
                        unpacked_numbers(unpacked(source["places"])),
                        source["dimensions"],
                        unpacked(source["values"]),
                        source["sparse"],
                    )

    def without_vectors(self, model: str, unit: VectorUnit) -> tuple[str, ...]:
        """See FilingIndex.without_vectors."""
        listing = self.listing()
        made = self._having(listing, model, unit)
        return tuple(entry.doc_id for entry in listing.entries if entry.doc_id not in made)

    def vector_models(self) -> tuple[VectorModel, ...]:
        """See FilingIndex.vector_models."""
        by_model: dict[tuple[str, VectorUnit], list[_Held]] = {}
        for each in self._held(self.listing()):
            by_model.setdefault((each.model, VectorUnit(each.unit)), []).append(each)
        return tuple(
            VectorModel(
                model,
                unit,
                max(each.dimensions for each in of_it),
                any(each.sparse for each in of_it),
                len(of_it),
                sum(each.rows for each in of_it),
                max(each.written for each in of_it),
            )
            for (model, unit), of_it in sorted(by_model.items())
        )

    def nearest(
        self,
        model: str,
        unit: VectorUnit,
        vector: Sequence[float],
        limit: int,
        *,
        doc_ids: Collection[str] | None = None,
        places: Collection[tuple[str, int]] | None = None,
    ) -> list[NearPlace]:
        """The `limit` places nearest to a dense vector by cosine, best first; equals by content, then place.

        Only of `doc_ids` and only (doc_id, place) of `places`, where given: what may not be found is left out before
        neighbours are looked for, so that there are `limit` of them where the filings have as many. The search is
        approximate (HNSW); VectorStore, which reads all vectors, is exact. A place with several vectors counts by its
        nearest. Raises FilingIndexError where the model has made no dense vectors of the unit, or of another length.
        """
        self._check_length(model, unit, len(vector))
        listing = self.listing()
        if places is not None:
            doc_ids = {doc_id for doc_id, _ in places} & (set(doc_ids) if doc_ids is not None else listing.of.keys())
        filters: list[dict[str, Any]] = [term("unit", unit.value)]
        generations = None if doc_ids is None else listing.generations(doc_ids)
        if limit < 1 or (generations is not None and not generations) or not any(vector):
            return []
        if generations is not None and len(generations) <= MOST_FILTERED:
            filters.append({"terms": {"generation": generations}})
        elif listing.hidden:
            filters.append({"bool": {"must_not": self._hidden()}})
        if places is not None:
            filters.append(listing.at(places, "place"))
        allowed = listing.shown.keys() if generations is None else frozenset(generations)
        wanted = limit
        while True:
            hits = self._neighbours(model, vector, filters, wanted)
            best: dict[tuple[str, int], float] = {}
            for hit in hits:
                generation, place = hit["fields"]["generation"][0], int(hit["fields"]["place"][0])
                if generation in allowed:
                    best.setdefault((listing.shown[generation], place), 2 * hit["_score"] - 1)
            if len(best) >= limit or len(hits) < wanted or wanted >= _MOST_CANDIDATES:
                break
            wanted = min(2 * wanted, _MOST_CANDIDATES)  # several vectors of one place took each other's room
        ranked = sorted((-round(score, 5), listing.positions[at[0]], at[1], at[0]) for at, score in best.items())
        return [NearPlace(doc_id, place, -score) for score, _, place, doc_id in ranked[:limit]]

    def _neighbours(
        self, model: str, vector: Sequence[float], filters: list[dict[str, Any]], wanted: int
    ) -> list[dict[str, Any]]:
        answer = self.cluster.search(
            self.layout.nearest(model, len(vector)),
            knn={
                "field": "vector",
                "query_vector": [float(number) for number in vector],
                "k": wanted,
                "num_candidates": min(max(_CANDIDATES * wanted, _LEAST_CANDIDATES), _MOST_CANDIDATES),
                "filter": filters,
                "rescore_vector": {"oversample": 2.0},
            },
            size=wanted,
            source=False,
            fields=[{"field": "generation"}, {"field": "place"}],
            track_total_hits=False,
        )
        hits: list[dict[str, Any]] = answer["hits"]["hits"]
        return hits

    def _check_length(self, model: str, unit: VectorUnit, length: int) -> None:
        held = [each for each in self.vector_models() if (each.model, each.unit) == (model, unit)]
        if not held or held[0].sparse:
            raise FilingIndexError(
                f"{model} has made no dense vectors of any {unit} here", remedy="Make them with `fin-agent embed`"
            )
        if held[0].dimensions != length:
            raise FilingIndexError(
                f"the query's vector does not fit the index's vectors of {held[0].dimensions} dimensions",
                subject=model,
                remedy="Search with the model that made the vectors, or make them anew with `fin-agent embed`",
            )

    def _add_neighbours(self, vectors: FilingVectors, listed: Listed, common: dict[str, Any]) -> None:
        """Each row as a document that neighbours are found by; those of the time before go."""
        model, unit, length = common["model"], common["unit"], vectors.dimensions
        alias = self.layout.nearest(model, length)
        documents: list[Document] = []
        for row, place in enumerate(vectors.places):
            numbers = struct.unpack_from(f"<{length}e", vectors.values, row * length * 2)
            if any(numbers):  # else it has no direction, and no cosine with anything
                source = {**common, "place": place, "row": row, "vector": [round(number, 6) for number in numbers]}
                id = f"{listed.generation}-{unit}-{row}"
                documents.append(Document(alias.removeprefix(f"{self.layout.prefix}-"), id, source))
        if vectors.places:
            body = nearest_index(length, self.cluster.reaching.shards)
            make_index(self.cluster, alias, alias, self.layout.all_nearest, body=body)
        self.write_documents(documents, listed.routing, vectors.doc_id)
        before = {"range": {"written": {"lt": common["written"]}}}
        of_before = [term("generation", listed.generation), term("model", model), term("unit", unit), before]
        self.delete_where(self.layout.all_nearest, {"bool": {"filter": of_before}})

    def _delete_vectors(self, *filters: dict[str, Any]) -> None:
        both = f"{self.layout.alias('vectors')},{self.layout.all_nearest}"
        self.delete_where(both, {"bool": {"filter": list(filters)}})

    def _having(self, listing: Listing, model: str, unit: VectorUnit) -> set[str]:
        """Filings that have vectors of this model and unit."""
        held = self._held(listing)
        return {listing.shown[each.generation] for each in held if (each.model, each.unit) == (model, unit)}

    def _held(self, listing: Listing) -> tuple[_Held, ...]:
        """What there is of the filings listed, read when it or the list has changed."""
        alias = self.layout.alias("vectors")
        answer = self.cluster.search(
            alias,
            size=0,
            track_total_hits=True,
            aggregations={"latest": {"max": {"field": "written"}}, "rows": {"sum": {"field": "rows"}}},
        )
        latest, rows = (int(answer["aggregations"][name]["value"] or 0) for name in ("latest", "rows"))
        state = (int(answer["hits"]["total"]["value"]), latest, rows)
        with self._vectors_guard:
            kept = self._held_then
        if kept is not None and kept[0].of is listing.of and kept[1] == state:
            return kept[2]
        found = (
            _Held(*(source[name] for name in _Held._fields))
            for source in self.cluster.scan(alias, fields=_Held._fields)
        )
        held = tuple(sorted(each for each in found if each.generation in listing.shown))
        with self._vectors_guard:
            self._held_then = (listing, state, held)
        return held


def _id(generation: str, model: str, unit: VectorUnit) -> str:
    return f"{generation}-{hashlib.sha256(model.encode()).hexdigest()[:16]}-{unit.value}"


def _cluster(address: str | ClusterAddress, reaching: Reaching | None, sleep: Callable[[float], None]) -> Cluster:
    if not isinstance(address, ClusterAddress):
        address = ClusterAddress.of(address)
    return Cluster(address, reaching or Reaching.from_environment(), sleep=sleep)
