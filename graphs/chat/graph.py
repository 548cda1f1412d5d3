"""The chat graph: read the message, answer it from filings or reply to it, check what an assistant says."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from functools import wraps
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.typing import ContextT

from fin_agent.analyst.events import StepBegun, current_hearing, listening, told
from fin_agent.analyst.rules.follow_ups import read_message as read_by_rules
from fin_agent.answering.answer import Answer, AnswerValue
from fin_agent.errors import QuestionError
from fin_agent.graphs.answer.graph import answer_question as ask_graph
from fin_agent.graphs.answer.graph import stream_listener
from fin_agent.graphs.answer.question_scope import refusal_text
from fin_agent.graphs.chat import assistant
from fin_agent.graphs.chat.replies import asked_in, reply_to
from fin_agent.graphs.chat.state import (
    ChatContext,
    ChatInput,
    ChatOutput,
    ChatState,
    NextNode,
    Turn,
    citations_of,
    ended,
    kept,
    person_said,
    reading_of,
    turns_of,
)

Update = dict[str, Any]
Node = Callable[[ChatState, Runtime[ChatContext]], Update]
ChatGraph = CompiledStateGraph[ChatState, ChatContext, ChatInput, ChatOutput]

STEPS_AT_MOST = 12
"""Of a turn, tool calls of an assistant left aside: they have limits of their own."""


def build_chat(checkpointer: BaseCheckpointSaver[Any] | None = None) -> ChatGraph:
    """The compiled graph. Run it with `context=ChatContext...`, a `thread_id`, and the new message as input.

    A checkpointer gives it memory, thread by thread; without one every message stands alone.

    >>> from pathlib import Path
    >>> from langchain_core.messages import HumanMessage
    >>> from fin_agent import ChatContext, ThreadStore, Workspace, build_chat
    >>> context = ChatContext.by_rules(Workspace.open(Path("my-index")))
    >>> config = {"configurable": {"thread_id": "1"}}
    >>> with ThreadStore(Path("threads.sqlite")) as threads:
    ...     chat = build_chat(threads)
    ...     for message in ("What was Harborlight's revenue in FY2024?", "and the year before?"):
    ...         state = chat.invoke({"messages": [HumanMessage(message)]}, config, context=context)
    ...         print(state["turns"][-1].said)
    Revenue of Harborlight Instruments, Inc. for FY2024: $3,763 million.
    Revenue of Harborlight Instruments, Inc. for FY2023: $3,533 million.
    """
    return chat_builder(ChatContext, lambda context: context).compile(checkpointer=checkpointer, name="chat")


def chat_builder(
    context_schema: type[ContextT],
    context_of: Callable[[ContextT], ChatContext],
    around: Callable[[Any], Any] = lambda node: node,
) -> StateGraph[ChatState, ContextT, ChatInput, ChatOutput]:
    """The graph, to be compiled. `context_of` makes our context of the one given; `around` is put around every node."""
    builder: StateGraph[ChatState, ContextT, ChatInput, ChatOutput] = StateGraph(
        ChatState, context_schema=context_schema, input_schema=ChatInput, output_schema=ChatOutput
    )
    for node in NODES:
        taking: Any = around(_in_chat_context(node, context_of))
        builder.add_node(node.__name__, taking, metadata={"description": inspect.cleandoc(node.__doc__ or "")})
    builder.add_edge(START, "read_message")
    builder.add_conditional_edges("read_message", _as_decided, ["answer_question", "reply", "converse"])
    builder.add_edge("answer_question", END)
    builder.add_edge("reply", END)
    builder.add_conditional_edges("converse", _as_decided, ["check_figures", "answer_question", "reply"])
    builder.add_conditional_edges("check_figures", _as_decided, ["converse", END])
    return builder


def read_message(state: ChatState, runtime: Runtime[ChatContext]) -> Update:
    """Read the new message after those before: a question, one that goes on from the last, or talk."""
    turns = asked_in(turns_of(state))
    reading = read_by_rules(person_said(state), turns, runtime.context.answering.workspace)
    by_rules = "answer_question" if reading.asks else "reply"
    return {
        "reading": reading,
        "next": by_rules if runtime.context.assistant is None else "converse",
        "draft": None,
        "calls": [],
        "corrected": False,
        "notes": [],
    }


def answer_question(state: ChatState, runtime: Runtime[ChatContext]) -> Update:
    """Answer the whole question from filings, by the answer graph."""
    started = time.perf_counter()
    reading, asked = reading_of(state), person_said(state)
    question = reading.question or asked
    try:
        answer = ask_graph(question, runtime.context.answering, doc_ids=runtime.context.doc_ids)
    except QuestionError as error:
        said, missing = refusal_text([str(error)]), (str(error),)
        answer = Answer(question=question, answer=AnswerValue(text=said), refused=True, missing=missing)
    turn = Turn(
        asked=asked,
        kind=reading.kind,
        question=question,
        said=answer.answer.text,
        answers=(kept(answer),),
        citations=citations_of(answer),
        warnings=(*state.get("notes", ()), *answer.warnings),
        usage=answer.usage,
        seconds=round(time.perf_counter() - started, 4),
    )
    return {"messages": [AIMessage(turn.message)], **ended(turn)}


def reply(state: ChatState, runtime: Runtime[ChatContext]) -> Update:
    """Reply to what is no question for filings: greetings, thanks, where the last answer stands, how it was made."""
    kind, context = reading_of(state).kind, runtime.context
    said, citations = reply_to(kind, turns_of(state), context.answering.workspace, context.doc_ids)
    notes = tuple(state.get("notes", ()))
    turn = Turn(asked=person_said(state), kind=kind, said=said, citations=citations, warnings=notes)
    return {"messages": [AIMessage(turn.message)], **ended(turn)}


def converse(state: ChatState, runtime: Runtime[ChatContext]) -> Update:
    """Let the chat model reply with the tools it needs; where it fails, rules reply."""
    return assistant.converse(state, runtime.context)


def check_figures(state: ChatState, runtime: Runtime[ChatContext]) -> Update:
    """Hold every number of a reply against what tools have said; send it back once, then warn beside it."""
    return assistant.check_figures(state, runtime.context)


NODES: tuple[Node, ...] = (read_message, answer_question, reply, converse, check_figures)


def _in_chat_context(
    node: Node, context_of: Callable[[ContextT], ChatContext]
) -> Callable[[ChatState, Runtime[ContextT]], Update]:
    """The node in the context that `context_of` makes of the one given; whoever listens is told what happens in it."""

    @wraps(node)
    def with_context(state: ChatState, runtime: Runtime[ContextT]) -> Update:
        within: Runtime[Any] = runtime
        hearing = current_hearing()
        with listening(hearing.listener or stream_listener(within), drafts=hearing.drafts):
            told(StepBegun(node=node.__name__, round=1))
            return node(state, within.override(context=context_of(runtime.context)))

    return with_context


def _as_decided(state: ChatState) -> NextNode:
    return state["next"]
