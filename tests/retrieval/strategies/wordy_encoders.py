"""Encoders made of plain words: no model, no torch, and yet what shares words is near."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np

from fin_agent.retrieval.dense.encoder import Matrix, SparseRow
from fin_agent.retrieval.search_terms import stems_of

DIMENSIONS = 2048
_WINDOW = 40


class WordyEncoder:
    """Counts of hashed stems, of length 1."""

    name = "wordy"
    dimensions = DIMENSIONS

    def __init__(self, name: str = "") -> None:
        self.name = name or self.name
        self.queries: list[str] = []
        self.made_up: list[str] = []

    def encode_queries(self, texts: Sequence[str]) -> Matrix:
        self.queries += texts
        return _counted(texts)

    def encode_passages(self, texts: Sequence[str]) -> Matrix:
        self.made_up += texts
        return _counted(texts)

    def windows(self, text: str) -> list[str]:
        words = text.split()
        return [" ".join(words[at : at + _WINDOW]) for at in range(0, max(1, len(words)), _WINDOW)]


class WordySparseEncoder(WordyEncoder):
    """The same as weights of terms; searches go on by its name."""

    name = "wordy-sparse"

    def encode_queries(self, texts: Sequence[str]) -> list[SparseRow]:  # type: ignore[override]
        return [_weighed(row) for row in super().encode_queries(texts)]

    def encode_passages(self, texts: Sequence[str]) -> list[SparseRow]:  # type: ignore[override]
        return [_weighed(row) for row in super().encode_passages(texts)]


def _counted(texts: Sequence[str]) -> Matrix:
    counts = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
    for row, text in enumerate(texts):
        for stem in stems_of(text):
            counts[row, crc32(stem.encode()) % DIMENSIONS] += 1
    lengths = np.linalg.norm(counts, axis=1, keepdims=True)
    normal: Matrix = counts / np.maximum(lengths, np.float32(1e-9))
    return normal


def _weighed(row: Matrix) -> SparseRow:
    (terms,) = np.nonzero(row)
    return SparseRow(terms.astype(np.uint32), row[terms])
