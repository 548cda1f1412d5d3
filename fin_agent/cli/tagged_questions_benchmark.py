"""`fin-agent eval tagged-questions`."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from fin_agent.answering.answer import Answer
from fin_agent.cli.answers import AnswersFile, attempt
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import opened
from fin_agent.cli.progress import Progress
from fin_agent.cli.streams import say, show, show_json, warn
from fin_agent.config import settings_from_environment
from fin_agent.errors import QuestionError
from fin_agent.evaluation.generated.report import write_outcomes
from fin_agent.evaluation.generated.scoring import Outcome
from fin_agent.evaluation.tagged_questions.asking import COUNTS, ask_tagged, read_folder, tagged_questions
from fin_agent.evaluation.tagged_questions.kinds import QuestionKind, TaggedQuestion
from fin_agent.evaluation.tagged_questions.material import TaggedMaterial
from fin_agent.evaluation.tagged_questions.report import miss_lines, report_on_tagged
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.presentation.filings import in_our_look
from fin_agent.workspace import Workspace


@dataclass(frozen=True, slots=True)
class TaggedQuestionsRun:
    """What is asked, and where the rows go."""

    folder: Path
    kinds: tuple[QuestionKind, ...]
    """Empty for all."""
    count: int | None
    """Of each kind; None for the usual numbers."""
    seed: int
    out: Path | None


def run_tagged_questions(
    run: TaggedQuestionsRun, given: Path | None, *, strategy: str, as_json: bool, debug: bool
) -> ExitCode:
    """Make, ask and score the questions; SOME_FAILED where one could not be answered at all (it counts as refused).

    Raises QuestionError where the folder holds no tagged filings of the index, ReadError where a file is none.
    """
    started = time.perf_counter()
    settings = settings_from_environment(strategy=strategy)
    outcomes: list[Outcome] = []
    answers: list[Answer] = []
    failures: list[tuple[str, str]] = []
    with opened(given) as workspace:
        questions = _questions(run, workspace)
        context = AnswerContext.by_rules(workspace, settings, notify=warn)

        def ask(text: str) -> Answer:
            tried = attempt(text, context, debug=debug)
            if tried.failure:
                failures.append((text, tried.failure))
            return tried.answer

        with Progress(len(questions), "answering", "questions") as progress:
            for question in questions:
                outcome, answer = ask_tagged(question, workspace, ask)
                outcomes.append(outcome)
                answers.append(answer.model_copy(update={"id": question.asked.id}))
                progress.step(f"{outcome.question}: {'right' if outcome.right else 'missed'}, {outcome.seconds:.2f} s")
    report = report_on_tagged(outcomes)
    if run.out is not None:
        _write(questions, outcomes, answers, run.out)
    if as_json:
        show_json(
            {
                "seed": run.seed,
                "report": report.as_json(),
                "failed": [{"question": text, "reason": reason} for text, reason in failures],
                "seconds": round(time.perf_counter() - started, 3),
            }
        )
    else:
        show(in_our_look(report.as_table()))
        for outcome in report.misses:
            for line in miss_lines(outcome):
                say(line)
    return ExitCode.SOME_FAILED if failures else ExitCode.DONE


def _questions(run: TaggedQuestionsRun, workspace: Workspace) -> tuple[TaggedQuestion, ...]:
    kinds = run.kinds or tuple(QuestionKind)
    counts = COUNTS if run.count is None else dict.fromkeys(QuestionKind, run.count)
    folder = read_folder(run.folder, workspace)
    for name in folder.not_indexed:
        warn(f"{name} is not in the index: nothing is asked about it")
    questions = tagged_questions(TaggedMaterial(workspace, folder.filings), kinds, run.seed, counts=counts)
    if not questions:
        raise QuestionError(
            f"{run.folder} holds no tagged reports that are in the index",
            remedy=f"Bring them in with `fin-agent ingest {run.folder}`",
        )
    _warn_of_fewer(questions, kinds, counts)
    return questions


def _warn_of_fewer(
    questions: Sequence[TaggedQuestion], kinds: Sequence[QuestionKind], counts: Mapping[QuestionKind, int]
) -> None:
    for kind in kinds:
        found = sum(question.kind is kind for question in questions)
        if found < counts[kind]:
            warn(f"only {found} of {counts[kind]} {kind.value} questions can be made of these filings")


def _write(
    questions: Sequence[TaggedQuestion], outcomes: Sequence[Outcome], answers: Sequence[Answer], out: Path
) -> None:
    out.mkdir(parents=True, exist_ok=True)
    write_outcomes(outcomes, out / "rows.csv")
    with (out / "questions.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(
            json.dumps({**asdict(question.asked), "family": question.kind.value}) + "\n" for question in questions
        )
    with AnswersFile(out / "answers.jsonl") as answered:
        for answer in answers:
            answered.write(answer)
    say(f"rows: {out / 'rows.csv'}, questions: {out / 'questions.jsonl'}, answers: {out / 'answers.jsonl'}")
