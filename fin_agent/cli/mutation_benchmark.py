"""`fin-agent eval provenance`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fin_agent.answering.answer import Answer
from fin_agent.cli.answers import attempt
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import opened
from fin_agent.cli.progress import Progress
from fin_agent.cli.streams import say, show, show_json, warn
from fin_agent.config import settings_from
from fin_agent.errors import QuestionError
from fin_agent.evaluation.correct_programs import Specimen, correct_programs
from fin_agent.evaluation.generated.asking import generated_questions
from fin_agent.evaluation.generated.question import Family
from fin_agent.evaluation.mutation_report import report_on_mutants
from fin_agent.evaluation.mutations import Judged, judge_mutants, mutants_of, refused_by_facts, wrongly_refused
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.presentation.plain import in_our_look


@dataclass(frozen=True, slots=True)
class MutationRun:
    """How many mutants are made, of how many questions, drawn how."""

    count: int
    questions: int
    seed: int


def run_mutations(run: MutationRun, given: Path | None, *, as_json: bool, debug: bool) -> ExitCode:
    """Make programs and mutants; SOME_FAILED where a mutant passes or a correct program does not.

    Raises QuestionError where the index holds no figures to make questions of.
    """
    settings = settings_from()
    shares = {Family.MULTI_FILING: run.questions * 3 // 4, Family.LOOKUP: run.questions - run.questions * 3 // 4}
    with opened(given) as workspace:
        texts = [question.text for question in generated_questions(workspace, tuple(shares), run.seed, counts=shares)]
        context = AnswerContext.by_rules(workspace, settings, notify=warn)

        def ask(text: str) -> Answer:
            return attempt(text, context, debug=debug).answer

        with Progress(len(texts), "writing programs", "questions") as progress:
            specimens = tuple(correct_programs(texts, ask, context.analyst, workspace, on_step=progress.step))
    if not specimens:
        raise QuestionError(
            "the index holds no figures that programs can be written of",
            remedy="Bring in annual reports with `fin-agent ingest PATH...`",
        )
    refused = wrongly_refused(specimens)
    judged = judge_mutants(mutants_of(specimens, run.count, run.seed))
    report = report_on_mutants(len(specimens), len(refused), refused_by_facts(specimens), judged)
    if as_json:
        show_json({"seed": run.seed, **report.as_json()})
    else:
        show(in_our_look(report.as_table()))
        _say_what_is_wrong(refused, judged)
    return ExitCode.SOME_FAILED if refused or report.passed_through else ExitCode.DONE


def _say_what_is_wrong(refused: tuple[tuple[Specimen, str], ...], judged: tuple[Judged, ...]) -> None:
    for specimen, reason in refused:
        say(f"refused though correct: {specimen.question}: {reason}")
    for each in judged:
        if not each.caught:
            say(f"not caught ({each.mutant.kind}): {each.mutant.specimen.question}\n{each.mutant.code}")
