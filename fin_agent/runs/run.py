"""A run: one question, how and over what it was asked, and the whole answer with its trace."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import version

from pydantic import BaseModel, ConfigDict

from fin_agent.answering.answer import Answer, PagePlace
from fin_agent.config import Settings
from fin_agent.runs.ids import run_id

RULES = "rules"
"""The analyst that needs no model."""


class Run(BaseModel):
    """A run as it is recorded. The id and the times are here and not in the answer, which stays comparable."""

    model_config = ConfigDict(frozen=True)

    id: str
    started: datetime
    """UTC."""
    question: str
    settings: Settings
    analyst: str = RULES
    version: str
    """Of fin-agent."""
    index: IndexState
    doc_ids: tuple[str, ...] = ()
    """Filings the search was restricted to; empty where to none."""
    pages: tuple[PagePlace, ...] = ()
    """Pages the search was restricted to; empty where to none."""
    answer: Answer
    steps: tuple[StepTime, ...] = ()
    """How long each step of the trace took, in its order; empty where nobody took the time."""

    @classmethod
    def of(
        cls,
        answer: Answer,
        *,
        started: datetime,
        settings: Settings,
        index: IndexState,
        doc_ids: Sequence[str] = (),
        pages: Sequence[PagePlace] = (),
        steps: Sequence[StepTime] = (),
    ) -> Run:
        """The run that gave `answer`, under an id of its own."""
        return cls(
            id=run_id(started),
            started=started,
            question=answer.question,
            settings=settings,
            version=running_version(),
            index=index,
            doc_ids=tuple(doc_ids),
            pages=tuple(pages),
            answer=answer,
            steps=tuple(steps),
        )

    @property
    def seconds(self) -> float:
        """From question to answer."""
        return self.answer.seconds


class IndexState(BaseModel):
    """Which index was asked, and what it held."""

    model_config = ConfigDict(frozen=True)

    path: str
    filings: int
    fingerprint: str
    """Another one where a filing came, went or changed."""


class StepTime(BaseModel):
    """How long one step took."""

    model_config = ConfigDict(frozen=True)

    node: str
    seconds: float


def running_version() -> str:
    """The version of fin-agent that runs here."""
    return version("fin-agent")


def canonical(answer: Answer) -> str:
    """The answer as JSON without its id and seconds: the same, byte for byte, whenever the same was asked."""
    return answer.model_dump_json(exclude={"id", "seconds"})


Run.model_rebuild()
