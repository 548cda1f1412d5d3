"""LOFin (Choe et al. 2025): its rows, and HiREC's rule for numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import ROUND_FLOOR, ROUND_HALF_UP, Decimal
from pathlib import Path

from pydantic import BaseModel, Field

from fin_agent.answering.answer import Answer
from fin_agent.answering.numerals import Numeral, numerals_in
from fin_agent.evaluation.answer_scoring import first_sentence, restated_in_unit_of
from fin_agent.evaluation.financebench import FinanceBenchQuestion
from fin_agent.evaluation.pages_used import Asked, plain_number
from fin_agent.evaluation.question_files import read_records
from fin_agent.index.protocol import PageKey

NUMERIC, TEXTUAL = "numeric", "textual"
_SOURCES = {"financebench": "FinanceBench", "openqa": "SEC-QA"}
_FINQA = "FinQA"


class _EvidenceRecord(BaseModel):
    doc_name: str
    page_num: int = Field(ge=0)


class _Record(BaseModel):
    qid: str
    question: str = Field(min_length=1)
    answer: str | int | float
    evidences: list[_EvidenceRecord] = Field(min_length=1)


def load_lofin(paths: Sequence[Path], page_counts: Mapping[str, int]) -> Asked:
    """The questions of LOFin's files; a row about a page that is not among `page_counts` is left out and named.

    The type of an answer is the file's, as published (`numeric_table.jsonl`, `numeric_table/test.jsonl`); of another
    file, what the answer is. Raises QuestionError where a file holds no such rows.
    """
    questions: list[FinanceBenchQuestion] = []
    faults: list[str] = []
    for path in paths:
        records = read_records(path, _Record)
        faults += records.faults
        for place, record in records.of:
            pages = tuple(dict.fromkeys(PageKey(each.doc_name, each.page_num) for each in record.evidences))
            if beyond := [page for page in pages if page.page >= page_counts.get(page.doc_id, 0)]:
                held = page_counts.get(beyond[0].doc_id)
                why = "is not in the index" if held is None else f"has {held} pages, none of index {beyond[0].page}"
                faults.append(f"{place}: {beyond[0].doc_id} {why}")
                continue
            gold = str(record.answer)
            source = next((name for prefix, name in _SOURCES.items() if record.qid.startswith(prefix)), _FINQA)
            questions.append(
                FinanceBenchQuestion(
                    id=record.qid,
                    company="",
                    doc_id=pages[0].doc_id,
                    question_type=_type_of(path, gold),
                    reasoning=source,
                    question=record.question,
                    answer=gold,
                    pages=pages,
                )
            )
    return Asked(tuple(questions), tuple(faults))


def _type_of(path: Path, gold: str) -> str:
    for name in (path.name.split(".")[0], path.parent.name):
        if name.startswith(NUMERIC) or name == TEXTUAL:
            return name
    return TEXTUAL if plain_number(gold) is None else NUMERIC


def same_number(ours: Decimal, gold: Decimal) -> bool:
    """HiREC's rule: equal, or equal once the one with more decimals is rounded half up or cut off at the other's.

    Zeros at the end are no decimals: `3215.00` has none. Zero is equal to zero alone, and one of the two needs two
    significant digits.
    """
    if ours == gold:
        return True
    ours, gold = ours.normalize(), gold.normalize()
    decimals = [max(0, -_exponent(each)) for each in (ours, gold)]
    coarse, fine = (ours, gold) if decimals[0] < decimals[1] else (gold, ours)
    significant = max(len(each.as_tuple().digits) for each in (ours, gold))
    if decimals[0] == decimals[1] or significant < _SIGNIFICANT or not ours or not gold:
        return False
    step = Decimal(1).scaleb(-min(decimals))
    return any(fine.quantize(step, rounding=way) == coarse for way in (ROUND_HALF_UP, ROUND_FLOOR))


_SIGNIFICANT = 2


def _exponent(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    return exponent


def right_number(question: FinanceBenchQuestion, answer: Answer) -> bool | None:
    """Whether the value answered is the gold number, in its unit where that is known; None where gold is in words.

    Without a value, a number of the first sentence.
    """
    gold = plain_number(question.answer)
    if gold is None:
        return None if question.question_type == TEXTUAL else False
    numerals = numerals_in(question.answer)
    value = answer.answer.value
    if value is None or not numerals:
        said: Sequence[Numeral] = numerals_in(first_sentence(answer.answer.text))
        return any(same_number(each.value, gold) for each in said)
    restated = restated_in_unit_of(numerals[0], value, answer.answer.unit, question.question)
    return any(same_number(each, gold) for each in restated)
