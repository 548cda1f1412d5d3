"""Several strategies asked the same questions over the same index."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from fin_agent.errors import FinAgentError
from fin_agent.evaluation import Oracle
from fin_agent.evaluation.answer_scoring import document_recall, page_precision, page_recall
from fin_agent.evaluation.financebench import UNKNOWN_FORM, FinanceBenchQuestion, allowed
from fin_agent.evaluation.statistics import Overlap
from fin_agent.index.protocol import PageKey
from fin_agent.retrieval.query import USUAL_DEPTH, Depth, Query, SearchResult
from fin_agent.retrieval.strategies.protocol import Strategy

PAGES_LOOKED_AT = 20
"""How far down the list of pages a miss is looked for."""


class Measure(StrEnum):
    """What is measured of one question; the names are fields of `QuestionScore`."""

    DOCUMENT_RECALL = "document_recall"
    PAGE_RECALL_OF_PASSAGES = "page_recall_of_passages"
    PAGE_RECALL_OF_PAGES = "page_recall_of_pages"
    PAGE_PRECISION = "page_precision"
    BLEU = "bleu"
    ROUGE_L = "rouge_l"


@dataclass(frozen=True, slots=True)
class Conditions:
    """What is the same for all strategies."""

    k: int = 5
    oracle: Oracle = Oracle.NONE
    forms: Mapping[str, str] = field(default_factory=dict)
    """The form of every filing in the index, by doc_id."""
    same_content: Mapping[str, str] = field(default_factory=dict)
    """For filings with the same bytes under several names the one that stands for them: they count as one."""
    debug: bool = False
    """Whether an unexpected error ends the run, for its traceback."""


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """One strategy on one question. A question it failed on has found nothing."""

    strategy: str
    id: str
    company: str
    doc_id: str
    question_type: str
    filing_type: str
    question: str
    gold_pages: tuple[PageKey, ...]
    gold_ranks: tuple[int | None, ...]
    """Where each gold page comes among the first twenty pages, from 1; None where it does not."""
    document_recall: float
    """Of the filings of the gold pages, among the first k filings."""
    page_recall_of_passages: float
    """Of the gold pages, among the pages that the first k passages stand on."""
    page_recall_of_pages: float
    """Of the gold pages, among the first k pages."""
    page_precision: float
    """Share of gold pages in the first k pages."""
    bleu: float | None
    """Of the best of the first k passages for each gold text; None where the question gives no gold text."""
    rouge_l: float | None
    passages_per_answer: int | None
    """How many passages an answer is written from; None where the search failed."""
    seconds: float | None
    """Of understanding the question and of the search; None where either failed."""
    pages_of_passages: tuple[PageKey, ...]
    """Distinct pages of the first k passages, best first."""
    pages: tuple[PageKey, ...]
    """The first twenty pages."""
    failure: str = ""

    def of(self, measure: Measure) -> float | None:
        """The figure of one measure."""
        found: float | None = getattr(self, measure.value)
        return found


@dataclass(frozen=True, slots=True)
class NotBuilt:
    """A strategy that could not be set up, and why."""

    strategy: str
    reason: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The scores of all strategies, in the order of strategies, then of questions."""

    conditions: Conditions
    strategies: tuple[str, ...]
    """Those that could be set up."""
    scores: tuple[QuestionScore, ...]
    not_built: tuple[NotBuilt, ...]

    def of(self, strategy: str) -> tuple[QuestionScore, ...]:
        """The scores of one strategy, in the order of questions."""
        return tuple(score for score in self.scores if score.strategy == strategy)


Told = Callable[[QuestionScore], None]


def compare(
    questions: Sequence[FinanceBenchQuestion],
    strategies: Sequence[str],
    *,
    build: Callable[[str], Strategy],
    understand: Callable[[str], Query],
    overlap: Overlap,
    conditions: Conditions,
    told: Told = lambda score: None,
) -> Comparison:
    """Ask every strategy every question; what fails costs its own score only.

    `build` sets up a strategy by its name, `understand` makes the query of a question: once per question, its seconds
    counted for every strategy. `told` hears of each score. What a strategy loads at its first search counts there.
    """
    asked = [_understood(question, understand, conditions) for question in questions]
    built: list[str] = []
    not_built: list[NotBuilt] = []
    scores: list[QuestionScore] = []
    for name in dict.fromkeys(strategies):
        try:
            strategy = build(name)
        except Exception as error:  # the other strategies are still compared; the reason is kept and told
            not_built.append(NotBuilt(name, _reason(error, conditions)))
            continue
        built.append(name)
        for each in asked:
            score = _score(name, each, _searched(strategy, each, conditions), overlap, conditions)
            scores.append(score)
            told(score)
    return Comparison(conditions, tuple(built), tuple(scores), tuple(not_built))


