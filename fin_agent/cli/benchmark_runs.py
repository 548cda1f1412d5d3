"""How benchmarks that answer questions run: asked with progress, taken up where they stopped, written and shown."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from rich.table import Table

from fin_agent.analyst.model.judging import ModelTextJudge, judge_named
from fin_agent.cli.answers import answer_json, attempt
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.streams import Progress, say, show, show_json, warn
from fin_agent.config import Settings
from fin_agent.evaluation.benchmark import Answered, Benchmark, Report, Row, Run, run_benchmark, write_csv
from fin_agent.evaluation.judging import Judgement
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.models.metering import Meter
from fin_agent.presentation.plain import in_our_look
from fin_agent.retrieval.query import EVERYTHING, Scope
from fin_agent.workspace import Workspace
from fin_agent.written_file import write_whole

QuestionT = TypeVar("QuestionT")


def asking(workspace: Workspace, settings: Settings, debug: bool) -> Callable[..., Answered]:
    """Asks a question, by its id and within a scope, of `workspace`."""
    context = AnswerContext.from_settings(workspace, settings, notify=warn)

    def ask(question: str, question_id: str, scope: Scope = EVERYTHING) -> Answered:
        """The answer, or the refusal that stands in for one: a question that fails does not end the run."""
        tried = attempt(
            question, context, doc_ids=scope.doc_ids, pages=scope.pages, question_id=question_id, debug=debug
        )
        return Answered(answer=tried.answer, failure=tried.failure)

    return ask


def fingerprint(workspace: Workspace, settings: Settings, *more: str) -> str:
    """All that an answer depends on beside its question."""
    held = sorted(record.content_hash for record in workspace.index.filings())
    return repr((settings.model_dump_json(), held, more))


def judgement_by(model: str, settings: Settings) -> Judgement:
    """The judge of answers in words that `model` names. Raises ModelSetupError where it cannot be set up."""
    judge = ModelTextJudge(judge_named(model, settings), settings.prompts)
    return Judgement(judge, Meter(settings.models.batch_budget, of="benchmark's judge"), warn)


def conduct(benchmark: Benchmark[QuestionT], out: Path | None, said: Callable[[Row], str]) -> Run:
    """Ask and judge all questions; a line of progress for each row, with what is `said` of it."""
    with Progress(len(benchmark.questions), "answering", "questions") as progress:
        return run_benchmark(
            benchmark, out, lambda row: progress.step(f"{row.question}: {said(row)}, {row.seconds or 0:.2f} s")
        )


def publish(
    run: Run,
    report: Report,
    out: Path | None,
    started: float,
    told: Mapping[str, object],
    lines: Iterable[str] = (),
    *,
    tables: Iterable[Table] | None = None,
    as_json: bool,
) -> ExitCode:
    """Write rows.csv, answers.jsonl and report.json to `out`, and show the report.

    SOME_FAILED where a question could not be answered at all.
    """
    files: dict[str, str] = {}
    if out is not None:
        files = {"rows": str(out / "rows.csv"), "answers": str(out / "answers.jsonl")}
        write_csv(run.rows, out / "rows.csv")
        written = "".join(f"{answer_json(each.answer)}\n" for each in run.answered)
        write_whole(out / "answers.jsonl", written.encode())
    seconds = round(time.perf_counter() - started, 3)
    document = {
        **told,
        "report": report.as_json(),
        "failed": run.failed,
        "cost": run.cost,
        **files,
        "seconds": seconds,
    }
    if out is not None:
        write_whole(out / "report.json", f"{json.dumps(document, indent=2)}\n".encode())
    if as_json:
        show_json(document)
    else:
        show(*map(in_our_look, [report.as_table()] if tables is None else tables), *lines)
        if run.cost["model_calls"]:
            say(", ".join(f"{name.replace('_', ' ')}: {amount}" for name, amount in run.cost.items()))
        if files:
            say(f"rows: {files['rows']}, answers: {files['answers']}")
    for each in run.failed:
        say(f"{each['question']}: failed: {each['reason']}")
    return ExitCode.SOME_FAILED if run.failed else ExitCode.DONE
