"""FinanceBench: its questions, what is given away before the search, the score of one answer, and the report."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from rich.table import Table

from fin_agent.answering.answer import Answer, Retrieved
from fin_agent.errors import QuestionError
from fin_agent.evaluation import Oracle
from fin_agent.evaluation.answer_scoring import (
    answer_rouge_l,
    document_recall,
    gold_figures,
    kobeissi_numeric_match,
    page_hit,
    page_precision,
    page_recall,
    published_numeric_match,
    stated_match,
    strict_numeric_match,
)
from fin_agent.evaluation.benchmark import Column, Report, mean_of, report_on, seconds_at
from fin_agent.index.protocol import FilingRecord, PageKey
from fin_agent.retrieval.query import EVERYTHING, Scope

METRICS_QUESTIONS = "metrics-generated"
"""The question type whose answers are numbers by their type."""
TOP = 5
UNKNOWN_FORM = "unknown"
UNTYPED = "untyped"
"""The type of questions that name none."""


@dataclass(frozen=True, slots=True)
class FinanceBenchQuestion:
    """A question with its gold answer and gold pages."""

    id: str
    company: str
    doc_id: str
    """The filing the question is about."""
    question_type: str
    reasoning: str
    question: str
    answer: str
    pages: tuple[PageKey, ...]
    texts: tuple[tuple[PageKey, str], ...] = ()
    """What the annotators copied from each gold page."""
    also: tuple[PageKey, ...] = ()
    """Other pages, each of which holds the same evidence alone; the published questions name none."""

    @property
    def documents(self) -> tuple[str, ...]:
        """Filings that hold the gold pages."""
        return tuple(dict.fromkeys(doc_id for doc_id, _ in self.pages))


@dataclass(frozen=True, slots=True)
class Retrieval:
    """How much of a question's evidence was among the first five retrieved."""

    document_recall: float
    page_recall_of_passages: float
    """Of the pages that the first five passages are on."""
    page_hit_of_passages: bool
    page_recall: float
    """Of the first five pages."""
    page_hit: bool
    page_precision: float


@dataclass(frozen=True, slots=True)
class Row:
    """One question, its answer and its score."""

    id: str
    company: str
    doc_id: str
    question_type: str
    filing_type: str
    question: str
    gold: str
    value: float | None
    unit: str | None
    text: str
    refused: bool
    missing: tuple[str, ...]
    retrieval: Retrieval
    same_content: Retrieval
    """The same where filings with the same bytes count as one; equal to `retrieval` where there are none."""
    numeric_match: bool | None
    """By the published rule; None for questions whose answer is no number by their type."""
    kobeissi_match: bool | None
    """As Kobeissi & Langlais count it: plain numbers, an absolute tolerance beside the relative one."""
    strict_match: bool | None
    numeric_match_any: bool | None
    """By the published rule, whatever the type; None for questions whose gold answer holds no figure."""
    stated_match: bool | None
    """The same, and the figure is the value or stands in the first sentence, in the same kind of unit."""
    rouge_l: float
    """Of the answer's text against the gold answer; 0 for a refusal."""
    rounds: int
    seconds: float


def load_questions(path: Path, *, answers: bool = True) -> tuple[FinanceBenchQuestion, ...]:
    """The questions of a `questions.jsonl`. Raises QuestionError that names the line and all fields at fault.

    Without `answers`, what only the score of an answer needs may be left out: the gold answer, the company, the type of
    the question, and the name of its filing where that of the evidence says it, or the other way round.
    """
    form = _AnsweredRecord if answers else _SearchedRecord
    questions = tuple(_question(path, number, line, form) for number, line in _lines(path))
    if not questions:
        raise QuestionError("no questions", subject=str(path), remedy="Give a file with one JSON object per line.")
    return questions


