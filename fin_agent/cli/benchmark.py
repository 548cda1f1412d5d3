"""The commands of `fin-agent eval` that answer questions: FinanceBench, generated and tagged."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fin_agent.cli.answers import refusal_for
from fin_agent.cli.benchmark_runs import asking, conduct, fingerprint, judgement_by, publish
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import opened
from fin_agent.cli.streams import warn
from fin_agent.config import Settings
from fin_agent.errors import QuestionError
from fin_agent.evaluation import Family, Oracle, QuestionKind
from fin_agent.evaluation.benchmark import Answered, Benchmark, Row
from fin_agent.evaluation.financebench import (
    FinanceBenchQuestion,
    allowed,
    load_questions,
    score,
    standing_for,
    summarize,
    tables_of,
)
from fin_agent.evaluation.generated import benchmark as generated
from fin_agent.evaluation.generated.question import GeneratedQuestion, failed, judge
from fin_agent.evaluation.misses import explain, write_misses
from fin_agent.evaluation.tagged_questions import benchmark as tagged
from fin_agent.evaluation.tagged_questions.material import TaggedMaterial
from fin_agent.presentation.plain import first_of
from fin_agent.workspace import Workspace
from fin_agent.written_file import write_whole

_GIVEN = {Oracle.NONE: "", Oracle.DOCUMENT: "the right filing given", Oracle.PAGE: "the right pages given"}


def run_financebench(
    questions: Path,
    out: Path,
    given: Path | None,
    settings: Settings,
    *,
    oracle: Oracle,
    judge: str | None = None,
    as_json: bool,
    debug: bool,
) -> ExitCode:
    """Answer and score all questions; SOME_FAILED where one could not be answered at all (it counts as refused).

    `judge` names a chat model that also judges the answers.
    """
    started = time.perf_counter()
    judging = None if judge is None else judgement_by(judge, settings)
    asked = load_questions(questions)
    with opened(given) as workspace:
        ask = asking(workspace, settings, debug)
        records = workspace.index.filings()
        forms = {record.doc_id: record.identity.form.value for record in records}
        same_content = standing_for(records)
        if lacking := sorted({question.doc_id for question in asked} - forms.keys()):
            warn(f"{len(lacking)} of the filings asked about are not in the index: {first_of(lacking)}")

        def ask_within(question: FinanceBenchQuestion) -> Answered:
            scope = allowed(question, oracle, forms)
            if scope is None:
                reason = "no filing that holds the answer is in the index"
                return Answered(answer=refusal_for(question.question, reason, question.id))
            return ask(question.question, question.id, scope)

        benchmark = Benchmark(
            asked,
            ask_within,
            lambda question, answered: score(
                question, answered.answer, forms=forms, same_content=same_content, judge=judging
            ),
            fingerprint(workspace, settings, oracle.value),
        )
        run = conduct(benchmark, out, lambda row: "refused" if row.refused else "answered")
    misses = [
        explain(question, row, each.answer, failure=each.failure, same_content=same_content)
        for question, row, each in zip(asked, run.rows, run.answered, strict=True)
        if row.figures["numeric_match_any"] is False
    ]
    report = summarize(run.rows)
    told = {
        "oracle": oracle.value,
        "judge": judge,
        "misses": [{"id": miss.row.id, "stage": miss.stage.name.lower(), "detail": miss.detail} for miss in misses],
    }
    write_misses(misses, out / "misses.csv")
    return publish(run, report, out, started, told, tables=tables_of(report, _GIVEN[oracle]), as_json=as_json)


def run_generated(
    families: tuple[Family, ...],
    count: int | None,
    given: Path | None,
    settings: Settings,
    *,
    seed: int,
    out: Path | None,
    as_json: bool,
    debug: bool,
) -> ExitCode:
    """Make, ask and score the questions; SOME_FAILED where one could not be answered at all (it counts as refused).

    `count` is of each kind wanted; None for the usual numbers. Raises QuestionError where the index holds no figures
    to make questions of.
    """
    counts = generated.COUNTS if count is None else dict.fromkeys(Family, count)
    with opened(given) as workspace:
        questions = generated.generated_questions(workspace, families, seed, counts=counts)
        if not questions:
            raise QuestionError(
                "the index holds no figures that questions can be made of",
                remedy="Bring in annual reports with `fin-agent ingest PATH...`",
            )
        _warn_of_fewer(questions, families, counts, "what the index holds")
        return _run_made(
            questions, "Generated questions", workspace, settings, failed, seed, out, as_json=as_json, debug=debug
        )


def run_tagged_questions(
    folder: Path,
    kinds: tuple[QuestionKind, ...],
    count: int | None,
    given: Path | None,
    settings: Settings,
    *,
    seed: int,
    out: Path | None,
    as_json: bool,
    debug: bool,
) -> ExitCode:
    """Make, ask and score the questions; SOME_FAILED where one could not be answered at all (it counts as refused).

    `count` is of each kind; None for the usual numbers. Raises QuestionError where the folder holds no tagged filings
    of the index, ReadError where a file is none.
    """
    counts = tagged.COUNTS if count is None else dict.fromkeys(QuestionKind, count)
    with opened(given) as workspace:
        held = tagged.read_folder(folder, workspace)
        for name in held.not_indexed:
            warn(f"{name} is not in the index: nothing is asked about it")
        questions = tagged.tagged_questions(TaggedMaterial(workspace, held.filings), kinds, seed, counts=counts)
        if not questions:
            raise QuestionError(
                f"{folder} holds no tagged reports that are in the index",
                remedy=f"Bring them in with `fin-agent ingest {folder}`",
            )
        _warn_of_fewer(questions, kinds, counts, "these filings")
        if out is not None:
            made = (json.dumps(asdict(each)) for each in questions)
            write_whole(out / "questions.jsonl", "".join(f"{line}\n" for line in made).encode())
        title = "Questions made from tags (right: within 0.5 %; one tagged figure: to its last digit)"
        return _run_made(questions, title, workspace, settings, _is_not_right, seed, out, as_json=as_json, debug=debug)


def _run_made(
    questions: Sequence[GeneratedQuestion],
    title: str,
    workspace: Workspace,
    settings: Settings,
    missed: Callable[[Row], bool],
    seed: int,
    out: Path | None,
    *,
    as_json: bool,
    debug: bool,
) -> ExitCode:
    started = time.perf_counter()
    ask = asking(workspace, settings, debug)
    benchmark = Benchmark(
        questions,
        lambda each: ask(each.text, each.id),
        lambda question, answered: judge(question, answered.answer, workspace.directory.by_key),
        fingerprint(workspace, settings),
    )
    run = conduct(benchmark, out, lambda row: "missed" if missed(row) else "right")
    misses = [row for row in run.rows if missed(row)]
    told = {"seed": seed, "misses": [asdict(row) for row in misses]}
    lines = (line for row in misses for line in generated.miss_lines(row))
    return publish(run, generated.report_on_made(run.rows, title), out, started, told, lines, as_json=as_json)


def _is_not_right(row: Row) -> bool:
    return not row.figures["right"]


def _warn_of_fewer(
    questions: Sequence[GeneratedQuestion],
    kinds: Sequence[Family] | Sequence[QuestionKind],
    counts: Mapping[Any, int],
    of: str,
) -> None:
    for kind in kinds:
        found = sum(question.family is kind for question in questions)
        if found < counts[kind]:
            warn(f"only {found} of {counts[kind]} {kind.value} questions can be made of {of}")
