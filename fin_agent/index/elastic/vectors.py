"""What models made of filings, kept on a cluster: as the protocol hands it out, and to find neighbours among."""

from __future__ import annotations

import base64
import hashlib
import struct
import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fin_agent.errors import FilingIndexError
from fin_agent.index.elastic.documents import Document, document
from fin_agent.index.elastic.filing_list import Listed, Listing
from fin_agent.index.elastic.layout import make_index, nearest_index
from fin_agent.index.elastic.scanning import scanned
from fin_agent.index.elastic.searching import MOST_FILTERED
from fin_agent.index.elastic.writing import Writing
from fin_agent.index.nearest import NearPlace
from fin_agent.index.protocol import FilingVectors, VectorModel, VectorUnit
from fin_agent.index.vectors import check_vectors

_CANDIDATES = 4
"""Neighbours looked at on each shard for each one wanted: more are found, and more of them the right ones."""
_LEAST_CANDIDATES = 100
_MOST_CANDIDATES = 10_000
_AT_ONCE = 200
"""Filings whose vectors are held at once."""


@dataclass(frozen=True, slots=True)
class _Held:
    """What there is of one filing, one model and one unit."""

    doc_id: str
    model: str
    unit: VectorUnit
    dimensions: int
    sparse: bool
    rows: int
    written: int


