"""The audit trace: what each step of a run saw, kept and dropped, in order."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class TraceStep(BaseModel):
    """One step of one run."""

    model_config = ConfigDict(frozen=True)

    node: str
    round: int
    summary: str
    """One line for people."""
    details: tuple[str, ...] = ()
    """What it saw, kept or dropped, a line each."""
