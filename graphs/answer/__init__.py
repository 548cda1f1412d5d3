"""The answer graph: search and curate in up to three rounds, answer with a program or in words, verify."""

from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import answer_question, as_runnable, build_graph
from fin_agent.graphs.answer.streaming import aanswer_question, astream_answer, stream_answer

__all__ = [
    "AnswerContext",
    "aanswer_question",
    "answer_question",
    "as_runnable",
    "astream_answer",
    "build_graph",
    "stream_answer",
]
