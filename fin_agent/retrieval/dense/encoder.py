"""Encoders and cross-encoders, by any model of sentence-transformers."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from fin_agent.retrieval.dense.loading import EncoderError, load, missing_packages_remedy, model_name

if TYPE_CHECKING:
    import torch
    from sentence_transformers import CrossEncoder, SentenceTransformer
    from sentence_transformers import SparseEncoder as SparseModel
    from transformers import PreTrainedTokenizerBase

try:
    import numpy as np
    from numpy.typing import NDArray
except ImportError as error:
    raise missing_packages_remedy(error) from error


Matrix: TypeAlias = NDArray[np.float32]
"""One row per text, each of length 1."""

TEXTS_AT_ONCE = 32
ModelT = TypeVar("ModelT", "SentenceTransformer", "SparseModel")
WINDOW_TOKENS = 256
"""Most tokens of a window, even where the model could read more: windows should be small compared to their passages."""
OVERLAP = 30
"""Tokens that a window shares with the one before it."""
MAX_TERMS = 256
"""Most terms of a text, those with the highest weights (Kobeissi & Langlais, Section 4.2)."""


def load_encoder(model: str = "minilm") -> Encoder:
    """Load a dense model: `minilm` (packaged), a folder, or a name on a model hub. Raises EncoderError."""
    return Encoder(model_name(model), load(model, "SentenceTransformer"))


class _LoadedModel(Generic[ModelT]):
    """What dense and sparse encoders share. Safe to share between threads."""

    def __init__(self, name: str, model: ModelT, dimensions: int) -> None:
        self.name = name
        """The name under which its vectors are stored."""
        self.dimensions = dimensions
        """Length of a dense vector, or size of the vocabulary of a sparse one."""
        self._model = model.eval()
        self._one_at_a_time = threading.Lock()

    def windows(self, text: str) -> list[str]:
        """Return overlapping windows of the text, of at most WINDOW_TOKENS tokens or the model's limit if lower."""
        return windows_of(text, self._tokenizer, min(self._model.max_seq_length or WINDOW_TOKENS, WINDOW_TOKENS))

    @cached_property
    def _tokenizer(self) -> PreTrainedTokenizerBase:
        """The tokenizer; that of static vectors is bare and is wrapped to have the interface of the others."""
        from tokenizers import Tokenizer
        from transformers import PreTrainedTokenizerFast

        tokenizer = self._model.tokenizer
        return PreTrainedTokenizerFast(tokenizer_object=tokenizer) if isinstance(tokenizer, Tokenizer) else tokenizer


class Encoder(_LoadedModel["SentenceTransformer"]):
    """Encodes texts as dense vectors by a model of sentence-transformers. Safe to share between threads."""

    def __init__(self, name: str, model: SentenceTransformer) -> None:
        dimensions = model.get_embedding_dimension()
        if not dimensions:
            raise EncoderError(
                "this model does not state the length of its vectors",
                subject=name,
                remedy="Give the folder of a sentence-transformers model that pools its tokens",
            )
        super().__init__(name, model, int(dimensions))

    def encode_queries(self, texts: Sequence[str]) -> Matrix:
        """Return query vectors, shape (texts, dimensions); each depends on its text alone."""
        # One at a time: in a batch, the padding of short texts changes the last digits.
        with self._one_at_a_time:
            found = [self._model.encode_query(text, convert_to_tensor=True) for text in texts]
        return _normalized([vector.float().cpu().numpy() for vector in found], self.dimensions)

    def encode_passages(self, texts: Sequence[str]) -> Matrix:
        """Return passage vectors, shape (texts, dimensions); text beyond the model's limit is truncated."""
        if not texts:
            return _normalized([], self.dimensions)
        with self._one_at_a_time:
            found = self._model.encode_document(
                list(texts), batch_size=TEXTS_AT_ONCE, show_progress_bar=False, convert_to_tensor=True
            )
        return _normalized(found.float().cpu().numpy(), self.dimensions)


