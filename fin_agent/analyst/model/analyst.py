"""The analyst that calls chat models, on top of the rules."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from textwrap import dedent

from fin_agent.analyst.events import record_warning
from fin_agent.analyst.model.cited_answers import Reasoner, asks_judgement
from fin_agent.analyst.model.curator import Curator
from fin_agent.analyst.model.grounding import printable_line
from fin_agent.analyst.model.llm_judges import judging_values, ranking_fault
from fin_agent.analyst.model.model_client import ModelClient
from fin_agent.analyst.model.prompt_context import known_lines
from fin_agent.analyst.model.question_reader import QuestionReader, is_computable
from fin_agent.analyst.model.replies import ListwiseReply, QueryReply, VerificationReply
from fin_agent.analyst.reasoning_result import AnsweredCuration, Reasoning
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.answering.answer_composition import numeric_answer
from fin_agent.answering.numerals import NumeralKind, numerals_in
from fin_agent.answering.sandbox import MontySandbox, ProgramExecutor
from fin_agent.errors import QuestionError, SandboxError
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.evidence import Curation, Evidence, RetrievedPassage
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.plan import Plan
from fin_agent.evidence.slot_ledger import Ledger
from fin_agent.evidence.tournament.judge import Brief, Verdict, repair_ranking
from fin_agent.index.protocol import PageKey
from fin_agent.lexicon.text_normalization import bare_words
from fin_agent.models.settings import Preset
from fin_agent.prompts import Quoted
from fin_agent.retrieval.search_query import EVERYTHING, Query, RankedPassage, Scope
from fin_agent.retrieval.search_terms import search_terms
from fin_agent.workspace import Workspace

PROMPTS = ("intent", "query_rewrite", "judge", "curation", "reasoning", "verification")
_MAX_TERMS = 24
_MAX_RANKED = 20
_MAX_OBJECTION_LENGTH = 240
_NOT_WHAT_IS_ASKED = "what is asked: the figures that rules computed are something else"


class ModelAnalyst(RulesAnalyst):
    """The roles with a chat model. Every role falls back to the rules, with a warning in the journal.

    Figures of the ledger are always computed by the rules' program; a model says whether the result is what was
    asked, and calculates itself only with numbers that it quotes. Companies and periods that are not in the index are
    refused without a model.
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
        super().__init__(workspace, most_evidence=most_evidence, reads_alone=False)
        self._client = client
        self._preset = preset
        self._questions = QuestionReader(client, workspace, preset, super().intent)
        self._executor = executor or MontySandbox()
        self._reasoner = Reasoner(client, workspace, self._executor)
        self._curator = Curator(client, workspace, preset, most_evidence, self._reasoner)

    @property
    def has_free_judging(self) -> bool:
        """See RulesAnalyst.has_free_judging: False, since each judging is a call."""
        return False

    def intent(self, question: str, before: Intent | None = None) -> Intent:
        """See RulesAnalyst.intent: a model rewords questions that rules cannot parse."""
        return self._questions.complete(super().intent(question, before))

    def split_asks(self, intent: Intent) -> Sequence[str]:
        """See RulesAnalyst.split_asks: requests that rules read; a model answers all others at once."""
        return intent.asks or (intent.question,)

    def query(self, intent: Intent, plan: Plan, ledger: Ledger | None, complementary: str = "") -> Query:
        """See RulesAnalyst.query: after the first round, extended by the model's complementary question.

        Companies and periods that it names take precedence over those of the question. With `thorough`, a model writes
        words to search for in every round.
        """
        base = super().query(intent, plan, ledger)
        if ledger is not None and intent.numeric and not intent.beyond_rules and base.slots:
            return base  # missing figures are a better query
        asked = printable_line(complementary) if ledger is not None else ""
        words = f"{asked} {self._search_words(intent, ledger, asked)}"
        terms = search_terms(word for word in bare_words(words) if word[0].isalpha())[:_MAX_TERMS]
        if not terms:
            return base
        if ledger is None:
            return replace(base, expansions=tuple(dict.fromkeys((*base.expansions, *terms))))
        base = replace(base, text=asked or base.text, terms=tuple(dict.fromkeys((*terms, *base.terms))))
        try:
            named = super().intent(asked)
        except QuestionError:
            return base
        return replace(
            base,
            companies=tuple(company.key for company in named.companies) or base.companies,
            periods=named.periods or base.periods,
            dates=named.dates or base.dates,
            forms=named.forms or base.forms,
        )

    def _search_words(self, intent: Intent, ledger: Ledger | None, missing: str) -> str:
        """Return the words that a model would search for, with `thorough` only."""
        if self._preset is not Preset.THOROUGH:
            return ""
        reply = self._client.ask(
            "query_rewrite",
            QueryReply,
            lambda reply: None if search_terms(reply.query.split()) else "`query` has no words to search for",
            question=intent.question,
            wanted=known_lines(intent, ledger),
            missing=missing or "nothing: this is the first search",
        )
        return " ".join((reply.query, *reply.terms)) if reply is not None else ""

    def ranked(
        self, intent: Intent, plan: Plan, query: Query, passages: Sequence[RankedPassage]
    ) -> Sequence[RankedPassage]:
        """See RulesAnalyst.ranked: `thorough` ranks twenty pages by cards unless rules can compute."""
        best: dict[PageKey, RankedPassage] = {}
        for each in passages:
            best.setdefault(each.stored.key, each)
        first = list(best.values())[:_MAX_RANKED]
        if self._preset is not Preset.THOROUGH or is_computable(intent) or len(first) < 2:
            return passages
        brief = Brief(intent, plan, query, self._workspace.directory.owners)
        values = judging_values(brief, [Card.model_validate_json(each.stored.card) for each in first])
        check = partial(ranking_fault, cards=len(first))
        reply = self._client.ask("judge", ListwiseReply, check, **values, count=str(len(first)))
        if reply is None:
            return passages
        order = repair_ranking([Verdict(place.card - 1) for place in reply.ranking], len(first))
        return [*(first[verdict.at] for verdict in order), *(each for each in passages if each not in first)]

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
        """See RulesAnalyst.curate: at most one call per round, which also answers.

        If the ledger is full, a shorter call holds the computed result against the question; only what it objects to
        is read for. With `thorough`, each round has a separate call that only judges.
        """
        base = super().curate(intent, plan, passages, documents, cards, scope)
        to_read = self._workspace.index.passages(base.to_read)
        if any((each.doc_id, each.passage.ordinal) not in dropped for each in to_read):
            return base
        if not self._accepts_result(intent, plan, base):
            base = base.model_copy(update={"beyond_rules": (_NOT_WHAT_IS_ASKED,)})
            intent = intent.model_copy(update={"beyond_rules": (*intent.beyond_rules, _NOT_WHAT_IS_ASKED)})
        curation = self._curator.curation(base, intent, plan, passages, scope, dropped)
        if isinstance(curation, AnsweredCuration) and curation.reasoning.text:
            self._check_against_rules(curation.reasoning, intent, base.kept or curation.kept, documents)
        return curation

    def _accepts_result(self, intent: Intent, plan: Plan, curation: Curation) -> bool:
        """Return whether a model finds that the result computed by rules is what is asked, if there is a result."""
        if self._preset is Preset.FAST or not self.can_compute(intent, answerable=curation.answerable):
            return True
        beside = intent.parts or intent.claim or intent.selection or intent.further
        if intent.expression in self._workspace.lexicon.metrics and not beside:
            return True  # one metric by its own name, with no word left: nothing to misread
        try:
            program = self.program(intent, plan, curation.ledger, curation.kept)
            result = numeric_answer(intent, plan, program, self._executor.run(program.code).value)
        except (ValueError, SandboxError):
            return True  # the program's own node says so
        lines = dedent(program.code.partition("\n")[2])  # a heading `def ...` looks like an instruction planted there
        reply = self._client.ask(
            "verification",
            VerificationReply,
            question=intent.question,
            figures=[Quoted(f"{lines}\nThe answer: {result.text}", "computed from figures of the filings")],
        )
        difference = printable_line(reply.difference or "")[:_MAX_OBJECTION_LENGTH] if reply is not None else ""
        if difference:
            record_warning(f"the model does not accept {result.text!r}: {difference}")
        return not difference

    def can_compute(self, intent: Intent, *, answerable: bool) -> bool:
        """See RulesAnalyst.can_compute: if rules can, whatever the model."""
        return intent.numeric and answerable and not intent.beyond_rules

    def can_answer_in_words(self, intent: Intent) -> bool:
        """See RulesAnalyst.can_answer_in_words: any figure, with a quote that contains it."""
        return True

    def reason(self, intent: Intent, evidence: Sequence[Evidence], filings: Sequence[str] = ()) -> Reasoning:
        """See RulesAnalyst.reason: the model's words, as far as its quotes support them.

        If the model reports that the passages lack the answer, so does the result. Rules answer only if it gives no
        usable reply; a different figure of theirs is reported.
        """
        nothing = Reasoning(text="", citations=())
        if self._preset is not Preset.DEFAULT:  # there, the call that judged the passages has answered, or failed
            if not evidence:
                return nothing
            found = self._reasoner.answer(intent, evidence, known_lines(intent, None))
            if found is not None and found.reasoning is None:
                return nothing.model_copy(update={"missing": found.reported_missing})
            if found is not None and found.reasoning is not None:
                return self._check_against_rules(found.reasoning, intent, evidence, filings)
        if intent.numeric:  # for a figure that they compute, rules have no words: they would refuse as well
            return nothing
        own = super().reason(intent, [each for each in evidence if not each.by_model] or evidence, filings)
        if own.text:
            record_warning("rules quote the answer in place of the model")
        return own

    def _check_against_rules(
        self, reasoning: Reasoning, intent: Intent, evidence: Sequence[Evidence], filings: Sequence[str]
    ) -> Reasoning:
        """Return the model's answer, with a warning if rules read another figure in their own passages."""
        held_against = [each for each in evidence if not each.by_model] or evidence
        if not intent.asks_figure or intent.numeric or reasoning.program is not None:
            for told in self.conflicting_reasons(intent, reasoning.text, held_against, filings):
                record_warning(told)
            return reasoning
        own = super().reason(intent, held_against, filings)
        one, other = _figures(reasoning.text), _figures(own.text)
        if one and other and one.isdisjoint(other):
            record_warning(f"rules read another figure: {own.text[:200]}")
        return reasoning

    def comment(self, intent: Intent, evidence: Sequence[Evidence], computed: str, program: str) -> Reasoning | None:
        """See RulesAnalyst.comment: the model's judgement, with numbers quoted from the result or the passages."""
        if self._preset is Preset.FAST or not asks_judgement(intent, computed):
            return None
        known = f"{known_lines(intent, None)}\n- computed by:\n{program}"
        found = self._reasoner.answer(intent, evidence, known, computed)
        if found is not None and found.reasoning is None:
            record_warning(f"the model gives no judgement ({'; '.join(found.reported_missing)})")
        return None if found is None else found.reasoning


def _figures(text: str) -> set[Decimal]:
    """Return the figures of a text as printed, without single digits."""
    figures = (each for each in numerals_in(text) if each.kind in (NumeralKind.AMOUNT, NumeralKind.PERCENT))
    return {abs(each.value) for each in figures if len(each.printed) > 1}
