"""Adapters of the analyst to retrieval strategies: as curator, judge of a tournament, rewriter and decomposer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache

from fin_agent.analyst.events import record_warning
from fin_agent.analyst.model.grounding import printable_line
from fin_agent.analyst.model.llm_judges import ModelJudge
from fin_agent.analyst.model.model_client import ModelClient, callers_for_roles, has_model_for_role
from fin_agent.analyst.model.prompt_context import quoted_passages
from fin_agent.analyst.model.replies import CurationReply, QueryReply, SubQuestionsReply
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.rules.card_ranking import RulesJudge
from fin_agent.config import Settings
from fin_agent.errors import QuestionError
from fin_agent.evidence.evidence import RetrievedPassage
from fin_agent.evidence.tournament.tournament import BY_RULES, Brief, Judge, TournamentSettings, run_tournament
from fin_agent.lexicon.slots import slot_names
from fin_agent.models.call import Role
from fin_agent.models.caller import Callers
from fin_agent.models.settings import Preset
from fin_agent.prompts import Quoted
from fin_agent.retrieval.search_query import Query, RankedPassage
from fin_agent.retrieval.strategies.one_pass import Wording
from fin_agent.retrieval.strategies.protocol import Models, Notify, Strategy, Verdict, log_warning, parse_strategy
from fin_agent.retrieval.strategies.registry import build_strategy
from fin_agent.vocabulary.ranked_group import RankedGroup
from fin_agent.workspace import Workspace

_UNSPECIFIED = "nothing beyond the question"
_NOTHING_MISSING = "nothing: this is the first search"
_MAX_PARTS = 8
_MAX_QUESTION_LENGTH = 300


def strategy_for(
    settings: Settings,
    workspace: Workspace,
    *,
    callers: Callers | None = None,
    judge: Judge | None = None,
    notify: Notify = log_warning,
) -> Strategy:
    """Build the strategy that the settings name, with chat models for the roles that name one, else rules.

    Args:
        settings: Name the strategy and the models.
        workspace: The index.
        callers: Model callers, in place of those that the settings name.
        judge: Judges cards, in place of the settings' model.
        notify: Called with each warning for the user; the step's journal records it as well.

    Raises:
        StrategyError: The name is invalid, or the strategy lacks a requirement.
        ModelSetupError: A model cannot be set up.
        PromptError: A prompt of the user is not valid.
    """

    def with_warning(note: str) -> None:
        record_warning(note)
        notify(note)

    @cache
    def client() -> ModelClient:
        return ModelClient(callers or callers_for_roles(settings), prompts=settings.prompts, notify=with_warning)

    def called(strategies: set[str], role: Role, by_default: bool, *prompts: str) -> ModelClient | None:
        """Return the client if a strategy needs it, and callers or a model for the role or for all are given."""
        if not layers & strategies or (callers is None and not (by_default or has_model_for_role(settings, role))):
            return None
        client().require(*prompts)
        return client()

    layers = {layer.name for layer in parse_strategy(settings.strategy)}
    analyst = RulesAnalyst(workspace, most_evidence=settings.evidence)
    if "tournament" in layers:
        judge = judge or judge_for(settings, callers)
    written, curated = {"hyde", "multi-hyde", "ircot"}, {"hirec", "self-rag", "rq-rag"}
    writing = called(written, Role.HYDE, settings.models.model is not None, "hyde", "multi_hyde", "ircot")
    curating = called(curated, Role.CURATION, settings.by_model, "curation", "query_rewrite")
    splitting = called({"sub-questions"}, Role.SUB_QUESTIONS, settings.by_model, "sub_questions")
    evidence = EvidenceRoles(analyst, workspace, curating, settings.evidence)
    models = Models(
        writer=writing.write if writing else None,
        curator=evidence.curate,
        rewriter=evidence.rewrite,
        arena=CardTournament(analyst, workspace, judge=judge, notify=with_warning).order,
        decomposer=AnalystDecomposer(analyst, workspace, splitting, notify=with_warning).parts,
        notify=with_warning,
    )
    return build_strategy(settings.strategy, workspace, settings, models)


def judge_for(settings: Settings, callers: Callers | None = None) -> Judge | None:
    """Return the chat model that judges cards: one named for it, or with `thorough`; None for the rules.

    Raises ModelSetupError and PromptError.
    """
    thorough = settings.by_model and settings.models.preset is Preset.THOROUGH
    if not (thorough or has_model_for_role(settings, Role.LISTWISE)):
        return None
    return ModelJudge(ModelClient(callers or callers_for_roles(settings), prompts=settings.prompts))


@dataclass(frozen=True, slots=True)
class EvidenceRoles:
    """HiREC's curation and rewriting by one call of a chat model each; by rules without a model, or if it fails."""

    analyst: RulesAnalyst
    workspace: Workspace
    client: ModelClient | None = None
    most: int = 10
    """Most passages that are kept of a model's choice."""

    def curate(self, question: Query, passages: Sequence[RankedPassage], filings: Sequence[str]) -> Verdict:
        """See Curator. For a question that rules cannot read, they keep everything."""
        shown = [RetrievedPassage.of(each.stored, each.score, 1) for each in passages]
        reply = None
        if self.client is not None and passages:
            reply = self.client.ask(
                "curation",
                CurationReply,
                question=question.text,
                wanted=_UNSPECIFIED,
                passages=quoted_passages(shown, self.workspace),
                most=str(self.most),
            )
        if reply is not None:
            numbers = dict.fromkeys(each.passage - 1 for each in reply.kept if 1 <= each.passage <= len(passages))
            kept = tuple(passages[number] for number in numbers)[: self.most]
            asked = printable_line(reply.complementary_question or "")
            if not asked:
                return Verdict(kept, reply.answerable, None)
            try:
                return Verdict(kept, reply.answerable, replace(first_query(asked, self.analyst), text=asked))
            except QuestionError:  # what rules cannot read is searched for by its words
                return Verdict(kept, reply.answerable, Query(asked, Wording((asked,)).terms()))
        try:
            intent = self.analyst.intent(question.text)
        except QuestionError:
            return Verdict(tuple(passages), answerable=True)
        plan = self.analyst.plan(intent)
        curation = self.analyst.curate(intent, plan, shown, list(filings))
        given = {one.key: passage for one, passage in zip(shown, passages, strict=True)}
        kept = tuple(given[evidence.passage.key] for evidence in curation.kept)
        further = None if curation.answerable else self.analyst.query(intent, plan, curation.ledger)
        return Verdict(kept, curation.answerable, further)

    def rewrite(self, query: Query) -> str:
        """See Rewriter.

        By rules: company, form, period and the requested figures; the question if it names no company or period.
        """
        if self.client is not None:
            reply = self.client.ask(
                "query_rewrite", QueryReply, question=query.text, wanted=_UNSPECIFIED, missing=_NOTHING_MISSING
            )
            if reply is not None:
                return printable_line(reply.query) or query.text
        by_key, metrics = self.workspace.directory.by_key, self.workspace.lexicon.metrics
        companies = [by_key[key].name for key in query.companies if key in by_key]
        figures = [name for slot in query.slots if slot.metric for name in slot_names(slot, metrics)[:1]]
        words = (*companies, *(form.value for form in query.forms), *map(str, query.periods), *figures)
        return " ".join(dict.fromkeys(words)) if companies or query.periods else query.text