def score(
    question: FinanceBenchQuestion,
    answer: Answer,
    *,
    forms: Mapping[str, str] | None = None,
    same_content: Mapping[str, str] | None = None,
) -> Row:
    """Score an answer.

    `forms` gives a filing's form by doc_id; `same_content` gives, for filings with the same bytes under several names,
    the one that stands for them.
    """
    value, unit = answer.answer.value, answer.answer.unit
    numeric = question.question_type == METRICS_QUESTIONS
    has_figure = bool(gold_figures(question.answer))
    said = answer.answer.text if value is None else f"{answer.answer.text}\n{value!r} {unit or ''}"
    told = not answer.refused
    matches = told and published_numeric_match(said, question.answer)
    strict = told and strict_numeric_match(value, unit, question.answer, question.question)
    stated = told and stated_match(value, unit, answer.answer.text, question.answer, question.question)
    return Row(
        id=question.id,
        company=question.company,
        doc_id=question.doc_id,
        question_type=question.question_type,
        filing_type=(forms or {}).get(question.doc_id, UNKNOWN_FORM),
        question=question.question,
        gold=question.answer,
        value=value,
        unit=unit,
        text=answer.answer.text,
        refused=answer.refused,
        missing=answer.missing,
        retrieval=_retrieval(question, answer.retrieved, {}),
        same_content=_retrieval(question, answer.retrieved, same_content or {}),
        numeric_match=matches if numeric else None,
        kobeissi_match=(told and kobeissi_numeric_match(said, question.answer)) if numeric else None,
        strict_match=strict if numeric else None,
        numeric_match_any=matches if has_figure else None,
        stated_match=stated if has_figure else None,
        rouge_l=answer_rouge_l(answer.answer.text, question.answer) if told else 0.0,
        rounds=answer.rounds,
        seconds=answer.seconds,
    )


def _path(location: tuple[int | str, ...]) -> str:
    """`evidence[0].doc_name`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location).removeprefix(".")


def _retrieval(question: FinanceBenchQuestion, found: Retrieved, same_content: Mapping[str, str]) -> Retrieval:
    def as_one(pages: Iterable[tuple[str, int]]) -> list[PageKey]:
        return [PageKey(same_content.get(doc_id, doc_id), page) for doc_id, page in pages]

    gold, also = as_one(question.pages), as_one(question.also)
    of_passages = as_one((passage.doc_id, passage.page) for passage in found.passages)
    pages = as_one((page.doc_id, page.page) for page in found.pages)
    documents = [same_content.get(doc_id, doc_id) for doc_id in found.documents]
    return Retrieval(
        document_recall=document_recall(documents, [page.doc_id for page in gold], TOP),
        page_recall_of_passages=page_recall(of_passages, gold, TOP, also=also),
        page_hit_of_passages=page_hit(of_passages, gold, TOP),
        page_recall=page_recall(pages, gold, TOP, also=also),
        page_hit=page_hit(pages, gold, TOP),
        page_precision=page_precision(pages, gold, TOP),
    )


class _EvidenceRecord(BaseModel):
    doc_name: str = ""
    """The question's where none is given."""
    evidence_page_num: int = Field(ge=0)
    evidence_text: str = ""


class _SearchedRecord(BaseModel):
    """A line of the published file as far as a search needs it; other fields are left alone."""

    model_config = ConfigDict(str_strip_whitespace=True)

    financebench_id: str = Field(min_length=1)
    company: str = ""
    doc_name: str = ""
    """The first evidence's where none is given."""
    question_type: str = UNTYPED
    question_reasoning: str | None = None
    question: str = Field(min_length=1)
    answer: str = ""
    also_pages: list[int] = Field(default_factory=list)
    """Not in the published files: pages of the filing, each of which holds the same evidence alone."""
    evidence: list[_EvidenceRecord] = Field(min_length=1)


class _AnsweredRecord(_SearchedRecord):
    """A line whose answer is scored too."""

    company: str
    doc_name: str = Field(min_length=1)
    question_type: str
    answer: str = Field(min_length=1)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as failure:
        reason = failure.strerror if isinstance(failure, OSError) else "not UTF-8 text"
        raise QuestionError(
            f"the questions cannot be read ({reason})", subject=str(path), remedy="Give a JSON Lines file."
        ) from failure
    # Not splitlines(): a JSON text may hold U+2028 and its like.
    return ((number, line) for number, line in enumerate(content.split("\n"), start=1) if line.strip())


