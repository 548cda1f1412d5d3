"""Vectors of an index in memory, with exact search: every vector is compared, without approximation."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from fin_agent.errors import FilingIndexError
from fin_agent.index.protocol import FilingEntry, FilingIndex, FilingVectors, VectorModel, VectorUnit
from fin_agent.retrieval.dense.encoder import Encoder, Matrix, SparseEncoder, SparseRow
from fin_agent.retrieval.dense.loading import missing_packages_remedy

try:
    import numpy as np
    from numpy.typing import NDArray
except ImportError as error:
    raise missing_packages_remedy(error) from error

_BLOCK = 16_384
"""Rows multiplied at once: they are stored in half precision and multiplied in single precision."""
_DIGITS = 5
"""Decimals by which scores are ordered; the order of additions affects only later ones."""

Scores: TypeAlias = NDArray[np.float32]
_PLACE_BITS = 32
"""A row's key is the position of its filing, shifted by these bits, plus its place."""
Half: TypeAlias = NDArray[np.float16]


class VectorHit(NamedTuple):
    """A place found and its score: the cosine for dense vectors, the inner product for sparse ones."""

    doc_id: str
    place: int
    score: float


class VectorStore:
    """The vectors of one model for one unit. Safe to share between threads."""

    def __init__(self, index: FilingIndex, model: str, unit: VectorUnit) -> None:
        self._index = index
        self._model = model
        self._unit = unit
        self._guard = threading.Lock()
        self._loaded: _LoadedVectors | None = None

    def search(
        self,
        vector: Scores | SparseRow,
        limit: int,
        *,
        doc_ids: Collection[str] | None = None,
        places: Collection[tuple[str, int]] | None = None,
    ) -> list[VectorHit]:
        """Return the `limit` places nearest to `vector`, best first; equal scores by filing, then place.

        A place with several vectors has the score of its nearest one. `doc_ids` and `places`, as (doc_id, place), limit
        what is searched. Raises FilingIndexError where the index has no vectors of this model and unit, or longer ones.
        """
        loaded = self._current()
        held = loaded.held
        length = held.dimensions if isinstance(vector, SparseRow) else len(vector)
        if isinstance(vector, SparseRow) != held.sparse or length != held.dimensions:
            raise FilingIndexError(
                f"the query's vector does not fit the index's vectors of {held.dimensions}"
                f" {'terms' if held.sparse else 'dimensions'}",
                subject=self._model,
                remedy="Search with the model that made the vectors, or make them again with `fin-agent embed`",
            )
        rows = loaded.rows_of(doc_ids, places)
        if limit < 1 or not len(rows):
            return []
        scores = np.round(loaded.products(vector, rows), _DIGITS)
        keys = loaded.keys[rows]
        firsts = np.flatnonzero(np.diff(keys, prepend=-1))
        keys, scores = keys[firsts], np.maximum.reduceat(scores, firsts)
        if held.sparse:  # texts that share no term are not found
            keys, scores = keys[scores > 0], scores[scores > 0]
        # Rows are in the order of the entries, so a stable sort orders equal scores by filing, then place.
        order = np.argsort(-scores, kind="stable")[:limit]
        return [
            VectorHit(loaded.doc_ids[key >> _PLACE_BITS], key % (1 << _PLACE_BITS), round(score, _DIGITS))
            for key, score in zip(keys[order].tolist(), scores[order].tolist(), strict=True)
        ]

    def _current(self) -> _LoadedVectors:
        """Return the current vectors of the index, reading them again if they changed."""
        entries = self._index.entries()
        held = next(
            (held for held in self._index.vector_models() if (held.model, held.unit) == (self._model, self._unit)), None
        )
        if held is None:
            raise FilingIndexError(
                f"the index contains no vectors of any {self._unit} by {self._model}",
                remedy=f"Make them with `fin-agent embed --model {self._model} --units {self._unit.plural}`",
            )
        with self._guard:
            if self._loaded is None or self._loaded.entries is not entries or self._loaded.held != held:
                self._loaded = None  # not both at once in memory
                self._loaded = _load_vectors(entries, held, self._index.vectors(self._model, self._unit))
            return self._loaded


@dataclass(frozen=True, eq=False, slots=True)
class _LoadedVectors:
    """Vectors in memory, row by row in the order of the entries."""

    entries: tuple[FilingEntry, ...]
    held: VectorModel
    doc_ids: tuple[str, ...]
    keys: NDArray[np.int64]
    """Filing and place of each row (`_PLACE_BITS`)."""
    numbers: Any
    """The vectors: a matrix of half precision, or a sparse one of scipy."""

    def products(self, vector: Scores | SparseRow, rows: NDArray[np.int64]) -> Scores:
        """Return the inner products of `vector` with `rows`."""
        products: Scores
        if isinstance(vector, SparseRow):
            weights: Scores = np.zeros(self.held.dimensions, dtype=np.float32)
            weights[vector.terms] = vector.weights
            products = (self.numbers @ weights)[rows]
            return products
        query = np.asarray(vector, dtype=np.float32)
        blocks = (self.numbers[rows[start : start + _BLOCK]] for start in range(0, len(rows), _BLOCK))
        products = np.concatenate([block.astype(np.float32) @ query for block in blocks])
        return products

    def rows_of(self, doc_ids: Collection[str] | None, places: Collection[tuple[str, int]] | None) -> NDArray[np.int64]:
        """Return the rows that may be found, ascending."""
        known = {doc_id: at for at, doc_id in enumerate(self.doc_ids)}
        allowed: NDArray[np.bool_] = np.ones(len(self.keys), dtype=bool)
        if doc_ids is not None:
            allowed &= np.isin(self.keys >> _PLACE_BITS, [known[doc_id] for doc_id in doc_ids if doc_id in known])
        if places is not None:
            wanted = [(known[doc_id] << _PLACE_BITS) + place for doc_id, place in places if doc_id in known]
            allowed &= np.isin(self.keys, wanted)
        return np.flatnonzero(allowed)


