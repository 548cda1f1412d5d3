"""`fin-agent eval generated`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fin_agent.answering.answer import Answer
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import opened
from fin_agent.cli.made_questions import Asking, tell, write_rows_and_answers
from fin_agent.cli.progress import Progress
from fin_agent.cli.streams import say, warn
from fin_agent.config import Settings
from fin_agent.errors import QuestionError
from fin_agent.evaluation.generated.asking import COUNTS, ask_generated, generated_questions
from fin_agent.evaluation.generated.question import Family, GeneratedQuestion, Wanted
from fin_agent.evaluation.generated.report import failure_lines, report_on
from fin_agent.evaluation.generated.scoring import Outcome
from fin_agent.graphs.answer.context import AnswerContext


@dataclass(frozen=True, slots=True)
class GeneratedRun:
    """What is asked, and where the rows go."""

    wanted: Wanted
    count: int | None
    """Of each kind wanted; None for the usual numbers."""
    seed: int
    repeat: int
    out: Path | None


def run_generated(run: GeneratedRun, given: Path | None, settings: Settings, *, as_json: bool, debug: bool) -> ExitCode:
    """Make, ask and score the questions; SOME_FAILED where one could not be answered at all (it counts as refused).

    Raises QuestionError where the index holds no figures to make questions of.
    """
    counts = COUNTS if run.count is None else dict.fromkeys(Family, run.count)
    outcomes: list[Outcome] = []
    answers: list[Answer] = []
    with opened(given) as workspace:
        questions = generated_questions(workspace, run.wanted.families, run.seed, counts=counts)
        _warn_of_fewer(questions, run, counts)
        ask = Asking(AnswerContext.from_settings(workspace, settings, notify=warn), debug)
        with Progress(len(questions), "answering", "questions") as progress:
            for question in questions:
                outcome, answer = ask_generated(question, workspace, ask, repeat=run.repeat)
                outcomes.append(outcome)
                answers.append(answer.model_copy(update={"id": question.id}))
                progress.step(f"{question.text}: {'failed' if outcome.failed else 'right'}, {outcome.seconds:.2f} s")
    report = report_on(outcomes)
    if run.out is not None:
        write_rows_and_answers(outcomes, answers, run.out)
        say(f"rows: {run.out / 'rows.csv'}, answers: {run.out / 'answers.jsonl'}")
    misses = (line for outcome in report.failures for line in failure_lines(outcome))
    return tell(report, misses, ask, seed=run.seed, as_json=as_json)


def _warn_of_fewer(questions: tuple[GeneratedQuestion, ...], run: GeneratedRun, counts: Mapping[Family, int]) -> None:
    if not questions:
        raise QuestionError(
            "the index holds no figures that questions can be made of",
            remedy="Bring in annual reports with `fin-agent ingest PATH...`",
        )
    for family in run.wanted.families:
        found = sum(question.family is family for question in questions)
        if found < counts[family]:
            warn(f"only {found} of {counts[family]} {family.value} questions can be made of what the index holds")
