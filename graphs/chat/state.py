"""The state of a conversation: messages as LangChain has them, and turns as typed values."""

from __future__ import annotations

from collections.abc import Sequence
from operator import add
from typing import Annotated, Literal

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, field_serializer
from typing_extensions import TypedDict  # pydantic, which writes the schemas, takes no other before Python 3.12

from fin_agent.analyst.rules.follow_ups import MessageKind, Reading
from fin_agent.answering.answer import Answer, Citation, Retrieved, Usage

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

    @field_serializer("answers", "citations", "usage", "kind", mode="wrap")
    def _as_json(self, value: object, handler: SerializerFunctionWrapHandler) -> object:
        """Plain JSON: a checkpoint then holds one class of ours, whatever an answer is made of."""
        if isinstance(value, tuple):
            return [each.model_dump(mode="json") for each in value]
        return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)


def kept(answer: Answer) -> Answer:
    """An answer as a conversation keeps it: a tenth of its size; the run's record has the rest."""
    pages = Retrieved(documents=answer.retrieved.documents, pages=answer.retrieved.pages)
    return answer.model_copy(update={"trace": (), "retrieved": pages})


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
    turns: Annotated[list[Turn], add]
    reading: Reading | None
    """The message that is being answered, as it is understood."""
    next: NextNode
    """Where the turn goes on."""
    draft: Turn | None
    """The turn of an assistant, while its figures are checked."""
    corrected: bool
    """Whether the reply was sent back once."""
    notes: list[str]
    """Warnings of this turn so far."""


class ChatOutput(TypedDict):
    """What a turn ends with."""

    messages: Annotated[list[AnyMessage], add_messages]
    turns: list[Turn]
