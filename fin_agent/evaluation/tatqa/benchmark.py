"""TAT-QA's file: tables with paragraphs, and questions with their gold answers."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from fin_agent.analyst.rules.context_answers.context import Context
from fin_agent.errors import QuestionError
from fin_agent.evaluation.tatqa.half import Half


@dataclass(frozen=True, slots=True)
class TatQuestion:
    """A question with its gold answer; `answer_type` and `source` are the annotators'."""

    id: str
    question: str
    answer: tuple[str, ...]
    """Empty where no gold answer is given."""
    scale: str
    answer_type: str
    source: str
    """`table`, `text` or `table-text`."""
    derivation: str


@dataclass(frozen=True, slots=True)
class TatContext:
    """One table with its paragraphs, and the questions about them."""

    id: str
    context: Context
    questions: tuple[TatQuestion, ...]


def load_contexts(path: Path) -> tuple[TatContext, ...]:
    """The contexts of a published file, plain or gzip. Raises QuestionError with what cannot be read."""
    try:
        raw = path.read_bytes()
        records = _RECORDS.validate_python(json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw))
    except (OSError, EOFError, UnicodeDecodeError, json.JSONDecodeError) as failure:
        reason = failure.strerror if isinstance(failure, OSError) and failure.strerror else str(failure)
        raise QuestionError(f"cannot be read ({reason})", subject=str(path), remedy=_REMEDY) from failure
    except ValidationError as failure:
        first = failure.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise QuestionError(f"`{place}`: {first['msg']}", subject=str(path), remedy=_REMEDY) from failure
    if not any(record.questions for record in records):
        raise QuestionError("no questions", subject=str(path), remedy=_REMEDY)
    return tuple(_context(record) for record in records)


def half_of(contexts: Sequence[TatContext], half: Half, seed: int = 0) -> tuple[TatContext, ...]:
    """One random half of the contexts, in their order; questions of one context stay together."""
    ids = sorted(context.id for context in contexts)
    random.Random(seed).shuffle(ids)
    first = set(ids[: len(ids) // 2])
    return tuple(each for each in contexts if half is Half.ALL or (each.id in first) is (half is Half.FIRST))


class _TableRecord(BaseModel):
    uid: str
    table: list[list[str | int | float | None]]


class _ParagraphRecord(BaseModel):
    order: int = 0
    text: str


class _QuestionRecord(BaseModel):
    uid: str
    question: str
    answer: list[str] | str | int | float | None = None
    derivation: str = ""
    answer_type: str = "span"
    answer_from: str = ""
    scale: str = ""


class _Record(BaseModel):
    table: _TableRecord
    paragraphs: list[_ParagraphRecord] = Field(default_factory=list)
    questions: list[_QuestionRecord] = Field(default_factory=list)


_RECORDS = TypeAdapter(list[_Record])
_REMEDY = "Give a JSON file of TAT-QA with answers: a list of objects with `table`, `paragraphs` and `questions`."


def _context(record: _Record) -> TatContext:
    table = [["" if cell is None else str(cell) for cell in row] for row in record.table.table]
    paragraphs = [each.text for each in sorted(record.paragraphs, key=lambda each: each.order)]
    return TatContext(record.table.uid, Context.of(table, paragraphs), tuple(map(_question, record.questions)))


def _question(record: _QuestionRecord) -> TatQuestion:
    return TatQuestion(
        id=record.uid,
        question=record.question,
        answer=_gold(record.answer, record.answer_type),
        scale=record.scale,
        answer_type=record.answer_type,
        source=record.answer_from,
        derivation=record.derivation,
    )


def _gold(answer: list[str] | str | int | float | None, answer_type: str) -> tuple[str, ...]:
    if answer is None:
        return ()
    if isinstance(answer, list):
        return tuple(answer)
    if answer_type == "count":
        try:
            return (str(int(float(answer))),)
        except ValueError:
            return (str(answer),)
    return (str(answer),)
