"""The state of a conversation: its context, LangChain messages, and turns as typed values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage
from langgraph.graph.message import add_messages
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict  # pydantic, which writes the schemas, takes no other before Python 3.12

from fin_agent.analyst.rules.follow_ups import MessageKind, Reading
from fin_agent.answering.answer import Answer, Citation, Retrieved, Usage
from fin_agent.errors import QuestionError
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.channels import Kept, KeptList
from fin_agent.index.opening import chosen_filings
from fin_agent.models.metering import CallRecord

if TYPE_CHECKING:
    from pathlib import Path

    from fin_agent.config import Settings
    from fin_agent.graphs.chat.assistant import Assistant
    from fin_agent.models.caller import Callers
    from fin_agent.workspace import Workspace

CORRECTION = "fin_agent_correction"
"""Key in a message's additional arguments that marks corrections sent to the model, not written by a person."""
_MAX_CITED = 12
_MAX_QUOTE_LENGTH = 160
NextNode = Literal["answer_question", "reply", "converse", "check_figures", "__end__"]


class Turn(BaseModel):
    """A message with its reply."""

    model_config = ConfigDict(frozen=True)

    asked: str
    """The message as typed."""
    kind: MessageKind
    question: str = ""
    """The complete question that was answered; empty if none was."""
    said: str
    """The text of the reply."""
    answers: tuple[Answer, ...] = ()
    """Answers of the answer graph, without traces and passages: one by rules, or all that a model requested."""
    citations: tuple[Citation, ...] = ()
    """Sources of the reply's figures, in the order of their numbers."""
    by_model: bool = False
    warnings: tuple[str, ...] = ()
    usage: Usage = Usage()
    seconds: float = 0.0

    @property
    def answer(self) -> Answer | None:
        """The last answer of the turn; None if nothing was answered from filings."""
        return self.answers[-1] if self.answers else None

    @property
    def message(self) -> str:
        """The full message: the interpreted follow-up, the reply, the sources and the warnings."""
        parts = [f"({self.question})"] if self.kind is MessageKind.FOLLOW_UP and not self.by_model else []
        parts.append(self.said)
        if self.citations and self.answers:
            parts.append("\n".join(cited_lines(self.citations)))
        parts += [f"Warning: {warning}" for warning in self.warnings]
        return "\n\n".join(parts)

    def fields(self) -> dict[str, object]:
        """Return the turn as JSON-compatible fields: the reply and the whole answer; pages are 0-based."""
        answer = self.answer
        return {
            **self.model_dump(mode="json", exclude={"answers": {"__all__": {"trace"}}}),
            "question": self.question or None,
            "refused": answer.refused if answer is not None and not self.by_model else None,
        }


def compact_answer(answer: Answer) -> Answer:
    """Return an answer as stored in a conversation, at a tenth of its size; the run's record has the rest."""
    pages = Retrieved(documents=answer.retrieved.documents, pages=answer.retrieved.pages)
    return answer.model_copy(update={"trace": (), "retrieved": pages})


def citations_of(*answers: Answer) -> tuple[Citation, ...]:
    """Return the citations of answers in order, without duplicates; the first is number 1."""
    found = {
        (citation.doc_id, citation.page, citation.box, citation.text): citation
        for answer in answers
        if not answer.refused
        for citation in answer.citations
    }
    return tuple(found.values())


def cited_lines(citations: Sequence[Citation]) -> list[str]:
    """Return a line for each citation: `[1] harborlight_2023_10k, page 9: Net income ...`; pages count from 1."""
    lines = []
    for number, citation in enumerate(citations[:_MAX_CITED], start=1):
        text = " ".join(citation.text.split())
        text = text if len(text) <= _MAX_QUOTE_LENGTH else f"{text[: _MAX_QUOTE_LENGTH - 1]}…"
        lines.append(f"[{number}] {citation.doc_id}, page {citation.page + 1}: {text}")
    more = len(citations) - _MAX_CITED
    return [*lines, f"and {more} more"] if more > 0 else lines


class ChatInput(TypedDict):
    """Input of a turn."""

    messages: Annotated[
        Sequence[AnyMessage],
        Field(
            description="the new message",
            examples=[[{"role": "user", "content": "What was Harborlight's net income in FY2023?"}]],
        ),
    ]


