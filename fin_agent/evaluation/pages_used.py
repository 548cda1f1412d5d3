"""Open-domain questions over pages, as HiREC measures them: pages of the passages used, by round, and along k."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from statistics import fmean
from typing import Any

from fin_agent.answering.answer import Answer
from fin_agent.evaluation.benchmark import (
    MEDIAN_SECONDS,
    QUESTIONS,
    REFUSED,
    Answered,
    Column,
    Report,
    Row,
    mean_of,
    percent,
    report_on,
    row_of,
)
from fin_agent.evaluation.financebench import FinanceBenchQuestion
from fin_agent.evaluation.tatqa import normalized
from fin_agent.index.protocol import PageKey
from fin_agent.models.call import Role

CURVE = (1, 2, 3, 5, 10, 20, 50)
"""Passages at which precision and recall are measured."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions of a published file, and what of it could not be used."""

    questions: tuple[FinanceBenchQuestion, ...]
    """`question_type` is the type of the answer, `reasoning` the source of the question."""
    faults: tuple[str, ...]
    """By file and line."""


Rule = Callable[[FinanceBenchQuestion, Answer], bool | None]
"""Whether an answer is right; None where it cannot tell."""


def judge_pages(question: FinanceBenchQuestion, answered: Answered, owners: Mapping[str, str], right: Rule) -> Row:
    """The row of an answer; `owners` are companies by filing.

    Precision is of the passages that the answer was written from: gold pages among theirs, over their number (HiREC).
    `error` says what is wrong of the first: `company`, `document`, `page`, or `nothing found`. Precision and recall are
    also given by round, and of the first k passages found, for each k of CURVE.
    """
    answer = answered.answer
    rounds = _rounds(answer) or [[]]
    found = [PageKey(each.doc_id, each.page) for each in answer.retrieved.passages]
    correct = right(question, answer)
    by_round = [(*_shares(pages, question.pages), len(pages)) for pages in rounds]
    precision, recall, passages = by_round[-1]
    at = [_shares(found[:k], question.pages) for k in CURVE]
    figures = {
        "correct": correct if correct is None else correct and not answer.refused,
        "token_f1": _token_f1(answer, question.answer) if plain_number(question.answer) is None else None,
        "precision": precision,
        "recall": recall,
        "passages": passages,
        "error": _error(rounds[-1] or found, question.pages, owners),
        "precision_by_round": [share for share, _, _ in by_round],
        "recall_by_round": [share for _, share, _ in by_round],
        "passages_by_round": [count for _, _, count in by_round],
        "precision_at": [share for share, _ in at],
        "recall_at": [share for _, share in at],
        "gold_pages": question.pages,
        "pages": list(dict.fromkeys(rounds[-1])),
    }
    labels = {"answer_type": question.question_type, "source": question.reasoning}
    return row_of(question.id, question.question, question.answer, answer, labels, figures)


def _rounds(answer: Answer) -> list[list[PageKey]]:
    """Pages of the passages kept after each round of curation; one in which nothing new came keeps what it had."""
    by_round: dict[int, list[PageKey]] = {}
    kept: list[PageKey] = []
    for step in answer.trace:
        if step.node == "filter_passages":
            kept = [PageKey(each.doc_id, each.page) for each in step.judged if each.kept] if step.judged else kept
            by_round[step.round] = kept
    return list(by_round.values())


def _shares(pages: Sequence[PageKey], gold: Sequence[PageKey]) -> tuple[float, float]:
    hits = len(set(pages) & set(gold))
    return (hits / len(pages) if pages else 0.0), hits / len(set(gold))


def _error(pages: Sequence[PageKey], gold: Sequence[PageKey], owners: Mapping[str, str]) -> str:
    if not pages:
        return "nothing found"
    first, documents = pages[0], {page.doc_id for page in gold}
    if owners.get(first.doc_id) not in {owners.get(doc_id) for doc_id in documents}:
        return "company"
    return "document" if first.doc_id not in documents else "" if first in gold else "page"


