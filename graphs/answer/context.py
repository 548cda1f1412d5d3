"""What the nodes depend on: it enters through LangGraph's runtime context, never through globals."""

from __future__ import annotations

from dataclasses import dataclass, field

from fin_agent.analyst.curating import strategy_for
from fin_agent.analyst.model.cards import CardMaker, ModelCardMaker
from fin_agent.analyst.protocol import Analyst
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.answering.executor import ProgramExecutor
from fin_agent.answering.sandbox import MontySandbox
from fin_agent.answering.subprocess_executor import SubprocessSandbox
from fin_agent.config import Settings
from fin_agent.retrieval.strategies.models import Notify, logged
from fin_agent.retrieval.strategies.names import is_default
from fin_agent.retrieval.strategies.protocol import Strategy
from fin_agent.retrieval.strategies.writing import load_writer
from fin_agent.workspace import Workspace


@dataclass(frozen=True)
class AnswerContext:
    """Index and lexicon, who reasons, where programs run, how far to look."""

    workspace: Workspace
    analyst: Analyst
    executor: ProgramExecutor
    settings: Settings = field(default_factory=Settings)
    strategy: Strategy | None = None
    """Searches in one go; None where documents, pages and passages are searched one after the other, the default."""
    card_maker: CardMaker | None = None
    """Makes the cards of the passages to be judged; None where those of the index serve, made by rules."""

    @classmethod
    def by_rules(
        cls, workspace: Workspace, settings: Settings | None = None, *, notify: Notify = logged
    ) -> AnswerContext:
        """The default: the rules analyst, the Monty sandbox, and the strategy and models that the settings name.

        `notify` is told what a person should know. Raises StrategyError where the strategy lacks what it needs or a
        chat model cannot be loaded, and PromptError.
        """
        settings = settings or Settings()
        analyst = RulesAnalyst(workspace, most_evidence=settings.evidence)
        named = None if is_default(settings.strategy) else strategy_for(settings, workspace, notify=notify)
        return cls(workspace, analyst, _executor(settings), settings, named, _card_maker(settings, workspace, notify))


def _card_maker(settings: Settings, workspace: Workspace, notify: Notify) -> CardMaker | None:
    if settings.card_model is None:
        return None
    writer = load_writer(settings.card_model)
    return ModelCardMaker(writer, settings.prompts, lexicon=workspace.lexicon, notify=notify)


def _executor(settings: Settings) -> ProgramExecutor:
    return SubprocessSandbox() if settings.executor == "subprocess" else MontySandbox()