class ChatState(TypedDict, total=False):
    """The state of a conversation."""

    messages: Annotated[list[AnyMessage], add_messages]
    turns: Annotated[list[Turn], KeptList]
    reading: Annotated[Reading | None, Kept]
    """The interpretation of the current message."""
    next: NextNode
    """The next node of the turn."""
    draft: Annotated[Turn | None, Kept]
    """An assistant's turn while its figures are checked."""
    calls: Annotated[list[CallRecord], Kept]
    """Model calls in this turn so far."""
    corrected: bool
    """Whether the reply was already returned for correction."""
    notes: list[str]
    """Warnings of this turn so far."""


class ChatOutput(TypedDict):
    """Output of a turn."""

    messages: Annotated[list[AnyMessage], add_messages]
    turns: list[Turn]


def end_of_turn(turn: Turn) -> dict[str, object]:
    """Return the update that ends a turn."""
    return {"turns": [turn], "reading": None, "draft": None, "calls": [], "notes": [], "next": "__end__"}


def reading_of(state: ChatState) -> Reading:
    """Return the interpretation of the current message."""
    return state.get("reading") or Reading(kind=MessageKind.UNCLEAR)


def is_correction(message: BaseMessage) -> bool:
    """Return whether a message is a correction sent to the model, not written by a person."""
    return bool(message.additional_kwargs.get(CORRECTION))


def last_user_message(state: ChatState) -> str:
    """Return the user's last message. Raises QuestionError if there is none."""
    for message in reversed(state.get("messages", ())):
        if isinstance(message, HumanMessage) and not is_correction(message):
            return message.text
    raise QuestionError("there is no message", remedy='Give one: {"messages": [{"role": "user", "content": "..."}]}')


@dataclass(frozen=True)
class ChatLimits:
    """Limits of one assistant turn."""

    model_calls: int = 12
    tool_calls: int = 24
    history_tokens: int = 24_000
    """Tokens of the earlier conversation sent with each call."""


@dataclass(frozen=True)
class ChatContext:
    """The context of a chat: the answer graph and, with a chat model, an assistant that calls tools.

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
        cls,
        workspace: Workspace | Path | str,
        settings: Settings | None = None,
        *,
        doc_ids: Sequence[str] | None = None,
    ) -> ChatContext:
        """Make the default context: rules read and answer.

        Args:
            workspace: An open index, its folder or its address.
            settings: How to search; None for the defaults.
            doc_ids: The filings to search; None for all.

        Returns:
            The context, for any number of conversations.

        Raises:
            FilingIndexError: There is no index at `workspace`, or a filing in `doc_ids` is not indexed.
            StrategyError: The strategy lacks a requirement.
            ModelSetupError: A chat model of a strategy cannot be set up.
            PromptError: A prompt of the user is not valid.
        """
        answering = AnswerContext.by_rules(workspace, settings)
        return cls(answering, None, chosen_filings(doc_ids, answering.workspace.index))

    @classmethod
    def from_settings(
        cls,
        workspace: Workspace | Path | str,
        settings: Settings | None = None,
        *,
        doc_ids: Sequence[str] | None = None,
        callers: Callers | None = None,
        limits: ChatLimits | None = None,
    ) -> ChatContext:
        """Make the context described by the settings: rules, or an assistant with the chat model that they name.

        Args:
            workspace: An open index, its folder or its address.
            settings: How to search and with which models; None for the defaults.
            doc_ids: The filings to search; None for all.
            callers: Model callers, in place of those that the settings name.
            limits: Limits of an assistant's turn.

        Returns:
            The context, for any number of conversations.

        Raises:
            FilingIndexError: There is no index at `workspace`, or a filing in `doc_ids` is not indexed.
            StrategyError: The strategy lacks a requirement.
            ModelSetupError: A chat model cannot be set up, or langchain is not installed.
            PromptError: A prompt of the user is not valid.
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
        """Make the context of a chat over an AnswerContext.

        An assistant replies if the settings name a model or `callers` are given; otherwise rules do.

        Args:
            answering: Answers the questions.
            doc_ids: The filings to search; None for all.
            callers: Model callers, in place of those that the settings name.
            limits: Limits of an assistant's turn.

        Returns:
            The context, for any number of conversations.

        Raises:
            FilingIndexError: A filing in `doc_ids` is not indexed.
            ModelSetupError: A chat model cannot be set up.
        """
        within = chosen_filings(doc_ids, answering.workspace.index)
        limits = limits or ChatLimits()
        assistant = None
        if callers is not None or answering.settings.by_model:
            from fin_agent.graphs.chat.assistant import assistant_of

            assistant = assistant_of(answering, within, limits, callers=callers)
        return cls(answering, assistant, within, limits)
