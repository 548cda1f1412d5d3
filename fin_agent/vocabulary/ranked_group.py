"""Passages that were ranked together, as a tournament leaves them for the record."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class RankedGroup(BaseModel):
    """Passages ranked together in one stage of a tournament (FinCards, Section 4)."""

    model_config = ConfigDict(frozen=True)

    stage: str
    """`group` (round-robin) or `round` (bootstrap)."""
    number: int
    """Of the group or the round, from 1."""
    attempt: int = 1
    """Grows where groups were shuffled anew."""
    ranked: tuple[tuple[str, int], ...]
    """(doc_id, ordinal) in the order they came out, best first."""
    finalists: int
    """How many of the first went on."""
    note: str = ""
    """Why the stage ended or was repeated: `top 10 agree (0.92)`."""
