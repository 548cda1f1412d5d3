"""The analyst inside a retrieval strategy: as its curator, as the judge of a tournament over cards."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.analyst.model.judging import ModelJudge, PatientJudge
from fin_agent.analyst.protocol import Analyst
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.rules.judging import RulesJudge
from fin_agent.config import Settings
from fin_agent.errors import QuestionError
from fin_agent.evidence.evidence import RetrievedPassage
from fin_agent.evidence.tournament.judge import Brief, Judge
from fin_agent.evidence.tournament.settings import TournamentSettings
from fin_agent.evidence.tournament.tournament import hold_tournament
from fin_agent.retrieval.query import Query, RankedPassage
from fin_agent.retrieval.strategies.curating import Verdict
from fin_agent.retrieval.strategies.models import Models, Notify, logged
from fin_agent.retrieval.strategies.names import parse_strategy
from fin_agent.retrieval.strategies.protocol import Strategy
from fin_agent.retrieval.strategies.registry import build_strategy
from fin_agent.retrieval.strategies.reranking import Ordering
from fin_agent.retrieval.strategies.writing import Writer, load_writer
from fin_agent.workspace import Workspace


def strategy_for(
    settings: Settings,
    workspace: Workspace,
    *,
    writer: Writer | None = None,
    judge: Judge | None = None,
    notify: Notify = logged,
) -> Strategy:
    """The strategy that `settings` name, its evidence curated by the rules analyst.

    `writer` writes and `judge` judges in place of the chat models that the settings name; `notify` is told what a
    person should know. Raises StrategyError where it is not written as one or lacks what it needs, and PromptError.
    """
    analyst = RulesAnalyst(workspace, most_evidence=settings.evidence)
    arena = CardArena(analyst, workspace, judge=judge or _judge_of(settings))
    models = Models(writer=writer, curator=AnalystCurator(analyst), arena=arena, notify=notify)
    return build_strategy(settings.strategy, workspace, settings, models)


def _judge_of(settings: Settings) -> Judge | None:
    """The chat model that judges cards; None where rules do, or where the strategy holds no tournament."""
    layers = {layer.name for layer in parse_strategy(settings.strategy)}
    if settings.judge_model is None or "tournament" not in layers:
        return None
    return ModelJudge(load_writer(settings.judge_model), settings.prompts)


class AnalystCurator:
    """An analyst as a Curator: it reads the question anew, curates, and says what to search for next."""

    def __init__(self, analyst: Analyst) -> None:
        self._analyst = analyst

    def curate(self, question: Query, passages: Sequence[RankedPassage], filings: Sequence[str]) -> Verdict:
        """See Curator.curate. A question that cannot be read is not curated: everything is kept."""
        try:
            intent = self._analyst.intent(question.text)
        except QuestionError:
            return Verdict(tuple(passages), answerable=True)
        plan = self._analyst.plan(intent)
        given = {(passage.stored.doc_id, passage.stored.passage.ordinal): passage for passage in passages}
        curation = self._analyst.curate(
            intent, plan, [RetrievedPassage.of(passage.stored, passage.score, 1) for passage in passages], list(filings)
        )
        kept = tuple(given[evidence.passage.key] for evidence in curation.kept)
        if curation.answerable:
            return Verdict(kept, answerable=True)
        return Verdict(kept, answerable=False, complementary=self._analyst.query(intent, plan, curation.ledger))


class CardArena:
    """Where the cards of passages meet: an order of passages by a tournament (FinCards)."""

    def __init__(
        self,
        analyst: Analyst,
        workspace: Workspace,
        settings: TournamentSettings | None = None,
        *,
        judge: Judge | None = None,
    ) -> None:
        """`judge` ranks the cards, and the rules what it cannot rank; without one, the rules rank all."""
        self._analyst = analyst
        self._workspace = workspace
        self._settings = settings or TournamentSettings()
        rules = RulesJudge(workspace)
        self._judge = rules if judge is None else judge
        self._stand_in = None if judge is None else rules

    def order(self, query: Query, passages: Sequence[RankedPassage]) -> Ordering:
        """See PassageOrder.order. A question that cannot be read changes nothing."""
        try:
            intent = self._analyst.intent(query.text)
        except QuestionError:
            return Ordering(tuple(passages))
        brief = Brief(intent, self._analyst.plan(intent), query, self._workspace.directory.owners)
        given = {(passage.stored.doc_id, passage.stored.passage.ordinal): passage for passage in passages}
        result = hold_tournament(
            brief,
            [passage.stored for passage in passages],
            self._workspace.index,
            self._workspace.lexicon,
            self._judge if self._stand_in is None else PatientJudge(self._judge),
            stand_in=self._stand_in,
            settings=self._settings,
        )
        ranked = tuple(RankedPassage(given[card.key].stored, card.score) for card in result.ranked)
        return Ordering(ranked, result.groups)
