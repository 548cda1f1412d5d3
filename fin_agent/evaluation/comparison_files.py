"""A comparison as CSV files. Pages are written `DOC_ID:NUMBER`, counted from 0 as in the published questions."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from fin_agent.evaluation.comparing import PAGES_LOOKED_AT, Comparison, Measure, QuestionScore
from fin_agent.evaluation.comparison_report import ComparisonReport, GroupFigures
from fin_agent.index.protocol import PageKey

_FIRST_PAGES = 5
_GROUP_COLUMNS = (
    "strategy",
    "kind",
    "group",
    "questions",
    "failed",
    *(f"{measure.value}{end}" for measure in Measure for end in ("", "_low", "_high")),
    "passages_per_answer",
    "median_seconds",
    "p95_seconds",
)
_ROW_COLUMNS = (
    "strategy",
    "id",
    "company",
    "doc_id",
    "question_type",
    "filing_type",
    "question",
    "gold_pages",
    "gold_ranks",
    *(measure.value for measure in Measure),
    "passages_per_answer",
    "seconds",
    "pages_of_passages",
    "failure",
)
_MISS_COLUMNS = (
    "id",
    "question_type",
    "filing_type",
    "question",
    "gold_pages",
    "page_recall_of_passages",
    "pages_of_passages",
    "first_pages",
    f"gold_in_first_{PAGES_LOOKED_AT}",
    "gold_ranks",
    "document_recall",
    "failure",
)


def write_groups(report: ComparisonReport, path: Path) -> None:
    """A line per group of questions and strategy: means with the ends of their 95% intervals. Replaces the file."""
    _write(path, _GROUP_COLUMNS, (_group_line(group) for group in report.groups))


def write_scores(comparison: Comparison, path: Path) -> None:
    """A line per strategy and question. Replaces the file."""
    _write(path, _ROW_COLUMNS, (_score_line(score) for score in comparison.scores))


def write_misses(scores: Sequence[QuestionScore], path: Path) -> None:
    """A line per question whose gold pages are not all among those of the first k passages. Replaces the file."""
    _write(path, _MISS_COLUMNS, (_miss_line(score) for score in scores if score.page_recall_of_passages < 1))


def _write(path: Path, columns: Sequence[str], lines: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(lines)


def _group_line(group: GroupFigures) -> list[object]:
    figures: list[object] = []
    for measure in Measure:
        figure = group.of(measure)
        ends = (figure.interval.low, figure.interval.high) if figure.interval else (None, None)
        figures += [_shown(number) for number in (figure.mean, *ends)]
    return [
        group.strategy,
        group.kind.value,
        group.group,
        group.questions,
        group.failed,
        *figures,
        _shown(group.passages_per_answer),
        _shown(group.median_seconds),
        _shown(group.p95_seconds),
    ]


def _score_line(score: QuestionScore) -> list[object]:
    return [
        score.strategy,
        score.id,
        score.company,
        score.doc_id,
        score.question_type,
        score.filing_type,
        score.question,
        _listed(score.gold_pages),
        _ranks(score),
        *(_shown(score.of(measure)) for measure in Measure),
        score.passages_per_answer,
        _shown(score.seconds),
        _listed(score.pages_of_passages),
        score.failure,
    ]


def _miss_line(score: QuestionScore) -> list[object]:
    found = [rank for rank in score.gold_ranks if rank is not None]
    among = "all" if len(found) == len(score.gold_ranks) else "some" if found else "none"
    return [
        score.id,
        score.question_type,
        score.filing_type,
        score.question,
        _listed(score.gold_pages),
        _shown(score.page_recall_of_passages),
        _listed(score.pages_of_passages),
        _listed(score.pages[:_FIRST_PAGES]),
        among,
        _ranks(score),
        _shown(score.document_recall),
        score.failure,
    ]


def _listed(pages: Iterable[PageKey]) -> str:
    return "; ".join(f"{page.doc_id}:{page.page}" for page in pages)


def _ranks(score: QuestionScore) -> str:
    """The ranks of the gold pages in their order, `-` where one is not among the first twenty."""
    return "; ".join("-" if rank is None else str(rank) for rank in score.gold_ranks)


def _shown(number: float | None) -> float | None:
    return None if number is None else round(number, 6)
