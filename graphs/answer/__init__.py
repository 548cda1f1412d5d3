"""The card's machine: search, curate, ask again at most three rounds, answer with a program or in words, verify."""

from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import answer_question, build_graph

__all__ = ["AnswerContext", "answer_question", "build_graph"]
