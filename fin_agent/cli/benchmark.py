"""The commands of `fin-agent eval` that answer questions: FinanceBench, generated and tagged."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fin_agent.analyst.model.judging import ModelTextJudge, judge_named
from fin_agent.cli.answers import refusal_for
from fin_agent.cli.benchmark_runs import asking, conduct, fingerprint, publish
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import opened
from fin_agent.cli.streams import Progress, warn
from fin_agent.config import Settings
from fin_agent.errors import QuestionError
from fin_agent.evaluation import Family, Oracle, QuestionKind, Wanted
from fin_agent.evaluation.benchmark import Answered, Benchmark, Run, write_csv
from fin_agent.evaluation.financebench import (
    FinanceBenchQuestion,
    Row,
    allowed,
    load_questions,
    score,
    standing_for,
    summarize,
    tables_of,
)
from fin_agent.evaluation.generated import benchmark as generated
from fin_agent.evaluation.generated.question import GeneratedQuestion, Outcome, judge
from fin_agent.evaluation.judgements import Judged, judge_rows
from fin_agent.evaluation.misses import Miss, explain, misses_as_markdown, write_misses
from fin_agent.evaluation.tagged_questions import benchmark as tagged
from fin_agent.evaluation.tagged_questions.material import TaggedMaterial
from fin_agent.models.metering import Meter, metered
from fin_agent.presentation.plain import first_of
from fin_agent.written_file import write_whole

_MOST_NAMED = 5
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
    judging = None if judge is None else ModelTextJudge(judge_named(judge, settings), settings.prompts)
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
            lambda question, answered: score(question, answered.answer, forms=forms, same_content=same_content),
            fingerprint(workspace, settings, oracle.value),
        )
        run = conduct(benchmark, out, lambda row: f"{row.id}: {row.seconds:.2f} s")
    misses = [
        explain(question, row, each.answer, failure=each.failure, same_content=same_content)
        for question, row, each in zip(asked, run.rows, run.answered, strict=True)
        if row.numeric_match_any is False
    ]
    report = summarize(run.rows)
    bench = None if judging is None else _judged(run.rows, judging, settings)
    told = {
        "oracle": oracle.value,
        **({} if bench is None else {"judge": {"model": judge, **bench.as_json()}}),
        "misses": [{"id": miss.row.id, "stage": miss.stage.name.lower(), "detail": miss.detail} for miss in misses],
    }
    _write_misses(misses, run, out)
    if bench is not None:
        write_csv(bench.judgements, out / "judgements.csv")
    tables = tables_of(report, _GIVEN[oracle])
    lines = [] if bench is None else [bench.text()]
    return publish(run, report, out, started, told, lines, tables=tables, as_json=as_json)


def run_generated(
    wanted: Wanted,
    count: int | None,
    given: Path | None,
    settings: Settings,
    *,
    seed: int,
    repeat: int,
    out: Path | None,
    as_json: bool,
    debug: bool,
) -> ExitCode:
    """Make, ask and score the questions; SOME_FAILED where one could not be answered at all (it counts as refused).

    `count` is of each kind wanted; None for the usual numbers. Raises QuestionError where the index holds no figures
    to make questions of.
    """
    started = time.perf_counter()
    counts = generated.COUNTS if count is None else dict.fromkeys(Family, count)
    with opened(given) as workspace:
        questions = generated.generated_questions(workspace, wanted.families, seed, counts=counts)
        if not questions:
            raise QuestionError(
                "the index holds no figures that questions can be made of",
                remedy="Bring in annual reports with `fin-agent ingest PATH...`",
            )
        made = {family: sum(question.family is family for question in questions) for family in wanted.families}
        _warn_of_fewer(made, counts, "what the index holds")
        ask = asking(workspace, settings, debug)

        def judged(question: GeneratedQuestion, answered: Answered) -> Outcome:
            return judge(question, answered.answer, workspace.directory.by_key, differing=answered.differing)

        benchmark = Benchmark(
            questions,
            lambda each: generated.asked_repeatedly(lambda: ask(each.text, each.id), repeat),
            judged,
            fingerprint(workspace, settings, str(repeat)),
        )
        run = conduct(
            benchmark, out, lambda row: f"{row.question}: {'failed' if row.failed else 'right'}, {row.seconds:.2f} s"
        )
    failures = [outcome for outcome in run.rows if outcome.failed]
    told = {"seed": seed, "misses": [asdict(outcome) for outcome in failures]}
    lines = (line for outcome in failures for line in generated.failure_lines(outcome))
    return publish(run, generated.report_on_generated(run.rows), out, started, told, lines, as_json=as_json)


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
    started = time.perf_counter()
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
        _warn_of_fewer({kind: sum(each.kind is kind for each in questions) for kind in kinds}, counts, "these filings")
        ask = asking(workspace, settings, debug)
        benchmark = Benchmark(
            questions,
            lambda each: ask(each.asked.text, each.asked.id),
            lambda question, answered: tagged.judge_tagged(question, answered, workspace),
            fingerprint(workspace, settings),
        )
        run = conduct(
            benchmark, out, lambda row: f"{row.question}: {'right' if row.right else 'missed'}, {row.seconds:.2f} s"
        )
    misses = [outcome for outcome in run.rows if not outcome.right]
    if out is not None:
        made = (json.dumps({**asdict(each.asked), "family": each.kind.value}) for each in questions)
        write_whole(out / "questions.jsonl", "".join(f"{line}\n" for line in made).encode())
    told = {"seed": seed, "misses": [asdict(outcome) for outcome in misses]}
    lines = (line for outcome in misses for line in tagged.miss_lines(outcome))
    return publish(run, tagged.report_on_tagged(run.rows), out, started, told, lines, as_json=as_json)


def _write_misses(misses: list[Miss], run: Run[Row], out: Path) -> None:
    write_misses(misses, out / "misses.csv")
    (out / "misses.md").write_text(misses_as_markdown(misses, run.rows), encoding="utf-8")


def _judged(rows: tuple[Row, ...], judging: ModelTextJudge, settings: Settings) -> Judged:
    with (
        metered(Meter(settings.models.batch_budget, of="benchmark's judge")),
        Progress(len(rows), "judging", "answers") as progress,
    ):
        judged = judge_rows(rows, judging, lambda each: progress.step(f"{each.id}: {each.told}"))
    for note in judged.notes[:_MOST_NAMED]:
        warn(note)
    if more := judged.notes[_MOST_NAMED:]:
        warn(f"{len(more)} more answers were judged by rules")
    return judged


def _warn_of_fewer(made: Mapping[Family, int] | Mapping[QuestionKind, int], counts: Mapping[Any, int], of: str) -> None:
    for kind, found in made.items():
        if found < counts[kind]:
            warn(f"only {found} of {counts[kind]} {kind.value} questions can be made of {of}")
