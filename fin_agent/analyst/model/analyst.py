"""The analyst that asks chat models: over the rules, never in place of what they know for certain."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from fin_agent.analyst.events import warned
from fin_agent.analyst.model.answers import Reasoner, asks_judgement
from fin_agent.analyst.model.curating import Curator
from fin_agent.analyst.model.model_client import ModelClient
from fin_agent.analyst.model.programs import ProgramWriter
from fin_agent.analyst.model.questions import QuestionReader
from fin_agent.analyst.model.searching import QueryWriter
from fin_agent.analyst.protocol import Reasoning
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.answering.program import Program
from fin_agent.errors import SandboxError
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.choosing import lacking_slots
from fin_agent.evidence.evidence import Curation, Evidence, RetrievedPassage
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.ledger import Ledger
from fin_agent.evidence.plan import Plan
from fin_agent.models.settings import Preset
from fin_agent.retrieval.query import EVERYTHING, Query, Scope
from fin_agent.workspace import Workspace

PROMPTS = ("intent", "query_rewrite", "curation", "program", "program_repair", "reasoning")


class ModelAnalyst:
    """See `Analyst` for the roles. Every role falls back to the rules, with a warning in the journal.

    Figures that fill the ledger are computed by the rules' program, whatever the model; a model's program takes its
    numbers from facts alone. What cannot be in the index (a company, a period) is settled without a model.
    """

    def __init__(
        self, client: ModelClient, workspace: Workspace, *, preset: Preset = Preset.DEFAULT, most_evidence: int = 10
    ) -> None:
        """Raises PromptError where a prompt of the user's own cannot be used."""
        client.require(*PROMPTS)
        self._rules = RulesAnalyst(workspace, most_evidence=most_evidence)
        self._preset = preset
        self._questions = QuestionReader(client, workspace, preset)
        self._queries = QueryWriter(client, preset)
        self._curator = Curator(client, workspace, preset, most_evidence)
        self._programs = ProgramWriter(client, workspace)
        self._reasoner = Reasoner(client, workspace)

    @property
    def judges_for_free(self) -> bool:
        """See Analyst.judges_for_free: each judging is a call."""
        return False

    def intent(self, question: str, before: Intent | None = None) -> Intent:
        """See Analyst.intent: a model completes what rules are unsure of."""
        return self._questions.completed(self._rules.intent(question, before))

    def asks(self, intent: Intent) -> Sequence[str]:
        """See Analyst.asks: a model answers all that a question asks at once."""
        return (intent.question,)

    def plan(self, intent: Intent) -> Plan:
        """See Analyst.plan."""
        return self._rules.plan(intent)

    def query(self, intent: Intent, plan: Plan, ledger: Ledger | None, complementary: str = "") -> Query:
        """See Analyst.query: a model's words beside those of the rules."""
        base = self._rules.query(intent, plan, ledger)
        return self._queries.query(base, intent, plan, ledger, complementary)

    def curate(
        self,
        intent: Intent,
        plan: Plan,
        passages: Sequence[RetrievedPassage],
        documents: Sequence[str],
        cards: Sequence[Card] = (),
        scope: Scope = EVERYTHING,
    ) -> Curation:
        """See Analyst.curate: one call a round at most, and none where the ledger is full (but in `thorough`)."""
        base = self._rules.curate(intent, plan, passages, documents, cards, scope)
        return base if base.to_read else self._curator.curation(base, intent, plan, passages)

    def computes(self, intent: Intent, *, answerable: bool) -> bool:
        """See Analyst.computes: a model may find a program where rules have none, for any figure asked for."""
        if intent.numeric:
            return answerable or self._preset is Preset.FAST
        return intent.asks_figure and answerable

    def puts_into_words(self, intent: Intent) -> bool:
        """See Analyst.puts_into_words: with a quote that has it, any figure."""
        return True

    def program(self, intent: Intent, plan: Plan, ledger: Ledger, evidence: Sequence[Evidence]) -> Program:
        """See Analyst.program: that of the rules where the ledger is full."""
        if _is_full(intent, plan, ledger):
            return self._rules.program(intent, plan, ledger, evidence)
        return self._programs.program(intent, plan, ledger, evidence)

    def repaired_program(
        self,
        intent: Intent,
        plan: Plan,
        ledger: Ledger,
        evidence: Sequence[Evidence],
        program: Program,
        problem: SandboxError,
    ) -> Program | None:
        """See Analyst.repaired_program."""
        if program.by_model:
            return self._programs.repaired(intent, plan, ledger, evidence, program, problem)
        return self._programs.program(intent, plan, ledger, evidence)

    def second_program(
        self, intent: Intent, plan: Plan, ledger: Ledger, evidence: Sequence[Evidence]
    ) -> Program | None:
        """See Analyst.second_program: in `thorough`, beside a program of the rules."""
        if self._preset is not Preset.THOROUGH or not _is_full(intent, plan, ledger):
            return None
        return self._programs.program(intent, plan, ledger, evidence)

    def reason(self, intent: Intent, evidence: Sequence[Evidence], filings: Sequence[str] = ()) -> Reasoning:
        """See Analyst.reason: the model's words as far as its quotes bear them out; where it says that the passages do
        not hold the answer, that. Rules answer in its place only where it gives no reply; a figure of theirs that
        differs is told.
        """
        found = self._reasoner.answer(intent, evidence)
        if found.reasoning is None and (found.said_missing or intent.numeric):
            # For a figure that they compute, rules have no words: theirs would be a refusal as well.
            return Reasoning(text="", citations=(), missing=(found.said_missing,) if found.said_missing else ())
        held_against = [each for each in evidence if not each.by_model] or evidence
        if found.reasoning is not None and not (intent.asks_figure and not intent.numeric):
            for doubt in self._rules.otherwise(intent, found.reasoning.text, held_against, filings):
                warned(doubt)
            return found.reasoning
        own = self._rules.reason(intent, held_against, filings)
        if found.reasoning is None:
            if own.text:
                warned("rules quote the answer in place of the model")
            return own
        one, other = _figures(found.reasoning.text), _figures(own.text)
        if one and other and not one & other:
            warned(f"rules read another figure: {own.text[:200]}")
        return found.reasoning

    def comment(self, intent: Intent, evidence: Sequence[Evidence], computed: str) -> Reasoning | None:
        """See Analyst.comment: the model's judgement of the result, its numbers in quotes of it or of the passages."""
        if self._preset is Preset.FAST or not asks_judgement(intent, computed):
            return None
        found = self._reasoner.answer(intent, evidence, computed)
        if found.reasoning is None and found.said_missing:
            warned(f"the model gives no judgement ({found.said_missing})")
        return found.reasoning


def _is_full(intent: Intent, plan: Plan, ledger: Ledger) -> bool:
    return intent.numeric and not intent.beyond_rules and not lacking_slots(plan, intent, ledger)


_FIGURE = re.compile(r"(?<![\w.])\$?\d[\d,]*(?:\.\d+)?%?")
_YEAR = re.compile(r"(?:19|20)\d\d")


def _figures(text: str) -> set[Decimal]:
    """Figures of a text without years and single digits, as printed."""
    bare = (found.strip("$%,").replace(",", "") for found in _FIGURE.findall(text))
    return {Decimal(each) for each in bare if len(each) > 1 and not _YEAR.fullmatch(each)}
