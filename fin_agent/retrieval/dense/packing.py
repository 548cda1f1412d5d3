"""Rows of numbers to what an index keeps of a filing, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from fin_agent.index.protocol import FilingVectors
from fin_agent.retrieval.dense.encoder import Matrix
from fin_agent.retrieval.dense.loading import missing
from fin_agent.retrieval.dense.sparse import SparseRow

try:
    import numpy as np
    from numpy.typing import NDArray
except ImportError as error:
    raise missing(error) from error

Half: TypeAlias = NDArray[np.float16]


def packed(doc_id: str, places: Sequence[int], rows: Matrix | Sequence[SparseRow], dimensions: int) -> FilingVectors:
    """What is kept of `rows`, one a place: in half precision."""
    if isinstance(rows, np.ndarray):
        return FilingVectors(doc_id, tuple(places), dimensions, rows.astype("<f2").tobytes())
    counts = np.array([len(row.terms) for row in rows], dtype="<u4").tobytes()
    terms = b"".join(row.terms.astype("<u4").tobytes() for row in rows)
    weights = b"".join(row.weights.astype("<f2").tobytes() for row in rows)
    return FilingVectors(doc_id, tuple(places), dimensions, counts + terms + weights, sparse=True)


def unpacked_dense(vectors: FilingVectors) -> Half:
    """(places, dimensions)."""
    rows: Half = np.frombuffer(vectors.values, dtype="<f2").reshape(len(vectors.places), vectors.dimensions)
    return rows


def unpacked_sparse(vectors: FilingVectors) -> tuple[NDArray[np.uint32], NDArray[np.uint32], Half]:
    """How many terms each row has, then the terms and the weights of all rows."""
    rows = len(vectors.places)
    counts = np.frombuffer(vectors.values, dtype="<u4", count=rows)
    total = int(counts.sum())
    terms = np.frombuffer(vectors.values, dtype="<u4", offset=rows * 4, count=total)
    return counts, terms, np.frombuffer(vectors.values, dtype="<f2", offset=(rows + total) * 4)
