"""The common parts of benchmarks: a resumable runner from questions to judged rows, with costs, and a report.

A benchmark defines where its questions come from, how an answer is judged, and which figures its report shows.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, is_dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, quantiles
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails
from rich.table import Table

from fin_agent.answering.answer import Answer
from fin_agent.atomic_write import escape_spreadsheet_formula, reporting_write_errors
from fin_agent.errors import FinAgentError, QuestionError
from fin_agent.evaluation.statistics import Estimate, estimate
from fin_agent.lexicon.words import load_yaml
from fin_agent.vocabulary.runs import grouped

QuestionT = TypeVar("QuestionT")
KeptT = TypeVar("KeptT")


class AnsweredQuestion(BaseModel):
    """An answer, or a refusal if answering failed."""

    model_config = ConfigDict(frozen=True)

    answer: Answer
    """Its id is the question's."""
    failure: str = ""
    """Why the run ended without an answer; empty if it did not."""


@dataclass(frozen=True, slots=True)
class Row:
    """One question with its answer and scores."""

    id: str
    labels: Mapping[str, str]
    """What rows are grouped by: company, question type, source ..."""
    question: str
    gold: str = ""
    text: str = ""
    value: float | None = None
    unit: str | None = None
    refused: bool = False
    missing: tuple[str, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    """Scores and explanations by name: a share, a mark or a number; None if the row has no such figure."""
    seconds: float | None = None


def row_of(
    question_id: str, question: str, gold: str, answer: Answer, labels: Mapping[str, str], figures: Mapping[str, Any]
) -> Row:
    """Return the row of an answer."""
    return Row(
        id=question_id,
        labels=labels,
        question=question,
        gold=gold,
        text=answer.answer.text,
        value=answer.answer.value,
        unit=answer.answer.unit,
        refused=answer.refused,
        missing=answer.missing,
        figures=figures,
        seconds=answer.seconds,
    )


@dataclass(frozen=True, slots=True)
class Run:
    """The rows of a benchmark in the order of its questions, and the answers."""

    rows: tuple[Row, ...]
    answered: tuple[AnsweredQuestion, ...]

    @property
    def failed(self) -> list[dict[str, str]]:
        """Questions that could not be answered, with the reasons; they count as refused."""
        return [
            {"id": each.answer.id or "", "question": each.answer.question, "reason": each.failure}
            for each in self.answered
            if each.failure
        ]

    @property
    def cost(self) -> dict[str, int | float | None]:
        """Model calls over all answers, their tokens, and dollars, which are None if a price is unknown."""
        cost: dict[str, int | float | None] = {}
        for name in ("model_calls", "input_tokens", "output_tokens", "dollars"):
            amounts = [getattr(each.answer.usage, name) for each in self.answered]
            cost[name] = None if None in amounts else sum(amounts)
        return cost


def run_benchmark(
    questions: Sequence[QuestionT],
    ask: Callable[[QuestionT], AnsweredQuestion],
    judge: Callable[[QuestionT, AnsweredQuestion], Row],
    *,
    settings: str = "",
    out: Path | None = None,
    on_row: Callable[[Row], None] = lambda row: None,
) -> Run:
    """Ask every question and judge its answer; `on_row` is called with each row.

    With `out`, answers are stored in this folder as they come: a stopped run resumes if its questions and `settings`,
    everything else that an answer depends on, are the same.
    """
    file = None if out is None else out / "answers.unfinished.jsonl"
    kept = PartialResults(file, (settings, questions), AnsweredQuestion)
    asked = ((str(number), partial(ask, question)) for number, question in enumerate(questions))
    rows: list[Row] = []
    answered: list[AnsweredQuestion] = []
    for question, each in zip(questions, kept.results(asked), strict=True):
        answered.append(each)
        rows.append(judge(question, each))
        on_row(rows[-1])
    return Run(tuple(rows), tuple(answered))


class PartialResults(Generic[KeptT]):
    """The results so far of an unfinished run: one line per result, after a line that identifies the run."""

    def __init__(self, path: Path | None, run: object, form: type[KeptT]) -> None:
        """Read the results of this run from the file, if there is one. Raises WriteError.

        `run` is everything that a result depends on besides its name: results of another run are discarded. `form` is
        the type of a result; without a path nothing is stored.
        """
        self.path = path
        self._line = TypeAdapter(tuple[str, form])  # type: ignore[valid-type]
        self._held: dict[str, KeptT] = {}
        if path is None:
            return
        head = json.dumps({"run": hashlib.sha256(repr(run).encode()).hexdigest()})
        with reporting_write_errors(path):
            first, *lines = path.read_bytes().split(b"\n") if path.exists() else [b""]
            if first == head.encode():
                with suppress(ValidationError):  # the last line may be cut short
                    self._held.update(map(self._line.validate_json, lines))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{head}\n", encoding="utf-8")
        for name, each in self._held.items():
            self.add(name, each)

    def take(self, name: str) -> KeptT | None:
        """Return the stored result of this name, or None."""
        return self._held.get(name)

    def add(self, name: str, each: KeptT) -> None:
        """Store a result. Raises WriteError."""
        if self.path is not None:
            with reporting_write_errors(self.path), self.path.open("a", encoding="utf-8") as file:
                file.write(f"{self._line.dump_json((name, each)).decode()}\n")

    def results(
        self, made: Iterable[tuple[str, Callable[[], KeptT]]], *, keeps: Callable[[KeptT], bool] = lambda each: True
    ) -> Iterator[KeptT]:
        """Yield the stored result of each name, or one that is made, and stored if `keeps` accepts it; then finish."""
        for name, make in made:
            each = self.take(name)
            if each is None:
                each = make()
                if keeps(each):
                    self.add(name, each)
            yield each
        self.finish()

    def finish(self) -> None:
        """Delete the file, since the run is complete."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def failure_of(error: Exception, *, debug: bool) -> str:
    """Return why one question or strategy failed, so that a run goes on; with `debug`, raise an unexpected error."""
    if isinstance(error, FinAgentError):
        return str(error)
    if debug:
        raise error
    return f"unexpected {type(error).__name__}: {error}"


@dataclass(frozen=True, slots=True)
class Column:
    """One figure of a group of rows."""

    name: str
    """Its key in JSON."""
    heading: str = ""
    """Its heading in the table; columns without one are in the JSON only."""
    of: Callable[[Sequence[Row]], Any] | None = None
    """Computes the figure of rows, or None if they have none. By default the mean of the rows' figure of this name."""
    shown: Callable[[Any], str] = field(default=lambda share: percent(share))


@dataclass(frozen=True, slots=True)
class Report:
    """The same figures for every group of rows."""

    title: str
    tables: Sequence[tuple[str, Sequence[Column]]]
    """The caption and the columns of each table."""
    groups: Sequence[Mapping[str, Any]]
    """Figures by name, with `section`, by which rows are grouped (`overall`, `question type`), and `group`."""
    told: Mapping[str, Any] = field(default_factory=dict)
    """Further values of the JSON document."""
    shown: Sequence[Mapping[str, Any]] | None = None
    """The groups in the tables; all by default."""
    further: Sequence[Table] = ()

    def of(self, name: str) -> Mapping[str, Any]:
        """Return the figures of the first group with this name."""
        return next(group for group in self.groups if group["group"] == name)

    def as_json(self) -> dict[str, Any]:
        """Return values for `json.dumps`."""
        return {**self.told, "groups": [{name: _plain(each) for name, each in group.items()} for group in self.groups]}

    def as_tables(self) -> list[Table]:
        """Return tables with a row per group, sections separated, the first one in bold."""
        tables: list[Table] = []
        groups = self.groups if self.shown is None else self.shown
        for caption, of_table in self.tables:
            table = Table(title=None if tables else self.title, caption=caption)
            columns = [column for column in of_table if column.heading]
            table.add_column("", no_wrap=True)
            for column in columns:
                table.add_column(column.heading, justify="right", min_width=max(map(len, column.heading.split())))
            section = first = groups[0]["section"]
            for group in groups:
                if group["section"] != section:
                    table.add_section()
                section = group["section"]
                cells = ("-" if group[each.name] is None else each.shown(group[each.name]) for each in columns)
                table.add_row(group["group"], *cells, style="bold" if section == first else "")
            tables.append(table)
        return [*tables, *self.further]


def report_of(report: str, rows: Sequence[Row], ways: Mapping[str, Way] | None = None, **told: object) -> Report:
    """Return the report of a benchmark on its rows, as `reports.yaml` defines it.

    `ways` are further ways to compute a figure; `told` fills the placeholders of title, captions and headings.
    """
    defined = load_yaml("reports", __package__)[report]
    sections = defined["sections"]
    if defined.get("sorted"):
        rows = sorted(rows, key=lambda row: [row.labels[section] for section in sections])
    tables, title = tables_of(report, ways, **told), defined["title"].format(**told)
    return report_on(rows, title, tables, sections, overall=defined.get("overall", True))


def report_on(
    rows: Sequence[Row],
    title: str,
    tables: Sequence[tuple[str, Sequence[Column]]],
    sections: Sequence[str] = (),
    *,
    overall: bool = True,
) -> Report:
    """Return the figures of all rows, at least one, then of the rows grouped by each of these labels."""
    together = {("overall", "overall"): list(rows)} if overall else {}
    together |= grouped(((name.replace("_", " "), row.labels[name]), row) for name in sections for row in rows)
    columns = [column for _, of_table in tables for column in of_table]
    groups = [{"section": section, "group": name, **_figures(columns, of)} for (section, name), of in together.items()]
    return Report(title, tables, groups)


def _figures(columns: Sequence[Column], rows: Sequence[Row]) -> dict[str, Any]:
    return {each.name: mean_of(rows, each.name) if each.of is None else each.of(rows) for each in columns}


def mean_of(rows: Sequence[Row], name: str) -> float | None:
    """Return the mean of the rows' figure of this name, or the share of those marked; None if no row has one."""
    known = _known(rows, name)
    return fmean(known) if known else None


def estimate_of(rows: Sequence[Row], name: str, *, resamples: int, seed: int) -> Estimate | None:
    """Return the mean of the rows' figure of this name with its interval; None if no row has one."""
    return estimate(_known(rows, name), resamples=resamples, seed=seed)


def _known(rows: Sequence[Row], name: str) -> list[Any]:
    return [each for row in rows if (each := row.figures[name]) is not None]


def seconds_at(rows: Sequence[Row], percent: int) -> float | None:
    """Return a percentile of the rows' seconds, interpolated linearly; None if none is known."""
    known = [row.seconds for row in rows if row.seconds is not None]
    if len(known) < 2:
        return known[0] if known else None
    return quantiles(known, n=100, method="inclusive")[percent - 1]


Way = Callable[[Sequence[Row], str], Any]
"""Computes a figure of a group of rows from their figure of a name; None if they have none."""
_WAYS: Mapping[str, Way] = {
    "mean": mean_of,
    "number": lambda rows, name: len(rows),
    "known": lambda rows, name: len(_known(rows, name)),
    "marked": lambda rows, name: sum(bool(row.figures[name]) for row in rows),
    "counts": lambda rows, name: dict(
        sorted(Counter(each for row in rows if (each := row.figures[name]) != "").items())
    ),
    "refusals": lambda rows, name: sum(row.refused for row in rows),
    "refused": lambda rows, name: fmean(row.refused for row in rows),
    "median_seconds": lambda rows, name: seconds_at(rows, 50),
    "p95_seconds": lambda rows, name: seconds_at(rows, 95),
}
_SHOWN: Mapping[str, Callable[[Any], str]] = {
    "share": lambda share: percent(share),
    "text": str,
    "estimate": lambda estimate: percent(estimate.mean),
    "gain": lambda test: f"{100 * test.difference.mean:+.1f}",
    "rounds": lambda counts: "/".join(str(counts.get(each, 0)) for each in (1, 2, 3)),
}


def tables_of(report: str, ways: Mapping[str, Way] | None = None, **told: object) -> list[tuple[str, list[Column]]]:
    """Return caption and columns of each table of a report; arguments are as in `report_of`."""
    known = {**_WAYS, **(ways or {})}

    def column(name: str, heading: str = "", computed: str = "mean", shown: str = "share") -> Column:
        way, _, figure = computed.partition(" of ")
        of = known[way]
        return Column(
            name,
            heading.format(**told),
            lambda rows: of(rows, figure or name),
            _SHOWN.get(shown) or f"{{:{shown}}}".format,
        )

    return [
        (
            table["caption"].format(**told),
            [column(name, *([of] if isinstance(of, str) else of or ())) for name, of in table["columns"].items()],
        )
        for table in load_yaml("reports", __package__)[report]["tables"]
    ]


def percent(share: float | None) -> str:
    """Return a share in percent, `73.3`, or `-` for None."""
    return "-" if share is None else f"{100 * share:.1f}"


def write_csv(rows: Sequence[Any], path: Path) -> None:
    """Write a CSV file with a header, a line per row, and a column per field of its dataclass or mapping.

    Nested fields get a column each; lists are joined by semicolons; pages are written `DOC_ID:NUMBER`, counted from 0
    as in the published questions. An existing file is replaced.
    """
    flat = [dict(_cells(_plain(row))) for row in rows]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(flat[0]) if flat else [])
        writer.writeheader()
        writer.writerows({name: escape_spreadsheet_formula(value) for name, value in row.items()} for row in flat)


