"""The analyst that calls chat models, on top of the rules."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from decimal import Decimal
from functools import partial

from fin_agent.analyst.events import record_warning
from fin_agent.analyst.model.cited_answers import Reasoner, asks_judgement
from fin_agent.analyst.model.curator import Curator
from fin_agent.analyst.model.llm_judges import list_prompt_values, ranking_fault
from fin_agent.analyst.model.model_client import ModelClient
from fin_agent.analyst.model.prompt_context import known_lines
from fin_agent.analyst.model.query_writer import QueryWriter
from fin_agent.analyst.model.question_reader import QuestionReader, is_computable
from fin_agent.analyst.model.replies import ListwiseReply
from fin_agent.analyst.protocol import AnsweredCuration, Reasoning
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.answering.program import Program
from fin_agent.answering.sandbox import MontySandbox, ProgramExecutor
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.evidence import Curation, Evidence, RetrievedPassage
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.plan import Plan
from fin_agent.evidence.slot_ledger import Ledger
from fin_agent.evidence.tournament.judge import Brief, Verdict, repair_ranking
from fin_agent.index.protocol import PageKey
from fin_agent.models.call import Role
from fin_agent.models.settings import Preset
from fin_agent.retrieval.search_query import EVERYTHING, Query, RankedPassage, Scope
from fin_agent.vocabulary.dates import printed_years
from fin_agent.workspace import Workspace

PROMPTS = ("intent", "query_rewrite", "judge", "curation", "reasoning")


class ModelAnalyst:
    """See `Analyst` for the roles. Every role falls back to the rules, with a warning in the journal.

    Figures of the ledger are always computed by the rules' program; a model calculates only with numbers that it
    quotes. Companies and periods that are not in the index are refused without a model.
    """

    def __init__(
        self,
        client: ModelClient,
        workspace: Workspace,
        *,
        preset: Preset = Preset.DEFAULT,
        most_evidence: int = 10,
        executor: ProgramExecutor | None = None,
    ) -> None:
        """Load the prompts. Raises PromptError if a prompt of the user is not valid."""
        client.require(*PROMPTS)
        self._client = client
        self._workspace = workspace
        self._owners = workspace.directory.owners
        self._rules = RulesAnalyst(workspace, most_evidence=most_evidence, reads_alone=False)
        self._preset = preset
        self._questions = QuestionReader(client, workspace, preset, self._rules.intent)
        self._queries = QueryWriter(client, preset, self._rules.intent)
        self._reasoner = Reasoner(client, workspace, executor or MontySandbox())
        self._curator = Curator(client, workspace, preset, most_evidence, self._reasoner)

    @property
    def has_free_judging(self) -> bool:
        """See Analyst.has_free_judging: False, since each judging is a call."""
        return False

    def intent(self, question: str, before: Intent | None = None) -> Intent:
        """See Analyst.intent: a model rewords questions that rules cannot parse."""
        return self._questions.complete(self._rules.intent(question, before))

    def split_asks(self, intent: Intent) -> Sequence[str]:
        """See Analyst.split_asks: requests that rules read; a model answers all others at once."""
        return intent.asks or (intent.question,)

    def plan(self, intent: Intent) -> Plan:
        """See Analyst.plan."""
        return self._rules.plan(intent)

    def query(self, intent: Intent, plan: Plan, ledger: Ledger | None, complementary: str = "") -> Query:
        """See Analyst.query: the rules' words, with those of a model."""
        base = self._rules.query(intent, plan, ledger)
        return self._queries.query(base, intent, plan, ledger, complementary)

    def ranked(
        self, intent: Intent, plan: Plan, query: Query, passages: Sequence[RankedPassage]
    ) -> Sequence[RankedPassage]:
        """See Analyst.ranked: with `thorough`, a model ranks pages by their cards unless rules can compute."""
        if self._preset is not Preset.THOROUGH or is_computable(intent):
            return passages
        return _rank_by_cards(Brief(intent, plan, query, self._owners), passages, self._client)

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
        """See Analyst.curate: at most one call per round, which also answers, and none if the ledger is full.

        With `thorough`, each round has a separate call that only judges.
        """
        base = self._rules.curate(intent, plan, passages, documents, cards, scope)
        to_read = self._workspace.index.passages(base.to_read)
        if any((each.doc_id, each.passage.ordinal) not in dropped for each in to_read):
            return base
        curation = self._curator.curation(base, intent, plan, passages, scope, dropped)
        if isinstance(curation, AnsweredCuration) and curation.reasoning.text:
            self._check_against_rules(curation.reasoning, intent, base.kept or curation.kept, documents)
        return curation

    def can_compute(self, intent: Intent, *, answerable: bool) -> bool:
        """See Analyst.can_compute: if rules can, whatever the model."""
        return intent.numeric and answerable and not intent.beyond_rules

    def can_answer_in_words(self, intent: Intent) -> bool:
        """See Analyst.can_answer_in_words: any figure, with a quote that contains it."""
        return True

    def program(self, intent: Intent, plan: Plan, ledger: Ledger, evidence: Sequence[Evidence]) -> Program:
        """See Analyst.program: that of the rules."""
        return self._rules.program(intent, plan, ledger, evidence)

    def reason(self, intent: Intent, evidence: Sequence[Evidence], filings: Sequence[str] = ()) -> Reasoning:
        """See Analyst.reason: the model's words, as far as its quotes support them.

        If the model reports that the passages lack the answer, so does the result. Rules answer only if it gives no
        usable reply; a different figure of theirs is reported.
        """
        found = None
        if self._preset is not Preset.DEFAULT:  # the call that judged the passages has answered, or failed
            if not evidence:
                return Reasoning(text="", citations=())
            found = self._reasoner.answer(intent, evidence, known_lines(intent, None))
        if found is not None and found.reasoning is None:
            return Reasoning(text="", citations=(), missing=found.reported_missing)
        if found is not None and found.reasoning is not None:
            return self._check_against_rules(found.reasoning, intent, evidence, filings)
        if intent.numeric:  # for a figure that they compute, rules have no words: they would refuse as well
            return Reasoning(text="", citations=())
        own = self._rules.reason(intent, [each for each in evidence if not each.by_model] or evidence, filings)
        if own.text:
            record_warning("rules quote the answer in place of the model")
        return own

    def _check_against_rules(
        self, reasoning: Reasoning, intent: Intent, evidence: Sequence[Evidence], filings: Sequence[str]
    ) -> Reasoning:
        """Return the model's answer, with a warning if rules read another figure in their own passages."""
        held_against = [each for each in evidence if not each.by_model] or evidence
        if not intent.asks_figure or intent.numeric or reasoning.program is not None:
            for told in self._rules.conflicting_reasons(intent, reasoning.text, held_against, filings):
                record_warning(told)
            return reasoning
        own = self._rules.reason(intent, held_against, filings)
        one, other = _figures(reasoning.text), _figures(own.text)
        if one and other and not one & other:
            record_warning(f"rules read another figure: {own.text[:200]}")
        return reasoning

    def comment(self, intent: Intent, evidence: Sequence[Evidence], computed: str, program: str) -> Reasoning | None:
        """See Analyst.comment: the model's judgement, with numbers quoted from the result or the passages."""
        if self._preset is Preset.FAST or not asks_judgement(intent, computed):
            return None
        known = f"{known_lines(intent, None)}\n- computed by:\n{program}"
        found = self._reasoner.answer(intent, evidence, known, computed)
        if found is not None and found.reasoning is None:
            record_warning(f"the model gives no judgement ({'; '.join(found.reported_missing)})")
        return None if found is None else found.reasoning