def _question(path: Path, number: int, line: str, form: type[_SearchedRecord]) -> FinanceBenchQuestion:
    subject = f"{path}, line {number}"
    try:
        fields = json.loads(line)
        unnamed = _names_no_filing(fields)
        record = form.model_validate(fields)
    except json.JSONDecodeError as failure:
        raise QuestionError(
            f"not JSON ({failure.msg}, column {failure.colno})", subject=subject, remedy="Correct that line."
        ) from failure
    except ValidationError as failure:
        raise QuestionError(
            _at_fault(failure, unnamed), subject=subject, remedy=f"Correct that line. {_NEEDED}"
        ) from failure
    if unnamed:
        raise QuestionError("field `doc_name` is missing", subject=subject, remedy=f"Correct that line. {_NEEDED}")
    doc_id = record.doc_name or record.evidence[0].doc_name
    pages = [PageKey(each.doc_name or doc_id, each.evidence_page_num) for each in record.evidence]
    return FinanceBenchQuestion(
        id=record.financebench_id,
        company=record.company,
        doc_id=doc_id,
        question_type=record.question_type,
        reasoning=record.question_reasoning or "",
        question=record.question,
        answer=record.answer,
        pages=tuple(dict.fromkeys(pages)),
        texts=tuple((page, each.evidence_text) for page, each in zip(pages, record.evidence, strict=True)),
        also=tuple(PageKey(doc_id, page) for page in record.also_pages),
    )


_NEEDED = (
    "Every line needs `financebench_id`, `question`, `doc_name` and `evidence`, a list of objects with"
    " `evidence_page_num` counted from 0; where answers are scored also `company`, `question_type` and `answer`"
)


def _names_no_filing(fields: object) -> bool:
    """Whether neither a line nor some evidence of it says which filing it is about."""
    evidence = fields.get("evidence") if isinstance(fields, dict) and not fields.get("doc_name") else None
    return isinstance(evidence, list) and any(isinstance(each, dict) and not each.get("doc_name") for each in evidence)


def _at_fault(failure: ValidationError, unnamed: bool) -> str:
    """All fields that are missing, then those that cannot be used, with the reason."""
    errors = failure.errors()
    lacking = [_path(error["loc"]) for error in errors if error["type"] == "missing"]
    if unnamed and "doc_name" not in lacking:
        lacking.append("doc_name")
    missing = [f"`{name}`" for name in lacking]
    said = []
    if missing:
        said.append(
            f"field {missing[0]} is missing" if len(missing) == 1 else f"fields {', '.join(missing)} are missing"
        )
    for error in errors:
        if error["type"] != "missing":
            what = f"field `{_path(error['loc'])}`" if error["loc"] else "the line"
            said.append(f"{what} cannot be used ({error['msg']})")
    return "; ".join(said)


def allowed(question: FinanceBenchQuestion, oracle: Oracle, indexed: Collection[str]) -> Scope | None:
    """What may be retrieved for `question` of the filings `indexed`; None where no gold filing is among them."""
    if oracle is Oracle.NONE:
        return EVERYTHING
    pages = tuple(PageKey(*page) for page in question.pages if page[0] in indexed)
    if not pages:
        return None
    if oracle is Oracle.PAGE:
        return Scope(pages=pages)
    return Scope(doc_ids=tuple(dict.fromkeys(page.doc_id for page in pages)))


def standing_for(records: Iterable[FilingRecord]) -> dict[str, str]:
    """doc_id -> the first doc_id with the same bytes, for filings that are there under several names."""
    by_content: dict[str, list[str]] = {}
    for record in records:
        by_content.setdefault(record.content_hash, []).append(record.doc_id)
    return {doc_id: min(doc_ids) for doc_ids in by_content.values() if len(doc_ids) > 1 for doc_id in sorted(doc_ids)}


