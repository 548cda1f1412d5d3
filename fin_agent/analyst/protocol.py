"""The protocol of analysts, which fill the reasoning roles of a run by rules or with a chat model."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from fin_agent.answering.answer import Citation
from fin_agent.answering.program import Program
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.evidence import Curation, Evidence, RetrievedPassage
from fin_agent.evidence.intent import Intent, OutputUnit
from fin_agent.evidence.plan import Plan
from fin_agent.evidence.slot_ledger import Ledger
from fin_agent.index.protocol import PageKey
from fin_agent.retrieval.search_query import EVERYTHING, Query, RankedPassage, Scope


class ReasoningStep(BaseModel):
    """A sentence of the reasoning toward an answer in words."""

    model_config = ConfigDict(frozen=True)

    text: str
    citations: tuple[int, ...] = ()
    """Indexes into the citations of the reasoning; empty for a conclusion from earlier sentences."""


class Reasoning(BaseModel):
    """An answer in words; the text is empty if the evidence does not contain one."""

    model_config = ConfigDict(frozen=True)

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


class Analyst(Protocol):
    """Reads a question, judges evidence and writes the answer. All analysts have the same input and result types."""

    @property
    def has_free_judging(self) -> bool:
        """Whether judging passages again is free of cost, even if a round found no new ones."""

    def intent(self, question: str, before: Intent | None = None) -> Intent:
        """Map the question to an intent.

        Args:
            question: The question.
            before: The previous question, for what this one leaves out.

        Raises:
            QuestionError: The question is empty or unreadable.
        """

    def split_asks(self, intent: Intent) -> Sequence[str]:
        """Return the requests to answer one by one, in order; only one for a question that is answered as a whole."""

    def plan(self, intent: Intent) -> Plan:
        """Return the figures required by a numeric intent, and how they are combined."""

    def query(self, intent: Intent, plan: Plan, ledger: Ledger | None, complementary: str = "") -> Query:
        """Return the query of a round: everything at first, then what the ledger lacks and `complementary` asks for."""

    def ranked(
        self, intent: Intent, plan: Plan, query: Query, passages: Sequence[RankedPassage]
    ) -> Sequence[RankedPassage]:
        """Return the passages of the first search in reading order."""

    def curate(
        self,
        intent: Intent,
        plan: Plan,
        passages: Sequence[RetrievedPassage],
        documents: Sequence[str],
        cards: Sequence[Card] = (),
        scope: Scope = EVERYTHING,
        dropped: Collection[tuple[str, int]] = (),
    ) -> Curation:
        """Select the evidence among new and earlier passages, and decide whether it is sufficient.

        Args:
            intent: The intent.
            plan: Its plan.
            passages: The passages.
            documents: Ids of filings, preferred ones first.
            cards: New cards of some passages; those of the others are in the index.
            scope: Filings and pages that may be read.
            dropped: Keys of passages that must not be read again.
        """

    def can_compute(self, intent: Intent, *, answerable: bool) -> bool:
        """Return whether to try a program when no further search follows; otherwise words answer, or nothing does."""

    def can_answer_in_words(self, intent: Intent) -> bool:
        """Return whether `reason` may answer if no program does."""

    def program(self, intent: Intent, plan: Plan, ledger: Ledger, evidence: Sequence[Evidence]) -> Program:
        """Write the program that computes the answer. Raises ValueError if the known figures are insufficient."""

    def reason(self, intent: Intent, evidence: Sequence[Evidence], filings: Sequence[str] = ()) -> Reasoning:
        """Answer in words from the evidence, with citations; further `filings`, best first, may be read."""

    def comment(self, intent: Intent, evidence: Sequence[Evidence], computed: str, program: str) -> Reasoning | None:
        """Judge a result for a question that asks for a judgement.

        Args:
            intent: The intent.
            evidence: The evidence.
            computed: The result in words.
            program: The program that computed it: formula and inputs.

        Returns:
            The judgement; None if none is requested or available.
        """
