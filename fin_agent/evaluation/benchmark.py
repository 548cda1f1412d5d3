"""What benchmarks share: one runner (questions in, judged rows out, resumable, its cost counted) and one report.

A benchmark says where its questions come from, how an answer is judged, and which figures its report shows.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, is_dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from rich.table import Table

from fin_agent.answering.answer import Answer, Usage
from fin_agent.written_file import harmless

QuestionT = TypeVar("QuestionT")
RowT = TypeVar("RowT")


class Answered(BaseModel):
    """An answer, or the refusal that stands in for one where answering failed."""

    model_config = ConfigDict(frozen=True)

    answer: Answer
    """Its id is the question's."""
    failure: str = ""
    """Why the run ended without an answer."""
    differing: int = 0
    """How many repeated runs gave another answer than this, the first."""


@dataclass(frozen=True, slots=True)
class Benchmark(Generic[QuestionT, RowT]):
    """What is asked, and how an answer becomes a row."""

    questions: Sequence[QuestionT]
    ask: Callable[[QuestionT], Answered]
    judge: Callable[[QuestionT, Answered], RowT]
    settings: str = ""
    """All that an answer depends on beside its question: an unfinished run is taken up only where it is the same."""


@dataclass(frozen=True, slots=True)
class Run(Generic[RowT]):
    """The rows of a benchmark in the order of its questions, and the answers they judge."""

    rows: tuple[RowT, ...]
    answered: tuple[Answered, ...]

    @property
    def failed(self) -> list[dict[str, str]]:
        """Questions that could not be answered at all, and why; they count as refused."""
        return [
            {"id": each.answer.id or "", "question": each.answer.question, "reason": each.failure}
            for each in self.answered
            if each.failure
        ]

    @property
    def cost(self) -> dict[str, int | float | None]:
        """Calls of chat models over all answers, their tokens, and dollars: None where a price is not known."""
        usages = [each.answer.usage for each in self.answered]
        return {name: _sum(usages, name) for name in ("model_calls", "input_tokens", "output_tokens", "dollars")}


def run_benchmark(
    benchmark: Benchmark[QuestionT, RowT], out: Path | None = None, told: Callable[[RowT], None] = lambda row: None
) -> Run[RowT]:
    """Ask every question and judge its answer.

    With a folder `out`, answers are kept in it as they come: a run that was stopped goes on where it was, if it asks
    the same in the same way. `told` hears of each row.
    """
    kept = _Kept(out, benchmark) if out is not None else None
    rows: list[RowT] = []
    answered: list[Answered] = []
    for number, question in enumerate(benchmark.questions):
        each = kept.take(number) if kept is not None else None
        if each is None:
            each = benchmark.ask(question)
            if kept is not None:
                kept.add(each)
        answered.append(each)
        rows.append(benchmark.judge(question, each))
        told(rows[-1])
    if kept is not None:
        kept.path.unlink(missing_ok=True)
    return Run(tuple(rows), tuple(answered))


class _Kept:
    """The answers of an unfinished run, a line each behind a line that says of what run they are."""

    def __init__(self, out: Path, benchmark: Benchmark[Any, Any]) -> None:
        self.path = out / "answers.unfinished.jsonl"
        asked = repr((benchmark.settings, benchmark.questions))
        head = json.dumps({"run": hashlib.sha256(asked.encode()).hexdigest()})
        lines = self.path.read_text(encoding="utf-8").split("\n") if self.path.exists() else [""]
        self._answered: list[Answered] = []
        if lines[0] == head:
            with suppress(ValidationError):  # the last line may be cut short
                for line in lines[1:]:
                    self._answered.append(Answered.model_validate_json(line))
        out.mkdir(parents=True, exist_ok=True)
        text = "\n".join((head, *(each.model_dump_json() for each in self._answered)))
        self.path.write_text(f"{text}\n", encoding="utf-8")

    def take(self, number: int) -> Answered | None:
        return self._answered[number] if number < len(self._answered) else None

    def add(self, answered: Answered) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{answered.model_dump_json()}\n")


def _sum(usages: Sequence[Usage], name: str) -> int | float | None:
    amounts = [getattr(usage, name) for usage in usages]
    return None if None in amounts else sum(amounts)


@dataclass(frozen=True, slots=True)
class Column(Generic[RowT]):
    """One figure of a group of rows."""

    name: str
    """Its key for machines."""
    of: Callable[[Sequence[RowT]], Any]
    """None where the rows have no such figure."""
    heading: str = ""
    """In the table; columns without one are for machines alone."""
    shown: Callable[[Any], str] = field(default=lambda share: percent(share))