@dataclass(frozen=True, slots=True)
class _Asked:
    question: FinanceBenchQuestion
    query: Query | None
    seconds: float
    failure: str = ""


@dataclass(frozen=True, slots=True)
class _Searched:
    result: SearchResult
    seconds: float | None
    failure: str = ""


_NOTHING = SearchResult((), (), ())


def _understood(question: FinanceBenchQuestion, understand: Callable[[str], Query], conditions: Conditions) -> _Asked:
    started = time.perf_counter()
    try:
        query = understand(question.question)
    except Exception as error:  # one question that cannot be read does not end a comparison
        return _Asked(question, None, 0.0, _reason(error, conditions))
    return _Asked(question, query, time.perf_counter() - started)


def _searched(strategy: Strategy, asked: _Asked, conditions: Conditions) -> _Searched:
    if asked.query is None:
        return _Searched(_NOTHING, None, asked.failure)
    scope = allowed(asked.question, conditions.oracle, conditions.forms)
    if scope is None:
        return _Searched(_NOTHING, asked.seconds)
    # Never less than usual: some strategies search within the filings and pages they list.
    depth = Depth(
        documents=max(conditions.k, USUAL_DEPTH.documents),
        pages=max(conditions.k, USUAL_DEPTH.pages, PAGES_LOOKED_AT),
        passages=max(conditions.k, USUAL_DEPTH.passages),
    )
    started = time.perf_counter()
    try:
        result = strategy.search(asked.query, scope, depth)
    except Exception as error:  # the other questions are still asked; the reason is kept and told
        return _Searched(_NOTHING, None, _reason(error, conditions))
    return _Searched(result, asked.seconds + time.perf_counter() - started)


def _score(
    strategy: str, asked: _Asked, searched: _Searched, overlap: Overlap, conditions: Conditions
) -> QuestionScore:
    question, result, k = asked.question, searched.result, conditions.k

    def as_one(page: PageKey) -> PageKey:
        return PageKey(conditions.same_content.get(page.doc_id, page.doc_id), page.page)

    gold = tuple(PageKey(*page) for page in question.pages)
    wanted = [as_one(page) for page in gold]
    also = [as_one(PageKey(*page)) for page in question.also]
    filings = [conditions.same_content.get(filing.doc_id, filing.doc_id) for filing in result.filings]
    of_passages = [found.stored.key for found in result.passages[:k]]
    pages = [page.key for page in result.pages]
    looked_at = [as_one(page) for page in pages[:PAGES_LOOKED_AT]]
    texts = overlap.best(
        [text for _, text in question.texts], [found.stored.passage.text for found in result.passages[:k]]
    )
    read = min(len(result.passages), k) if result.kept is None else result.kept
    return QuestionScore(
        strategy=strategy,
        id=question.id,
        company=question.company,
        doc_id=question.doc_id,
        question_type=question.question_type,
        filing_type=conditions.forms.get(question.doc_id, UNKNOWN_FORM),
        question=question.question,
        gold_pages=gold,
        gold_ranks=tuple(looked_at.index(page) + 1 if page in looked_at else None for page in wanted),
        document_recall=document_recall(filings, [page.doc_id for page in wanted], k),
        page_recall_of_passages=page_recall([as_one(page) for page in of_passages], wanted, k, also=also),
        page_recall_of_pages=page_recall([as_one(page) for page in pages], wanted, k, also=also),
        page_precision=page_precision([as_one(page) for page in pages], wanted, k),
        bleu=texts.bleu if texts else None,
        rouge_l=texts.rouge_l if texts else None,
        passages_per_answer=None if searched.failure else read,
        seconds=searched.seconds,
        pages_of_passages=tuple(dict.fromkeys(of_passages)),
        pages=tuple(pages[:PAGES_LOOKED_AT]),
        failure=searched.failure,
    )


def _reason(error: Exception, conditions: Conditions) -> str:
    if isinstance(error, FinAgentError):
        return str(error)
    if conditions.debug:
        raise error
    return f"unexpected {type(error).__name__}: {error}"
