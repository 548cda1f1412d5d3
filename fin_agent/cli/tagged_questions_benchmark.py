"""`fin-agent eval tagged-questions`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from fin_agent.answering.answer import Answer
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import opened
from fin_agent.cli.made_questions import Asking, tell, write_rows_and_answers
from fin_agent.cli.progress import Progress
from fin_agent.cli.streams import say, warn
from fin_agent.config import Settings
from fin_agent.errors import QuestionError
from fin_agent.evaluation.generated.scoring import Outcome
from fin_agent.evaluation.tagged_questions.asking import COUNTS, ask_tagged, read_folder, tagged_questions
from fin_agent.evaluation.tagged_questions.kinds import QuestionKind, TaggedQuestion
from fin_agent.evaluation.tagged_questions.material import TaggedMaterial
from fin_agent.evaluation.tagged_questions.report import miss_lines, report_on_tagged
from fin_agent.graphs.answer.context import AnswerContext
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
    run: TaggedQuestionsRun, given: Path | None, settings: Settings, *, as_json: bool, debug: bool
) -> ExitCode:
    """Make, ask and score the questions; SOME_FAILED where one could not be answered at all (it counts as refused).

    Raises QuestionError where the folder holds no tagged filings of the index, ReadError where a file is none.
    """
    outcomes: list[Outcome] = []
    answers: list[Answer] = []
    with opened(given) as workspace:
        questions = _questions(run, workspace)
        ask = Asking(AnswerContext.from_settings(workspace, settings, notify=warn), debug)
        with Progress(len(questions), "answering", "questions") as progress:
            for question in questions:
                outcome, answer = ask_tagged(question, workspace, ask)
                outcomes.append(outcome)
                answers.append(answer.model_copy(update={"id": question.asked.id}))
                progress.step(f"{outcome.question}: {'right' if outcome.right else 'missed'}, {outcome.seconds:.2f} s")
    report = report_on_tagged(outcomes)
    if run.out is not None:
        _write(questions, outcomes, answers, run.out)
    misses = (line for outcome in report.misses for line in miss_lines(outcome))
    return tell(report, misses, ask, seed=run.seed, as_json=as_json)


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
    write_rows_and_answers(outcomes, answers, out)
    with (out / "questions.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(
            json.dumps({**asdict(question.asked), "family": question.kind.value}) + "\n" for question in questions
        )
    say(f"rows: {out / 'rows.csv'}, questions: {out / 'questions.jsonl'}, answers: {out / 'answers.jsonl'}")
