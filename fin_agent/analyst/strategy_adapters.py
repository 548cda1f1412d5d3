"""Adapters of the analyst to retrieval strategies: as curator, judge of a tournament, rewriter and decomposer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from fin_agent.analyst.events import record_warning
from fin_agent.analyst.model.grounding import printable_line
from fin_agent.analyst.model.llm_judges import FailFastJudge, ModelJudge
from fin_agent.analyst.model.model_client import prompt_to_call
from fin_agent.analyst.model.models_by_role import callers_for_roles, has_model_for_role
from fin_agent.analyst.model.prompt_context import quoted_passages
from fin_agent.analyst.model.replies import CurationReply, QueryReply, SubQuestionsReply
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.rules.card_ranking import RulesJudge
from fin_agent.config import Settings
from fin_agent.errors import QuestionError
from fin_agent.evidence.evidence import RetrievedPassage
from fin_agent.evidence.tournament.judge import Brief, Judge, TournamentSettings
from fin_agent.evidence.tournament.stages import BY_RULES
from fin_agent.evidence.tournament.tournament import run_tournament
from fin_agent.lexicon.slots import slot_names
from fin_agent.models.call import OutputT, Role
from fin_agent.models.caller import Caller
from fin_agent.models.callers_by_role import Callers
from fin_agent.models.errors import ModelError
from fin_agent.models.settings import Preset
from fin_agent.prompts import FilledPrompt, Quoted, load_prompt
from fin_agent.retrieval.search_query import Query, RankedPassage
from fin_agent.retrieval.strategies.one_pass import Wording
from fin_agent.retrieval.strategies.protocol import (
    Models,
    Notify,
    Ordering,
    Strategy,
    Verdict,
    log_warning,
    parse_strategy,
)
from fin_agent.retrieval.strategies.registry import build_strategy
from fin_agent.workspace import Workspace

_WRITTEN = frozenset(("hyde", "multi-hyde", "ircot"))
"""Strategies that search with text written by a model."""
_CURATED = frozenset(("hirec", "self-rag", "rq-rag"))
"""Strategies that curate evidence or rewrite questions."""
_WRITING_ROLES = (Role.HYDE, Role.MULTI_HYDE, Role.THOUGHT)
_MAX_TOKENS = 2_500
"""Tokens of a reply, including reasoning."""
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

    def called(role: Role, *, by_default: bool = settings.by_model) -> Callers | None:
        """Return the callers if one is given, or a model is named for the role or for all."""
        named = by_default or has_model_for_role(settings, role)
        return callers or (callers_for_roles(settings) if named else None)

    layers = {layer.name for layer in parse_strategy(settings.strategy)}
    analyst = RulesAnalyst(workspace, most_evidence=settings.evidence)
    if "tournament" in layers:
        judge = judge or judge_for(settings, callers)
    writing = called(Role.HYDE, by_default=settings.models.given) if layers & _WRITTEN else None
    curating = called(Role.CURATION) if layers & _CURATED else None
    evidence = EvidenceRoles(analyst, workspace, curating, settings, notify=with_warning)
    splitting = called(Role.SUB_QUESTIONS) if "sub-questions" in layers else None
    parts = splitting.of(Role.SUB_QUESTIONS) if splitting else None
    models = Models(
        writer=ModelWriter(writing) if writing else None,
        curator=evidence,
        rewriter=evidence,
        arena=CardTournament(analyst, workspace, judge=judge, notify=with_warning),
        decomposer=AnalystDecomposer(analyst, workspace, parts, settings.prompts, notify=with_warning),
        notify=with_warning,
    )
    return build_strategy(settings.strategy, workspace, settings, models)


def judge_for(settings: Settings, callers: Callers | None = None) -> Judge | None:
    """Return the chat model that judges cards: one named for it, or with `thorough`; None for the rules.

    Raises ModelSetupError.
    """
    thorough = settings.by_model and settings.models.preset is Preset.THOROUGH
    if not (thorough or has_model_for_role(settings, Role.LISTWISE)):
        return None
    callers = callers or callers_for_roles(settings)
    return ModelJudge(callers.of(Role.LISTWISE), settings.prompts, choosing=callers.of(Role.GROUP))


def _reply_of(
    caller: Caller,
    filled: FilledPrompt,
    output: type[OutputT],
    done: str,
    notify: Notify,
    check: Callable[[OutputT], str | None] | None = None,
) -> OutputT | None:
    """Return the reply of a model; without a usable one None, and a note that it was `done` by rules."""
    try:
        return caller.value(prompt_to_call(filled, output=output, max_output_tokens=_MAX_TOKENS, check=check))[0]
    except ModelError as failure:
        notify(f"{done} by rules: {failure.what}")
        return None


class ModelWriter:
    """See `Writer`; the model of each prompt's role writes it."""

    def __init__(self, callers: Callers) -> None:
        """Set up the callers. Raises ModelSetupError."""
        self._callers = {role: callers.of(role) for role in _WRITING_ROLES}

    def write(self, prompt: FilledPrompt) -> str:
        """See Writer.write."""
        call = prompt_to_call(prompt, max_output_tokens=_MAX_TOKENS)
        return self._callers[call.role].reply(call).text


