"""The answer graph: nodes and edges, and the plain function that runs it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.typing import ContextT

from fin_agent.analyst.events import current_hearing, listening
from fin_agent.answering.answer import Answer, PagePlace
from fin_agent.graphs.answer import answering_nodes, search_nodes
from fin_agent.graphs.answer.accounting import accounted
from fin_agent.graphs.answer.adapting import Node, described, in_context, taking_edits
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.state import AnswerOutput, AnswerState, Next, QuestionInput
from fin_agent.index.opening import chosen_filings
from fin_agent.index.protocol import PageKey, one_state

AnswerGraph = CompiledStateGraph[AnswerState, AnswerContext, QuestionInput, AnswerOutput]
Output = TypeVar("Output", bound=AnswerOutput)

_STEPS_PER_ROUND = 7
_STEPS_AROUND = 6
_DURABILITY = "__pregel_durability"
"""LangGraph's own name in a run's configuration."""


def answer_question(
    question: str,
    context: AnswerContext,
    *,
    doc_ids: Sequence[str] | None = None,
    pages: Sequence[PageKey] | None = None,
    question_id: str | None = None,
    on_step: Callable[[str], None] = lambda node: None,
) -> Answer:
    """Run the graph on one question.

    `doc_ids` restricts the search to those filings, `pages` to those pages; `on_step` is told the name of each node as
    it ends, and whoever listens (`listening`; `stream_answer`) all that happens. Raises QuestionError where there is no
    question, FilingIndexError where a filing named is not indexed or `doc_ids` names none. All of it sees one state of
    the index.

    >>> from pathlib import Path
    >>> from fin_agent import AnswerContext, Workspace, answer_question
    >>> context = AnswerContext.by_rules(Workspace.open(Path("my-index")))
    >>> answer = answer_question("What was Harborlight's net income in FY2023?", context)
    >>> answer.answer.text
    'Net income of Harborlight Instruments, Inc. for FY2023: $544 million.'
    >>> answer.citations[0].doc_id, answer.citations[0].page + 1  # pages count from 0, viewers from 1
    ('harborlight_2023_10k', 9)
    >>> answer_question("What was research and development?", context, doc_ids=["quillmark_2023_10k"]).missing
    ('research and development of Quillmark Stores, Inc. for FY2023',)
    """
    with one_state(context.workspace.index):
        return _answered(question, context, doc_ids, pages, question_id, on_step)


def _answered(
    question: str,
    context: AnswerContext,
    doc_ids: Sequence[str] | None,
    pages: Sequence[PageKey] | None,
    question_id: str | None,
    on_step: Callable[[str], None],
) -> Answer:
    started = time.perf_counter()
    given = QuestionInput(question=question)
    chosen = chosen_filings(doc_ids, context.workspace.index)
    if chosen is not None:
        given["doc_ids"] = list(chosen)
    if pages:
        for doc_id in dict.fromkeys(key.doc_id for key in pages):
            context.workspace.index.filing(doc_id)
        given["only_pages"] = [PagePlace(doc_id=key.doc_id, page=key.page) for key in pages]
    answer: Answer | None = None
    hearing = current_hearing()
    with listening(hearing.listener, drafts=hearing.listener is not None and hearing.drafts):
        config = unkept_config(context)
        for update in unkept_graph().stream(given, context=context, stream_mode="updates", config=config):
            for node, changes in update.items():
                on_step(node)
                answer = (changes or {}).get("answer", answer)
    assert answer is not None, "the last node always answers or refuses"
    return answer.model_copy(update={"id": question_id, "seconds": round(time.perf_counter() - started, 4)})


def steps_at_most(context: AnswerContext) -> int:
    """How many steps a run takes at most: LangGraph's own limit knows nothing of rounds."""
    return _STEPS_PER_ROUND * context.settings.rounds + _STEPS_AROUND


