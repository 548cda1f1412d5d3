"""TAT-QA (Zhu et al. 2021): each table with its paragraphs becomes a small filing; questions are answered as usual."""

from __future__ import annotations

import html
import random
import re
import string
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from fin_agent.answering.answer import Answer
from fin_agent.evaluation.answer_scoring import USD_SCALES
from fin_agent.evaluation.benchmark import Row, read_records, row_of

# --- The file


def _parts(answer: object) -> object:
    if answer is None or isinstance(answer, list):
        return answer or ()
    return (str(answer).removesuffix(".0") if isinstance(answer, int | float) else answer,)


class TatQuestion(BaseModel):
    """A question with its gold answer; `answer_type` and `source` are those of the annotators."""

    model_config = ConfigDict(frozen=True)

    id: str = Field(alias="uid")
    question: str = Field(min_length=1)
    gold: Annotated[tuple[str, ...], BeforeValidator(_parts)] = Field(default=(), alias="answer")
    """The parts of the gold answer; empty if there is none."""
    scale: str = ""
    """`thousand`, `million`, `billion`, `percent`, or empty."""
    answer_type: str = "span"
    """`span`, `multi-span`, `arithmetic` or `count`."""
    source: str = Field(default="", alias="answer_from")
    """`table`, `text` or `table-text`."""
    derivation: str = ""
    doc_id: str = ""
    """The doc_id of the small filing with its table and paragraphs."""


def load_tatqa(path: Path) -> tuple[dict[str, str], tuple[TatQuestion, ...], tuple[str, ...]]:
    """Return a filing as HTML for each context of a published file, by doc_id, the questions, and what was left out.

    The file may be gzipped. Raises QuestionError if it cannot be read.
    """
    records, faults = read_records(path, _Record)
    filings: dict[str, str] = {}
    questions: list[TatQuestion] = []
    for number, (_, record) in enumerate(records, start=1):
        doc_id = f"context-{number:04}"
        filings[doc_id] = _filing(number, record)
        questions += (each.model_copy(update={"doc_id": doc_id}) for each in record.questions)
    return filings, tuple(questions), faults


def drawn_questions(
    questions: Sequence[TatQuestion], count: int | None, answer_types: Sequence[str], seed: int
) -> tuple[TatQuestion, ...]:
    """Return `count` random questions of these types (all types if empty), in the order of the file."""
    wanted = [each for each in questions if not answer_types or each.answer_type in answer_types]
    chosen = random.Random(seed).sample(range(len(wanted)), min(len(wanted), count or len(wanted)))
    return tuple(wanted[place] for place in sorted(chosen))


class _TableRecord(BaseModel):
    table: list[list[str | int | float | None]]


class _ParagraphRecord(BaseModel):
    order: int = 0
    text: str


class _Record(BaseModel):
    table: _TableRecord
    paragraphs: list[_ParagraphRecord] = Field(default_factory=list)
    questions: list[TatQuestion] = Field(default_factory=list)


def _filing(number: int, record: _Record) -> str:
    """Return a filing as HTML with a cover, which the table on its own does not have."""
    table = [["" if cell is None else str(cell) for cell in row] for row in record.table.table]
    paragraphs = [each.text for each in sorted(record.paragraphs, key=lambda each: each.order)]
    labels = _DATED.findall(" ".join(row[0] for row in table if row))  # `Balance at June 30, 2019`
    heads = [cell for row in table[:_HEAD_ROWS] for cell in row[1:]]
    # A row of figures that only a year names is one of years to come: `2021 | 361`.
    stubs = [row[0] for row in table[:_HEAD_ROWS] if row and not (any(row[1:]) and _YEAR.fullmatch(row[0].strip()))]
    if _YEAR.search(" ".join(heads)):
        stubs = [_YEAR.sub("", stub) for stub in stubs]  # a label may tell of years to come
    head = " ".join((*stubs, *heads, *labels))
    cover = synthetic_cover(f"Registrant {number} Corporation", head, " ".join((head, *paragraphs)))
    rows = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>\n" for row in table)
    # The file does not give the position of the table: it follows the last paragraph that introduces one, else all.
    leading = [place for place, text in enumerate(paragraphs, start=1) if text.rstrip().endswith(":")]
    place = leading[-1] if leading else len(paragraphs)
    return (
        f"<html><body>{_paragraphs(cover)}<hr style='page-break-after:always'/>\n"
        f"{_paragraphs(paragraphs[:place])}<table>{rows}</table>\n{_paragraphs(paragraphs[place:])}</body></html>\n"
    )