class EvidenceRoles:
    """HiREC's curation and rewriting by one call of a chat model each; by rules without a model, or if it fails."""

    def __init__(
        self,
        analyst: RulesAnalyst,
        workspace: Workspace,
        callers: Callers | None = None,
        settings: Settings | None = None,
        *,
        notify: Notify = log_warning,
    ) -> None:
        """Load the prompts. Raises PromptError."""
        settings = settings or Settings()
        self._callers, self._most = callers, settings.evidence
        self._analyst, self._workspace, self._notify = analyst, workspace, notify
        self._curation = load_prompt("curation", folder=settings.prompts)
        self._rewrite = load_prompt("query_rewrite", folder=settings.prompts)

    def curate(self, question: Query, passages: Sequence[RankedPassage], filings: Sequence[str]) -> Verdict:
        """See Curator.curate. For a question that rules cannot read, they keep everything."""
        shown = [RetrievedPassage.of(each.stored, each.score, 1) for each in passages]
        reply = None
        if self._callers is not None and passages:
            quoted = quoted_passages(shown, self._workspace)
            filled = self._curation.filled(
                question=question.text, wanted=_UNSPECIFIED, passages=quoted, most=str(self._most)
            )
            caller = self._callers.of(Role.CURATION)
            reply = _reply_of(caller, filled, CurationReply, "evidence was curated", self._notify)
        if reply is None:
            return self._curated_by_rules(question, passages, shown, filings)
        numbers = dict.fromkeys(each.passage - 1 for each in reply.kept if 1 <= each.passage <= len(passages))
        kept = tuple(passages[number] for number in numbers)[: self._most]
        asked = printable_line(reply.complementary_question or "")
        if not asked:
            return Verdict(kept, reply.answerable, None)
        try:
            return Verdict(kept, reply.answerable, replace(first_query(asked, self._analyst), text=asked))
        except QuestionError:  # what rules cannot read is searched for by its words
            return Verdict(kept, reply.answerable, Query(asked, Wording((asked,)).terms()))

    def _curated_by_rules(
        self,
        question: Query,
        passages: Sequence[RankedPassage],
        shown: Sequence[RetrievedPassage],
        filings: Sequence[str],
    ) -> Verdict:
        try:
            intent = self._analyst.intent(question.text)
        except QuestionError:
            return Verdict(tuple(passages), answerable=True)
        plan = self._analyst.plan(intent)
        curation = self._analyst.curate(intent, plan, shown, list(filings))
        given = {one.key: passage for one, passage in zip(shown, passages, strict=True)}
        kept = tuple(given[evidence.passage.key] for evidence in curation.kept)
        asked = None if curation.answerable else self._analyst.query(intent, plan, curation.ledger)
        return Verdict(kept, curation.answerable, asked)

    def rewrite(self, query: Query) -> str:
        """See Rewriter.rewrite.

        By rules: company, form, period and the requested figures; the question if it names no company or period.
        """
        if self._callers is not None:
            filled = self._rewrite.filled(question=query.text, wanted=_UNSPECIFIED, missing=_NOTHING_MISSING)
            caller = self._callers.of(Role.QUERY)
            reply = _reply_of(caller, filled, QueryReply, "the question was rewritten", self._notify)
            if reply is not None:
                return printable_line(reply.query) or query.text
        by_key, metrics = self._workspace.directory.by_key, self._workspace.lexicon.metrics
        companies = [by_key[key].name for key in query.companies if key in by_key]
        figures = [name for slot in query.slots if slot.metric for name in slot_names(slot, metrics)[:1]]
        words = (*companies, *(form.value for form in query.forms), *map(str, query.periods), *figures)
        return " ".join(dict.fromkeys(words)) if companies or query.periods else query.text


