"""Answers in words by extraction: what a question wants, where its evidence says it, and whether that is enough."""

from fin_agent.analyst.rules.reasoning.answer_selection import reason

__all__ = ["reason"]
