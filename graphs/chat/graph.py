"""The chat graph: read the message, answer it from filings or reply to it, check what an assistant says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.typing import ContextT

from fin_agent.graphs.answer.adapting import described
from fin_agent.graphs.chat import nodes
from fin_agent.graphs.chat.context import ChatContext
from fin_agent.graphs.chat.nodes import Node
from fin_agent.graphs.chat.state import ChatInput, ChatOutput, ChatState, NextNode

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
        taking: Any = around(nodes.in_chat_context(node, context_of))
        builder.add_node(node.__name__, taking, metadata={"description": described(node)})
    builder.add_edge(START, "read_message")
    builder.add_conditional_edges("read_message", _as_decided, ["answer_question", "reply", "converse"])
    builder.add_edge("answer_question", END)
    builder.add_edge("reply", END)
    builder.add_conditional_edges("converse", _as_decided, ["check_figures", "answer_question", "reply"])
    builder.add_conditional_edges("check_figures", _as_decided, ["converse", END])
    return builder


NODES: tuple[Node, ...] = (
    nodes.read_message,
    nodes.answer_question,
    nodes.reply,
    nodes.converse,
    nodes.check_figures,
)


def _as_decided(state: ChatState) -> NextNode:
    return state["next"]
