"""What an index offers that finds nearest neighbours by itself."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from fin_agent.index.protocol import VectorUnit


class NearPlace(NamedTuple):
    """A place found by its vector, and the cosine."""

    doc_id: str
    place: int
    score: float


@runtime_checkable
class FindsNearest(Protocol):
    """An index that need not hand out all its vectors to be searched."""

    def nearest(
        self,
        model: str,
        unit: VectorUnit,
        vector: Sequence[float],
        limit: int,
        *,
        doc_ids: Collection[str] | None = None,
        places: Collection[tuple[str, int]] | None = None,
    ) -> list[NearPlace]:
        """The `limit` places nearest to a dense vector by cosine, best first; equals by content, then place.

        Only of `doc_ids` and only (doc_id, place) of `places`, where given. May be approximate. Raises FilingIndexError
        where the model has made no dense vectors of the unit, or vectors of another length.
        """
