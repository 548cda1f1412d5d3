"""Texts as learned sparse vectors (SPLADE: Formal, Piwowarski and Clinchant 2021): weights of a vocabulary's terms."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fin_agent.retrieval.dense.encoder import TEXTS_AT_ONCE
from fin_agent.retrieval.dense.loading import load, missing, name_of
from fin_agent.retrieval.dense.windows import windows_of

try:
    import numpy as np
    from numpy.typing import NDArray
except ImportError as error:
    raise missing(error) from error

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SparseEncoder as SparseModel


@dataclass(frozen=True, eq=False, slots=True)
class SparseRow:
    """One text: the terms that weigh anything, ascending, and their weights (above 0)."""

    terms: NDArray[np.uint32]
    weights: NDArray[np.float32]


def load_sparse_encoder(model: str) -> SparseEncoder:
    """The SPLADE-style model in the folder `model` or of that name on a model hub. Raises EncoderError."""

    def sparse(place: str, device: torch.device, precision: torch.dtype) -> SparseModel:
        from sentence_transformers import SparseEncoder as SparseModel

        return SparseModel(place, device=str(device), model_kwargs={"dtype": precision})

    return SparseEncoder(name_of(model), load(model, sparse))


class SparseEncoder:
    """A SparseEncoder of sentence-transformers, in the shape of an Encoder. Safe to share between threads."""

    def __init__(self, name: str, model: SparseModel) -> None:
        self._name = name
        self._model = model.eval()
        self._one_at_a_time = threading.Lock()
        # What a model says of its dimensions may be those of its hidden states.
        self._dimensions = int(self._model.encode_query("", convert_to_sparse_tensor=False).shape[-1])

    @property
    def name(self) -> str:
        """Under what name its vectors are kept."""
        return self._name

    @property
    def dimensions(self) -> int:
        """Terms that may be weighed."""
        return self._dimensions

    def encode_queries(self, texts: Sequence[str]) -> list[SparseRow]:
        """Rows to search with; each depends on its text alone."""
        with self._one_at_a_time:
            found = [self._model.encode_query(text, convert_to_sparse_tensor=False) for text in texts]
        return [_row(vector) for vector in found]

    def encode_passages(self, texts: Sequence[str]) -> list[SparseRow]:
        """Rows to be found; what is longer than the model reads is cut off."""
        rows: list[SparseRow] = []
        # A whole vocabulary a text: few texts at once keep memory flat.
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            with self._one_at_a_time:
                found = self._model.encode_document(
                    list(texts[start : start + TEXTS_AT_ONCE]),
                    batch_size=TEXTS_AT_ONCE,
                    show_progress_bar=False,
                    convert_to_sparse_tensor=False,
                )
            rows += map(_row, found)
        return rows

    def windows(self, text: str) -> list[str]:
        """The text in stretches as long as the model reads, with an overlap."""
        return windows_of(text, self._model.tokenizer, self._model.max_seq_length)


def _row(weighed: torch.Tensor) -> SparseRow:
    numbers = weighed.float().cpu().numpy()
    (terms,) = np.nonzero(numbers > 0)
    return SparseRow(terms.astype(np.uint32), numbers[terms].astype(np.float32))
