"""Kinds of questions made from tags."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from fin_agent.evaluation.generated.question import GeneratedQuestion


class QuestionKind(StrEnum):
    """What a question made from tags is about."""

    LOOKUP = "lookup"
    """One tagged figure of a company."""
    DERIVED = "derived"
    """Growth, a margin or a ratio from two or three of them."""
    COMPARISON = "comparison"
    """Between companies."""
    PART = "part"
    """A segment, product or region under its printed name."""
    TOTAL = "total"
    """A total or an average over the years of one company."""


@dataclass(frozen=True, slots=True)
class TaggedQuestion:
    """A question with the answer that follows from tags."""

    kind: QuestionKind
    asked: GeneratedQuestion
    exact: bool = False
    """Whether the answer is one tagged figure: it has to agree to the last digit printed."""
