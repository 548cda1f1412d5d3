"""What models made of filings, kept beside them as plain bytes: added with a filing's units, gone with the filing."""

from __future__ import annotations

import sqlite3
import sys
from array import array
from collections.abc import Collection, Iterator
from pathlib import Path

from fin_agent.errors import FilingIndexError
from fin_agent.index.listing import FilingList
from fin_agent.index.opened import ReadOnce
from fin_agent.index.protocol import FilingVectors, VectorModel, VectorUnit
from fin_agent.index.stored_rows import insert_vectors


class StoredVectors(FilingList):
    """The part of an index that keeps vectors."""

    def __init__(self, file: Path) -> None:
        super().__init__(file)
        self._vector_models = ReadOnce[tuple[VectorModel, ...]](self, _read_models, ())

    def add_vectors(self, model: str, unit: VectorUnit, vectors: FilingVectors) -> None:
        """See FilingIndex.add_vectors."""
        check_vectors(model, unit, vectors)
        with self.writing() as connection:
            row = connection.execute("SELECT id FROM filings WHERE doc_id = ?", (vectors.doc_id,)).fetchone()
            if row is None:
                raise FilingIndexError(
                    "vectors are kept with a filing, and this one is not in the index",
                    subject=vectors.doc_id,
                    remedy="Ingest it first",
                )
            connection.execute(
                "DELETE FROM vectors WHERE filing_id = ? AND model = ? AND unit = ?", (row["id"], model, unit)
            )
            places = _packed(vectors.places)
            shape = (vectors.dimensions, int(vectors.sparse), len(vectors.places))
            insert_vectors(connection, row["id"], (model, unit, *shape, places, vectors.values))

    def vectors(self, model: str, unit: VectorUnit, doc_ids: Collection[str] | None = None) -> Iterator[FilingVectors]:
        """See FilingIndex.vectors. A filing at a time is read; one that goes meanwhile is left out."""
        wanted = None if doc_ids is None else frozenset(doc_ids)
        listed = self._read(
            "SELECT vectors.id, filings.doc_id FROM vectors JOIN filings ON filings.id = vectors.filing_id"
            " WHERE vectors.model = ? AND vectors.unit = ? ORDER BY filings.content_hash, filings.doc_id",
            (model, unit),
        )
        for row_id, doc_id in listed:
            if wanted is not None and doc_id not in wanted:
                continue
            for row in self._read("SELECT * FROM vectors WHERE id = ?", (row_id,)):
                yield FilingVectors(
                    doc_id, unpacked_numbers(row["places"]), row["dimensions"], row["numbers"], bool(row["sparse"])
                )

    def without_vectors(self, model: str, unit: VectorUnit) -> tuple[str, ...]:
        """See FilingIndex.without_vectors."""
        found = self._read(
            "SELECT doc_id FROM filings WHERE id NOT IN"
            " (SELECT filing_id FROM vectors WHERE model = ? AND unit = ?) ORDER BY content_hash, doc_id",
            (model, unit),
        )
        return tuple(row[0] for row in found)

    def vector_models(self) -> tuple[VectorModel, ...]:
        """See FilingIndex.vector_models."""
        return self._vector_models.value()

    def remove_vectors(self, model: str, unit: VectorUnit | None = None) -> int:
        """See FilingIndex.remove_vectors."""
        units = tuple(VectorUnit) if unit is None else (unit,)
        where = f"model = ? AND unit IN ({', '.join('?' * len(units))})"
        with self.writing() as connection:
            counted = connection.execute(
                f"SELECT count(DISTINCT filing_id) FROM vectors WHERE {where}", (model, *units)
            ).fetchone()
            connection.execute(f"DELETE FROM vectors WHERE {where}", (model, *units))
            return int(counted[0])


def _read_models(connection: sqlite3.Connection) -> tuple[VectorModel, ...]:
    found = connection.execute(
        "SELECT model, unit, max(dimensions), max(sparse), count(*), sum(row_count), max(id) FROM vectors"
        " GROUP BY model, unit ORDER BY model, unit"
    )
    return tuple(
        VectorModel(model, VectorUnit(unit), dimensions, bool(sparse), filings, rows, latest)
        for model, unit, dimensions, sparse, filings, rows, latest in found
    )


_UINT32 = "I"
_FLOAT16_BYTES = 2


def check_vectors(model: str, unit: VectorUnit, vectors: FilingVectors) -> None:
    """Raises FilingIndexError where vectors contradict themselves."""
    rows, dimensions, size = len(vectors.places), vectors.dimensions, len(vectors.values)
    fits = size == rows * dimensions * _FLOAT16_BYTES
    if vectors.sparse:
        counts = vectors.values[: rows * 4]
        fits = size >= rows * 4 and size == rows * 4 + sum(unpacked_numbers(counts)) * (4 + _FLOAT16_BYTES)
    if not fits or dimensions < 1 or not model:
        raise FilingIndexError(
            f"{size} bytes are not {rows} rows of {dimensions} numbers that {model or 'a model'} made of each {unit}",
            subject=vectors.doc_id,
            remedy="Give the values as FilingVectors describes them",
        )


def _packed(numbers: tuple[int, ...]) -> bytes:
    packed = array(_UINT32, numbers)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def unpacked_numbers(packed: bytes) -> tuple[int, ...]:
    """Numbers of four bytes, little-endian. Raises ValueError where the bytes are not fours."""
    numbers = array(_UINT32, packed)
    if sys.byteorder == "big":
        numbers.byteswap()
    return tuple(numbers)
