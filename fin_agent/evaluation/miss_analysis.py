"""The stage of the flow at which a question was lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum, auto

from fin_agent.answering.answer import Answer
from fin_agent.evaluation.benchmark import Row
from fin_agent.evaluation.financebench import TOP, FinanceBenchQuestion


class MissStage(StrEnum):
    """The first stage that lost the gold evidence, or the last one if none did."""

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
    """Return the stage at which a missed question was lost, and the evidence: pages, slots, reasons, figures.

    Args:
        question: The question.
        row: Its scores.
        answer: The answer.
        failure: Why the run ended without an answer; empty if it did not.
        same_content: For filings with the same bytes under several names, the name that represents them.
    """

    def standing(pages: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
        return [((same_content or {}).get(doc_id, doc_id), page) for doc_id, page in pages]

    gold = standing([*question.pages, *question.also])
    if failure:
        return MissStage.FAILED, failure
    if not any(step.node == "search_documents" for step in answer.trace):
        return MissStage.REFUSED_AT_ONCE, "; ".join(row.missing)
    if row.figures["document_recall"] == 0:
        return MissStage.FILING, f"first {', '.join(answer.retrieved.documents[:TOP])}"
    if not (row.figures["page_hits"] or row.figures["page_hits_of_passages"]):
        ranked = standing((page.doc_id, page.page) for page in answer.retrieved.pages)
        ranks = {page: f"rank {rank}" for rank, page in reversed(list(enumerate(ranked, start=1)))}
        return MissStage.PAGE, _told(gold, ranks, f"not among {len(ranked)}")
    # The last filter also judges the passages that earlier rounds kept.
    judged = next((step.judged for step in reversed(answer.trace) if step.node == "filter_passages"), ())
    placed = list(zip(standing((each.doc_id, each.page) for each in judged), judged, strict=True))
    if not any(each.kept for page, each in placed if page in gold):
        why = {page: each.why or "no reason given" for page, each in placed}
        return MissStage.PASSAGE, _told(gold, why, "not judged")
    empty = [str(entry.slot) for entry in answer.ledger if entry.required and entry.figure is None]
    if row.refused:
        return (MissStage.SLOT, "; ".join(empty)) if empty else (MissStage.REFUSED, "; ".join(row.missing))
    cited = [((each.doc_id, each.page), each.text) for each in answer.citations]
    if answer.program is not None:
        return MissStage.COMPUTED, "; ".join(f"{text} ({_place(page)})" for page, text in cited)
    return MissStage.WORDS, "; ".join(dict.fromkeys(_place(page) for page, _ in cited))


def _told(pages: Iterable[tuple[str, int]], said: Mapping[tuple[str, int], str], otherwise: str) -> str:
    return "; ".join(f"{_place(page)}: {said.get(page, otherwise)}" for page in pages)


def _place(page: tuple[str, int]) -> str:
    """Return a page as people count pages."""
    doc_id, number = page
    return f"{doc_id} page {number + 1}"
