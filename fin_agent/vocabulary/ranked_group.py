"""Groups of passages ranked together, as a tournament records them."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class RankedGroup(BaseModel):
    """Passages ranked together in one stage of a tournament (FinCards, Section 4)."""

    model_config = ConfigDict(frozen=True)

    stage: str
    """`group` (round-robin) or `round` (bootstrap)."""
    number: int
    """Number of the group or round, from 1."""
    attempt: int = 1
    """Increases when groups are shuffled again."""
    ranked: tuple[tuple[str, int], ...]
    """(doc_id, ordinal) in the resulting order, best first."""
    finalists: int
    """Number of top passages that advanced."""
    note: str = ""
    """Why the stage ended or was repeated, such as `top 10 agree (0.92)`."""
