"""The reasoning roles of a run, whoever fills them: rules or a chat model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from fin_agent.answering.answer import Citation
from fin_agent.answering.program import Program
from fin_agent.errors import SandboxError
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.evidence import Curation, Evidence, RetrievedPassage
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.ledger import Ledger
from fin_agent.evidence.plan import Plan
from fin_agent.index.protocol import PageKey
from fin_agent.retrieval.query import EVERYTHING, Query, Scope


class Reasoning(BaseModel):
    """An answer in words; no text where the evidence does not hold one."""

    model_config = ConfigDict(frozen=True)

    text: str
    citations: tuple[Citation, ...]
    missing: tuple[str, ...] = ()
    """What was looked for in vain, where there is no text."""
    read: tuple[PageKey, ...] = ()
    """Pages of the filings found that were read besides the evidence: a cover, the page on the whole company."""


class Analyst(Protocol):
    """One who reads a question, judges evidence and writes the answer. Same input, same result type, whoever it is."""

    def intent(self, question: str) -> Intent:
        """Map the question to an intent. Raises QuestionError where there is nothing to read."""

    def plan(self, intent: Intent) -> Plan:
        """What has to be known for a numeric intent."""

    def query(self, intent: Intent, plan: Plan, ledger: Ledger | None) -> Query:
        """What to search for: everything at first, then what the ledger lacks."""

    def curate(
        self,
        intent: Intent,
        plan: Plan,
        passages: Sequence[RetrievedPassage],
        documents: Sequence[str],
        cards: Sequence[Card] = (),
        scope: Scope = EVERYTHING,
    ) -> Curation:
        """Keep what serves the answer out of new and earlier passages, and say whether it is enough.

        `cards` are those made of some of the passages for this run; of the others the index has them. Nothing
        outside of `scope` may be asked to be read.
        """

    def program(self, intent: Intent, plan: Plan, ledger: Ledger) -> Program:
        """Write the program that computes the answer. Raises ValueError where the ledger does not allow one."""

    def repaired_program(
        self, intent: Intent, plan: Plan, ledger: Ledger, program: Program, problem: SandboxError
    ) -> Program | None:
        """Another program in place of one with a number that has no source, or that did not run; None for none.

        `problem` says what is wrong, where, and what to change. A program is sent back once.
        """

    def reason(self, intent: Intent, evidence: Sequence[Evidence]) -> Reasoning:
        """Answer in words from the evidence, with citations."""
