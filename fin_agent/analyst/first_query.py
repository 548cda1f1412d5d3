"""What a question is first searched with."""

from __future__ import annotations

from fin_agent.analyst.protocol import Analyst
from fin_agent.retrieval.query import Query


def first_query(question: str, analyst: Analyst) -> Query:
    """The query of the first round, before anything is known. Raises QuestionError where there is nothing to read."""
    intent = analyst.intent(question)
    return analyst.query(intent, analyst.plan(intent), None)