_FIGURE = re.compile(r"(?<![\w.])\$?\d[\d,]*(?:\.\d+)?%?")


def _figures(text: str) -> set[Decimal]:
    """Return the figures of a text as printed, without years and single digits."""
    bare = (found.strip("$%,").replace(",", "") for found in _FIGURE.findall(text))
    return {Decimal(each) for each in bare if len(each) > 1 and not (printed_years(each) and len(each) == 4)}


_MAX_RANKED = 20


def _rank_by_cards(brief: Brief, passages: Sequence[RankedPassage], client: ModelClient) -> Sequence[RankedPassage]:
    """Return the passages with the first ones of twenty pages ranked by one call over their cards.

    If the model gives no ranking, the order is unchanged and the journal records it.
    """
    best: dict[PageKey, RankedPassage] = {}
    for each in passages:
        best.setdefault(each.stored.key, each)
    first = list(best.values())[:_MAX_RANKED]
    if len(first) < 2:
        return passages
    cards = [Card.model_validate_json(each.stored.card) for each in first]
    fault = partial(ranking_fault, cards=len(cards))
    reply = client.ask(Role.LISTWISE, "judge", ListwiseReply, fault, **list_prompt_values(brief, cards))
    if reply is None:
        return passages
    order = repair_ranking([Verdict(place.card - 1) for place in reply.ranking], len(cards))
    return [*(first[verdict.at] for verdict in order), *(each for each in passages if each not in first)]