class CardTournament:
    """Orders passages by a tournament of their cards (FinCards)."""

    def __init__(
        self,
        analyst: RulesAnalyst,
        workspace: Workspace,
        settings: TournamentSettings | None = None,
        *,
        judge: Judge | None = None,
        notify: Notify = log_warning,
    ) -> None:
        """Choose the judge; rules rank what it cannot, which `notify` reports, and everything without one."""
        self._analyst, self._workspace, self._notify = analyst, workspace, notify
        self._settings = settings or TournamentSettings()
        rules = RulesJudge(workspace)
        self._judge: Judge = judge or rules
        self._fallback = None if judge is None else rules

    def order(self, query: Query, passages: Sequence[RankedPassage]) -> Ordering:
        """See PassageOrder.order. For a question that cannot be read, the order is unchanged."""
        try:
            intent = self._analyst.intent(query.text)
        except QuestionError:
            return Ordering(tuple(passages))
        workspace, judge = self._workspace, FailFastJudge(self._judge)
        result = run_tournament(
            Brief(intent, self._analyst.plan(intent), query, workspace.directory.owners),
            [passage.stored for passage in passages],
            workspace.index,
            workspace.lexicon,
            judge,
            fallback=self._fallback,
            settings=self._settings,
        )
        by_rules = sum(BY_RULES in group.note for group in result.groups)
        if by_rules:
            why = f": {judge.failures[-1]}" if judge.failures else ""
            self._notify(f"{by_rules} of {len(result.groups)} lists of cards were ranked by the rules{why}")
        stored = {(each.stored.doc_id, each.stored.passage.ordinal): each.stored for each in passages}
        return Ordering(tuple(RankedPassage(stored[card.key], card.score) for card in result.ranked), result.groups)


class AnalystDecomposer:
    """See `fin_agent.retrieval.strategies.protocol.Decomposer`.

    Rules split a question into the single figures of its plan. A chat model also splits questions in words; parts about
    a company that the question does not name are dropped.
    """

    def __init__(
        self,
        analyst: RulesAnalyst,
        workspace: Workspace,
        caller: Caller | None = None,
        prompts: Path | None = None,
        *,
        notify: Notify = log_warning,
    ) -> None:
        """Set the roles; `notify` is called with rejected replies of the model. Raises PromptError."""
        self._analyst, self._workspace, self._notify = analyst, workspace, notify
        self._caller = caller
        self._prompt = load_prompt("sub_questions", folder=prompts)

    def parts(self, query: Query) -> Sequence[Query]:
        """See Decomposer.parts."""
        found = []
        for text in self.questions(query):
            with suppress(QuestionError):
                found.append(first_query(text, self._analyst))
        return found

    def questions(self, query: Query) -> tuple[str, ...]:
        """Return the parts in words; empty for a question with a single part."""
        kept = self._by_model(query, self._caller) if self._caller is not None else ()
        if not kept:
            return by_slots(query)
        return kept if len(kept) > 1 or kept[0] != query.text else ()

    def _by_model(self, query: Query, caller: Caller) -> tuple[str, ...]:
        def fault(reply: SubQuestionsReply) -> str | None:
            return None if any(map(str.isalpha, "".join(reply.questions))) else "it contains no question"

        directory, taken_apart = self._workspace.directory, "the question was taken apart"
        companies = [Quoted(directory.by_key[key].name) for key in query.companies if key in directory.by_key]
        filled = self._prompt.filled(question=query.text, companies=companies, most=str(_MAX_PARTS))
        reply = _reply_of(caller, filled, SubQuestionsReply, taken_apart, self._notify, fault)
        if reply is None:
            return ()
        lines = dict.fromkeys(printable_line(each)[:_MAX_QUESTION_LENGTH] for each in reply.questions)
        asked = [each for each in lines if any(map(str.isalpha, each))][:_MAX_PARTS]
        named = {text: {mention.company.key for mention in directory.mentions(text)} for text in asked}
        kept = tuple(text for text in asked if not query.companies or named[text] <= set(query.companies))
        if len(kept) < len(asked):
            self._notify(f"left out {len(asked) - len(kept)} sub-questions on companies that were not asked about")
        if not kept:
            self._notify(f"{taken_apart} by rules: the chat model left nothing of it")
        return kept


def by_slots(query: Query) -> tuple[str, ...]:
    """Return a question for each required figure, if there are several."""
    asked = tuple(dict.fromkeys(f"What was the {slot}?" for slot in query.slots))[:_MAX_PARTS]
    return asked if len(asked) > 1 else ()


def first_query(question: str, analyst: RulesAnalyst) -> Query:
    """Return the query of the first round. Raises QuestionError if the question is empty or unreadable."""
    intent = analyst.intent(question)
    return analyst.query(intent, analyst.plan(intent), None)
