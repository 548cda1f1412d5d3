"""What an analyst returns for an answer in words."""

from __future__ import annotations

from pydantic import BaseModel

from fin_agent.answering.answer import Citation
from fin_agent.evidence.evidence import Curation
from fin_agent.evidence.intent import OutputUnit
from fin_agent.index.protocol import PageKey


class ReasoningStep(BaseModel, frozen=True):
    """A sentence of the reasoning toward an answer in words."""

    text: str
    citations: tuple[int, ...] = ()
    """Indexes into the citations of the reasoning; empty for a conclusion from earlier sentences."""


class Reasoning(BaseModel, frozen=True):
    """An answer in words; the text is empty if the evidence does not contain one."""

    text: str
    citations: tuple[Citation, ...]
    missing: tuple[str, ...] = ()
    """What was searched for without success, if there is no text."""
    read: tuple[PageKey, ...] = ()
    """Pages read in addition to the evidence: a cover, the page about the whole company."""
    steps: tuple[ReasoningStep, ...] = ()
    """The steps toward the answer, if a model reasoned."""
    program: str | None = None
    """The program that calculated its results from quoted figures."""
    value: float | None = None
    """Its only result, in `unit`."""
    unit: OutputUnit | None = None
    assumed: tuple[str, ...] = ()
    """Assumptions made."""


class AnsweredCuration(Curation, frozen=True):
    """A curation whose judge also answered from the passages, or reported that they contain no answer."""

    reasoning: Reasoning
