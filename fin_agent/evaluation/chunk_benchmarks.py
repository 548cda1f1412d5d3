"""Chunks graded per question, as in FinAgentBench: the chunks of a question become the pages of a small document."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, Field

from fin_agent.errors import QuestionError
from fin_agent.evaluation.question_files import read_records
from fin_agent.evaluation.tatqa import synthetic_cover


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
    records = read_records(path, GradedRecord)
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
        documents[doc_id] = _as_html(["\n".join(synthetic_cover(record.doc, record.question, text)), *texts])
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


def _as_html(pages: Sequence[str]) -> str:
    """Return an HTML document of these pages."""
    bodies = ("".join(f"<p>{html.escape(line)}</p>\n" for line in text.split("\n") if line.strip()) for text in pages)
    return f"<html><body>{_BREAK.join(bodies)}</body></html>\n"


_BREAK = "<hr style='page-break-after:always'/>\n"
