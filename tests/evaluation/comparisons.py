"""Questions and strategies whose scores are known, for the tests of comparisons."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.errors import FinAgentError
from fin_agent.evaluation.benchmark import PartialResults, Row
from fin_agent.evaluation.comparison import Comparison, Conditions, Reader, compare
from fin_agent.evaluation.financebench import FinanceBenchQuestion
from fin_agent.index.protocol import PageKey, StoredPassage
from fin_agent.retrieval.search_query import (
    DEFAULT_DEPTH,
    EVERYTHING,
    Depth,
    Query,
    RankedFiling,
    RankedPage,
    RankedPassage,
    Scope,
    SearchResult,
)
from fin_agent.retrieval.strategies.protocol import Strategy
from fin_agent.vocabulary.filing import Passage, PassageKind

FORMS = {"A_2023": "10-K", "B_2023": "10-Q"}


def question(number: int, *pages: tuple[str, int], kind: str = "metrics-generated") -> FinanceBenchQuestion:
    texts = tuple((page, f"gold of page {page[1]}") for page in pages)
    return FinanceBenchQuestion(f"q{number}", "A", pages[0][0], kind, "", f"question {number}?", "", pages, texts)


QUESTIONS = (
    question(1, ("A_2023", 3), ("A_2023", 4)),
    question(2, ("A_2023", 9), kind="novel-generated"),
    question(3, ("B_2023", 1)),
)


class Scripted:
    """Finds the pages it is told to, for every question the same, one passage a page; keeps what it was asked."""

    def __init__(self, name: str, pages: Sequence[tuple[str, int]], kept: int | None = None, fails: str = "") -> None:
        self.name = name
        self.asked: list[tuple[Query, Scope, Depth]] = []
        self._pages = [PageKey(*page) for page in pages]
        self._kept = kept
        self._fails = fails

    def search(self, query: Query, scope: Scope = EVERYTHING, depth: Depth = DEFAULT_DEPTH) -> SearchResult:
        self.asked.append((query, scope, depth))
        if query.text == self._fails:
            raise LookupError("no such vector")
        filings = dict.fromkeys(page.doc_id for page in self._pages)
        return SearchResult(
            tuple(RankedFiling(doc_id, 1.0, ()) for doc_id in filings),
            tuple(RankedPage(page, 1.0, ()) for page in self._pages),
            tuple(RankedPassage(passage_of(page), 1.0) for page in self._pages),
            kept=self._kept,
        )


def no_overlap(gold_texts: Sequence[str], passages: Sequence[str]) -> tuple[float, float] | None:
    """Counts nothing but the first passage, so that the tests of comparing need no extra."""
    if len(gold_texts) == 1 and "\n" in gold_texts[0]:
        return 0.125, 0.375  # all gold texts as one
    return (0.25, 0.5) if passages else (0.0, 0.0)


GOOD = Scripted("good", [("A_2023", 3), ("A_2023", 9), ("A_2023", 4), ("A_2023", 5), ("B_2023", 7), ("B_2023", 1)])
POOR = Scripted("poor", [("B_2023", 7), ("A_2023", 3)], kept=1, fails="question 2?")


def compared(
    *strategies: Scripted,
    conditions: Conditions | None = None,
    also: Sequence[str] = ("unknown",),
    questions: Sequence[FinanceBenchQuestion] = QUESTIONS,
    kept: PartialResults[Row] | None = None,
    reader: Reader | None = None,
) -> Comparison:
    """The comparison of these strategies on `questions`; strategies named in `also` cannot be built."""
    known = {strategy.name: strategy for strategy in strategies}

    def build(name: str) -> Strategy:
        if name not in known:
            raise FinAgentError(f"there is no strategy {name!r}")
        return known[name]

    return compare(
        questions,
        [*known, *also],
        build=build,
        understand=lambda text: Query(text, ()),
        overlap=no_overlap,
        conditions=conditions or Conditions(forms=FORMS),
        partial_results=kept,
        reader=reader,
    )


def passage_of(page: PageKey) -> StoredPassage:
    return StoredPassage(page.doc_id, Passage(page.page, 0, PassageKind.TEXT, f"passage of page {page.page}"), "{}")
