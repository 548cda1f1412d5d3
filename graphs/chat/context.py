"""What a conversation depends on: it enters through LangGraph's runtime context, as everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.index.chosen_filings import chosen_filings

if TYPE_CHECKING:
    from fin_agent.config import Settings
    from fin_agent.graphs.chat.assistant import Assistant
    from fin_agent.models.callers import Callers
    from fin_agent.workspace import Workspace


@dataclass(frozen=True)
class ChatLimits:
    """How far one turn of an assistant may go."""

    model_calls: int = 12
    tool_calls: int = 24
    history_tokens: int = 24_000
    """Of the conversation before, as it is sent along with each call."""
    earlier_result_tokens: int = 400
    """Of one tool result of an earlier turn."""


@dataclass(frozen=True)
class ChatContext:
    """Who answers: the answer graph, and where there is a chat model, an assistant that calls tools.

    >>> from pathlib import Path
    >>> from fin_agent import ChatContext, Workspace
    >>> context = ChatContext.by_rules(Workspace.open(Path("my-index")), doc_ids=["harborlight_2023_10k"])
    >>> context.assistant is None, context.doc_ids
    (True, ('harborlight_2023_10k',))
    """

    answering: AnswerContext
    assistant: Assistant | None = None
    doc_ids: tuple[str, ...] | None = None
    """The only filings that may be read; None for all."""
    limits: ChatLimits = field(default_factory=ChatLimits)

    @classmethod
    def by_rules(
        cls, workspace: Workspace, settings: Settings | None = None, *, doc_ids: Sequence[str] | None = None
    ) -> ChatContext:
        """The default: rules read and answer. Raises what AnswerContext.by_rules raises."""
        return cls(AnswerContext.by_rules(workspace, settings), None, _checked(workspace, doc_ids))

    @classmethod
    def from_settings(
        cls,
        workspace: Workspace,
        settings: Settings | None = None,
        *,
        doc_ids: Sequence[str] | None = None,
        callers: Callers | None = None,
        limits: ChatLimits | None = None,
    ) -> ChatContext:
        """What the settings name: rules, or an assistant by the model that they name.

        `callers` ask the models in place of those that the settings name. Raises what AnswerContext.from_settings
        raises, and ModelSetupError where a model is named and langchain is not installed.
        """
        answering = AnswerContext.from_settings(workspace, settings, callers=callers)
        return cls.over(answering, doc_ids=doc_ids, callers=callers, limits=limits)

    @classmethod
    def over(
        cls,
        answering: AnswerContext,
        *,
        doc_ids: Sequence[str] | None = None,
        callers: Callers | None = None,
        limits: ChatLimits | None = None,
    ) -> ChatContext:
        """Over what answers already: an assistant where its settings name a model, or `callers` are given.

        Raises FilingIndexError where a filing named is not indexed, and ModelSetupError.
        """
        within = _checked(answering.workspace, doc_ids)
        limits = limits or ChatLimits()
        assistant = None
        if callers is not None or answering.settings.by_model:
            from fin_agent.graphs.chat.assistant import assistant_of

            assistant = assistant_of(answering, within, limits, callers=callers)
        return cls(answering, assistant, within, limits)


def _checked(workspace: Workspace, doc_ids: Sequence[str] | None) -> tuple[str, ...] | None:
    """Raises FilingIndexError where a filing named is not indexed."""
    return chosen_filings(doc_ids, workspace.index)