class StoredVectors(Writing):
    """The part of an index that keeps vectors."""

    _vectors_guard = threading.Lock()
    _held_then: tuple[Listing, tuple[int, int, int], tuple[_Held, ...], tuple[VectorModel, ...]] | None = None

    def add_vectors(self, model: str, unit: VectorUnit, vectors: FilingVectors) -> None:
        """See FilingIndex.add_vectors."""
        check_vectors(model, unit, vectors)
        self.look_again()
        listed = self.listing().of.get(vectors.doc_id)
        if listed is None:
            raise FilingIndexError(
                "vectors are kept with a filing, and this one is not in the index",
                subject=vectors.doc_id,
                remedy="Ingest it first",
            )
        written = self.now()
        if not vectors.sparse:
            self._add_neighbours(model, unit, vectors, listed, written)
        self.bulk.write([_kept(model, unit, vectors, listed, written)], listed.routing, vectors.doc_id)
        self._refresh(["vectors"])

    def vectors(self, model: str, unit: VectorUnit, doc_ids: Collection[str] | None = None) -> Iterator[FilingVectors]:
        """See FilingIndex.vectors. A few filings at a time are read; one that goes meanwhile is left out."""
        listing = self.listing()
        wanted = {held.doc_id for held in self._held()[0] if (held.model, held.unit) == (model, unit)}
        known = listing.in_order(wanted if doc_ids is None else wanted & set(doc_ids))
        for start in range(0, len(known), _AT_ONCE):
            some = known[start : start + _AT_ONCE]
            asked = [
                {"_id": _id(listing.of[doc_id].generation, model, unit), "routing": listing.of[doc_id].routing}
                for doc_id in some
            ]
            answer = self.cluster.documents(index=self.layout.alias("vectors"), docs=asked)
            for doc_id, found in zip(some, answer, strict=True):
                if found.get("found"):
                    yield _vectors(doc_id, found["_source"])

    def without_vectors(self, model: str, unit: VectorUnit) -> tuple[str, ...]:
        """See FilingIndex.without_vectors."""
        made = {held.doc_id for held in self._held()[0] if (held.model, held.unit) == (model, unit)}
        return tuple(entry.doc_id for entry in self.entries() if entry.doc_id not in made)

    def vector_models(self) -> tuple[VectorModel, ...]:
        """See FilingIndex.vector_models."""
        return self._held()[1]

    def remove_vectors(self, model: str, unit: VectorUnit | None = None) -> int:
        """See FilingIndex.remove_vectors."""
        of_model = [held for held in self._held()[0] if held.model == model and unit in (None, held.unit)]
        units = sorted({held.unit.value for held in of_model} if unit is None else {unit.value})
        if not of_model:
            return 0
        both = f"{self.layout.alias('vectors')},{self.layout.all_nearest}"
        made = [{"term": {"model": {"value": model}}}, {"terms": {"unit": units}}]
        self._delete_where(both, {"bool": {"filter": made}})
        return len({held.doc_id for held in of_model})

    def replace_summary(self, doc_id: str, summary: str) -> bool:
        """Another summary for a filing; vectors of the one before go. False where there is no such filing."""
        if not super().replace_summary(doc_id, summary):
            return False
        generation = self.listing().of[doc_id].generation
        both = f"{self.layout.alias('vectors')},{self.layout.all_nearest}"
        of_before = [
            {"term": {"generation": {"value": generation}}},
            {"term": {"unit": {"value": VectorUnit.SUMMARY.value}}},
        ]
        self._delete_where(both, {"bool": {"filter": of_before}})
        return True

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
        filters: list[dict[str, Any]] = [{"term": {"unit": {"value": unit.value}}}]
        generations = None if doc_ids is None else listing.generations(doc_ids)
        if limit < 1 or (generations is not None and not generations) or not any(vector):
            return []
        if generations is not None and len(generations) <= MOST_FILTERED:
            filters.append({"terms": {"generation": generations}})
        elif listing.hidden:
            filters.append({"bool": {"must_not": [{"terms": {"generation": list(listing.hidden)}}]}})
        if places is not None:
            filters.append(_at(places, listing))
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
        candidates = min(max(_CANDIDATES * wanted, _LEAST_CANDIDATES), _MOST_CANDIDATES)
        answer = self.cluster.answered(
            self.cluster.client.search,
            allow_partial_search_results=False,
            index=self.layout.nearest(model, len(vector)),
            knn={
                "field": "vector",
                "query_vector": [float(number) for number in vector],
                "k": wanted,
                "num_candidates": candidates,
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
                f"what is searched with does not fit vectors of {held[0].dimensions} dimensions",
                subject=model,
                remedy="Search with the model that made the vectors, or make them anew with `fin-agent embed`",
            )

    def _add_neighbours(
        self, model: str, unit: VectorUnit, vectors: FilingVectors, listed: Listed, written: int
    ) -> None:
        """Each row as a document that neighbours are found by; those of the time before go."""
        alias = self.layout.nearest(model, vectors.dimensions)
        if vectors.places:
            body = nearest_index(vectors.dimensions, self.cluster.reaching.shards)
            make_index(self.cluster, alias, alias, self.layout.all_nearest, body=body)
        kind = alias.removeprefix(f"{self.layout.prefix}-")
        self.bulk.write(_rows(kind, model, unit, vectors, listed, written), listed.routing, vectors.doc_id)
        before: list[dict[str, Any]] = [
            {"term": {"generation": {"value": listed.generation}}},
            {"term": {"model": {"value": model}}},
            {"term": {"unit": {"value": unit.value}}},
            {"range": {"written": {"lt": written}}},
        ]
        self._delete_where(self.layout.all_nearest, {"bool": {"filter": before}})
        if vectors.places:
            self._refresh([kind])

    def _held(self) -> tuple[tuple[_Held, ...], tuple[VectorModel, ...]]:
        """What there is of visible filings, read when it or the list of filings has changed."""
        alias = self.layout.alias("vectors")
        answer = self.cluster.answered(
            self.cluster.client.search,
            allow_partial_search_results=False,
            index=alias,
            size=0,
            track_total_hits=True,
            aggregations={"latest": {"max": {"field": "written"}}, "rows": {"sum": {"field": "rows"}}},
        )
        found = answer["aggregations"]
        state = (
            int(answer["hits"]["total"]["value"]),
            int(found["latest"]["value"] or 0),
            int(found["rows"]["value"] or 0),
        )
        listing = self.listing()
        with self._vectors_guard:
            kept = self._held_then
        if kept is not None and kept[0].of is listing.of and kept[1] == state:
            return kept[2], kept[3]
        held = tuple(
            _Held(
                listing.shown[source["generation"]],
                source["model"],
                VectorUnit(source["unit"]),
                source["dimensions"],
                source["sparse"],
                source["rows"],
                source["written"],
            )
            for source in scanned(self.cluster, alias, ["generation", "model", "unit"], fields=_HELD_FIELDS)
            if source["generation"] in listing.shown
        )
        with self._vectors_guard:
            self._held_then = (listing, state, held, _models(held))
            return self._held_then[2], self._held_then[3]


_HELD_FIELDS = ("generation", "model", "unit", "dimensions", "sparse", "rows", "written")


def _models(held: Sequence[_Held]) -> tuple[VectorModel, ...]:
    by_model: dict[tuple[str, VectorUnit], list[_Held]] = {}
    for each in held:
        by_model.setdefault((each.model, each.unit), []).append(each)
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


def _id(generation: str, model: str, unit: VectorUnit) -> str:
    return f"{generation}-{hashlib.sha256(model.encode()).hexdigest()[:16]}-{unit.value}"


def _kept(model: str, unit: VectorUnit, vectors: FilingVectors, listed: Listed, written: int) -> Document:
    return document(
        "vectors",
        _id(listed.generation, model, unit),
        {
            "doc_id": vectors.doc_id,
            "generation": listed.generation,
            "model": model,
            "unit": unit.value,
            "dimensions": vectors.dimensions,
            "sparse": vectors.sparse,
            "rows": len(vectors.places),
            "written": written,
            "places": base64.b64encode(struct.pack(f"<{len(vectors.places)}I", *vectors.places)).decode(),
            "values": base64.b64encode(vectors.values).decode(),
        },
    )


def _vectors(doc_id: str, source: dict[str, Any]) -> FilingVectors:
    packed = base64.b64decode(source["places"])
    places = struct.unpack(f"<{len(packed) // 4}I", packed)
    return FilingVectors(doc_id, places, source["dimensions"], base64.b64decode(source["values"]), source["sparse"])


def _rows(
    kind: str, model: str, unit: VectorUnit, vectors: FilingVectors, listed: Listed, written: int
) -> Iterator[Document]:
    length = vectors.dimensions
    for row, place in enumerate(vectors.places):
        numbers = struct.unpack_from(f"<{length}e", vectors.values, row * length * 2)
        if not any(numbers):
            continue  # it has no direction, and no cosine with anything
        yield document(
            kind,
            f"{listed.generation}-{unit.value}-{row}",
            {
                "doc_id": vectors.doc_id,
                "generation": listed.generation,
                "model": model,
                "unit": unit.value,
                "place": place,
                "row": row,
                "written": written,
                "vector": [round(number, 6) for number in numbers],
            },
        )


def _at(places: Collection[tuple[str, int]], listing: Listing) -> dict[str, Any]:
    by_filing: dict[str, set[int]] = {}
    for doc_id, place in places:
        if doc_id in listing.of:
            by_filing.setdefault(listing.of[doc_id].generation, set()).add(place)
    each = [
        {
            "bool": {
                "filter": [
                    {"term": {"generation": {"value": generation}}},
                    {"terms": {"place": sorted(by_filing[generation])}},
                ]
            }
        }
        for generation in sorted(by_filing)
    ]
    return {"bool": {"should": each, "minimum_should_match": 1}} if each else {"match_none": {}}
