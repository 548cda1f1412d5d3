"""Open-domain questions over pages, LOFin's and FinQA's, with HiREC's measures, by round and by k."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_FLOOR, ROUND_HALF_UP, Decimal, InvalidOperation
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import BaseModel, Field

from fin_agent.answering.answer import Answer, RoleUsage
from fin_agent.answering.numerals import numerals_in
from fin_agent.evaluation.answer_scoring import USD_SCALES, convert_to_gold_unit, first_sentence
from fin_agent.evaluation.benchmark import AnsweredQuestion, Row, mean_of, percent, read_records, row_of
from fin_agent.evaluation.financebench import FinanceBenchQuestion
from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.lexicon.fiscal_periods import ANNUAL_FORMS
from fin_agent.models.call import Role

CURVE = (1, 2, 3, 5, 10, 20, 50)
"""Cutoffs at which precision and recall are measured, in passages."""


Rule = Callable[[FinanceBenchQuestion, Answer], bool | None]
"""Returns whether an answer is right; None if it cannot be decided."""


def judge_pages(
    question: FinanceBenchQuestion, answered: AnsweredQuestion, owners: Mapping[str, str], right: Rule
) -> Row:
    """Return the row of an answer that is right by the rule `right`; `owners` gives the company of each filing.

    Precision is that of the passages that the answer was written from: gold pages among theirs, over their number
    (HiREC). `error` is what is wrong with the first passage: `company`, `document`, `page`, or `nothing found`.
    Precision and recall are also given by round, and for the first k passages found, for each k of CURVE.
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
    """Return the pages of the passages kept after each round of curation; a round without new ones keeps the last."""
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
    """Return the number that a text is without `$`, `%` and commas; None if it is not a number."""
    try:
        found = Decimal(text.strip().replace("$", "").replace("%", "").replace(",", "").strip())
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def detailed_metrics(rows: Sequence[Row], answered: Sequence[AnsweredQuestion]) -> dict[str, Any]:
    """Return further figures: macro means over types, errors, curves by round and by k, cost by stage."""
    types = sorted({row.labels["answer_type"] for row in rows})
    by_type = [[row for row in rows if row.labels["answer_type"] == of] for of in types]
    means = {name: [mean_of(members, figure) for members in by_type] for name, figure in _MACRO.items()}
    known = {name: [mean for mean in of if mean is not None] for name, of in means.items()}
    macro = {name: fmean(of) if of else None for name, of in known.items()}
    rounds = range(max(len(row.figures["passages_by_round"]) for row in rows))
    return {
        "macro": {"over": types, **macro},
        "errors": dict(Counter(row.figures["error"] or "none" for row in rows).most_common()),
        "rounds": [
            {"round": at + 1, **_means(rows, ("precision", "recall", "passages"), "by_round", at)} for at in rounds
        ],
        "curve": [{"k": k, **_means(rows, ("precision", "recall"), "at", at)} for at, k in enumerate(CURVE)],
        "cost_by_stage": cost_by_stage(role for each in answered for role in each.answer.usage.roles),
    }


def _means(rows: Sequence[Row], names: Sequence[str], of: str, at: int) -> dict[str, float]:
    """Return the means at a place of curves; a question that needed fewer rounds counts with its last."""
    curves = {name: [row.figures[f"{name}_{of}"] for row in rows] for name in names}
    return {name: fmean(each[min(at, len(each) - 1)] for each in of_rows) for name, of_rows in curves.items()}


def cost_by_stage(usages: Iterable[RoleUsage]) -> dict[str, dict[str, int]]:
    """Return model calls and tokens of generation (what writes the answer) and of retrieval (HiREC, Table 4)."""
    stages = {name: {"calls": 0, "input_tokens": 0, "output_tokens": 0} for name in ("retrieval", "generation")}
    for usage in usages:
        stage = stages["generation" if usage.role == Role.REASONING else "retrieval"]
        for name in stage:
            stage[name] += getattr(usage, name)
    return stages