def _load_vectors(
    entries: tuple[FilingEntry, ...], held: VectorModel, found: Iterable[FilingVectors]
) -> _LoadedVectors:
    of_filings = [vectors for vectors in found if vectors.places]
    filings = np.arange(len(of_filings), dtype=np.int64) << _PLACE_BITS
    places = [np.array(vectors.places, np.int64) for vectors in of_filings]
    dense = [np.empty((0, held.dimensions), np.float16), *([] if held.sparse else map(unpack_dense, of_filings))]
    return _LoadedVectors(
        entries=entries,
        held=held,
        doc_ids=tuple(vectors.doc_id for vectors in of_filings),
        keys=np.repeat(filings, [len(each) for each in places]) + np.concatenate([np.empty(0, np.int64), *places]),
        numbers=_sparse(of_filings, held.dimensions) if held.sparse else np.concatenate(dense),
    )


def _sparse(of_filings: Sequence[FilingVectors], dimensions: int) -> Any:
    from scipy.sparse import csr_array

    parts = [unpack_sparse(vectors) for vectors in of_filings]
    counts = np.concatenate([np.empty(0, np.uint32), *(part[0] for part in parts)])
    terms = np.concatenate([np.empty(0, np.uint32), *(part[1] for part in parts)])
    weights = np.concatenate([np.empty(0, np.float16), *(part[2] for part in parts)]).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    return csr_array((weights, terms, starts), shape=(len(counts), dimensions))


def pack_vectors(
    doc_id: str, places: Sequence[int], rows: Matrix | Sequence[SparseRow], dimensions: int
) -> FilingVectors:
    """Return `rows`, one per place, in the form that the index stores, in half precision."""
    if isinstance(rows, np.ndarray):
        return FilingVectors(doc_id, tuple(places), dimensions, rows.astype("<f2").tobytes())
    counts = np.array([len(row.terms) for row in rows], dtype="<u4").tobytes()
    terms = b"".join(row.terms.astype("<u4").tobytes() for row in rows)
    weights = b"".join(row.weights.astype("<f2").tobytes() for row in rows)
    return FilingVectors(doc_id, tuple(places), dimensions, counts + terms + weights, sparse=True)


def unpack_dense(vectors: FilingVectors) -> Half:
    """Return the stored vectors, shape (places, dimensions)."""
    rows: Half = np.frombuffer(vectors.values, dtype="<f2").reshape(len(vectors.places), vectors.dimensions)
    return rows


def unpack_sparse(vectors: FilingVectors) -> tuple[NDArray[np.uint32], NDArray[np.uint32], Half]:
    """Return the number of terms per row, then the terms and the weights of all rows."""
    rows = len(vectors.places)
    counts = np.frombuffer(vectors.values, dtype="<u4", count=rows)
    total = int(counts.sum())
    terms = np.frombuffer(vectors.values, dtype="<u4", offset=rows * 4, count=total)
    return counts, terms, np.frombuffer(vectors.values, dtype="<f2", offset=(rows + total) * 4)


@dataclass(frozen=True, slots=True)
class EmbeddedFiling:
    """A filing whose vectors of one unit were written."""

    doc_id: str
    unit: VectorUnit
    vectors: int
    size: int
    """In bytes."""


def embed(
    index: FilingIndex,
    encoder: Encoder | SparseEncoder,
    units: Sequence[VectorUnit],
    on_filing: Callable[[EmbeddedFiling], None] = lambda filing: None,
) -> list[EmbeddedFiling]:
    """Write the vectors that filings lack, unit by unit, in one transaction per filing, and return the filings written.

    A run that is interrupted loses nothing; the next run continues. A filing that is replaced or removed while its
    texts are encoded is left to the next run.
    """
    written = []
    for unit in units:
        for doc_id in index.without_vectors(encoder.name, unit):
            found = _texts(index, doc_id, unit, encoder)
            if found is None:
                continue
            places, texts = found
            vectors = pack_vectors(doc_id, places, encoder.encode_passages(texts), encoder.dimensions)
            if _texts(index, doc_id, unit, encoder) != found:
                continue
            index.add_vectors(encoder.name, unit, vectors)
            size = len(vectors.values) + 4 * len(places)
            written.append(EmbeddedFiling(doc_id, unit, len(places), size))
            on_filing(written[-1])
    return written


def _texts(
    index: FilingIndex, doc_id: str, unit: VectorUnit, encoder: Encoder | SparseEncoder
) -> tuple[list[int], list[str]] | None:
    """Return the places and texts of a filing that are encoded; None where the filing is gone."""
    try:
        record = index.filing(doc_id)
    except FilingIndexError:
        return None
    if unit is VectorUnit.SUMMARY:
        return [0], [record.summary]
    if unit is VectorUnit.PAGE:
        pages = [stored.page for stored in index.pages(record.page_keys)]
        return [page.number for page in pages], [page.text for page in pages]
    passages = [stored.passage for stored in index.passages(record.page_keys)]
    if unit is VectorUnit.PASSAGE:
        return [passage.ordinal for passage in passages], [passage.text for passage in passages]
    windows = [(passage.ordinal, window) for passage in passages for window in encoder.windows(passage.text)]
    return [place for place, _ in windows], [window for _, window in windows]
