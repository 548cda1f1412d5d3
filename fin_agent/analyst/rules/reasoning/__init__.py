"""Extractive answers in words: the type of answer, the evidence for it, and whether that is sufficient."""

from fin_agent.analyst.rules.reasoning.answer_selection import reason

__all__ = ["reason"]