def synthetic_cover(registrant: str, head: str, text: str) -> tuple[str, ...]:
    """Return the lines of a cover: only the kind of report, and the end of the newest year that the text names.

    The year is looked for in `head` first, then in the days that the text names, then in the rest of it; the year named
    most often is taken, for others may be still to come.
    """
    counts = Counter([day[-4:] for day in _DATED.findall(text)] or _YEAR.findall(text) or [_USUAL])
    years = _YEAR.findall(head) or [max(counts, key=lambda year: (counts[year], year))]
    days = (one for one in (*_days_in(head), *_days_in(text)) if not one.endswith(" 1"))
    return (
        "UNITED STATES SECURITIES AND EXCHANGE COMMISSION",
        "FORM 10-K",
        "ANNUAL REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934",
        f"For the fiscal year ended {next(days, 'December 31')}, {max(years)}",
        registrant,
        "(Exact name of registrant as specified in its charter)",
    )


def _days_in(text: str) -> list[str]:
    """Return `March 31` for each day that a text writes as `March 31` or `31 March`."""
    return [f"{one['month'] or one['month_first']} {one['day'] or one['day_last']}" for one in _DAY.finditer(text)]


def _paragraphs(texts: Sequence[str]) -> str:
    return "".join(f"<p>{html.escape(text)}</p>\n" for text in texts)


_HEAD_ROWS = 3
_USUAL = "2019"
"""The annual reports of the published questions are those of 2018 and 2019."""
_YEAR = re.compile(r"\b20[012]\d\b")
_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
_DAY = re.compile(
    rf"\b(?:(?P<day>[1-3]?\d)\s+(?P<month>{_MONTH})|(?P<month_first>{_MONTH})\s+(?P<day_last>[1-3]?\d))\b"
)
_DATED = re.compile(rf"(?:(?:{_MONTH})\s+[1-3]?\d,|[1-3]?\d\s+(?:{_MONTH}))\s+20\d\d")

# --- Predictions


class Prediction(NamedTuple):
    """The parts and scale of an answer, as in a file of predictions."""

    parts: tuple[str, ...] = ()
    scale: str = ""


def prediction_of(answer: Answer) -> Prediction:
    """Return an answer as a prediction: an amount in the scale of its input figures, words as they are quoted.

    A year that was chosen from several is given alone.
    """
    text, value, unit = answer.answer.text, answer.answer.value, answer.answer.unit or ""
    figures = [entry.figure for entry in answer.ledger if entry.required and entry.figure is not None]
    printed = Counter(figure.scale for figure in figures).most_common(1)
    if answer.refused:
        return Prediction()
    if chosen := _CHOSEN_YEAR.match(text):
        return Prediction((chosen["year"],))
    if value is not None and unit in ("percent", "percentage points"):
        return Prediction((f"{value:.6f}",), "percent")
    if value is not None:
        size = USD_SCALES.get(unit, 1)
        scale = printed[0][0] if printed and unit in (*USD_SCALES, "shares", "count") else size
        return Prediction((f"{value * size / scale:.6f}",), _SCALE_NAMES.get(scale, ""))
    if figures:
        scale = printed[0][0]
        parts = tuple(f"{float(each.printed * each.scale) / scale:g}" for each in figures)
        return Prediction(parts, _SCALE_NAMES.get(scale, ""))
    for each in answer.citations:  # `2.5 years: ... over a period of approximately 2.5 years`
        text = text.removesuffix(f": {each.text}")
    return Prediction((text,))


_CHOSEN_YEAR = re.compile(r"FY(?P<year>\d{4}): [^;]+ \(FY\d{4}: ")
"""`FY2019: 3.1 (FY2018: 2.4). Additions were higher in FY2019.`"""
_SCALE_NAMES = {1_000: "thousand", 1_000_000: "million", 1_000_000_000: "billion"}

# --- The published score


class Score(NamedTuple):
    """Exact match, 0 or 1, and F1, 0.0 to 1.0 in steps of 0.01."""

    exact: float
    f1: float