def _normalized(vectors: Sequence[Matrix] | Matrix, dimensions: int) -> Matrix:
    matrix = np.asarray(vectors, dtype=np.float32).reshape(-1, dimensions)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    normalised: Matrix = matrix / np.maximum(lengths, np.float32(1e-12))
    return normalised


def windows_of(text: str, tokenizer: PreTrainedTokenizerBase, most: int, overlap: int = OVERLAP) -> list[str]:
    """Return windows of `text` of at most `most` tokens, special tokens included; the whole text where it fits.

    Each window begins `overlap` tokens before the end of the previous one, or half a window where windows are shorter.
    """
    room = max(1, most - tokenizer.num_special_tokens_to_add())
    step = max(1, room - min(overlap, room // 2))
    taken = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    offsets: list[tuple[int, int]] = taken["offset_mapping"]
    if len(offsets) <= room:
        return [text]
    starts = range(0, len(offsets) - (room - step), step)
    return [text[offsets[at][0] : offsets[min(at + room, len(offsets)) - 1][1]] for at in starts]


def load_pair_scorer(model: str) -> PairScorer:
    """Load a cross-encoder from a folder or by its name on a model hub. Raises EncoderError, also for other models."""
    return PairScorer(model_name(model), load(model, "CrossEncoder"))


class PairScorer:
    """A CrossEncoder of sentence-transformers that returns one score per pair. Safe to share between threads."""

    def __init__(self, name: str, model: CrossEncoder) -> None:
        if model.num_labels != 1:
            raise EncoderError(
                f"this model gives {model.num_labels} scores per pair",
                subject=name,
                remedy="Give the folder of a cross-encoder with one label",
            )
        self.name = name
        self._model = model.eval()
        self._one_at_a_time = threading.Lock()

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text, in the order given; higher is better."""
        if not texts:
            return []
        with self._one_at_a_time:
            found = self._model.predict(
                [(query, text) for text in texts],
                batch_size=TEXTS_AT_ONCE,
                show_progress_bar=False,
                convert_to_numpy=False,
                convert_to_tensor=True,
            )
        return [float(score) for score in found.float().cpu()]


@dataclass(frozen=True, eq=False, slots=True)
class SparseRow:
    """One text: its terms with a weight above 0, ascending, and these weights."""

    terms: NDArray[np.uint32]
    weights: NDArray[np.float32]


def load_sparse_encoder(model: str) -> SparseEncoder:
    """Load a SPLADE-style model from a folder or by its name on a model hub. Raises EncoderError."""
    return SparseEncoder(model_name(model), load(model, "SparseEncoder"))


class SparseEncoder(_LoadedModel["SparseModel"]):
    """A SparseEncoder of sentence-transformers with the interface of an Encoder."""

    def __init__(self, name: str, model: SparseModel) -> None:
        # The dimensions that a model reports may be those of its hidden states.
        super().__init__(name, model, int(model.eval().encode_query("", convert_to_sparse_tensor=False).shape[-1]))

    def encode_queries(self, texts: Sequence[str]) -> list[SparseRow]:
        """Return query rows; each depends on its text alone."""
        with self._one_at_a_time:
            found = [self._model.encode_query(text, convert_to_sparse_tensor=False) for text in texts]
        return [_row(vector) for vector in found]

    def encode_passages(self, texts: Sequence[str]) -> list[SparseRow]:
        """Return passage rows; text beyond the model's limit is truncated."""
        rows: list[SparseRow] = []
        # Each text has a row over the whole vocabulary: small batches keep memory low.
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


def _row(weighed: torch.Tensor) -> SparseRow:
    numbers = weighed.float().cpu().numpy()
    (terms,) = np.nonzero(numbers > 0)
    if len(terms) > MAX_TERMS:
        terms = np.sort(terms[np.argsort(-numbers[terms], kind="stable")[:MAX_TERMS]])
    return SparseRow(terms.astype(np.uint32), numbers[terms].astype(np.float32))
