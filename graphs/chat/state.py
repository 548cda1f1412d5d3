"""A conversation: what it depends on, messages as LangChain has them, and turns as typed values."""

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
    from fin_agent.models.callers_by_role import Callers
    from fin_agent.workspace import Workspace

CORRECTION = "fin_agent_correction"
"""Marks, among the additional arguments of a message, what we say to the model and no person said."""
_MAX_CITED = 12
_MAX_QUOTE_LENGTH = 160
NextNode = Literal["answer_question", "reply", "converse", "check_figures", "__end__"]


class Turn(BaseModel):
    """A message and what was replied."""

    model_config = ConfigDict(frozen=True)

    asked: str
    """As it was typed."""
    kind: MessageKind
    question: str = ""
    """The whole question that was answered; empty where none was."""
    said: str
    """The reply."""
    answers: tuple[Answer, ...] = ()
    """Of the answer graph, without their traces and passages: one by rules, as many as were asked for by a model."""
    citations: tuple[Citation, ...] = ()
    """Where the figures of the reply stand, in the order of their numbers."""
    by_model: bool = False
    warnings: tuple[str, ...] = ()
    usage: Usage = Usage()
    seconds: float = 0.0

    @property
    def answer(self) -> Answer | None:
        """The last answer of the turn; None where nothing was answered from filings."""
        return self.answers[-1] if self.answers else None

    @property
    def message(self) -> str:
        """The text of a message: how a follow-up was read, the reply, where its figures stand, what to know beside."""
        parts = [f"({self.question})"] if self.kind is MessageKind.FOLLOW_UP and not self.by_model else []
        parts.append(self.said)
        if self.citations and self.answers:
            parts.append("\n".join(cited_lines(self.citations)))
        parts += [f"Warning: {warning}" for warning in self.warnings]
        return "\n\n".join(parts)

    def fields(self) -> dict[str, object]:
        """As JSON, for programs: the reply, and the whole answer; pages count from 0, as in answers."""
        answer = self.answer
        return {
            "asked": self.asked,
            "kind": self.kind.value,
            "question": self.question or None,
            "said": self.said,
            "refused": answer.refused if answer is not None and not self.by_model else None,
            "citations": [citation.model_dump(mode="json") for citation in self.citations],
            "by_model": self.by_model,
            "warnings": list(self.warnings),
            "usage": self.usage.model_dump(mode="json"),
            "answers": [each.model_dump(mode="json", exclude={"trace"}) for each in self.answers],
            "seconds": self.seconds,
        }


def compact_answer(answer: Answer) -> Answer:
    """An answer as a conversation keeps it: a tenth of its size; the run's record has the rest."""
    pages = Retrieved(documents=answer.retrieved.documents, pages=answer.retrieved.pages)
    return answer.model_copy(update={"trace": (), "retrieved": pages})


def citations_of(*answers: Answer) -> tuple[Citation, ...]:
    """The citations of answers in their order, each place and text once: the first is number 1."""
    found = {
        (citation.doc_id, citation.page, citation.box, citation.text): citation
        for answer in answers
        if not answer.refused
        for citation in answer.citations
    }
    return tuple(found.values())


def cited_lines(citations: Sequence[Citation]) -> list[str]:
    """A line for each: `[1] harborlight_2023_10k, page 9: Net income ...`; pages as people count."""
    lines = []
    for number, citation in enumerate(citations[:_MAX_CITED], start=1):
        text = " ".join(citation.text.split())
        text = text if len(text) <= _MAX_QUOTE_LENGTH else f"{text[: _MAX_QUOTE_LENGTH - 1]}…"
        lines.append(f"[{number}] {citation.doc_id}, page {citation.page + 1}: {text}")
    more = len(citations) - _MAX_CITED
    return [*lines, f"and {more} more"] if more > 0 else lines