def score(gold: Sequence[str], gold_scale: str, answer_type: str, predicted: Prediction) -> Score:
    """Return TAT-QA's exact match and F1, with scales (after DROP's).

    Numbers are compared in base units: `1,452.4` in millions and `$1,452.4 million` are the same. The parts of an
    answer are sorted and compared as one text, so that their order does not count. Peculiarities of the published
    definition are reproduced, with a comment at each. A missing prediction or gold answer scores zero.
    """
    if not gold or not any(predicted.parts):
        return Score(0.0, 0.0)
    truth = normalized(in_base_units(gold, gold_scale))
    readings = [in_base_units(predicted.parts, predicted.scale)]
    if len(predicted.parts) == 1 and not predicted.scale and "%" not in predicted.parts[0]:
        # A fraction without a scale may stand for a percentage, so it is not rounded to two places first.
        amount = number(predicted.parts[0])
        readings += [] if amount is None else [f"{amount:.4f}"]
    best = max(_compared(normalized(each), truth) for each in readings)
    return Score(best.exact, best.exact) if answer_type in _NUMERIC else best


def in_base_units(parts: Sequence[str], scale: str) -> str:
    """Return the parts, sorted and joined: numbers times their scale with four decimals, others with the scale."""

    def scaled(part: str) -> str:
        if (amount := number(part)) is None:
            return f"{part} {scale}" if scale else part
        return f"{amount:.4f}" if "%" in part else f"{round(amount, 2) * _size(scale):.4f}"

    return " ".join(map(scaled, sorted(parts)))


def number(text: str) -> float | None:
    """Return the number that `text` is, in base units, or None. Whole numbers are int: `134` is not `134.0`.

    After a first word that is a number only a scale may follow (`1.3 billion`). `%` divides by a hundred. Parentheses
    make a number negative only if there is no comma and no currency sign inside.
    """
    words = " ".join(text.translate(_MARKS).split()).split()
    try:
        first = float(words[0]) if words else float("nan")
    except ValueError:
        return None
    if first != first or (len(words) > 1 and _size(words[1]) == 1):
        return None
    found = _DIGITS.search(text.translate(_MARKS))
    if found is None:
        return None
    amount = float(found[0]) if "." in found[0] else int(found[0])
    scaled = _SCALED.search(text)
    sign = -1 if _IN_PARENTHESES.search(text.strip()) else 1
    return round(amount * (_size(scaled[0]) if scaled else 1) * sign * (0.01 if _IN_PERCENT.search(text) else 1), 4)


def _size(word: str) -> float:
    return next((size for name, size in _SIZES.items() if name in word.lower()), 1)


def normalized(text: str) -> str:
    """Return lower-case text without punctuation, articles and extra spaces, with numbers as their value."""
    amounts = ((word, number(word)) for word in text.lower().split(" "))
    words = (word.translate(_PUNCTUATION) if amount is None else str(amount) for word, amount in amounts)
    return " ".join(_ARTICLE.sub(" ", " ".join(words)).split())


def _compared(predicted: str, gold: str) -> Score:
    """Compare sets of words: F1 is the harmonic mean of precision and recall."""
    said, true = set(predicted.split()), set(gold.split())
    shared = len(said & true)
    precision = shared / len(said) if said else 1.0
    recall = shared / len(true) if true else 1.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return Score(float(predicted == gold), round(f1, 2))


_NUMERIC = frozenset({"arithmetic", "count"})
"""Answer types without partial credit."""
_SIZES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "percent": 0.01}
_MARKS = str.maketrans("", "", "'\"\\$€£¥%(),[]")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_DIGITS = re.compile(r"[+-]?\d+(?:\.\d+)?")
_SCALED = re.compile(r"[\d.]+\s?[a-zA-Z]+")
_IN_PARENTHESES = re.compile(r"\([\d.\s]+\)")
_IN_PERCENT = re.compile(r"[\d.\s]+%")

# --- Rows


def judge_tatqa(question: TatQuestion, answer: Answer) -> Row:
    """Return the row of an answer with its score."""
    predicted = prediction_of(answer)
    scored = score(question.gold, question.scale, question.answer_type, predicted)
    figures = {
        "gold_scale": question.scale,
        "answer": predicted.parts,
        "predicted_scale": predicted.scale,
        "exact": scored.exact,
        "f1": scored.f1,
        "scale": not answer.refused and predicted.scale == question.scale,
        "derivation": question.derivation,
    }
    labels = {
        "doc_id": question.doc_id,
        "answer_type": question.answer_type,
        "answer_type_and_source": f"{question.answer_type}, {question.source or 'no source'}",
    }
    return row_of(question.id, question.question, "; ".join(question.gold), answer, labels, figures)
