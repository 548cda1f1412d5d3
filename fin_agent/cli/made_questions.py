"""Asking questions that were made from an index, and telling how they went: shared by the `eval` commands that do."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from rich.table import Table

from fin_agent.answering.answer import Answer
from fin_agent.cli.answers import AnswersFile, attempt
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.streams import say, show, show_json
from fin_agent.evaluation.generated.report import write_outcomes
from fin_agent.evaluation.generated.scoring import Outcome
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.presentation.plain import in_our_look


@dataclass(frozen=True, slots=True)
class Asking:
    """Asks one question after the other; one that fails is kept with its reason and does not end the run."""

    context: AnswerContext
    debug: bool
    started: float = field(default_factory=time.perf_counter)
    failures: list[tuple[str, str]] = field(default_factory=list)
    """(question, reason)."""

    def __call__(self, question: str) -> Answer:
        """The answer, or the refusal that stands in for one."""
        tried = attempt(question, self.context, debug=self.debug)
        if tried.failure:
            self.failures.append((question, tried.failure))
        return tried.answer


class MadeReport(Protocol):
    """What an evaluation found."""

    def as_json(self) -> object:
        """For a machine."""

    def as_table(self) -> Table:
        """For people."""


def tell(report: MadeReport, misses: Iterable[str], asking: Asking, *, seed: int, as_json: bool) -> ExitCode:
    """Show the report, and in words what was missed; SOME_FAILED where a question could not be answered at all."""
    if as_json:
        show_json(
            {
                "seed": seed,
                "report": report.as_json(),
                "failed": [{"question": text, "reason": reason} for text, reason in asking.failures],
                "seconds": round(time.perf_counter() - asking.started, 3),
            }
        )
    else:
        show(in_our_look(report.as_table()))
        for line in misses:
            say(line)
    return ExitCode.SOME_FAILED if asking.failures else ExitCode.DONE


def write_rows_and_answers(outcomes: Sequence[Outcome], answers: Sequence[Answer], out: Path) -> None:
    """`rows.csv` and `answers.jsonl` in the folder `out`, which is made where it is not there."""
    out.mkdir(parents=True, exist_ok=True)
    write_outcomes(outcomes, out / "rows.csv")
    with AnswersFile(out / "answers.jsonl") as file:
        for answer in answers:
            file.write(answer)
