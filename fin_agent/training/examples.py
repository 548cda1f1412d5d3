"""What the page scorer learns from: questions with their gold pages, and the features of every page searched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fin_agent.evaluation.answer_scoring import page_recall
from fin_agent.evaluation.financebench import FinanceBenchQuestion
from fin_agent.index.protocol import PageKey
from fin_agent.retrieval.document_ranking import rank_filings
from fin_agent.retrieval.page_features import MEANINGS, Candidate, candidates_of
from fin_agent.retrieval.page_ranking import greedy_select, slot_gain
from fin_agent.retrieval.page_weights import PageWeights
from fin_agent.retrieval.search_query import Query
from fin_agent.workspace import Workspace

FEATURES = tuple(MEANINGS)
"""Columns of `PageExample.values`."""
_DOCUMENTS = 5
Likeness: TypeAlias = Callable[[str, Query, Sequence[str]], Mapping[PageKey, float]]
"""How like a question, and the query made of it, the pages of these filings are."""


@dataclass(frozen=True, slots=True)
class PageExample:
    """A question over the pages of the filings that the document stage gives it."""

    question: FinanceBenchQuestion
    group: str
    """The company asked about, by its key in the index: what is left out together."""
    pages: tuple[Candidate, ...]
    values: NDArray[np.float64]
    """(pages, features); `slots` is what a page adds when it is taken first."""
    right: NDArray[np.bool_]
    """(pages,): gold pages, and those that hold the same evidence."""

    @property
    def gold_share(self) -> float:
        """Share of the gold pages that are among the pages at all: what no weights can better."""
        return self._recall([page.key for page in self.pages], len(self.pages))

    def recall(self, weights: PageWeights, k: int = 5) -> float:
        """Page recall at `k` with these weights."""
        return self._recall([page.key for page in greedy_select(self.pages, weights, k)], k)

    def _recall(self, found: Sequence[PageKey], k: int) -> float:
        ranked = [(key.doc_id, key.page) for key in found]
        return page_recall(ranked, self.question.pages, k, also=self.question.also)


def examples_of(
    questions: Iterable[FinanceBenchQuestion],
    workspace: Workspace,
    query_of: Callable[[str], Query],
    on_example: Callable[[], None] = lambda: None,
    likeness: Likeness | None = None,
) -> list[PageExample]:
    """An example for each question whose filing is in the index; `on_example` is called as each is made.

    With `likeness`, cosines take part.
    """
    examples: list[PageExample] = []
    owners, metrics = workspace.directory.owners, workspace.lexicon.metrics
    for question in questions:
        if question.doc_id in owners:
            query = query_of(question.question)
            filings = rank_filings(query, workspace.index, workspace.directory, metrics, limit=_DOCUMENTS)
            found = [filing.doc_id for filing in filings]
            like = likeness(question.question, query, found) if likeness is not None else None
            pages = tuple(candidates_of(query, filings, workspace.index, metrics, owners, likeness=like))
            examples.append(_example(question, owners[question.doc_id], pages))
        on_example()
    return examples


def _example(question: FinanceBenchQuestion, group: str, pages: tuple[Candidate, ...]) -> PageExample:
    values = [[*(page.features[name] for name in FEATURES if name != "slots"), slot_gain(page, {})] for page in pages]
    right = {*question.pages, *question.also}
    return PageExample(
        question=question,
        group=group,
        pages=pages,
        values=np.array(values, dtype=float).reshape(len(pages), len(FEATURES)),
        right=np.array([(page.key.doc_id, page.key.page) in right for page in pages], dtype=bool),
    )
