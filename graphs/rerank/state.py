"""The state of a reranking."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from fin_agent.evidence.evidence import FoundPassage
from fin_agent.evidence.trace import TraceStep
from fin_agent.graphs.answer.state import AnswerState, QuestionInput
from fin_agent.vocabulary.ranked_group import RankedGroup


class RerankInput(QuestionInput, total=False):
    """A question, and the passages to put into order; without any, those that a search finds."""

    candidates: list[FoundPassage]


class RankedCandidate(BaseModel):
    """A passage in its new place."""

    model_config = ConfigDict(frozen=True)

    doc_id: str
    page: int
    """0-based."""
    ordinal: int
    before: int
    """Its place among the candidates, from 1."""
    score: float
    """0 to 1, of the tournament; 0 for those that were no finalists."""
    text: str


class RerankState(AnswerState, total=False):
    """What the nodes hand on."""

    candidates: list[FoundPassage]
    ranked: list[RankedCandidate]
    groups: list[RankedGroup]


class RerankOutput(TypedDict):
    """What a reranking ends with."""

    ranked: list[RankedCandidate]
    """Best first."""
    groups: list[RankedGroup]
    """Who met whom, in the order they met."""
    warnings: list[str]
    trace: list[TraceStep]