@lru_cache(maxsize=1)
def build_graph() -> AnswerGraph:
    """The compiled graph; it holds no state of its own and can be shared.

    Invoke it, stream it, or add it as a node to a graph of your own whose state has `question` and `answer`. A run is
    given an AnswerContext as its context.

    >>> from pathlib import Path
    >>> from fin_agent import AnswerContext, Workspace, build_graph
    >>> context = AnswerContext.by_rules(Workspace.open(Path("my-index")))
    >>> build_graph().invoke({"question": "What was Tellurond's revenue in FY2023?"}, context=context)["answer"].refused
    False
    """
    return answer_builder(AnswerContext, lambda context: context).compile(name="answer")


@lru_cache(maxsize=1)
def unkept_graph() -> AnswerGraph:
    """The same, and it stays out of the checkpoints of a graph that it is run in: for tools and chains.

    Within a node of another graph, a compiled graph is taken for a subgraph, each of whose steps is kept.
    """
    return answer_builder(AnswerContext, lambda context: context).compile(name="answer", checkpointer=False)


def unkept_config(context: AnswerContext, given: RunnableConfig | None = None) -> RunnableConfig:
    """With what `unkept_graph` is run: `given`, limits of our own, and nothing of how a graph around it is kept.

    LangGraph (1.2) hands `durability="sync"` down to graphs that keep nothing, and then waits for what they keep.
    """
    return {**unkept(given), "recursion_limit": steps_at_most(context)}


def unkept(given: RunnableConfig | None = None) -> RunnableConfig:
    """`given`, and nothing of how a graph around is kept: for any graph without a checkpointer that runs in a node."""
    configurable = {**(given or {}).get("configurable", {}), _DURABILITY: "async"}
    return {**(given or {}), "configurable": configurable}


def answer_builder(
    context_schema: type[ContextT],
    context_of: Callable[[ContextT], AnswerContext],
    around: Callable[[Node[ContextT]], Node[ContextT]] = lambda node: node,
    output_schema: type[Output] = AnswerOutput,  # type: ignore[assignment]
) -> StateGraph[AnswerState, ContextT, QuestionInput, Output]:
    """The graph, to be compiled. A run is given a context of `context_schema`, of which `context_of` makes ours.

    Nodes take state that was edited, or comes from a checkpoint. `around` is put around every node.
    """
    builder: StateGraph[AnswerState, ContextT, QuestionInput, Output] = StateGraph(
        AnswerState, context_schema=context_schema, input_schema=QuestionInput, output_schema=output_schema
    )
    for node in NODES:
        taking: Any = around(taking_edits(in_context(accounted(node), context_of)))
        builder.add_node(node.__name__, taking, metadata={"description": described(node)})
    builder.add_edge(START, "rewrite_query")
    builder.add_conditional_edges("rewrite_query", _after_rewriting, ["search_documents", "verify_answer"])
    builder.add_edge("search_documents", "search_pages")
    builder.add_edge("search_pages", "search_passages")
    builder.add_edge("search_passages", "extract_cards")
    builder.add_edge("extract_cards", "filter_passages")
    builder.add_edge("filter_passages", "check_answerability")
    builder.add_conditional_edges(
        "check_answerability",
        _as_decided,
        ["ask_complementary_question", "answer_with_program", "answer_with_reasoning", "verify_answer"],
    )
    builder.add_edge("ask_complementary_question", "search_documents")
    builder.add_conditional_edges("answer_with_program", _as_decided, ["answer_with_reasoning", "verify_answer"])
    builder.add_edge("answer_with_reasoning", "verify_answer")
    builder.add_edge("verify_answer", END)
    return builder


NODES: tuple[Node[AnswerContext], ...] = (
    search_nodes.rewrite_query,
    search_nodes.search_documents,
    search_nodes.search_pages,
    search_nodes.search_passages,
    search_nodes.extract_cards,
    answering_nodes.filter_passages,
    answering_nodes.check_answerability,
    answering_nodes.ask_complementary_question,
    answering_nodes.answer_with_program,
    answering_nodes.answer_with_reasoning,
    answering_nodes.verify_answer,
)


def _after_rewriting(state: AnswerState) -> Literal["search_documents", "verify_answer"]:
    """A question that cannot be met by any filing of the index is refused without a search."""
    return "verify_answer" if state["missing"] else "search_documents"


def _as_decided(state: AnswerState) -> Next:
    """Branches read the state alone: where it is edited between two runs, there is no context."""
    return state["next"]
