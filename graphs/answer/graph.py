"""The answer graph: nodes and edges, and the plain function that runs it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from fin_agent.answering.answer import Answer, PagePlace
from fin_agent.graphs.answer import answering_nodes, search_nodes
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.state import AnswerOutput, AnswerState, QuestionInput
from fin_agent.index.protocol import PageKey

AnswerGraph = CompiledStateGraph[AnswerState, AnswerContext, QuestionInput, AnswerOutput]

_STEPS_PER_ROUND = 7
_STEPS_AROUND = 6


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
    it ends. Raises QuestionError where there is no question, FilingIndexError where a filing named is not indexed.
    """
    started = time.perf_counter()
    given = QuestionInput(question=question)
    if doc_ids:
        for doc_id in doc_ids:
            context.workspace.index.filing(doc_id)
        given["doc_ids"] = list(doc_ids)
    if pages:
        for doc_id in dict.fromkeys(key.doc_id for key in pages):
            context.workspace.index.filing(doc_id)
        given["only_pages"] = [PagePlace(doc_id=key.doc_id, page=key.page) for key in pages]
    limit = _STEPS_PER_ROUND * context.settings.rounds + _STEPS_AROUND
    answer: Answer | None = None
    for update in build_graph().stream(
        given, context=context, stream_mode="updates", config={"recursion_limit": limit}
    ):
        for node, changes in update.items():
            on_step(node)
            answer = (changes or {}).get("answer", answer)
    assert answer is not None, "the last node always answers or refuses"
    return answer.model_copy(update={"id": question_id, "seconds": round(time.perf_counter() - started, 4)})


@lru_cache(maxsize=1)
def build_graph() -> AnswerGraph:
    """The compiled graph; it holds no state of its own and can be shared."""
    builder: StateGraph[AnswerState, AnswerContext, QuestionInput, AnswerOutput] = StateGraph(
        AnswerState, context_schema=AnswerContext, input_schema=QuestionInput, output_schema=AnswerOutput
    )
    nodes: dict[str, Any] = {
        "rewrite_query": search_nodes.rewrite_query,
        "search_documents": search_nodes.search_documents,
        "search_pages": search_nodes.search_pages,
        "search_passages": search_nodes.search_passages,
        "extract_cards": search_nodes.extract_cards,
        "filter_passages": answering_nodes.filter_passages,
        "check_answerability": answering_nodes.check_answerability,
        "ask_complementary_question": answering_nodes.ask_complementary_question,
        "answer_with_program": answering_nodes.answer_with_program,
        "answer_with_reasoning": answering_nodes.answer_with_reasoning,
        "verify_answer": answering_nodes.verify_answer,
    }
    for name, node in nodes.items():
        builder.add_node(name, node)
    builder.add_edge(START, "rewrite_query")
    builder.add_conditional_edges("rewrite_query", _after_rewriting, ["search_documents", "verify_answer"])
    builder.add_edge("search_documents", "search_pages")
    builder.add_edge("search_pages", "search_passages")
    builder.add_edge("search_passages", "extract_cards")
    builder.add_edge("extract_cards", "filter_passages")
    builder.add_edge("filter_passages", "check_answerability")
    builder.add_conditional_edges(
        "check_answerability",
        answering_nodes.after_checking,
        ["ask_complementary_question", "answer_with_program", "answer_with_reasoning", "verify_answer"],
    )
    builder.add_edge("ask_complementary_question", "search_documents")
    builder.add_edge("answer_with_program", "verify_answer")
    builder.add_edge("answer_with_reasoning", "verify_answer")
    builder.add_edge("verify_answer", END)
    return builder.compile(name="answer")


def _after_rewriting(state: AnswerState) -> Literal["search_documents", "verify_answer"]:
    """A question that cannot be met by any filing of the index is refused without a search."""
    return "verify_answer" if state["missing"] else "search_documents"