class ChatInput(TypedDict):
    """What a turn is started with."""

    messages: Annotated[
        Sequence[AnyMessage],
        Field(
            description="the new message",
            examples=[[{"role": "user", "content": "What was Harborlight's net income in FY2023?"}]],
        ),
    ]


class ChatState(TypedDict, total=False):
    """Everything that a conversation keeps."""

    messages: Annotated[list[AnyMessage], add_messages]
    turns: Annotated[list[Turn], KeptList]
    reading: Annotated[Reading | None, Kept]
    """The message that is being answered, as it is understood."""
    next: NextNode
    """Where the turn goes on."""
    draft: Annotated[Turn | None, Kept]
    """The turn of an assistant, while its figures are checked."""
    calls: Annotated[list[CallRecord], Kept]
    """Calls of the model in this turn so far."""
    corrected: bool
    """Whether the reply was sent back once."""
    notes: list[str]
    """Warnings of this turn so far."""


class ChatOutput(TypedDict):
    """What a turn ends with."""

    messages: Annotated[list[AnyMessage], add_messages]
    turns: list[Turn]


def end_of_turn(turn: Turn) -> dict[str, object]:
    """The update that ends a turn."""
    return {"turns": [turn], "reading": None, "draft": None, "calls": [], "notes": [], "next": "__end__"}


def turns_of(state: ChatState) -> list[Turn]:
    """The turns as our type: a checkpoint may give them back as plain values."""
    return [turn if isinstance(turn, Turn) else Turn.model_validate(turn) for turn in state.get("turns", ())]


def draft_of(state: ChatState) -> Turn | None:
    """The draft, likewise."""
    draft = state.get("draft")
    return draft if draft is None or isinstance(draft, Turn) else Turn.model_validate(draft)


def reading_of(state: ChatState) -> Reading:
    """How the message is understood, likewise."""
    reading = state.get("reading")
    if reading is None:
        return Reading(kind=MessageKind.UNCLEAR)
    return reading if isinstance(reading, Reading) else Reading.model_validate(reading)


def is_correction(message: BaseMessage) -> bool:
    """Whether we said it to the model, not a person."""
    return bool(message.additional_kwargs.get(CORRECTION))


def last_user_message(state: ChatState) -> str:
    """The last message of the person. Raises QuestionError where nobody has said anything."""
    for message in reversed(state.get("messages", ())):
        if isinstance(message, HumanMessage) and not is_correction(message):
            return message.text
    raise QuestionError("there is no message", remedy='Give one: {"messages": [{"role": "user", "content": "..."}]}')


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
        cls,
        workspace: Workspace | Path | str,
        settings: Settings | None = None,
        *,
        doc_ids: Sequence[str] | None = None,
    ) -> ChatContext:
        """Make the default context: rules read and answer.

        Args:
            workspace: An open index, its folder or its address.
            settings: How to search; the defaults where None.
            doc_ids: The filings to search; None for all.

        Returns:
            The context, for any number of conversations.

        Raises:
            FilingIndexError: There is no index at `workspace`, or a filing in `doc_ids` is not indexed.
            StrategyError: The strategy lacks what it needs.
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
        """Make the context that the settings describe: rules, or an assistant by the chat model that they name.

        Args:
            workspace: An open index, its folder or its address.
            settings: How to search and with which models; the defaults where None.
            doc_ids: The filings to search; None for all.
            callers: Call the models in place of those that the settings name.
            limits: What an assistant may spend on a message.

        Returns:
            The context, for any number of conversations.

        Raises:
            FilingIndexError: There is no index at `workspace`, or a filing in `doc_ids` is not indexed.
            StrategyError: The strategy lacks what it needs.
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

        An assistant talks where the settings name a model or `callers` are given; rules do otherwise.

        Args:
            answering: Answers the questions.
            doc_ids: The filings to search; None for all.
            callers: Call the models in place of those that the settings name.
            limits: What an assistant may spend on a message.

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
