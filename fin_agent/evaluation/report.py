"""A benchmark's rows brought together: overall, by question type and by filing type."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from rich import box
from rich.table import Table

from fin_agent.evaluation.financebench import Retrieval, Row
from fin_agent.evaluation.metrics import percentile


@dataclass(frozen=True, slots=True)
class RetrievalMeans:
    """Means of `Retrieval` over questions."""

    document_recall: float
    page_recall_of_passages: float
    page_hits_of_passages: float
    page_recall: float
    page_hits: float
    page_precision: float


@dataclass(frozen=True, slots=True)
class Group:
    """The figures of some of the questions."""

    name: str
    questions: int
    retrieval: RetrievalMeans
    same_content: RetrievalMeans | None
    """Where counting filings with the same bytes as one changes a figure."""
    numeric_questions: int
    numeric_match: float | None
    """Over the questions whose answer is a number; None where there are none."""
    strict_match: float | None
    figure_questions: int
    numeric_match_any: float | None
    """Over the questions whose gold answer holds a figure, whatever their type."""
    stated_match: float | None
    """The same, where the figure is the value or in the first sentence; what is between the two may be chance."""
    refusals: int
    median_seconds: float
    p95_seconds: float


@dataclass(frozen=True, slots=True)
class BenchmarkReport:
    """All figures of one run."""

    overall: Group
    by_question_type: tuple[Group, ...]
    by_filing_type: tuple[Group, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain values for `json.dumps`."""
        return asdict(self)

    def as_tables(self, given: str = "") -> tuple[Table, Table]:
        """What was found and which numbers are right, a line per group; shares in percent.

        `given` says what was given away before the search.
        """
        title = f"FinanceBench, {given}" if given else "FinanceBench"
        return self._found(title), self._numbers(f"{title}: numbers")

    def _found(self, title: str) -> Table:
        table = _table(title, _FOUND_CAPTION, _FOUND_COLUMNS)
        for groups in self._sections:
            table.add_section()
            for group in groups:
                table.add_row(group.name, *_found(group, group.retrieval), style=self._style(group))
        if self.overall.same_content is not None:
            table.add_section()
            table.add_row("overall, same content as one", *_found(self.overall, self.overall.same_content))
        return table

    def _numbers(self, title: str) -> Table:
        table = _table(title, _NUMBERS_CAPTION, _NUMBERS_COLUMNS)
        for groups in self._sections:
            table.add_section()
            for group in groups:
                table.add_row(group.name, *_numbers(group), style=self._style(group))
        return table

    @property
    def _sections(self) -> tuple[tuple[Group, ...], ...]:
        return (self.overall,), self.by_question_type, self.by_filing_type

    def _style(self, group: Group) -> str:
        return "bold" if group is self.overall else ""


def summarize(rows: Sequence[Row]) -> BenchmarkReport:
    """The report over scored questions. Raises ValueError without rows."""
    if not rows:
        raise ValueError("a report needs at least one question")
    return BenchmarkReport(
        overall=_group("overall", rows),
        by_question_type=_grouped(rows, lambda row: row.question_type),
        by_filing_type=_grouped(rows, lambda row: row.filing_type),
    )


def write_rows(rows: Sequence[Row], path: Path) -> None:
    """One line per question: `.csv` with a header, `.jsonl` otherwise. Replaces the file."""
    flat = [_flat(row) for row in rows]
    with path.open("w", encoding="utf-8", newline="") as file:
        if path.suffix.lower() == ".csv":
            writer = csv.DictWriter(file, fieldnames=list(flat[0]) if flat else [])
            writer.writeheader()
            writer.writerows({**line, "missing": "; ".join(line["missing"])} for line in flat)
        else:
            file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in flat)


_FOUND_COLUMNS = ("n", "documents", "passages", "pages", "refused", "s", "p95 s")
_FOUND_CAPTION = (
    "documents, passages, pages: recall over the first five of each, in percent (passages: of the pages they are on);"
    " s: median seconds, p95 s: 95th percentile"
)
_NUMBERS_COLUMNS = ("metrics", "match", "strict", "figures", "match any", "stated")
_NUMBERS_CAPTION = (
    "metrics: questions whose answers are numbers by their type; figures: all whose gold answer holds a figure;"
    " match, match any: some number within 3% of some number of the gold answer (published rule); strict: the value"
    " equals it as rounded there; stated: within 3%, and it is the value or in the first sentence, in its unit"
)


def _table(title: str, caption: str, headings: Sequence[str]) -> Table:
    table = Table(title=title, caption=caption, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("questions")
    for heading in headings:
        table.add_column(heading, justify="right", min_width=max(map(len, heading.split())))
    return table


def _found(group: Group, means: RetrievalMeans) -> tuple[str, ...]:
    return (
        str(group.questions),
        _percent(means.document_recall),
        _percent(means.page_recall_of_passages),
        _percent(means.page_recall),
        str(group.refusals),
        f"{group.median_seconds:.2f}",
        f"{group.p95_seconds:.2f}",
    )


def _numbers(group: Group) -> tuple[str, ...]:
    return (
        str(group.numeric_questions),
        _percent(group.numeric_match),
        _percent(group.strict_match),
        str(group.figure_questions),
        _percent(group.numeric_match_any),
        _percent(group.stated_match),
    )


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def _grouped(rows: Sequence[Row], key: Callable[[Row], str]) -> tuple[Group, ...]:
    names = sorted({key(row) for row in rows})
    return tuple(_group(name, [row for row in rows if key(row) == name]) for name in names)


def _group(name: str, rows: Sequence[Row]) -> Group:
    numeric = [row.numeric_match for row in rows if row.numeric_match is not None]
    strict = [row.strict_match for row in rows if row.strict_match is not None]
    with_figure = [row.numeric_match_any for row in rows if row.numeric_match_any is not None]
    stated = [row.stated_match for row in rows if row.stated_match is not None]
    seconds = [row.seconds for row in rows]
    as_named = _means([row.retrieval for row in rows])
    by_content = _means([row.same_content for row in rows])
    return Group(
        name=name,
        questions=len(rows),
        retrieval=as_named,
        same_content=by_content if by_content != as_named else None,
        numeric_questions=len(numeric),
        numeric_match=fmean(numeric) if numeric else None,
        strict_match=fmean(strict) if strict else None,
        figure_questions=len(with_figure),
        numeric_match_any=fmean(with_figure) if with_figure else None,
        stated_match=fmean(stated) if stated else None,
        refusals=sum(row.refused for row in rows),
        median_seconds=percentile(seconds, 50),
        p95_seconds=percentile(seconds, 95),
    )


def _means(scores: Sequence[Retrieval]) -> RetrievalMeans:
    return RetrievalMeans(
        document_recall=fmean(each.document_recall for each in scores),
        page_recall_of_passages=fmean(each.page_recall_of_passages for each in scores),
        page_hits_of_passages=fmean(each.page_hit_of_passages for each in scores),
        page_recall=fmean(each.page_recall for each in scores),
        page_hits=fmean(each.page_hit for each in scores),
        page_precision=fmean(each.page_precision for each in scores),
    )


def _flat(row: Row) -> dict[str, Any]:
    """A row as one level of columns; the same-content figures only carry their own prefix."""
    columns: dict[str, Any] = asdict(row)
    columns["missing"] = list(row.missing)
    retrieval: Mapping[str, Any] = columns.pop("retrieval")
    by_content: Mapping[str, Any] = columns.pop("same_content")
    return {**columns, **retrieval, **{f"same_content_{name}": figure for name, figure in by_content.items()}}