@dataclass(frozen=True, slots=True)
class Group:
    """Some of the rows and their figures by name."""

    section: str
    """By what rows are put together: `overall`, `question type`."""
    name: str
    figures: Mapping[str, Any]
    strategy: str | None = None
    """Whose rows they are, where several strategies are compared."""

    def as_json(self) -> dict[str, Any]:
        """Plain values for `json.dumps`."""
        whose = {} if self.strategy is None else {"strategy": self.strategy}
        figures = {name: _plain(figure) for name, figure in self.figures.items()}
        return {**whose, "section": self.section, "group": self.name, **figures}


@dataclass(frozen=True, slots=True)
class Report:
    """The same figures of every group of rows."""

    title: str
    caption: str
    columns: tuple[Column[Any], ...]
    groups: tuple[Group, ...]

    def of(self, name: str) -> Mapping[str, Any]:
        """The figures of the first group of this name."""
        return next(group.figures for group in self.groups if group.name == name)

    def as_json(self) -> dict[str, Any]:
        """Plain values for `json.dumps`."""
        return {"groups": [each.as_json() for each in self.groups]}

    def as_table(self) -> Table:
        """A line per group, sections set apart, the first in bold."""
        table = Table(title=self.title, caption=self.caption)
        columns = [column for column in self.columns if column.heading]
        table.add_column("", no_wrap=True)
        for column in columns:
            table.add_column(column.heading, justify="right", min_width=max(map(len, column.heading.split())))
        first = self.groups[0].section
        for place, group in enumerate(self.groups):
            if place and group.section != self.groups[place - 1].section:
                table.add_section()
            cells = (
                "-" if group.figures[each.name] is None else each.shown(group.figures[each.name]) for each in columns
            )
            table.add_row(group.name, *cells, style="bold" if group.section == first else "")
        return table


def report_on(
    rows: Sequence[RowT],
    title: str,
    caption: str,
    columns: Sequence[Column[RowT]],
    sections: Mapping[str, Callable[[RowT], str]],
) -> Report:
    """The figures of `rows`, put together by each section's key; groups in the order in which their rows come.

    Raises ValueError without rows.
    """
    if not rows:
        raise ValueError("a report needs at least one question")
    groups = []
    for section, key in sections.items():
        for name in dict.fromkeys(map(key, rows)):
            members = [row for row in rows if key(row) == name]
            groups.append(Group(section, name, {column.name: column.of(members) for column in columns}))
    return Report(title, caption, tuple(columns), tuple(groups))


def mean_of(number: Callable[[RowT], float | None]) -> Callable[[Sequence[RowT]], float | None]:
    """The mean over the rows that have the number, or the share of those marked; None where none has one."""

    def figure(rows: Sequence[RowT]) -> float | None:
        known = [each for row in rows if (each := number(row)) is not None]
        return fmean(known) if known else None

    return figure


def seconds_at(percent: float) -> Callable[[Sequence[Any]], float]:
    """That percentile of the rows' `seconds`."""
    return lambda rows: percentile([row.seconds for row in rows], percent)


def percentile(values: Sequence[float], percent: float) -> float:
    """Value below which `percent` of the values lie, interpolated linearly. Raises ValueError without values."""
    if not values or not 0 <= percent <= 100:
        raise ValueError("a percentile needs values and a share from 0 to 100")
    ordered = sorted(values)
    position = (len(ordered) - 1) * percent / 100
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def percent(share: float | None) -> str:
    """`73.3`, and `-` where there is none."""
    return "-" if share is None else f"{100 * share:.1f}"


def write_csv(rows: Sequence[Any], path: Path) -> None:
    """A line per row with a header, a column per field of its dataclass or mapping. Replaces the file.

    Fields that hold fields give a column for each of these; lists are joined by semicolons, and pages are written
    `DOC_ID:NUMBER`, counted from 0 as in the published questions.
    """
    flat = [dict(_cells(_plain(row))) for row in rows]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(flat[0]) if flat else [])
        writer.writeheader()
        writer.writerows({name: harmless(value) for name, value in row.items()} for row in flat)


def _cells(fields: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, object]]:
    for name, value in fields.items():
        if isinstance(value, Mapping):
            yield from _cells(value, "" if f"{prefix}{name}" in _UNPREFIXED else f"{prefix}{name}_")
        elif isinstance(value, list | tuple):
            yield f"{prefix}{name}", "; ".join(map(_listed, value))
        else:
            yield f"{prefix}{name}", value


def _plain(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def _listed(member: object) -> str:
    match member:
        case (doc_id, page):
            return f"{doc_id}:{page}"
        case None:
            return "-"
        case _:
            return str(member)


_UNPREFIXED = ("retrieval",)
"""Fields whose own fields need no name in front."""
