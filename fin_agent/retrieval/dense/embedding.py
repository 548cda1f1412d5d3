"""Compute and store the vectors that an index lacks, filing by filing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fin_agent.errors import FilingIndexError
from fin_agent.index.protocol import FilingIndex, PageKey, VectorUnit
from fin_agent.retrieval.dense.encoder import Encoder, SparseEncoder
from fin_agent.retrieval.dense.store import pack_vectors


@dataclass(frozen=True, slots=True)
class EmbeddedFiling:
    """A filing whose vectors of one unit were written."""

    doc_id: str
    unit: VectorUnit
    vectors: int
    size: int
    """In bytes."""


OnFiling = Callable[[EmbeddedFiling], None]


def embed(
    index: FilingIndex,
    encoder: Encoder | SparseEncoder,
    units: Sequence[VectorUnit],
    on_filing: OnFiling = lambda filing: None,
) -> list[EmbeddedFiling]:
    """Write the vectors that filings lack, unit by unit, in one transaction per filing.

    A run that is interrupted loses nothing; the next run continues. A filing that is replaced or removed while its
    texts are encoded is left to the next run.

    Args:
        index: The index to read texts from and write vectors to.
        encoder: The model.
        units: What to encode: passages, windows, pages, summaries.
        on_filing: Called after each filing.

    Returns:
        The filings written.
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
    keys = [PageKey(doc_id, number) for number in range(record.page_count)]
    if unit is VectorUnit.PAGE:
        pages = [stored.page for stored in index.pages(keys)]
        return [page.number for page in pages], [page.text for page in pages]
    passages = [stored.passage for stored in index.passages(keys)]
    if unit is VectorUnit.PASSAGE:
        return [passage.ordinal for passage in passages], [passage.text for passage in passages]
    windows = [(passage.ordinal, window) for passage in passages for window in encoder.windows(passage.text)]
    return [place for place, _ in windows], [window for _, window in windows]
