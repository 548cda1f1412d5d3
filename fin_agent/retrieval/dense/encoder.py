"""Texts as dense vectors, by any model of sentence-transformers."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from fin_agent.retrieval.dense.loading import EncoderError, load, missing, name_of
from fin_agent.retrieval.dense.windows import windows_of

try:
    import numpy as np
    from numpy.typing import NDArray
except ImportError as error:
    raise missing(error) from error

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer

Matrix: TypeAlias = NDArray[np.float32]
"""A row a text, each of length 1."""

TEXTS_AT_ONCE = 32


class Encoder(Protocol):
    """Makes dense vectors of texts. Safe to share between threads."""

    @property
    def name(self) -> str:
        """Under what name its vectors are kept."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    def encode_queries(self, texts: Sequence[str]) -> Matrix:
        """Vectors to search with, (texts, dimensions); each depends on its text alone."""

    def encode_passages(self, texts: Sequence[str]) -> Matrix:
        """Vectors to be found, (texts, dimensions); what is longer than the model reads is cut off."""

    def windows(self, text: str) -> list[str]:
        """The text in stretches as long as the model reads, with an overlap."""


def load_encoder(model: str = "minilm") -> SentenceTransformerEncoder:
    """The model called so: `minilm` (packaged, no network), a folder, or a name on a model hub.

    Raises EncoderError where it cannot be loaded.
    """

    def dense(place: str, device: torch.device, precision: torch.dtype) -> SentenceTransformer:
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(place, device=str(device), model_kwargs={"dtype": precision})

    return SentenceTransformerEncoder(name_of(model), load(model, dense))


class SentenceTransformerEncoder:
    """A model of sentence-transformers as an Encoder."""

    def __init__(self, name: str, model: SentenceTransformer) -> None:
        self._name = name
        self._model = model.eval()
        self._one_at_a_time = threading.Lock()
        dimensions = model.get_embedding_dimension()
        if not dimensions:
            raise EncoderError(
                "this model does not say how long its vectors are",
                subject=name,
                remedy="Give the folder of a sentence-transformers model that pools its tokens",
            )
        self._dimensions = int(dimensions)

    @property
    def name(self) -> str:
        """See Encoder.name."""
        return self._name

    @property
    def dimensions(self) -> int:
        """See Encoder.dimensions."""
        return self._dimensions

    def encode_queries(self, texts: Sequence[str]) -> Matrix:
        """See Encoder.encode_queries."""
        # One at a time: in a batch, what is added to short texts shows in the last digits.
        with self._one_at_a_time:
            found = [self._model.encode_query(text, convert_to_tensor=True) for text in texts]
        return _normalised([vector.float().cpu().numpy() for vector in found], self._dimensions)

    def encode_passages(self, texts: Sequence[str]) -> Matrix:
        """See Encoder.encode_passages. The library sorts by length, so that a batch holds texts of one length."""
        if not texts:
            return _normalised([], self._dimensions)
        with self._one_at_a_time:
            found = self._model.encode_document(
                list(texts), batch_size=TEXTS_AT_ONCE, show_progress_bar=False, convert_to_tensor=True
            )
        return _normalised(found.float().cpu().numpy(), self._dimensions)

    def windows(self, text: str) -> list[str]:
        """See Encoder.windows."""
        return windows_of(text, self._model.tokenizer, self._model.max_seq_length)


def _normalised(vectors: Sequence[Matrix] | Matrix, dimensions: int) -> Matrix:
    matrix = np.asarray(vectors, dtype=np.float32).reshape(-1, dimensions)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    normalised: Matrix = matrix / np.maximum(lengths, np.float32(1e-12))
    return normalised