def metric_lines(told: Mapping[str, Any]) -> Iterator[str]:
    """Yield the figures of `detailed_metrics` in lines."""
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
# --- LOFin (Choe et al. 2025), with HiREC's rule for numbers

NUMERIC, TEXTUAL = "numeric", "textual"
_SOURCES = {"financebench": "FinanceBench", "openqa": "SEC-QA"}


class _EvidenceRecord(BaseModel):
    doc_name: str
    page_num: int = Field(ge=0)


class _LofinRecord(BaseModel):
    qid: str
    question: str = Field(min_length=1)
    answer: str | int | float
    evidences: list[_EvidenceRecord] = Field(min_length=1)


def load_lofin(
    paths: Sequence[Path], page_counts: Mapping[str, int]
) -> tuple[tuple[FinanceBenchQuestion, ...], tuple[str, ...]]:
    """Read LOFin's files; also return file, line and reason of what was left out.

    The type of an answer, `question_type`, is that of its file, as published (`numeric_table.jsonl`,
    `numeric_table/test.jsonl`); for other files it is derived from the answer. `reasoning` is the source. Rows about
    pages that are not in `page_counts` are left out. Raises QuestionError if a file has no such rows.
    """
    questions: list[FinanceBenchQuestion] = []
    faults: list[str] = []
    for path in paths:
        records, unread = read_records(path, _LofinRecord)
        faults += unread
        for place, record in records:
            pages = tuple(dict.fromkeys(PageKey(each.doc_name, each.page_num) for each in record.evidences))
            if beyond := [page for page in pages if page.page >= page_counts.get(page.doc_id, 0)]:
                held = page_counts.get(beyond[0].doc_id)
                why = "is not in the index" if held is None else f"has {held} pages, none of index {beyond[0].page}"
                faults.append(f"{place}: {beyond[0].doc_id} {why}")
                continue
            gold = str(record.answer)
            source = next((name for prefix, name in _SOURCES.items() if record.qid.startswith(prefix)), "FinQA")
            named = (path.name.split(".")[0], path.parent.name)
            told = (name for name in named if name.startswith(NUMERIC) or name == TEXTUAL)
            kind = next(told, TEXTUAL if plain_number(gold) is None else NUMERIC)
            questions.append(
                FinanceBenchQuestion(record.qid, "", pages[0].doc_id, kind, source, record.question, gold, pages)
            )
    return tuple(questions), tuple(faults)


def same_number(ours: Decimal, gold: Decimal) -> bool:
    """Return whether two numbers are equal by HiREC's rule.

    They are equal, or equal once the one with more decimals is rounded half up or truncated to the other's. Trailing
    zeros are not decimals: `3215.00` has none. Zero equals zero only, and one of the two needs two significant digits.
    """
    if ours == gold:
        return True
    ours, gold = ours.normalize(), gold.normalize()
    decimals = [max(0, -int(each.as_tuple().exponent)) for each in (ours, gold)]
    coarse, fine = (ours, gold) if decimals[0] < decimals[1] else (gold, ours)
    significant = max(len(each.as_tuple().digits) for each in (ours, gold))
    if decimals[0] == decimals[1] or significant < 2 or not ours or not gold:
        return False
    step = Decimal(1).scaleb(-min(decimals))
    return any(fine.quantize(step, rounding=way) == coarse for way in (ROUND_HALF_UP, ROUND_FLOOR))


def right_number(question: FinanceBenchQuestion, answer: Answer) -> bool | None:
    """Return whether the value equals the gold number, in its unit if known; None if gold is in words.

    Without a value, the numbers of the first sentence are compared.
    """
    gold = plain_number(question.answer)
    if gold is None:
        return None if question.question_type == TEXTUAL else False
    numerals, value = numerals_in(question.answer), answer.answer.value
    if value is None or not numerals:
        said = [each.value for each in numerals_in(first_sentence(answer.answer.text))]
    else:
        said = convert_to_gold_unit(numerals[0], value, answer.answer.unit, question.question)
    return any(same_number(each, gold) for each in said)


# --- FinQA (Chen et al. 2021) over whole filings: the context of a question is aligned with a page

