"""The analyst that needs no model: every role by rules over lexicon, tables and facts."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.analyst.protocol import Reasoning
from fin_agent.analyst.rules.curation import curate
from fin_agent.analyst.rules.dates import with_dated_periods
from fin_agent.analyst.rules.intents import intent_of
from fin_agent.analyst.rules.own_years import with_own_years
from fin_agent.analyst.rules.partners import with_partners
from fin_agent.analyst.rules.queries import query_of
from fin_agent.analyst.rules.reasoning import reason
from fin_agent.answering.program import Program, write_program
from fin_agent.errors import SandboxError
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.evidence import Curation, Evidence, RetrievedPassage
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.ledger import Ledger
from fin_agent.evidence.plan import Plan, plan_of
from fin_agent.query.intents import figures_asked
from fin_agent.retrieval.query import EVERYTHING, Query, Scope
from fin_agent.workspace import Workspace


class RulesAnalyst:
    """See `Analyst` for the roles. Deterministic: the same question over the same index gives the same result."""

    def __init__(self, workspace: Workspace, *, most_evidence: int = 10) -> None:
        self._workspace = workspace
        self._most_evidence = most_evidence

    @property
    def judges_for_free(self) -> bool:
        """See Analyst.judges_for_free."""
        return True

    def intent(self, question: str) -> Intent:
        """See Analyst.intent."""
        words = intent_of(question, self._workspace.directory, self._workspace.lexicon)
        asked = figures_asked(words, self._workspace)
        if asked is not None:
            return asked
        intent = words
        intent = with_dated_periods(with_partners(intent, self._workspace), self._workspace)
        return with_own_years(intent, self._workspace)

    def plan(self, intent: Intent) -> Plan:
        """See Analyst.plan."""
        return plan_of(intent, self._workspace.lexicon, self._workspace.years)

    def query(self, intent: Intent, plan: Plan, ledger: Ledger | None, complementary: str = "") -> Query:
        """See Analyst.query: what the ledger lacks says it all."""
        return query_of(intent, plan, ledger, self._workspace)

    def curate(
        self,
        intent: Intent,
        plan: Plan,
        passages: Sequence[RetrievedPassage],
        documents: Sequence[str],
        cards: Sequence[Card] = (),
        scope: Scope = EVERYTHING,
    ) -> Curation:
        """See Analyst.curate."""
        return curate(intent, plan, passages, documents, self._workspace, self._most_evidence, cards, scope)

    def computes(self, intent: Intent, *, answerable: bool) -> bool:
        """See Analyst.computes: where no figure is missing."""
        return intent.numeric and answerable

    def puts_into_words(self, intent: Intent) -> bool:
        """See Analyst.puts_into_words: no figure of a known measure is taken from running text."""
        return not intent.numeric

    def program(self, intent: Intent, plan: Plan, ledger: Ledger, evidence: Sequence[Evidence]) -> Program:
        """See Analyst.program: of the ledger's figures alone."""
        return write_program(plan, ledger, intent)

    def repaired_program(
        self,
        intent: Intent,
        plan: Plan,
        ledger: Ledger,
        evidence: Sequence[Evidence],
        program: Program,
        problem: SandboxError,
    ) -> Program | None:
        """See Analyst.repaired_program: rules would write the same program again, so there is none."""
        return None

    def second_program(
        self, intent: Intent, plan: Plan, ledger: Ledger, evidence: Sequence[Evidence]
    ) -> Program | None:
        """See Analyst.second_program: rules would write the same program again, so there is none."""
        return None

    def reason(self, intent: Intent, evidence: Sequence[Evidence]) -> Reasoning:
        """See Analyst.reason."""
        return reason(intent, evidence, self._workspace.index, self._workspace.lexicon)

    def comment(self, intent: Intent, evidence: Sequence[Evidence], computed: str) -> Reasoning | None:
        """See Analyst.comment: rules judge by the bounds that a question gives, in the result itself."""
        return None