def _cells(fields: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, object]]:
    for name, value in fields.items():
        if isinstance(value, Mapping):
            yield from _cells(value, "" if name in ("labels", "figures") and not prefix else f"{prefix}{name}_")
        else:
            yield f"{prefix}{name}", "; ".join(map(_listed, value)) if isinstance(value, list | tuple) else value


def _plain(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def _listed(member: object) -> str:
    if isinstance(member, list | tuple):
        return ":".join(map(str, member))
    return "-" if member is None else str(member)


RecordT = TypeVar("RecordT", bound=BaseModel)


def read_records(
    path: Path, form: type[RecordT], *, within: str = "", needed: str = ""
) -> tuple[tuple[tuple[str, RecordT], ...], tuple[str, ...]]:
    """Return the records of a file with their places (`FILE, line 3`), and place and reason of each that was left out.

    `within` is the key of the list if the file is one object around it. With `needed`, a text that says what every
    record needs, a record of another form is an error.

    Raises QuestionError if the file cannot be read or has no record of this form.
    """
    records: list[tuple[str, RecordT]] = []
    faults: list[str] = []
    for kind, number, found in parsed_records(path, form, within):
        if not isinstance(found, str):
            records.append((f"{path.name}, {kind} {number}", found))
        elif needed:
            raise QuestionError(found, subject=f"{path}, {kind} {number}", remedy=f"Correct that {kind}. {needed}")
        else:
            faults.append(f"{path.name}, {kind} {number}: {found}")
    if not records:
        raise QuestionError(
            "no questions in this format", subject=str(path), remedy=faults[0] if faults else "Give another file"
        )
    return tuple(records), tuple(faults)


def parsed_records(path: Path, form: type[RecordT], within: str = "") -> Iterator[tuple[str, int, RecordT | str]]:
    """Yield `line` or `entry` with its number, from 1, and its record, or what is wrong with it.

    Lines are JSON Lines, entries those of a JSON list, which is below the key `within` if there is one; either may be
    gzipped. Raises QuestionError if the file cannot be read.
    """
    try:
        raw = path.read_bytes()
        raw = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).removeprefix(codecs.BOM_UTF8)
        whole = json.loads(raw) if within or raw.lstrip()[:1] == b"[" else None
    except (OSError, EOFError, ValueError) as failure:
        reason = (isinstance(failure, OSError) and failure.strerror) or str(failure)
        raise QuestionError(
            f"cannot be read ({reason})", subject=str(path), remedy="Give a JSON file, plain or gzip"
        ) from failure
    entries = whole.get(within, ()) if isinstance(whole, dict) else whole
    kind, read = ("line", form.model_validate_json) if entries is None else ("entry", form.model_validate)
    for number, entry in enumerate(raw.split(b"\n") if entries is None else entries, start=1):
        try:
            if entries is not None or entry.strip():
                yield kind, number, read(entry)
        except ValidationError as failure:
            yield kind, number, "; ".join(map(_wrong, failure.errors()))


def _wrong(error: ErrorDetails) -> str:
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error["loc"]).removeprefix(".")
    wrong = "is missing" if error["type"] == "missing" else f"cannot be used ({error['msg']})"
    return f"{f'field `{place}`' if place else 'the line'} {wrong}"
