"""How well texts answer a query, read together with it by a cross-encoder (Nogueira and Cho 2019)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fin_agent.retrieval.dense.encoder import TEXTS_AT_ONCE
from fin_agent.retrieval.dense.loading import EncoderError, load, name_of

if TYPE_CHECKING:
    import torch
    from sentence_transformers import CrossEncoder

_SCORES_PAIRS = "ForSequenceClassification"


def load_pair_scorer(model: str) -> PairScorer:
    """The cross-encoder in the folder `model` or of that name on a model hub.

    Raises EncoderError where it cannot be loaded, or was not made to score pairs: the head that scores would be random.
    """

    def cross(place: str, device: torch.device, precision: torch.dtype) -> CrossEncoder:
        from sentence_transformers import CrossEncoder
        from transformers import AutoConfig

        made_as = AutoConfig.from_pretrained(place).architectures or []
        if not any(name.endswith(_SCORES_PAIRS) for name in made_as):
            raise EncoderError(
                f"this is no cross-encoder: it was saved as {', '.join(made_as) or 'nothing named'}",
                subject=model,
                remedy=f"Give the folder of a model that was trained to score pairs (...{_SCORES_PAIRS})",
            )
        return CrossEncoder(place, device=str(device), model_kwargs={"dtype": precision})

    return PairScorer(name_of(model), load(model, cross))


class PairScorer:
    """A CrossEncoder of sentence-transformers that gives one score a pair. Safe to share between threads."""

    def __init__(self, name: str, model: CrossEncoder) -> None:
        if model.num_labels != 1:
            raise EncoderError(
                f"this model gives {model.num_labels} scores a pair",
                subject=name,
                remedy="Give the folder of a cross-encoder with one label",
            )
        self.name = name
        self._model = model.eval()
        self._one_at_a_time = threading.Lock()

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score a text, in their order; higher is better."""
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
