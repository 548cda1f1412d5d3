"""Several strategies asked the same questions over the same index."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from fin_agent.errors import FinAgentError
from fin_agent.evaluation import Oracle
from fin_agent.evaluation.answer_scoring import document_recall, page_precision, page_recall
from fin_agent.evaluation.financebench import UNKNOWN_FORM, FinanceBenchQuestion, allowed
from fin_agent.evaluation.ranking import ndcg
from fin_agent.evaluation.statistics import Overlap
from fin_agent.index.protocol import PageKey
from fin_agent.models.metering import Budget, Meter, metered
from fin_agent.retrieval.query import USUAL_DEPTH, Depth, Query, SearchResult
from fin_agent.retrieval.strategies.protocol import Strategy

PAGES_LOOKED_AT = 20
"""How far down the list of pages a miss is looked for."""
RANKED = 10
"""Pages that nDCG looks at."""


class Measure(StrEnum):
    """What is measured of one question; the names are fields of `QuestionScore`."""

    DOCUMENT_RECALL = "document_recall"
    DOCUMENT_RECALL_OF_PASSAGES = "document_recall_of_passages"
    PAGE_RECALL_OF_PASSAGES = "page_recall_of_passages"
    PAGE_RECALL_OF_PAGES = "page_recall_of_pages"
    PAGE_PRECISION = "page_precision"
    PAGE_RECALL_READ = "page_recall_read"
    PAGE_PRECISION_READ = "page_precision_read"
    NDCG = "ndcg"
    BLEU = "bleu"
    ROUGE_L = "rouge_l"
    BLEU_OF_ALL = "bleu_of_all"
    ROUGE_L_OF_ALL = "rouge_l_of_all"


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
    document_recall_of_passages: float
    """Of these, among the filings of the first k passages (Kobeissi & Langlais, Section 3.4)."""
    page_recall_of_passages: float
    """Of the gold pages, among the pages that the first k passages stand on."""
    page_recall_of_pages: float
    """Of the gold pages, among the first k pages."""
    page_precision: float
    """Share of gold pages in the first k pages."""
    page_recall_read: float
    """Of the gold pages, among the pages of all passages that an answer is written from (HiREC, Section 5.1)."""
    page_precision_read: float
    """Gold pages hit, over these passages; 0 where there are none."""
    ndcg: float
    """Of the first ten pages; gains 0 or 1."""
    bleu: float | None
    """Of the best of the first k passages for each gold text; None where the question gives no gold text."""
    rouge_l: float | None
    bleu_of_all: float | None
    """The same against all gold texts of the question as one (Kobeissi & Langlais, Section 3.4)."""
    rouge_l_of_all: float | None
    passages_per_answer: int | None
    """How many passages an answer is written from; None where the search failed."""
    seconds: float | None
    """Of understanding the question and of the search; None where either failed."""
    model_calls: int
    tokens: int
    """Of chat models, in and out, in the search."""
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
    kept: KeptScores | None = None,
) -> Comparison:
    """Ask every strategy every question; what fails costs its own score only.

    `build` sets up a strategy by its name, `understand` makes the query of a question: once per question, its seconds
    counted for every strategy. `told` hears of each score. What a strategy loads at its first search counts there. What
    `kept` holds of an earlier run is not asked again.
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
        for number, each in enumerate(asked):
            score = kept.take(name, number) if kept is not None else None
            if score is None:
                score = _score(name, each, _searched(strategy, each, conditions), overlap, conditions)
                if kept is not None:
                    kept.add(number, score)
            scores.append(score)
            told(score)
    if kept is not None:
        kept.path.unlink(missing_ok=True)
    return Comparison(conditions, tuple(built), tuple(scores), tuple(not_built))


_SCORE = TypeAdapter(QuestionScore)


class KeptScores:
    """The scores of a comparison that was stopped, a line each behind a line that says what was compared."""

    def __init__(self, out: Path, compared: object) -> None:
        """`compared` is all that a score depends on beside its strategy: of anything else no score is taken."""
        out.mkdir(parents=True, exist_ok=True)
        self.path = out / "rows.unfinished.jsonl"
        head = json.dumps({"comparison": hashlib.sha256(repr(compared).encode()).hexdigest()})
        lines = self.path.read_text(encoding="utf-8").split("\n") if self.path.exists() else [""]
        self._scores: dict[tuple[str, int], QuestionScore] = {}
        if lines[0] == head:
            with suppress(ValueError, ValidationError):  # the last line may be cut short
                for line in lines[1:]:
                    number, _, score = line.partition(" ")
                    read = _SCORE.validate_json(score)
                    self._scores[read.strategy, int(number)] = read
        self.path.write_text(f"{head}\n", encoding="utf-8")
        for (_, place), kept in self._scores.items():
            self.add(place, kept)

    def take(self, strategy: str, number: int) -> QuestionScore | None:
        """The score of a strategy on the question at that place, if there is one."""
        return self._scores.get((strategy, number))

    def add(self, number: int, score: QuestionScore) -> None:
        """Keep a score; one that failed is asked again."""
        if not score.failure:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"{number} {_SCORE.dump_json(score).decode()}\n")


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
    calls: int = 0
    tokens: int = 0


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
    meter = Meter(Budget(), of="search")
    try:
        with metered(meter):
            result = strategy.search(asked.query, scope, depth)
    except Exception as error:  # the other questions are still asked; the reason is kept and told
        return _Searched(_NOTHING, None, _reason(error, conditions))
    spent, seconds = meter.spent(), asked.seconds + time.perf_counter() - started
    return _Searched(result, seconds, calls=spent.calls, tokens=spent.tokens)


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
    gold_texts, passages = [text for _, text in question.texts], [found.stored for found in result.passages[:k]]
    texts = overlap.best(gold_texts, [found.passage.text for found in passages])
    as_one_text = overlap.best(["\n".join(gold_texts)], [found.passage.text for found in passages])
    read = min(len(result.passages), k) if result.kept is None else result.kept
    read_pages = [as_one(found.stored.key) for found in result.passages[:read]]
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
        document_recall_of_passages=document_recall(
            [as_one(page).doc_id for page in of_passages], [page.doc_id for page in wanted], k
        ),
        page_recall_of_passages=page_recall([as_one(page) for page in of_passages], wanted, k, also=also),
        page_recall_of_pages=page_recall([as_one(page) for page in pages], wanted, k, also=also),
        page_precision=page_precision([as_one(page) for page in pages], wanted, k),
        page_recall_read=page_recall(read_pages, wanted, read, also=also),
        page_precision_read=len(set(read_pages).intersection(wanted)) / read if read else 0.0,
        ndcg=ndcg(list(dict.fromkeys(looked_at)), set(wanted), RANKED),
        bleu=texts.bleu if texts else None,
        rouge_l=texts.rouge_l if texts else None,
        bleu_of_all=as_one_text.bleu if as_one_text else None,
        rouge_l_of_all=as_one_text.rouge_l if as_one_text else None,
        passages_per_answer=None if searched.failure else read,
        seconds=searched.seconds,
        model_calls=searched.calls,
        tokens=searched.tokens,
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