def plain_number(text: str) -> Decimal | None:
    """The number that a text is once `$`, `%` and commas are gone; None where it is none."""
    try:
        found = Decimal(text.strip().replace("$", "").replace("%", "").replace(",", "").strip())
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def _token_f1(answer: Answer, gold: str) -> float:
    if answer.refused:
        return 0.0
    ours, theirs = (Counter(normalized(text).split()) for text in (answer.answer.text, gold))
    shared = (ours & theirs).total()
    return 2 * shared / (ours.total() + theirs.total()) if shared else 0.0


def report_on_pages(rows: Sequence[Row], title: str) -> Report:
    """Figures over all, by type of answer, and by source. Raises ValueError without rows."""
    ordered = sorted(rows, key=lambda row: (row.labels["answer_type"], row.labels["source"]))
    return report_on(ordered, title, _CAPTION, _COLUMNS, ("answer_type", "source"))


def told_of(rows: Sequence[Row], answered: Sequence[Answered]) -> dict[str, Any]:
    """Beside the report: macro means over types, errors, curves by round and by k, cost by stage."""
    types = sorted({row.labels["answer_type"] for row in rows})
    macro = {}
    for name, figure in _MACRO.items():
        means = [mean_of([row for row in rows if row.labels["answer_type"] == of], figure) for of in types]
        known = [mean for mean in means if mean is not None]
        macro[name] = fmean(known) if known else None
    return {
        "macro": {"over": types, **macro},
        "errors": dict(Counter(row.figures["error"] or "none" for row in rows).most_common()),
        "rounds": list(_by_round(rows)),
        "curve": [
            {
                "k": k,
                "precision": fmean(row.figures["precision_at"][place] for row in rows),
                "recall": fmean(row.figures["recall_at"][place] for row in rows),
            }
            for place, k in enumerate(CURVE)
        ],
        "cost_by_stage": _by_stage(answered),
    }


def _by_round(rows: Sequence[Row]) -> Iterator[dict[str, float]]:
    """After each round; a question that needed fewer stands as it was after its last."""
    for number in range(max(len(row.figures["passages_by_round"]) for row in rows)):
        after: dict[str, float] = {"round": number + 1}
        for name in ("precision", "recall", "passages"):
            by_round = [row.figures[f"{name}_by_round"] for row in rows]
            after[name] = fmean(each[min(number, len(each) - 1)] for each in by_round)
        yield after


def _by_stage(answered: Sequence[Answered]) -> dict[str, dict[str, int]]:
    """Calls and tokens of models: what writes the answer is generation, all before it retrieval (HiREC, Table 4)."""
    stages = {name: {"calls": 0, "input_tokens": 0, "output_tokens": 0} for name in ("retrieval", "generation")}
    for usage in (role for each in answered for role in each.answer.usage.roles):
        stage = stages["generation" if usage.role == Role.REASONING else "retrieval"]
        for name in stage:
            stage[name] += getattr(usage, name)
    return stages


def lines_of(told: Mapping[str, Any]) -> Iterator[str]:
    """What `told_of` found, for people."""
    macro = told["macro"]
    yield f"mean over types: {', '.join(f'{name} {percent(macro[name])}' for name in _MACRO)}"
    yield f"first passage, what is wrong: {', '.join(f'{name} {count}' for name, count in told['errors'].items())}"
    for each in told["rounds"]:
        yield f"after round {each['round']}: {_two(each)}, {each['passages']:.1f} passages"
    for each in told["curve"]:
        yield f"first {each['k']}: {_two(each)}"


def _two(shares: Mapping[str, float]) -> str:
    return f"precision {percent(shares['precision'])}, recall {percent(shares['recall'])}"


_MACRO = {"precision": "precision", "recall": "recall", "accuracy": "correct"}
_COLUMNS = (
    QUESTIONS,
    Column("precision", "precision"),
    Column("recall", "recall"),
    Column("passages", "k", shown="{:.1f}".format),
    Column("judged", "judged", lambda rows: sum(row.figures["correct"] is not None for row in rows), str),
    Column("accuracy", "accuracy", lambda rows: mean_of(rows, "correct")),
    Column("token_f1", "words F1"),
    REFUSED,
    MEDIAN_SECONDS,
)
_CAPTION = (
    "in percent; precision, recall: gold pages of the k passages that an answer is written from; accuracy: of the"
    " answers judged; words F1: of questions answered in words, compares with no published figure"
)
