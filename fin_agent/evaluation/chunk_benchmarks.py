"""Benchmarks with their own texts: chunks graded per question, and documents with spans that answer.

Each text becomes a small document that is read like any other.
"""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, Field

from fin_agent.errors import QuestionError
from fin_agent.evaluation.benchmark import QUESTIONS, Column, Report, Row, report_on
from fin_agent.evaluation.question_files import Records, read_records
from fin_agent.evaluation.tatqa import synthetic_cover

# --- Graded chunks, as in FinAgentBench


class _ChunkRecord(BaseModel):
    id: str
    text: str = Field(min_length=1)


class GradedRecord(BaseModel):
    """A question, the chunks of its filing, and their grades; a chunk without a grade has grade 0."""

    id: str
    question: str = Field(min_length=1)
    doc: str
    chunks: list[_ChunkRecord] = Field(min_length=1)
    qrels: dict[str, int]


@dataclass(frozen=True, slots=True)
class GradedChunks:
    """Documents by name, with a page per chunk, and the questions in FinanceBench's format, JSON Lines."""

    documents: dict[str, str]
    questions: str
    faults: tuple[str, ...]


def load_graded(path: Path) -> GradedChunks:
    """Read a file of graded chunks. Raises QuestionError if it has no such rows.

    Grades 2 and above are passages that answer, grade 1 those that help, as `eval ranking` grades them.
    """
    records: Records[GradedRecord] = read_records(path, GradedRecord)
    faults, documents, lines = list(records.faults), {}, []
    for number, (place, record) in enumerate(records.of, start=1):
        known = [each.id for each in record.chunks]
        if unknown := sorted(set(record.qrels) - set(known)):
            faults.append(f"{place}: no chunk is called {', '.join(unknown)}")
        graded = [(known.index(name), grade) for name, grade in record.qrels.items() if name in known and grade > 0]
        if not graded:
            faults.append(f"{place}: no chunk has a grade above 0")
            continue
        doc_id = f"{record.doc}-{number:04}"
        texts = [each.text for each in record.chunks]
        text = " ".join(texts)
        documents[doc_id] = as_html(["\n".join(synthetic_cover(record.doc, record.question, text)), *texts])
        evidence = [
            {
                "doc_name": doc_id,
                "evidence_page_num": page + 1,  # page 0 is the cover
                "evidence_text": texts[page] if grade > 1 else "",
            }
            for page, grade in graded
        ]
        asked = {"financebench_id": record.id, "company": record.doc, "doc_name": doc_id, "question_type": "graded"}
        lines.append(json.dumps({**asked, "question": record.question, "answer": "-", "evidence": evidence}))
    if not lines:
        raise QuestionError("no question with a graded chunk", subject=str(path), remedy="See the warnings above")
    return GradedChunks(documents, "\n".join(lines), tuple(faults))


def as_html(pages: Sequence[str]) -> str:
    """Return an HTML document of these pages."""
    bodies = ("".join(f"<p>{html.escape(line)}</p>\n" for line in text.split("\n") if line.strip()) for text in pages)
    return f"<html><body>{_BREAK.join(bodies)}</body></html>\n"


_BREAK = "<hr style='page-break-after:always'/>\n"

# --- Spans of documents, as in LegalBench-RAG


class _SnippetRecord(BaseModel):
    file_path: str
    span: tuple[int, int]


class _SpanRecord(BaseModel):
    query: str = Field(min_length=1)
    snippets: list[_SnippetRecord] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class SpanQuestion:
    """A question, and the spans of characters that answer it, by file."""

    id: str
    question: str
    spans: tuple[tuple[str, int, int], ...]


def load_spans(path: Path, corpus: Path) -> tuple[tuple[SpanQuestion, ...], dict[str, str], tuple[str, ...]]:
    """Read questions with spans.

    Returns:
        The questions, the texts of the corpus by relative path, and what was left out.

    Raises:
        QuestionError: The file has no such rows, or no question can be asked.
    """
    texts = {
        file.relative_to(corpus).as_posix(): file.read_text(encoding="utf-8", errors="replace")
        for file in sorted(corpus.rglob("*.txt"))
    }
    records = read_records(path, _SpanRecord, within="tests")
    faults, questions = list(records.faults), []
    for number, (place, record) in enumerate(records.of):
        spans = tuple((each.file_path, *each.span) for each in record.snippets)
        beyond = [name for name, begin, end in spans if not 0 <= begin < end <= len(texts.get(name, ""))]
        if beyond:
            faults.append(f"{place}: {beyond[0]} is not in the corpus, or ends before the span")
        else:
            questions.append(SpanQuestion(f"{path.stem}-{number}", record.query, spans))
    if not questions:
        raise QuestionError("no question can be asked", subject=str(path), remedy=faults[0])
    return tuple(questions), texts, tuple(faults)


def judge_spans(question: SpanQuestion, found: Sequence[tuple[str, str]], texts: dict[str, str]) -> Row:
    """Return the row for the passages found, as (file, text), by the letters and digits of them that are in the spans.

    The figure `document` is whether the first passage is of a right document.
    """
    held: dict[str, set[int]] = {}
    length = 0
    for name, text in found:
        plain, part = _plain(texts[name]), _plain(text)
        length += len(part)
        begin = plain.find(part)
        if begin >= 0:
            held.setdefault(name, set()).update(range(begin, begin + len(part)))
    gold: dict[str, set[int]] = {}
    for name, begin, end in question.spans:
        before = len(_plain(texts[name][:begin]))
        gold.setdefault(name, set()).update(range(before, before + len(_plain(texts[name][begin:end]))))
    shared = sum(len(places & held.get(name, set())) for name, places in gold.items())
    figures = {
        "precision": shared / length if length else 0.0,
        "recall": shared / max(1, sum(map(len, gold.values()))),
        "document": bool(found) and found[0][0] in gold,
        "passages": len(found),
    }
    return Row(question.id, {"dataset": question.spans[0][0].split("/")[0]}, question.question, figures=figures)


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def report_on_spans(rows: Sequence[Row]) -> Report:
    """Return precision and recall over all rows and by dataset. Raises ValueError if there are no rows."""
    return report_on(rows, "LegalBench-RAG", _CAPTION, _COLUMNS, ["dataset"])


_COLUMNS = (
    QUESTIONS,
    Column("precision", "precision"),
    Column("recall", "recall"),
    Column("document", "document first"),
    Column("passages", "k", shown="{:.1f}".format),
)
_CAPTION = "in percent of letters and digits, of the k passages found; document first: the first is of a right document"
