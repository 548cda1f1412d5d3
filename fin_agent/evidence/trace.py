"""The audit trace: what each step of a run saw, kept and dropped, and why, in order."""

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
    """What it saw or decided, a line each, where that is no passage."""
    judged: tuple[Judged, ...] = ()
    """Passages it was given, each with what became of it, best first."""
    groups: tuple[RankedGroup, ...] = ()
    """Of a tournament: who met whom, and in which order they came out."""


class Judged(BaseModel):
    """A passage and what a step made of it."""

    model_config = ConfigDict(frozen=True)

    doc_id: str
    page: int
    """0-based."""
    ordinal: int
    kept: bool
    why: str = ""
    fields: tuple[str, ...] = ()
    """Fields of its card that match the intent: `metrics: revenue`, `time: FY2023`."""
    score: float | None = None
    """Higher is better; only scores of the same step compare."""


class RankedGroup(BaseModel):
    """Passages ranked together in one stage of a tournament."""

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


TraceStep.model_rebuild()
