"""`hyde` and `multi-hyde`: a model makes up the passage that would answer; its vector searches (Gao et al. 2023)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fin_agent.prompts import load_prompt
from fin_agent.retrieval.query import Query
from fin_agent.retrieval.strategies.ranking import Wording
from fin_agent.retrieval.strategies.writing import Writer, written

KINDS = (
    "a primary financial statement: income statement, balance sheet or cash flow statement",
    "a note to the financial statements, with its table",
    "management's discussion and analysis of results, liquidity and what drove them",
    "the description of the business, its risks, legal proceedings, or an announcement of an event",
)
"""Where the four passages of `multi-hyde` stand: a model asked four times for the same writes the same."""


class Hypothetical:
    """The wording of a query: the one passage that a model makes up; the question where it makes none.

    Raises PromptError where the prompt is not as it must be.
    """

    def __init__(self, writer: Writer, notify: Callable[[str], None], *, folder: Path | None = None) -> None:
        self._writer = writer
        self._notify = notify
        self._prompt = load_prompt("hyde", folder=folder)

    def __call__(self, query: Query) -> Wording:
        passage = written(self._writer, self._prompt.filled(question=query.text), self._notify)
        return Wording((passage,), made_up=True) if passage else Wording.of(query)


class ManyHypothetical:
    """The wording of a query: four passages of different kinds, and so the mean of their vectors.

    A passage that fails is left out; the question stands in where all do.
    """

    def __init__(self, writer: Writer, notify: Callable[[str], None], *, folder: Path | None = None) -> None:
        self._writer = writer
        self._notify = notify
        self._prompt = load_prompt("multi_hyde", folder=folder)

    def __call__(self, query: Query) -> Wording:
        prompts = [self._prompt.filled(question=query.text, kind=kind) for kind in KINDS]
        passages = tuple(filter(None, (written(self._writer, prompt, self._notify) for prompt in prompts)))
        return Wording(passages, made_up=True) if passages else Wording.of(query)
