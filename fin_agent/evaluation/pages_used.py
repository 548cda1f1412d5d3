"""Open-domain questions over pages, as HiREC measures them: pages of the passages used, by round, and along k."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from statistics import fmean

from fin_agent.answering.answer import Answer
from fin_agent.evaluation.benchmark import Answered, Column, Report, mean_of, percent, report_on, seconds_at
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


@dataclass(frozen=True, slots=True)
class PageRow:
    """A question, what its answer is worth, and the pages of the passages that it was written from."""

    id: str
    answer_type: str
    source: str
    question: str
    gold: str
    text: str
    value: float | None
    unit: str | None
    refused: bool
    correct: bool | None
    """None for an answer in words that nobody judged."""
    token_f1: float | None
    """Of an answer in words."""
    precision: float
    """Gold pages among those of the passages used, over the number of passages (HiREC)."""
    recall: float
    passages: int
    error: str
    """What is wrong of the first passage: `company`, `document`, `page`, or `nothing found`; empty where nothing is."""
    precision_by_round: tuple[float, ...]
    recall_by_round: tuple[float, ...]
    passages_by_round: tuple[int, ...]
    precision_at: tuple[float, ...]
    """Of the first k passages found, for each k of CURVE."""
    recall_at: tuple[float, ...]
    gold_pages: tuple[PageKey, ...]
    pages: tuple[PageKey, ...]
    seconds: float


Rule = Callable[[FinanceBenchQuestion, Answer], bool | None]
"""Whether an answer is right; None where it cannot tell."""


def judge_pages(question: FinanceBenchQuestion, answered: Answered, owners: Mapping[str, str], right: Rule) -> PageRow:
    """The row of an answer; `owners` are companies by filing."""
    answer = answered.answer
    rounds = _rounds(answer) or [[]]
    found = [PageKey(each.doc_id, each.page) for each in answer.retrieved.passages]
    correct = right(question, answer)
    by_round = [_shares(pages, question.pages) for pages in rounds]
    at = [_shares(found[:k], question.pages) for k in CURVE]
    return PageRow(
        id=question.id,
        answer_type=question.question_type,
        source=question.reasoning,
        question=question.question,
        gold=question.answer,
        text=answer.answer.text,
        value=answer.answer.value,
        unit=answer.answer.unit,
        refused=answer.refused,
        correct=correct if correct is None else correct and not answer.refused,
        token_f1=_token_f1(answer, question.answer) if plain_number(question.answer) is None else None,
        precision=by_round[-1][0],
        recall=by_round[-1][1],
        passages=len(rounds[-1]),
        error=_error(rounds[-1] or found, question.pages, owners),
        precision_by_round=tuple(precision for precision, _ in by_round),
        recall_by_round=tuple(recall for _, recall in by_round),
        passages_by_round=tuple(map(len, rounds)),
        precision_at=tuple(precision for precision, _ in at),
        recall_at=tuple(recall for _, recall in at),
        gold_pages=question.pages,
        pages=tuple(dict.fromkeys(rounds[-1])),
        seconds=answer.seconds,
    )


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


def report_on_pages(rows: Sequence[PageRow], title: str) -> Report:
    """Figures over all, by type of answer, by source, and by both. Raises ValueError without rows."""
    sections: dict[str, Callable[[PageRow], str]] = {
        "overall": lambda row: "overall",
        "answer type": lambda row: row.answer_type,
        "source": lambda row: row.source,
    }
    ordered = sorted(rows, key=lambda row: (row.answer_type, row.source))
    return report_on(ordered, title, _CAPTION, _COLUMNS, sections)


def told_of(rows: Sequence[PageRow], answered: Sequence[Answered]) -> dict[str, object]:
    """Beside the report: macro means over types, errors, curves by round and by k, cost by stage."""
    types = sorted({row.answer_type for row in rows})
    of_types = [[row for row in rows if row.answer_type == name] for name in types]
    macro = {}
    for name, number in _MACRO.items():
        known = [share for of in of_types if (share := mean_of(number)(of)) is not None]
        macro[name] = fmean(known) if known else None
    return {
        "macro": {"over": types, **macro},
        "errors": dict(Counter(row.error or "none" for row in rows).most_common()),
        "rounds": list(_by_round(rows)),
        "curve": [
            {
                "k": k,
                "precision": fmean(row.precision_at[place] for row in rows),
                "recall": fmean(row.recall_at[place] for row in rows),
            }
            for place, k in enumerate(CURVE)
        ],
        "cost_by_stage": _by_stage(answered),
    }


def _by_round(rows: Sequence[PageRow]) -> Iterator[dict[str, float]]:
    """After each round; a question that needed fewer stands as it was after its last."""
    for number in range(max(len(row.passages_by_round) for row in rows)):
        at = [(row, min(number, len(row.passages_by_round) - 1)) for row in rows]
        yield {
            "round": number + 1,
            "precision": fmean(row.precision_by_round[place] for row, place in at),
            "recall": fmean(row.recall_by_round[place] for row, place in at),
            "passages": fmean(row.passages_by_round[place] for row, place in at),
        }


def _by_stage(answered: Sequence[Answered]) -> dict[str, dict[str, int]]:
    """Calls and tokens of models: what writes the answer is generation, all before it retrieval (HiREC, Table 4)."""
    stages = {name: {"calls": 0, "input_tokens": 0, "output_tokens": 0} for name in ("retrieval", "generation")}
    for usage in (role for each in answered for role in each.answer.usage.roles):
        stage = stages["generation" if usage.role == Role.REASONING else "retrieval"]
        for name in stage:
            stage[name] += getattr(usage, name)
    return stages


def lines_of(told: Mapping[str, object]) -> Iterator[str]:
    """What `told_of` found, for people."""
    errors, rounds, curve, macro = (told[name] for name in ("errors", "rounds", "curve", "macro"))
    assert isinstance(errors, dict) and isinstance(rounds, list) and isinstance(curve, list) and isinstance(macro, dict)
    yield f"mean over types: {', '.join(f'{name} {percent(macro[name])}' for name in _MACRO)}"
    yield f"first passage, what is wrong: {', '.join(f'{name} {count}' for name, count in errors.items())}"
    for each in rounds:
        yield f"after round {each['round']}: {_two(each)}, {each['passages']:.1f} passages"
    for each in curve:
        yield f"first {each['k']}: {_two(each)}"


def _two(shares: Mapping[str, float]) -> str:
    return f"precision {percent(shares['precision'])}, recall {percent(shares['recall'])}"


_MACRO: Mapping[str, Callable[[PageRow], float | None]] = {
    "precision": lambda row: row.precision,
    "recall": lambda row: row.recall,
    "accuracy": lambda row: row.correct,
}
_COLUMNS: tuple[Column[PageRow], ...] = (
    Column("questions", len, "n", str),
    Column("precision", mean_of(lambda row: row.precision), "precision"),
    Column("recall", mean_of(lambda row: row.recall), "recall"),
    Column("passages", mean_of(lambda row: row.passages), "k", "{:.1f}".format),
    Column("judged", lambda rows: sum(row.correct is not None for row in rows), "judged", str),
    Column("accuracy", mean_of(lambda row: row.correct), "accuracy"),
    Column("token_f1", mean_of(lambda row: row.token_f1), "words F1"),
    Column("refused", mean_of(lambda row: row.refused), "refused"),
    Column("median_seconds", seconds_at(50), "s", "{:.2f}".format),
)
_CAPTION = (
    "in percent; precision, recall: gold pages of the k passages that an answer is written from; accuracy: of the"
    " answers judged; words F1: of questions answered in words, compares with no published figure"
)
