"""`fin-agent compare`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from fin_agent.analyst.model.cited_answers import model_reader
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.strategy_adapters import first_query, strategy_for
from fin_agent.answering.answer import AnswerValue
from fin_agent.cli.answer_jobs import attempt
from fin_agent.cli.benchmarks import QuestionsFile, warn_about_missing_filings
from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import GoldGiven, IndexOptions, Resamples, Seed, command
from fin_agent.cli.streams import Progress, warn
from fin_agent.config import settings_from
from fin_agent.errors import FinAgentError
from fin_agent.evaluation import Oracle
from fin_agent.evaluation.benchmark import PartialResults, Row, write_csv
from fin_agent.evaluation.comparison import (
    COMPARED,
    Comparison,
    ComparisonReport,
    Conditions,
    Reader,
    report_on_comparison,
)
from fin_agent.evaluation.comparison import compare as searched
from fin_agent.evaluation.financebench import FinanceBenchQuestion, duplicates_of_filings, load_questions
from fin_agent.evaluation.statistics import MEASURING, Overlap, require_libraries
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.index.protocol import StoredPassage
from fin_agent.presentation.terminal_text import style_table
from fin_agent.retrieval.strategies.protocol import Strategy
from fin_agent.workspace import Workspace

RULES = "rules"
"""The reader that uses no model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonOptions:
    """What is compared, and what is written.

    Attributes:
        strategies (--strategies A,B,...): Names of strategies; the first is tested against the others.
        k (--k, -k): Results that count, and passages that each strategy returns.
        out (--out DIR): Folder for summary.csv, rows.csv and misses.csv (of the first). A stopped comparison resumes.
        reader (--reader WHO): Also answer from the results of each strategy, and count right figures: a chat model such
            as openai:gpt-4o-mini, or `rules`, which read the pages of the passages.
    """

    strategies: str
    questions: QuestionsFile
    oracle: GoldGiven = Oracle.NONE
    k: Annotated[int, typer.Option(min=1, max=100)] = 5
    out: Path | None = None
    reader: str | None = None
    resamples: Resamples = 10_000
    seed: Seed = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The strategies, each once. Raises BadParameter if there are none."""
        names = tuple(dict.fromkeys(name.strip() for name in self.strategies.split(",") if name.strip()))
        if not names:
            raise typer.BadParameter("name at least one strategy", param_hint="--strategies")
        return names


@command
def compare(wanted: ComparisonOptions, on: IndexOptions) -> ExitCode:
    """Compare search strategies: recall, overlap with the evidence, seconds. Needs the extra `evaluation`.

    Exit code 3 if a strategy cannot be set up, or fails on a question.
    """
    first, *others = wanted.names
    require_libraries(MEASURING)
    started = time.perf_counter()
    asked = load_questions(wanted.questions, answers=wanted.reader is not None)
    with on.open_workspace() as workspace:
        comparison = _compare(asked, workspace, wanted, on.debug)
    for name, reason in comparison.not_built.items():
        warn(f"{name} is left out: {reason}")
    if not comparison.strategies:
        raise FinAgentError("no strategy can be set up", remedy="See the warnings above")
    for strategy in comparison.strategies:
        if failed := sum(bool(score.figures["failure"]) for score in comparison.of(strategy)):
            warn(f"{strategy} failed on {failed} of {len(asked)} questions; they count as not found")
    tested = [(first, other) for other in others if {first, other} <= set(comparison.strategies)]
    report = report_on_comparison(comparison, tested, resamples=wanted.resamples, seed=wanted.seed)
    files = _write_results(comparison, report, wanted)
    failures = [
        {"strategy": score.labels["strategy"], "id": score.id, "reason": score.figures["failure"]}
        for score in comparison.scores
        if score.figures["failure"]
    ]
    document = {
        "report": report.as_json(),
        "failed": failures,
        "files": [str(file) for file in files],
        "seconds": round(time.perf_counter() - started, 3),
    }
    on.show(document, *(line for table in report.as_tables() for line in (style_table(table), "")))
    for file in files:
        on.say(f"written: {file}")
    return ExitCode.SOME_FAILED if comparison.not_built or failures else ExitCode.DONE


def _compare(
    asked: Sequence[FinanceBenchQuestion], workspace: Workspace, wanted: ComparisonOptions, debug: bool
) -> Comparison:
    records = workspace.index.filings()
    forms = {record.doc_id: record.identity.form.value for record in records}
    warn_about_missing_filings((doc_id for question in asked for doc_id in question.documents), forms)
    with Progress(len(asked) * len(wanted.names), "comparing", "searches") as progress:

        def report_progress(score: Row) -> None:
            failure = score.figures["failure"]
            said = f"failed: {failure}" if failure else f"{score.seconds or 0:.2f} s"
            progress.step(f"{score.labels['strategy']}, {score.id}: {said}", problem=bool(failure))

        conditions = Conditions(
            k=wanted.k, oracle=wanted.oracle, forms=forms, same_content=duplicates_of_filings(records), debug=debug
        )
        held = sorted(record.content_hash for record in records)
        compared = (asked, conditions, held, settings_from().model_dump_json(), wanted.reader)
        return searched(
            asked,
            wanted.names,
            build=partial(_build_strategies, workspace, wanted.k),
            understand=partial(first_query, analyst=RulesAnalyst(workspace)),
            overlap=Overlap(),
            conditions=conditions,
            reader=None if wanted.reader is None else _reader(wanted.reader, workspace, debug),
            on_score=report_progress,
            partial=None if wanted.out is None else PartialResults(wanted.out / "rows.unfinished.jsonl", compared, Row),
        )


def _reader(who: str, workspace: Workspace, debug: bool) -> Reader:
    """Return a reader: rules over the pages of the passages, or a chat model over the passages, with checked quotes.

    Raises ModelSetupError if the chat model cannot be set up.
    """
    if who != RULES:
        return model_reader(settings_from(models={"model": who}), workspace)
    context = AnswerContext.from_settings(workspace, settings_from(strategy="default", analyst="rules"), notify=warn)

    def read(question: str, passages: Sequence[StoredPassage]) -> AnswerValue | None:
        tried = attempt(question, context, pages=tuple(dict.fromkeys(each.key for each in passages)), debug=debug)
        if tried.failure:
            warn(f"{question}: not answered, and counts as wrong: {tried.failure}")
        return None if tried.answer.refused else tried.answer.answer

    return read


def _build_strategies(workspace: Workspace, k: int, name: str) -> Strategy:
    return strategy_for(settings_from(strategy=name, passages=k), workspace, notify=warn)


def _write_results(comparison: Comparison, report: ComparisonReport, wanted: ComparisonOptions) -> list[Path]:
    if wanted.out is None:
        return []
    files = [wanted.out / name for name in ("summary.csv", "rows.csv", "misses.csv")]
    first = comparison.of(comparison.strategies[0])
    write_csv([group.as_json() for group in report.groups], files[0])
    write_csv(comparison.scores, files[1])
    write_csv([score for score in first if score.figures[COMPARED] < 1], files[2])
    return files
