"""FinQA (Chen et al. 2021) as questions over whole filings: its contexts aligned with pages, its answers compared."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, Field

from fin_agent.answering.answer import Answer
from fin_agent.evaluation.financebench import FinanceBenchQuestion
from fin_agent.evaluation.pages_used import Asked
from fin_agent.evaluation.question_files import read_records
from fin_agent.index.protocol import PageKey

YES, NO = "yes", "no"


class _QaRecord(BaseModel):
    question: str = Field(min_length=1)
    exe_ans: float | str
    program: str = ""


class _Record(BaseModel):
    id: str = Field(pattern=r"^[^/]+/\d{4}/")
    """`ADI/2009/page_49.pdf-1`."""
    pre_text: list[str]
    post_text: list[str]
    table: list[list[str]]
    qa: _QaRecord


def load_finqa(
    path: Path, filing_of: Callable[[str, int], str | None], texts_of: Callable[[str], Sequence[str]]
) -> Asked:
    """The questions of a file, each with the page of the filing that its context was taken from.

    `filing_of` finds the annual report of a ticker and year, `texts_of` its pages. A question whose filing is missing,
    or whose context cannot be aligned for certain, is left out and named. Raises QuestionError where the file holds no
    such rows.
    """
    records = read_records(path, _Record)
    questions: list[FinanceBenchQuestion] = []
    faults = list(records.faults)
    for place, record in records.of:
        ticker, year, _ = record.id.split("/", 2)
        doc_id = filing_of(ticker, int(year))
        if doc_id is None:
            faults.append(f"{place}: the annual report of {ticker} for {year} is not in the index")
            continue
        page = aligned_page(
            [cell for row in record.table for cell in row], [*record.pre_text, *record.post_text], texts_of(doc_id)
        )
        if page is None:
            faults.append(f"{place}: table and text of {record.id} are not surely of one page of {doc_id}")
            continue
        gold = str(record.qa.exe_ans)
        steps = record.qa.program.count("(")
        questions.append(
            FinanceBenchQuestion(
                id=record.id,
                company=ticker,
                doc_id=doc_id,
                question_type="yes or no" if gold in (YES, NO) else "numeric",
                reasoning="one step" if steps < 2 else "several steps",
                question=record.qa.question,
                answer=gold,
                pages=(PageKey(doc_id, page),),
            )
        )
    return Asked(tuple(questions), tuple(faults))


def aligned_page(cells: Iterable[str], sentences: Iterable[str], pages: Sequence[str]) -> int | None:
    """The page that both the numbers of a table and the words around it point to; None where they do not agree.

    What few pages have counts more. HiREC compares the words by a model of inference.
    """
    by_numbers = _nearest(set(_NUMBER.findall(" ".join(cells))), [set(_NUMBER.findall(text)) for text in pages])
    by_words = _nearest(_words(" ".join(sentences)), [_words(text) for text in pages])
    return by_numbers if by_numbers == by_words else None


_NUMBER = re.compile(r"\d[\d,.]*\d")


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{3,}", text.lower()))


def _nearest(wanted: Collection[str], pages: Sequence[Collection[str]]) -> int | None:
    """The page with the most of what is wanted; None where several have as much, or none has any."""
    holding = Counter(each for page in pages for each in page if each in wanted)
    weights = {each: math.log(1 + len(pages) / count) for each, count in holding.items()}
    scores = [sum(weights[each] for each in wanted if each in page) for page in pages]
    best = max(scores, default=0.0)
    return scores.index(best) if best > 0 and scores.count(best) == 1 else None


def right_result(question: FinanceBenchQuestion, answer: Answer) -> bool | None:
    """Whether an answer is the result of the gold program, within 1%, in whatever scale the table is in.

    Percentages are fractions in FinQA.
    """
    value, unit = answer.answer.value, answer.answer.unit or ""
    if question.answer in (YES, NO):
        return answer.answer.text.lower().lstrip().startswith(question.answer)
    if value is None:
        return False
    gold = float(question.answer)
    shares = [value, value / 100] if unit.startswith("percent") else [value]
    scaled = [value * size / other for size in (_SIZES.get(unit, 1),) for other in _SIZES.values()]
    readings = shares if unit not in _SIZES else scaled
    return any(math.isclose(each, gold, rel_tol=_TOLERANCE, abs_tol=_LEAST) for each in readings)


_TOLERANCE, _LEAST = 0.01, 1e-5
_SIZES: Mapping[str, int] = {"USD": 1, "USD thousands": 1_000, "USD millions": 1_000_000, "USD billions": 1_000_000_000}
