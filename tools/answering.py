"""A question answered by the answer graph, as a tool does it."""

from __future__ import annotations

from fin_agent.answering.answer import Answer
from fin_agent.graphs.answer.graph import answer_question as ask_graph
from fin_agent.tools.arguments import Narrowed
from fin_agent.tools.context import ToolContext
from fin_agent.tools.narrowing import narrowed


def question_answered(context: ToolContext, question: str, to: Narrowed) -> Answer:
    """The graph's answer or refusal, its seconds left out: the same call gives the same. Raises QuestionError."""
    doc_ids = narrowed(context.workspace, to, context.within)
    answer = ask_graph(question, context.answering, doc_ids=doc_ids)
    return answer.model_copy(update={"seconds": 0.0})
