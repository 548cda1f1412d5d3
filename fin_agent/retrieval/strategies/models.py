"""What strategies may work with beside the index: who writes, who curates, who ranks, what encodes, whom to tell."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fin_agent.retrieval.strategies.curating import Curator
from fin_agent.retrieval.strategies.decomposed import Decomposer
from fin_agent.retrieval.strategies.reranking import PassageOrder, PassageScorer
from fin_agent.retrieval.strategies.writing import Writer

if TYPE_CHECKING:
    from fin_agent.retrieval.dense.encoder import Encoder
    from fin_agent.retrieval.dense.sparse import SparseEncoder

Notify = Callable[[str], None]


def logged(note: str) -> None:
    """A note for whoever runs this, as a warning of the log `fin_agent`."""
    logging.getLogger("fin_agent").warning(note)


@dataclass(frozen=True, slots=True)
class Models:
    """What is given rather than loaded by its name in the settings; None where it is to be loaded, or not needed."""

    writer: Writer | None = None
    curator: Curator | None = None
    arena: PassageOrder | None = None
    """Where the cards of passages meet, for `tournament`."""
    decomposer: Decomposer | None = None
    scorer: PassageScorer | None = None
    encoder: Encoder | None = None
    sparse_encoder: SparseEncoder | None = None
    notify: Notify = logged
