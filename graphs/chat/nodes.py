"""What the chat graph does, node by node: plain functions of state and runtime."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.runtime import Runtime
from langgraph.typing import ContextT

from fin_agent.analyst.events import StepBegun
from fin_agent.analyst.listening import current_hearing, listening, told
from fin_agent.analyst.rules.follow_ups import MessageKind, Reading
from fin_agent.analyst.rules.follow_ups import read_message as read_by_rules
from fin_agent.answering.answer import Answer, AnswerValue
from fin_agent.errors import QuestionError
from fin_agent.graphs.answer.accounting import written
from fin_agent.graphs.answer.graph import answer_question as ask_graph
from fin_agent.graphs.answer.question_scope import refusal_text
from fin_agent.graphs.chat import assisted
from fin_agent.graphs.chat.citing import citations_of
from fin_agent.graphs.chat.context import ChatContext
from fin_agent.graphs.chat.replies import asked_in, reply_to
from fin_agent.graphs.chat.state import ChatState, Turn, kept
from fin_agent.graphs.chat.wording import message_of

Update = dict[str, Any]
Node = Callable[[ChatState, Runtime[ChatContext]], Update]


def read_message(state: ChatState, runtime: Runtime[ChatContext]) -> Update:
    """Read the new message after those before: a question, one that goes on from the last, or talk."""
    message = _last_of_person(state)
    turns = turns_of(state)
    reading = read_by_rules(message.text, asked_in(turns), runtime.context.answering.workspace)
    by_rules = "answer_question" if reading.asks else "reply"
    return {
        "reading": reading,
        "next": by_rules if runtime.context.assistant is None else "converse",
        "draft": None,
        "corrected": False,
        "notes": [],
    }


def answer_question(state: ChatState, runtime: Runtime[ChatContext]) -> Update:
    """Answer the whole question from filings, by the answer graph."""
    started = time.perf_counter()
    reading = reading_of(state)
    question = reading.question or _last_of_person(state).text
    try:
        answer = ask_graph(question, runtime.context.answering, doc_ids=runtime.context.doc_ids)
    except QuestionError as error:
        answer = _refused(question, str(error))
    turn = Turn(
        asked=_last_of_person(state).text,
        kind=reading.kind,
        question=question,
        said=answer.answer.text,
        answers=(kept(answer),),
        citations=citations_of(answer),
        warnings=(*state.get("notes", ()), *answer.warnings),
        usage=answer.usage,
        seconds=round(time.perf_counter() - started, 4),
    )
    return ended(turn)


def reply(state: ChatState, runtime: Runtime[ChatContext]) -> Update:
    """Reply to what is no question for filings: greetings, thanks, where the last answer stands, how it was made."""
    reading = reading_of(state)
    said, citations = reply_to(
        reading.kind, turns_of(state), runtime.context.answering.workspace, runtime.context.doc_ids
    )
    turn = Turn(
        asked=_last_of_person(state).text,
        kind=reading.kind,
        said=said,
        citations=citations,
        warnings=tuple(state.get("notes", ())),
    )
    return ended(turn)


def converse(state: ChatState, runtime: Runtime[ChatContext]) -> Update:
    """Let the chat model reply with the tools it needs; where it fails, rules reply."""
    return assisted.converse(state, runtime.context, turns_of(state), reading_of(state))


def check_figures(state: ChatState, runtime: Runtime[ChatContext]) -> Update:
    """Hold every number of a reply against what tools have said; send it back once, then warn beside it."""
    return assisted.check_figures(state, runtime.context, turns_of(state), reading_of(state))


def ended(turn: Turn) -> Update:
    """The update that ends a turn by rules."""
    return {
        "messages": [AIMessage(message_of(turn))],
        "turns": [turn],
        "reading": None,
        "draft": None,
        "notes": [],
        "next": "__end__",
    }


def in_chat_context(
    node: Node, context_of: Callable[[ContextT], ChatContext]
) -> Callable[[ChatState, Runtime[ContextT]], Update]:
    """The node in the context that `context_of` makes of the one given; whoever listens is told what happens in it."""

    @wraps(node)
    def with_context(state: ChatState, runtime: Runtime[ContextT]) -> Update:
        within: Runtime[Any] = runtime
        hearing = current_hearing()
        with listening(hearing.listener or written(within), drafts=hearing.drafts):
            told(StepBegun(node=node.__name__, round=1))
            return node(state, within.override(context=context_of(runtime.context)))

    return with_context


def turns_of(state: ChatState) -> list[Turn]:
    """The turns as our type: a checkpoint may give them back as plain values."""
    return [turn if isinstance(turn, Turn) else Turn.model_validate(_fields(turn)) for turn in state.get("turns", ())]


def reading_of(state: ChatState) -> Reading:
    """How the message is understood, as our type."""
    reading = state.get("reading")
    if reading is None:
        return Reading(kind=MessageKind.UNCLEAR)
    return reading if isinstance(reading, Reading) else Reading.model_validate(_fields(reading))


def _fields(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else value


def _last_of_person(state: ChatState) -> BaseMessage:
    """Raises QuestionError where nobody has said anything."""
    said: Sequence[BaseMessage] = state.get("messages", ())
    for message in reversed(said):
        if isinstance(message, HumanMessage) and not assisted.is_correction(message):
            return message
    raise QuestionError("there is no message", remedy='Give one: {"messages": [{"role": "user", "content": "..."}]}')


def _refused(question: str, reason: str) -> Answer:
    return Answer(question=question, answer=AnswerValue(text=refusal_text([reason])), refused=True, missing=(reason,))
