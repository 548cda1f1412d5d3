"""The audit trace: what each step of a run saw, kept and dropped, and why, in order."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from fin_agent.vocabulary.ranked_group import RankedGroup

__all__ = ["JudgedPassage", "RankedGroup", "TraceStep"]


class TraceStep(BaseModel):
    """One step of one run."""

    model_config = ConfigDict(frozen=True)

    node: str
    round: int
    summary: str
    """One line for people."""
    details: tuple[str, ...] = ()
    """What it saw or decided, a line each, where that is no passage."""
    judged: tuple[JudgedPassage, ...] = ()
    """Passages it was given, each with what became of it, best first."""
    groups: tuple[RankedGroup, ...] = ()
    """Of a tournament: who met whom, and in which order they came out."""
    calls: tuple[str, ...] = ()
    """Calls of chat models, a line each: role, model, tokens, dollars."""
    warnings: tuple[str, ...] = ()
    """What was asked of a model and done by rules instead."""
    flags: tuple[str, ...] = ()
    """Signs of injection in what models were shown, and what was taken out of it."""


class JudgedPassage(BaseModel):
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


TraceStep.model_rebuild()
