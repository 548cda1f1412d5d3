"""The compiled graphs that langgraph.json names."""

from __future__ import annotations

from dataclasses import replace

from fin_agent.graphs.answer.adapting import Node
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import answer_builder
from fin_agent.graphs.answer.programs_shown import showing_programs
from fin_agent.graphs.answer.state import ShownOutput
from fin_agent.graphs.chat.graph import chat_builder
from fin_agent.graphs.chat.state import ChatContext, ChatLimits
from fin_agent.graphs.exported.chatting import chatting
from fin_agent.graphs.exported.controls import ChatControls, Controls, RerankControls, SearchControls
from fin_agent.graphs.exported.opening import opened
from fin_agent.graphs.exported.pauses import before_each_round
from fin_agent.graphs.exported.running import exported
from fin_agent.graphs.rerank.graph import rerank_builder
from fin_agent.graphs.rerank.nodes import RerankContext
from fin_agent.graphs.search.graph import search_builder


def _answering(given: Controls | None) -> AnswerContext:
    controls = given or Controls()
    context = opened(controls).context
    if "program" in controls.stop_before:
        return replace(context, analyst=showing_programs(context.analyst))
    return context


def _around(node: Node[Controls]) -> Node[Controls]:
    return exported(before_each_round(node) if node.__name__ == "search_documents" else node, Controls)


def _searching(controls: SearchControls) -> AnswerContext:
    return opened(controls).context


def _ranking(controls: RerankControls) -> RerankContext:
    return RerankContext(
        opened(controls).context,
        candidates=controls.candidates,
        kept=controls.kept,
        rounds=controls.tournament_rounds,
        seed=controls.seed,
    )


def _talking(given: ChatControls | None) -> ChatContext:
    controls = given or ChatControls()
    limits = ChatLimits(model_calls=controls.model_calls, tool_calls=controls.tool_calls)
    return chatting(opened(controls).context, limits, controls.doc_ids)


answer = answer_builder(Controls, _answering, _around, ShownOutput).compile(name="answer")
search = search_builder(SearchControls, _searching, lambda node: exported(node, SearchControls)).compile(name="search")
rerank = rerank_builder(RerankControls, _ranking, lambda node: exported(node, RerankControls)).compile(name="rerank")
chat = chat_builder(
    ChatControls, _talking, lambda node: exported(node, ChatControls, needs="messages", warned="notes")
).compile(name="chat")
