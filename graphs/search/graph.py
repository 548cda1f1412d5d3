"""The search graph: the answer graph's own first steps, one round of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.typing import ContextT
from typing_extensions import TypedDict

from fin_agent.evidence.evidence import RetrievedPassage
from fin_agent.evidence.trace import TraceStep
from fin_agent.graphs.answer import search_nodes
from fin_agent.graphs.answer.accounting import accounted
from fin_agent.graphs.answer.adapting import Node, described, in_context, taking_edits
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.state import AnswerState, QuestionInput
from fin_agent.retrieval.query import RankedFiling, RankedPage


class SearchOutput(TypedDict):
    """What a search ends with, each list best first."""

    documents: list[RankedFiling]
    """Filings searched."""
    pages: list[RankedPage]
    passages: list[RetrievedPassage]
    missing: list[str]
    """What no filing of the index can meet: companies and periods that are not there."""
    warnings: list[str]
    trace: list[TraceStep]


SearchGraph = CompiledStateGraph[AnswerState, AnswerContext, QuestionInput, SearchOutput]

NODES: tuple[Node[AnswerContext], ...] = (
    search_nodes.rewrite_query,
    search_nodes.search_documents,
    search_nodes.search_pages,
    search_nodes.search_passages,
)


@lru_cache(maxsize=1)
def build_search_graph() -> SearchGraph:
    """The compiled graph; it holds no state of its own and can be shared."""
    return search_builder(AnswerContext, lambda context: context).compile(name="search")


def search_builder(
    context_schema: type[ContextT],
    context_of: Callable[[ContextT], AnswerContext],
    around: Callable[[Node[ContextT]], Node[ContextT]] = lambda node: node,
) -> StateGraph[AnswerState, ContextT, QuestionInput, SearchOutput]:
    """The graph, to be compiled; the parameters are those of `answer_builder`."""
    builder: StateGraph[AnswerState, ContextT, QuestionInput, SearchOutput] = StateGraph(
        AnswerState, context_schema=context_schema, input_schema=QuestionInput, output_schema=SearchOutput
    )
    before = START
    for node in NODES:
        taking: Any = around(taking_edits(in_context(accounted(node), context_of)))
        builder.add_node(node.__name__, taking, metadata={"description": described(node)})
        builder.add_edge(before, node.__name__)
        before = node.__name__
    builder.add_edge(before, END)
    return builder
