"""The reasoning roles of a run, whoever fills them: rules or a chat model."""

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
    """A sentence of the way to an answer in words."""

    model_config = ConfigDict(frozen=True)

    text: str
    citations: tuple[int, ...] = ()
    """Positions among the citations of the reasoning, from 0; none for a conclusion from the sentences before."""


class Reasoning(BaseModel):
    """An answer in words; no text where the evidence does not hold one."""

    model_config = ConfigDict(frozen=True)

    text: str
    citations: tuple[Citation, ...]
    missing: tuple[str, ...] = ()
    """What was looked for in vain, where there is no text."""
    read: tuple[PageKey, ...] = ()
    """Pages of the filings found that were read besides the evidence: a cover, the page on the whole company."""
    steps: tuple[ReasoningStep, ...] = ()
    """The way to the answer, where a model reasoned."""
    program: str | None = None
    """What calculated its results, of figures that it quotes."""
    value: float | None = None
    """Its only result, in `unit`."""
    unit: OutputUnit | None = None
    assumed: tuple[str, ...] = ()
    """What was taken for granted."""


class AnsweredCuration(Curation):
    """What is kept, where whoever judged the passages answered from them in the same go, or said that they do not."""

    reasoning: Reasoning


class Analyst(Protocol):
    """One who reads a question, judges evidence and writes the answer. Same input, same result type, whoever it is."""

    @property
    def has_free_judging(self) -> bool:
        """Whether passages may be judged again at no cost, where a round found none that are new."""

    def intent(self, question: str, before: Intent | None = None) -> Intent:
        """Map the question to an intent. What it leaves out is as in `before`, which it goes on from.

        Raises QuestionError where there is nothing to read.
        """

    def split_asks(self, intent: Intent) -> Sequence[str]:
        """The separate questions that are to be answered one by one, in their order; only one where it is one."""

    def plan(self, intent: Intent) -> Plan:
        """What has to be known for a numeric intent."""

    def query(self, intent: Intent, plan: Plan, ledger: Ledger | None, complementary: str = "") -> Query:
        """What to search for: everything at first, then what the ledger lacks and `complementary` asks for."""

    def ranked(
        self, intent: Intent, plan: Plan, query: Query, passages: Sequence[RankedPassage]
    ) -> Sequence[RankedPassage]:
        """Passages of the first search, in the order in which they are to be read."""

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
        """Keep what serves the answer out of new and earlier passages, and say whether it is enough.

        `cards` are those made of some of the passages for this run; of the others the index has them. Nothing
        outside of `scope` may be asked to be read, and nothing that was `dropped` is read again.
        """

    def can_compute(self, intent: Intent, *, answerable: bool) -> bool:
        """Whether a program is to be tried, once no further search follows; else words answer, or nothing does."""

    def can_answer_in_words(self, intent: Intent) -> bool:
        """Whether `reason` may answer where no program does."""

    def program(self, intent: Intent, plan: Plan, ledger: Ledger, evidence: Sequence[Evidence]) -> Program:
        """Write the program that computes the answer. Raises ValueError where what is known does not allow one."""

    def reason(self, intent: Intent, evidence: Sequence[Evidence], filings: Sequence[str] = ()) -> Reasoning:
        """Answer in words from the evidence, with citations; `filings` may be read besides, best first."""

    def comment(self, intent: Intent, evidence: Sequence[Evidence], computed: str, program: str) -> Reasoning | None:
        """What a result says to a question that asks for a judgement; None where it asks for none, or none is had.

        `computed` is the result in words, `program` what computed it: formula and inputs.
        """
