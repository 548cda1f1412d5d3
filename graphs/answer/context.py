"""The dependencies of the nodes, passed as LangGraph's runtime context, never as globals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from pydantic_core import CoreSchema, core_schema

from fin_agent.analyst.model.model_client import ModelClient, callers_for_roles, has_model_for_role
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.answering.sandbox import MontySandbox, ProgramExecutor
from fin_agent.config import Settings
from fin_agent.evidence.intent import Intent
from fin_agent.models.call import Role
from fin_agent.models.settings import ModelSettings
from fin_agent.retrieval.strategies.protocol import Notify, Strategy, is_default, log_warning
from fin_agent.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from langchain_core.language_models import BaseChatModel

    from fin_agent.analyst.model.descriptions import ModelCardMaker
    from fin_agent.models.caller import Callers


@dataclass(frozen=True)
class AnswerContext:
    """Index, analyst, sandbox and settings: made once, for any number of questions.

    >>> from pathlib import Path
    >>> from fin_agent import AnswerContext, Settings, Workspace
    >>> context = AnswerContext.by_rules(Workspace.open(Path("my-index")), Settings(rounds=1))
    >>> context.settings.rounds
    1
    """

    workspace: Workspace
    """Index and lexicon."""
    analyst: RulesAnalyst
    """Reasons, by rules or with models."""
    executor: ProgramExecutor
    """Runs programs."""
    settings: Settings = field(default_factory=Settings)
    """Limits of the search, and models."""
    strategy: Strategy | None = None
    """Searches in one call; None for the default, which searches documents, pages and passages in sequence."""
    card_maker: ModelCardMaker | None = None
    """Makes the cards of the passages to be judged; None to use those of the index, made by rules."""
    asks_back: bool = True
    """Whether a model may ask what an ambiguous question means; otherwise it states its interpretation."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> CoreSchema:
        """Let the graph's schemas be asked for, although live objects have none."""
        return core_schema.any_schema()

    @classmethod
    def from_settings(
        cls,
        workspace: Workspace | Path | str,
        settings: Settings | None = None,
        *,
        callers: Callers | None = None,
        notify: Notify = log_warning,
    ) -> AnswerContext:
        """Make the context described by the settings: rules, or a chat model if they name one.

        Args:
            workspace: An open index, its folder or its address.
            settings: How to search and with which models; None for the defaults.
            callers: Model callers, in place of those that the settings name. Their limits apply if the settings name no
                model.
            notify: Called with each warning for the user.

        Returns:
            The context, for any number of questions.

        Raises:
            FilingIndexError: There is no index at `workspace`.
            StrategyError: The strategy lacks a requirement.
            ModelSetupError: A chat model cannot be set up.
            PromptError: A prompt of the user is not valid.
        """
        settings, workspace = settings or Settings(), Workspace.open(workspace)
        if callers is not None and settings.models == ModelSettings():
            settings = settings.model_copy(update={"models": callers.settings})
        if callers is None and settings.by_model:
            callers = callers_for_roles(settings)
            callers.load_all()
        context = cls.by_rules(workspace, settings, callers=callers, notify=notify)
        if callers is None:
            return context
        from fin_agent.analyst.model.analyst import ModelAnalyst  # not needed by rules

        analyst = ModelAnalyst(
            ModelClient(callers, prompts=settings.prompts),
            workspace,
            preset=callers.settings.preset,
            most_evidence=settings.evidence,
            executor=context.executor,
        )
        return replace(context, analyst=analyst)

    @classmethod
    def with_model(
        cls,
        workspace: Workspace | Path | str,
        settings: Settings | None = None,
        model: str | BaseChatModel | None = None,
    ) -> AnswerContext:
        """Make the context described by the settings, with one chat model for all roles.

        Args:
            workspace: An open index, its folder or its address.
            settings: How to search; None for the defaults.
            model: A chat model, by name (`openai:gpt-5.4`) or an instance; None for that of the settings.

        Returns:
            The context, for any number of questions.

        Raises:
            FilingIndexError: There is no index at `workspace`.
            StrategyError: The strategy lacks a requirement.
            ModelSetupError: The chat model cannot be set up.
            PromptError: A prompt of the user is not valid.
        """
        settings = settings or Settings()
        if isinstance(model, str):
            models = settings.models.model_copy(update={"model": model})
            return cls.from_settings(workspace, settings.model_copy(update={"models": models}))
        if model is None:
            return cls.from_settings(workspace, settings)
        from fin_agent.models.caller import Callers

        return cls.from_settings(workspace, settings, callers=Callers.with_model(model, settings.models))

    @classmethod
    def by_rules(
        cls,
        workspace: Workspace | Path | str,
        settings: Settings | None = None,
        *,
        callers: Callers | None = None,
        notify: Notify = log_warning,
    ) -> AnswerContext:
        """Make the default context: rules answer, and programs run in the Monty sandbox.

        Args:
            workspace: An open index, its folder or its address.
            settings: How to search, and the models of strategies and cards; None for the defaults.
            callers: Callers of the models of strategies and cards, in place of those that the settings name.
            notify: Called with each warning for the user.

        Returns:
            The context, for any number of questions.

        Raises:
            FilingIndexError: There is no index at `workspace`.
            StrategyError: The strategy lacks a requirement.
            ModelSetupError: A chat model cannot be set up.
            PromptError: A prompt of the user is not valid.
        """
        settings, workspace = settings or Settings(), Workspace.open(workspace)
        analyst = RulesAnalyst(workspace, most_evidence=settings.evidence)
        named = None
        if not is_default(settings.strategy):
            from fin_agent.analyst.strategy_adapters import strategy_for

            named = strategy_for(settings, workspace, callers=callers, notify=notify)
        maker = None
        if has_model_for_role(settings, Role.CARD):
            from fin_agent.analyst.model.descriptions import ModelCardMaker

            client = ModelClient(callers or callers_for_roles(settings), prompts=settings.prompts)
            maker = ModelCardMaker(client, workspace.lexicon)
        return cls(workspace, analyst, MontySandbox(), settings, named, maker)


def with_intent(context: AnswerContext, intent: Intent) -> AnswerContext:
    """Return the context for a question that is already read as `intent`, regardless of its words."""
    read = overridden(
        context.analyst, intent=lambda question, before=None: intent, split_asks=lambda of: (of.question,)
    )
    return replace(context, analyst=read)


def overridden(analyst: RulesAnalyst, **methods: Callable[..., object]) -> RulesAnalyst:
    """Return an analyst with some of its methods replaced."""
    return cast(RulesAnalyst, _Overridden(analyst, methods))


class _Overridden:
    def __init__(self, analyst: RulesAnalyst, methods: Mapping[str, Callable[..., object]]) -> None:
        self._analyst = analyst
        vars(self).update(methods)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._analyst, name)
