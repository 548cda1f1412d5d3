"""Benchmarks with their own texts: chunks graded per question, and documents with spans that answer.

Each text becomes a small document that is read like any other.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, Field

from fin_agent.errors import QuestionError
from fin_agent.evaluation.benchmark import Row, read_records
from fin_agent.evaluation.financebench import FinanceBenchQuestion
from fin_agent.evaluation.tatqa import synthetic_cover
from fin_agent.index.protocol import PageKey

# --- Graded chunks, as in FinAgentBench


class _ChunkRecord(BaseModel):
    id: str
    text: str = Field(min_length=1)


class _GradedRecord(BaseModel):
    id: str
    question: str = Field(min_length=1)
    doc: str
    chunks: list[_ChunkRecord] = Field(min_length=1)
    qrels: dict[str, int]
    """A chunk without a grade has grade 0."""


def load_graded(path: Path) -> tuple[dict[str, str], tuple[FinanceBenchQuestion, ...], tuple[str, ...]]:
    """Return HTML documents by name, each with a cover and a page per chunk, the questions, and what was left out.

    Grades 2 and above are passages that answer, grade 1 those that help, as `eval ranking` grades them. Raises
    QuestionError if none can be ranked.
    """
    records, unread = read_records(path, _GradedRecord)
    documents: dict[str, str] = {}
    questions: list[FinanceBenchQuestion] = []
    faults = list(unread)
    for number, (place, record) in enumerate(records, start=1):
        texts = {each.id: each.text for each in record.chunks}
        if unknown := sorted(record.qrels.keys() - texts.keys()):
            faults.append(f"{place}: no chunk is called {', '.join(unknown)}")
        doc_id = f"{record.doc}-{number:04}"
        graded = {
            PageKey(doc_id, page): (record.qrels[name], text)
            for page, (name, text) in enumerate(texts.items(), start=1)  # page 0 is the cover
            if record.qrels.get(name, 0) > 0
        }
        if not graded:
            faults.append(f"{place}: no chunk has a grade above 0")
            continue
        cover = synthetic_cover(record.doc, record.question, " ".join(texts.values()))
        documents[doc_id] = as_html(["\n".join(cover), *texts.values()])
        answering = tuple((page, text) for page, (grade, text) in graded.items() if grade > 1)
        pages = tuple(graded)
        questions.append(
            FinanceBenchQuestion(record.id, record.doc, doc_id, "graded", "", record.question, "", pages, answering)
        )
    if not questions:
        raise QuestionError("no question with a graded chunk", subject=str(path), remedy=faults[0])
    return documents, tuple(questions), tuple(faults)


def as_html(pages: Sequence[str]) -> str:
    """Return an HTML document of these pages."""
    bodies = ("".join(f"<p>{html.escape(line)}</p>\n" for line in text.split("\n") if line.strip()) for text in pages)
    return f"<html><body>{_BREAK.join(bodies)}</body></html>\n"


_BREAK = "<hr style='page-break-after:always'/>\n"

# --- Spans of documents, as in LegalBench-RAG


class _Snippet(BaseModel):
    file_path: str
    span: tuple[int, int]


class SpanQuestion(BaseModel):
    """A question, and the spans of characters that answer it."""

    query: str = Field(min_length=1)
    snippets: list[_Snippet] = Field(min_length=1)


def load_spans(path: Path, corpus: Path) -> tuple[list[tuple[str, SpanQuestion]], dict[str, str], list[str]]:
    """Return questions by place in the file, texts of the corpus by path, what was left out. Raises QuestionError."""
    files = sorted(corpus.rglob("*.txt"))
    texts = {each.relative_to(corpus).as_posix(): each.read_text(encoding="utf-8", errors="replace") for each in files}
    records, unread = read_records(path, SpanQuestion, within="tests")
    questions: list[tuple[str, SpanQuestion]] = []
    faults = list(unread)
    for place, question in records:
        ends = ((each.file_path, *each.span) for each in question.snippets)
        beyond = [name for name, begin, end in ends if not 0 <= begin < end <= len(texts.get(name, ""))]
        if beyond:
            faults.append(f"{place}: {beyond[0]} is not in the corpus, or ends before the span")
        else:
            questions.append((place, question))
    if not questions:
        raise QuestionError("no question can be asked", subject=str(path), remedy=faults[0])
    return questions, texts, faults


def judge_spans(place: str, question: SpanQuestion, found: Sequence[tuple[str, str]], texts: Mapping[str, str]) -> Row:
    """Return the row for the passages found, as (file, text), by the letters and digits of them that are in the spans.

    The figure `document` is whether the first passage is of a right document.
    """
    gold, held = set[tuple[str, int]](), set[tuple[str, int]]()
    for each in question.snippets:
        begin, end = (len(_plain(texts[each.file_path][:place])) for place in each.span)
        gold |= {(each.file_path, at) for at in range(begin, end)}
    for name, text in found:
        begin = len(_plain(texts[name]).partition(_plain(text))[0])  # without the text, its end: beyond any span
        held |= {(name, at) for at in range(begin, begin + len(_plain(text)))}
    length = sum(len(_plain(text)) for _, text in found)
    figures = {
        "precision": len(gold & held) / length if length else 0.0,
        "recall": len(gold & held) / max(1, len(gold)),
        "document": bool(found) and found[0][0] in {each.file_path for each in question.snippets},
        "passages": len(found),
    }
    dataset = question.snippets[0].file_path.split("/")[0]
    return Row(place, {"dataset": dataset}, question.query, figures=figures)


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text))
