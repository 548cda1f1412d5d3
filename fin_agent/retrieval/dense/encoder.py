"""Encoders and cross-encoders, by any model of sentence-transformers."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, TypeVar

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


class Encoder(Protocol):
    """Encodes texts as dense vectors. Safe to share between threads."""

    @property
    def name(self) -> str:
        """The name under which its vectors are stored."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    def encode_queries(self, texts: Sequence[str]) -> Matrix:
        """Return query vectors, shape (texts, dimensions); each depends on its text alone."""

    def encode_passages(self, texts: Sequence[str]) -> Matrix:
        """Return passage vectors, shape (texts, dimensions); text beyond the model's limit is truncated."""

    def windows(self, text: str) -> list[str]:
        """Return the text in overlapping windows of at most WINDOW_TOKENS tokens."""


def load_encoder(model: str = "minilm") -> SentenceTransformerEncoder:
    """Load a dense model: `minilm` (packaged, needs no network), a folder, or a name on a model hub.

    Raises:
        EncoderError: The model cannot be loaded.
    """

    def dense(place: str, device: torch.device, precision: torch.dtype) -> SentenceTransformer:
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(place, device=str(device), model_kwargs={"dtype": precision})

    return SentenceTransformerEncoder(model_name(model), load(model, dense))


ModelT = TypeVar("ModelT", "SentenceTransformer", "SparseModel")


class _LoadedModel(Generic[ModelT]):
    """What dense and sparse encoders share. Safe to share between threads."""

    def __init__(self, name: str, model: ModelT, dimensions: int) -> None:
        self._name = name
        self._model = model.eval()
        self._one_at_a_time = threading.Lock()
        self._dimensions = dimensions

    @property
    def name(self) -> str:
        """The name under which its vectors are stored."""
        return self._name

    @property
    def dimensions(self) -> int:
        """Length of a dense vector, or size of the vocabulary of a sparse one."""
        return self._dimensions

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


class SentenceTransformerEncoder(_LoadedModel["SentenceTransformer"]):
    """An Encoder that uses a model of sentence-transformers."""

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
        """See Encoder.encode_queries."""
        # One at a time: in a batch, the padding of short texts changes the last digits.
        with self._one_at_a_time:
            found = [self._model.encode_query(text, convert_to_tensor=True) for text in texts]
        return _normalized([vector.float().cpu().numpy() for vector in found], self._dimensions)

    def encode_passages(self, texts: Sequence[str]) -> Matrix:
        """See Encoder.encode_passages. The library sorts by length, so each batch contains texts of similar length."""
        if not texts:
            return _normalized([], self._dimensions)
        with self._one_at_a_time:
            found = self._model.encode_document(
                list(texts), batch_size=TEXTS_AT_ONCE, show_progress_bar=False, convert_to_tensor=True
            )
        return _normalized(found.float().cpu().numpy(), self._dimensions)


def _normalized(vectors: Sequence[Matrix] | Matrix, dimensions: int) -> Matrix:
    matrix = np.asarray(vectors, dtype=np.float32).reshape(-1, dimensions)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    normalised: Matrix = matrix / np.maximum(lengths, np.float32(1e-12))
    return normalised


WINDOW_TOKENS = 256
"""Most tokens of a window, even where the model could read more: windows should be small compared to their passages."""
OVERLAP = 30
"""Tokens that a window shares with the one before it."""


def windows_of(text: str, tokenizer: PreTrainedTokenizerBase, most: int, overlap: int = OVERLAP) -> list[str]:
    """Return windows of `text` of at most `most` tokens, special tokens included; the whole text where it fits.

    Each window begins `overlap` tokens before the end of the previous one, or half a window where windows are shorter.
    """
    room = max(1, most - tokenizer.num_special_tokens_to_add())
    step = max(1, room - min(overlap, room // 2))
    taken = tokenizer(text, add_special_tokens=False, return_offsets_mapping=tokenizer.is_fast, verbose=False)
    tokens: list[int] = taken["input_ids"]
    if len(tokens) <= room:
        return [text]
    starts = range(0, len(tokens) - (room - step), step)
    if tokenizer.is_fast:
        offsets: list[tuple[int, int]] = taken["offset_mapping"]
        return [text[offsets[at][0] : offsets[min(at + room, len(tokens)) - 1][1]] for at in starts]
    return [str(tokenizer.decode(tokens[at : at + room])) for at in starts]


_SCORES_PAIRS = "ForSequenceClassification"


def load_pair_scorer(model: str) -> PairScorer:
    """Load a cross-encoder from the folder `model` or by its name on a model hub.

    Raises:
        EncoderError: The model cannot be loaded, or was not trained to score pairs (its scoring head would be random).
    """

    def cross(place: str, device: torch.device, precision: torch.dtype) -> CrossEncoder:
        from sentence_transformers import CrossEncoder
        from transformers import AutoConfig

        made_as = AutoConfig.from_pretrained(place).architectures or []
        if not any(name.endswith(_SCORES_PAIRS) for name in made_as):
            raise EncoderError(
                f"this is not a cross-encoder: it was saved as {', '.join(made_as) or 'nothing named'}",
                subject=model,
                remedy=f"Give the folder of a model that was trained to score pairs (...{_SCORES_PAIRS})",
            )
        return CrossEncoder(place, device=str(device), model_kwargs={"dtype": precision})

    return PairScorer(model_name(model), load(model, cross))


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
    """Load a SPLADE-style model from the folder `model` or by its name on a model hub.

    Raises:
        EncoderError: The model cannot be loaded.
    """

    def sparse(place: str, device: torch.device, precision: torch.dtype) -> SparseModel:
        from sentence_transformers import SparseEncoder as SparseModel

        return SparseModel(place, device=str(device), model_kwargs={"dtype": precision})

    return SparseEncoder(model_name(model), load(model, sparse))


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


MAX_TERMS = 256
"""Most terms of a text, those with the highest weights (Kobeissi & Langlais, Section 4.2)."""


def _row(weighed: torch.Tensor) -> SparseRow:
    numbers = weighed.float().cpu().numpy()
    (terms,) = np.nonzero(numbers > 0)
    if len(terms) > MAX_TERMS:
        terms = np.sort(terms[np.argsort(-numbers[terms], kind="stable")[:MAX_TERMS]])
    return SparseRow(terms.astype(np.uint32), numbers[terms].astype(np.float32))