@dataclass(frozen=True, slots=True)
class CardTournament:
    """Orders passages by a tournament of their cards (FinCards)."""

    analyst: RulesAnalyst
    workspace: Workspace
    settings: TournamentSettings | None = None
    judge: Judge | None = None
    """Rules rank what it cannot, which `notify` reports, and everything without one."""
    notify: Notify = log_warning

    def order(
        self, query: Query, passages: Sequence[RankedPassage]
    ) -> tuple[list[RankedPassage], tuple[RankedGroup, ...]]:
        """See `Models.arena`. For a question that cannot be read, the order is unchanged."""
        try:
            intent = self.analyst.intent(query.text)
        except QuestionError:
            return list(passages), ()
        workspace, rules = self.workspace, RulesJudge(self.workspace)
        result = run_tournament(
            Brief(intent, self.analyst.plan(intent), query, workspace.directory.owners),
            [passage.stored for passage in passages],
            workspace.index,
            workspace.lexicon,
            self.judge or rules,
            fallback=None if self.judge is None else rules,
            settings=self.settings,
        )
        if by_rules := [group.note for group in result.groups if BY_RULES in group.note]:
            lists = f"{len(by_rules)} of {len(result.groups)} lists of cards"
            self.notify(f"{lists} were ranked by the rules: {by_rules[0]}")
        stored = {(each.stored.doc_id, each.stored.passage.ordinal): each.stored for each in passages}
        return [RankedPassage(stored[card.key], card.score) for card in result.ranked], result.groups


@dataclass(frozen=True, slots=True)
class AnalystDecomposer:
    """See `fin_agent.retrieval.strategies.protocol.Models`.

    Rules split a question into the single figures of its plan. A chat model also splits questions in words; parts about
    a company that the question does not name are dropped, and `notify` is called with their number.
    """

    analyst: RulesAnalyst
    workspace: Workspace
    client: ModelClient | None = None
    notify: Notify = log_warning

    def parts(self, query: Query) -> Sequence[Query]:
        """Return the parts that can be read as queries."""
        found = []
        for text in self.questions(query):
            with suppress(QuestionError):
                found.append(first_query(text, self.analyst))
        return found

    def questions(self, query: Query) -> tuple[str, ...]:
        """Return the parts in words; empty for a question with a single part."""
        kept = self._by_model(query, self.client) if self.client is not None else ()
        if kept:
            return kept if len(kept) > 1 or kept[0] != query.text else ()
        asked = tuple(dict.fromkeys(f"What was the {slot}?" for slot in query.slots))[:_MAX_PARTS]
        return asked if len(asked) > 1 else ()

    def _by_model(self, query: Query, client: ModelClient) -> tuple[str, ...]:
        def fault(reply: SubQuestionsReply) -> str | None:
            return None if any(map(str.isalpha, "".join(reply.questions))) else "it contains no question"

        directory = self.workspace.directory
        companies = [Quoted(directory.by_key[key].name) for key in query.companies if key in directory.by_key]
        reply = client.ask(
            "sub_questions", SubQuestionsReply, fault, question=query.text, companies=companies, most=str(_MAX_PARTS)
        )
        if reply is None:
            return ()
        lines = dict.fromkeys(printable_line(each)[:_MAX_QUESTION_LENGTH] for each in reply.questions)
        asked = [each for each in lines if any(map(str.isalpha, each))][:_MAX_PARTS]
        named = {text: {mention.company.key for mention in directory.mentions(text)} for text in asked}
        kept = tuple(text for text in asked if not query.companies or named[text] <= set(query.companies))
        if len(kept) < len(asked):
            self.notify(f"left out {len(asked) - len(kept)} sub-questions on companies that were not asked about")
        return kept


def first_query(question: str, analyst: RulesAnalyst) -> Query:
    """Return the query of the first round. Raises QuestionError if the question is empty or unreadable."""
    intent = analyst.intent(question)
    return analyst.query(intent, analyst.plan(intent), None)
