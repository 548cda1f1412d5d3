"""The rerank graph: read the question, find candidates unless they are given, hold the tournament."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.typing import ContextT

from fin_agent.graphs.answer import search_nodes
from fin_agent.graphs.answer.accounting import accounted
from fin_agent.graphs.answer.adapting import described, in_context, taking_edits
from fin_agent.graphs.rerank.nodes import RerankContext, find_candidates, hold_tournament
from fin_agent.graphs.rerank.state import RerankInput, RerankOutput, RerankState

RerankGraph = CompiledStateGraph[RerankState, RerankContext, RerankInput, RerankOutput]


@lru_cache(maxsize=1)
def build_rerank_graph() -> RerankGraph:
    """The compiled graph; it holds no state of its own and can be shared."""
    return rerank_builder(RerankContext, lambda context: context).compile(name="rerank")


def rerank_builder(
    context_schema: type[ContextT],
    context_of: Callable[[ContextT], RerankContext],
    around: Callable[[Any], Any] = lambda node: node,
) -> StateGraph[RerankState, ContextT, RerankInput, RerankOutput]:
    """The graph, to be compiled; the parameters are those of `answer_builder`."""
    builder: StateGraph[RerankState, ContextT, RerankInput, RerankOutput] = StateGraph(
        RerankState, context_schema=context_schema, input_schema=RerankInput, output_schema=RerankOutput
    )
    answering = lambda given: context_of(given).answer  # noqa: E731
    nodes: dict[Any, Any] = {
        search_nodes.rewrite_query: answering,
        find_candidates: context_of,
        hold_tournament: context_of,
    }
    before = START
    for node, needed in nodes.items():
        taking: Any = around(taking_edits(in_context(accounted(node), needed), RerankState))
        builder.add_node(node.__name__, taking, metadata={"description": described(node)})
        builder.add_edge(before, node.__name__)
        before = node.__name__
    builder.add_edge(before, END)
    return builder