_YES_OR_NO = ("yes", "no")


class _QaRecord(BaseModel):
    question: str = Field(min_length=1)
    exe_ans: float | str
    program: str = ""


class _FinQaRecord(BaseModel):
    id: str = Field(pattern=r"^[^/]+/\d{4}/")
    """`ADI/2009/page_49.pdf-1`."""
    pre_text: list[str]
    post_text: list[str]
    table: list[list[str]]
    qa: _QaRecord


def load_finqa(path: Path, index: FilingIndex) -> tuple[tuple[FinanceBenchQuestion, ...], tuple[str, ...]]:
    """Read a file of FinQA, and find the page of each question's context in the annual report. Raises QuestionError.

    Questions whose report is not in the index, or whose context is not surely of one page, are left out and told.
    """
    annual = [record for record in index.filings() if record.identity.form in ANNUAL_FORMS]
    reports = {f"{record.identity.ticker}/{record.identity.fiscal_year}": record for record in annual}
    records, unread = read_records(path, _FinQaRecord)
    questions: list[FinanceBenchQuestion] = []
    faults = list(unread)
    for place, record in records:
        report = reports.get(record.id.rpartition("/")[0])
        if report is None:
            faults.append(f"{place}: the annual report of {record.id} is not in the index")
            continue
        doc_id = report.doc_id
        texts = [each.page.text for each in index.pages([PageKey(doc_id, page) for page in range(report.page_count)])]
        cells = [cell for row in record.table for cell in row]
        page = aligned_page(cells, [*record.pre_text, *record.post_text], texts)
        if page is None:
            faults.append(f"{place}: table and text of {record.id} are not surely of one page of {doc_id}")
            continue
        gold = str(record.qa.exe_ans)
        kind = "yes or no" if gold in _YES_OR_NO else NUMERIC
        steps = "one step" if record.qa.program.count("(") < 2 else "several steps"
        pages = (PageKey(doc_id, page),)
        questions.append(FinanceBenchQuestion(record.id, "", doc_id, kind, steps, record.qa.question, gold, pages))
    return tuple(questions), tuple(faults)


def aligned_page(cells: Iterable[str], sentences: Iterable[str], pages: Sequence[str]) -> int | None:
    """Return the page that both the numbers of a table and the words around it match best; None if they do not agree.

    Words and numbers that few pages have weigh more. HiREC compares the words with an inference model.
    """
    by_numbers = _nearest(_NUMBER, " ".join(cells), pages)
    return by_numbers if by_numbers == _nearest(_WORD, " ".join(sentences), pages) else None


_NUMBER, _WORD = re.compile(r"\d[\d,.]*\d"), re.compile(r"[a-z]{3,}")


def _nearest(of: re.Pattern[str], text: str, pages: Sequence[str]) -> int | None:
    """Return the page that shares most tokens with the text; None if several pages tie, or none shares any."""
    wanted = set(of.findall(text.lower()))
    shared = [wanted.intersection(of.findall(page.lower())) for page in pages]
    counts = Counter(token for tokens in shared for token in tokens)
    scores = [math.fsum(math.log(1 + len(pages) / counts[token]) for token in tokens) for tokens in shared]
    best = max(scores, default=0.0)
    return scores.index(best) if best > 0 and scores.count(best) == 1 else None


def right_result(question: FinanceBenchQuestion, answer: Answer) -> bool:
    """Return whether an answer is the result of the gold program, within 1%, in any scale.

    Percentages are fractions in FinQA.
    """
    value, unit = answer.answer.value, answer.answer.unit or ""
    if question.answer in _YES_OR_NO:
        return answer.answer.text.lower().lstrip().startswith(question.answer)
    if value is None:
        return False
    readings = [value]
    if unit in USD_SCALES:
        readings = [value * USD_SCALES[unit] / other for other in USD_SCALES.values()]
    elif unit.startswith("percent"):
        readings.append(value / 100)
    return any(math.isclose(each, float(question.answer), rel_tol=0.01, abs_tol=1e-5) for each in readings)
