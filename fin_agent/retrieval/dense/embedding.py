"""Vectors for an index: of every filing that has none yet, written filing by filing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from fin_agent.errors import FilingIndexError
from fin_agent.index.protocol import FilingIndex, PageKey, VectorUnit
from fin_agent.retrieval.dense.encoder import Matrix, SparseRow
from fin_agent.retrieval.dense.store import pack_vectors


class PassageEncoder(Protocol):
    """What both kinds of encoder offer for texts that are to be found."""

    @property
    def name(self) -> str:
        """Under what name its vectors are kept."""

    @property
    def dimensions(self) -> int:
        """Length of a vector, or terms that may be weighed."""

    def encode_passages(self, texts: Sequence[str]) -> Matrix | list[SparseRow]:
        """One row a text."""

    def windows(self, text: str) -> list[str]:
        """The text in stretches as long as the model reads."""


@dataclass(frozen=True, slots=True)
class EmbeddedFiling:
    """A filing whose vectors of one unit were written."""

    doc_id: str
    unit: VectorUnit
    vectors: int
    size: int
    """Bytes that they take."""


OnFiling = Callable[[EmbeddedFiling], None]


def embed(
    index: FilingIndex,
    encoder: PassageEncoder,
    units: Sequence[VectorUnit],
    on_filing: OnFiling = lambda filing: None,
) -> list[EmbeddedFiling]:
    """Write the vectors that filings still lack, unit by unit and a filing a transaction.

    Stopped at any instant, nothing is lost, and the next run goes on from there. A filing that is replaced or removed
    while its texts are encoded is left for the next run.
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
    index: FilingIndex, doc_id: str, unit: VectorUnit, encoder: PassageEncoder
) -> tuple[list[int], list[str]] | None:
    """The places of what is encoded of a filing, and its texts; None where the filing is gone."""
    try:
        record = index.filing(doc_id)
    except FilingIndexError:
        return None
    if unit is VectorUnit.SUMMARY:
        return [0], [record.summary]
    keys = [PageKey(doc_id, number) for number in range(record.page_count)]
    if unit is VectorUnit.PAGE:
        pages = [stored.page for stored in index.pages(keys)]
        return [page.number for page in pages], [page.text for page in pages]
    passages = [stored.passage for stored in index.passages(keys)]
    if unit is VectorUnit.PASSAGE:
        return [passage.ordinal for passage in passages], [passage.text for passage in passages]
    windows = [(passage.ordinal, window) for passage in passages for window in encoder.windows(passage.text)]
    return [place for place, _ in windows], [window for _, window in windows]
