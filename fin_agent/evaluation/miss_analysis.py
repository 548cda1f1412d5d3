"""At which stage of the flow a question was lost whose figure is not in the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, auto

from fin_agent.answering.answer import Answer
from fin_agent.evaluation.benchmark import Row
from fin_agent.evaluation.financebench import TOP, FinanceBenchQuestion
from fin_agent.evidence.trace import TraceStep


class MissStage(StrEnum):
    """The first step of the flow that went without the gold evidence, or the last one where none did."""

    FAILED = auto()
    """Not answered: the run failed."""
    REFUSED_AT_ONCE = auto()
    """Refused before the search."""
    FILING = auto()
    """The filing is not among the first five."""
    PAGE = auto()
    """No gold page is among the first five."""
    PASSAGE = auto()
    """The gold page was dropped by the filter."""
    SLOT = auto()
    """Refused: a slot is empty."""
    REFUSED = auto()
    """Refused with no slot empty."""
    COMPUTED = auto()
    """Another figure was computed."""
    WORDS = auto()
    """Answered in words without the figure."""


def explain(
    question: FinanceBenchQuestion,
    row: Row,
    answer: Answer,
    *,
    failure: str = "",
    same_content: Mapping[str, str] | None = None,
) -> tuple[MissStage, str]:
    """The stage at which a missed question was lost, and what the run says about it: pages, slots, reasons, figures.

    `failure` is why a run ended without an answer; `same_content` names, for filings with the same bytes under several
    names, the one that stands for them.
    """
    return _stage(_Told(question, row, answer, same_content or {}), failure)


@dataclass(frozen=True, slots=True)
class _Told:
    """What a run says of the stages of one question."""

    question: FinanceBenchQuestion
    row: Row
    answer: Answer
    same_content: Mapping[str, str]

    @property
    def gold(self) -> list[tuple[str, int]]:
        return self.standing([*self.question.pages, *self.question.also])

    @property
    def filter_step(self) -> TraceStep | None:
        """The last one: it judges what earlier rounds kept as well."""
        steps = [step for step in self.answer.trace if step.node == "filter_passages"]
        return steps[-1] if steps else None

    @property
    def kept_pages(self) -> list[tuple[str, int]]:
        step = self.filter_step
        return self.standing([(each.doc_id, each.page) for each in step.judged if each.kept]) if step else []

    def standing(self, pages: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
        """The pages by the filing that stands for each."""
        return [(self.same_content.get(doc_id, doc_id), page) for doc_id, page in pages]


def _stage(told: _Told, failure: str) -> tuple[MissStage, str]:
    row, answer = told.row, told.answer
    if failure:
        return MissStage.FAILED, failure
    if not any(step.node == "search_documents" for step in answer.trace):
        return MissStage.REFUSED_AT_ONCE, "; ".join(row.missing)
    if row.figures["document_recall"] == 0:
        return MissStage.FILING, f"first {', '.join(answer.retrieved.documents[:TOP])}"
    if not (row.figures["page_hits"] or row.figures["page_hits_of_passages"]):
        return MissStage.PAGE, _ranks(told)
    if not set(told.gold) & set(told.kept_pages):
        return MissStage.PASSAGE, _why_dropped(told)
    empty = [str(entry.slot) for entry in answer.ledger if entry.required and entry.figure is None]
    if row.refused:
        return (MissStage.SLOT, "; ".join(empty)) if empty else (MissStage.REFUSED, "; ".join(row.missing))
    if answer.program is not None:
        return MissStage.COMPUTED, "; ".join(
            f"{each.text} ({_place(each.doc_id, each.page)})" for each in answer.citations
        )
    return MissStage.WORDS, "; ".join(dict.fromkeys(_place(each.doc_id, each.page) for each in answer.citations))


def _ranks(told: _Told) -> str:
    """Where the gold pages stand among all pages retrieved."""
    ranked = told.standing([(page.doc_id, page.page) for page in told.answer.retrieved.pages])
    where = [
        f"{_place(*page)}: {f'rank {ranked.index(page) + 1}' if page in ranked else f'not among {len(ranked)}'}"
        for page in told.gold
    ]
    return "; ".join(where)


def _why_dropped(told: _Told) -> str:
    step = told.filter_step
    if step is None:
        return "no passage was judged"
    judged = {key: each for each in step.judged for key in told.standing([(each.doc_id, each.page)])}
    return "; ".join(
        f"{_place(*page)}: {(judged[page].why or 'no reason given') if page in judged else 'not judged'}"
        for page in told.gold
    )


def _place(doc_id: str, page: int) -> str:
    """As people count pages."""
    return f"{doc_id} page {page + 1}"
