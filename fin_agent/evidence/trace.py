"""The audit trace: the input, decisions and reasons of each step of a run, in order."""

from __future__ import annotations

from pydantic import BaseModel

from fin_agent.vocabulary.ranked_group import RankedGroup

__all__ = ["JudgedPassage", "RankedGroup", "TraceStep"]


class TraceStep(BaseModel, frozen=True):
    """One step of a run."""

    node: str
    round: int
    summary: str
    """One line for people."""
    details: tuple[str, ...] = ()
    """Further input or decisions, a line each."""
    judged: tuple[JudgedPassage, ...] = ()
    """The passages of its input with the verdict on each, best first."""
    groups: tuple[RankedGroup, ...] = ()
    """The groups of a tournament with their rankings."""
    calls: tuple[str, ...] = ()
    """Calls of chat models, a line each: role, model, tokens, dollars."""
    warnings: tuple[str, ...] = ()
    """Requests to a model that rules handled in its place."""
    flags: tuple[str, ...] = ()
    """Signs of injection in the models' input, and text removed from it."""


class JudgedPassage(BaseModel, frozen=True):
    """A passage with a step's verdict."""

    doc_id: str
    page: int
    """0-based."""
    ordinal: int
    kept: bool
    why: str = ""
    fields: tuple[str, ...] = ()
    """Fields of its card that match the intent: `metrics: revenue`, `time: FY2023`."""
    score: float | None = None
    """Higher is better; comparable within the same step only."""


TraceStep.model_rebuild()