def summarize(rows: Sequence[Row]) -> Report:
    """The figures over all questions, by question type and by filing type. Raises ValueError without rows.

    Where filings with the same bytes are in the index under several names, the last group counts them as one.
    """
    sections: dict[str, Callable[[Row], str]] = {
        "overall": lambda row: "overall",
        "question type": lambda row: row.question_type,
        "filing type": lambda row: row.filing_type,
    }
    columns = (*_FOUND, *_NUMBERS)
    report = report_on(rows, "FinanceBench", _FOUND_CAPTION, columns, sections)
    if all(row.retrieval == row.same_content for row in rows):
        return report
    as_one = [replace(row, retrieval=row.same_content) for row in rows]
    same = {"same content as one": lambda row: "overall, same content as one"}
    return replace(report, groups=(*report.groups, *report_on(as_one, "", "", columns, same).groups))


def tables_of(report: Report, given: str = "") -> tuple[Table, Table]:
    """What was found, and which numbers are right; `given` says what was given away before the search."""
    title = f"FinanceBench, {given}" if given else "FinanceBench"
    found = replace(report, title=title, columns=_FOUND)
    numbers = replace(report, title=f"{title}: numbers", caption=_NUMBERS_CAPTION, columns=_NUMBERS)
    return found.as_table(), numbers.as_table()


def _count(marked: Callable[[Row], object]) -> Callable[[Sequence[Row]], int]:
    return lambda rows: sum(marked(row) is not None for row in rows)


_FOUND: tuple[Column[Row], ...] = (
    Column("questions", len, "n", str),
    Column("document_recall", mean_of(lambda row: row.retrieval.document_recall), "documents"),
    Column("page_recall_of_passages", mean_of(lambda row: row.retrieval.page_recall_of_passages), "passages"),
    Column("page_hits_of_passages", mean_of(lambda row: row.retrieval.page_hit_of_passages)),
    Column("page_recall", mean_of(lambda row: row.retrieval.page_recall), "pages"),
    Column("page_hits", mean_of(lambda row: row.retrieval.page_hit)),
    Column("page_precision", mean_of(lambda row: row.retrieval.page_precision)),
    Column("refusals", lambda rows: sum(row.refused for row in rows), "refused", str),
    Column("median_seconds", seconds_at(50), "s", "{:.2f}".format),
    Column("p95_seconds", seconds_at(95), "p95 s", "{:.2f}".format),
)
_FOUND_CAPTION = (
    "documents, passages, pages: recall over the first five of each, in percent (passages: of the pages they are on);"
    " s: median seconds, p95 s: 95th percentile"
)
_NUMBERS: tuple[Column[Row], ...] = (
    Column("numeric_questions", _count(lambda row: row.numeric_match), "metrics", str),
    Column("numeric_match", mean_of(lambda row: row.numeric_match), "match"),
    Column("kobeissi_match", mean_of(lambda row: row.kobeissi_match), "plain"),
    Column("strict_match", mean_of(lambda row: row.strict_match), "strict"),
    Column("figure_questions", _count(lambda row: row.numeric_match_any), "figures", str),
    Column("numeric_match_any", mean_of(lambda row: row.numeric_match_any), "match any"),
    Column("stated_match", mean_of(lambda row: row.stated_match), "stated"),
    Column("rouge_l", mean_of(lambda row: row.rouge_l), "ROUGE-L"),
)
_NUMBERS_CAPTION = (
    "metrics: questions whose answers are numbers by their type; figures: all whose gold answer holds a figure;"
    " match, match any: some number within 3% of some number of the gold answer; plain: the same of plain numbers, or"
    " within 0.03 (the published rule to the letter); strict: the value"
    " equals it as rounded there; stated: within 3%, and it is the value or in the first sentence, in its unit;"
    " ROUGE-L: of the answer's text"
)
