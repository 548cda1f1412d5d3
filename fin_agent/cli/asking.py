"""`fin-agent ask`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from rich.text import Text

from fin_agent.analyst.events import CallBegun, CallEnded, Event, StepBegun, event_listener
from fin_agent.atomic_write import atomic_write
from fin_agent.cli.answer_jobs import answer_json, recorder_for
from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import AnswerOptions, Docs, IndexOptions, NoRecord, Question, command
from fin_agent.cli.streams import messages, say, show, show_json_line, warn
from fin_agent.errors import QuestionError
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import answer_question
from fin_agent.presentation.answers import answer_view, rounds_view
from fin_agent.presentation.terminal_text import one_line
from fin_agent.runs.run import StepTime

EXPORTS = (".html", ".xlsx", ".csv")


@command
def ask(
    question: Question,
    on: IndexOptions,
    models: AnswerOptions,
    doc: Docs = None,
    trace: bool = False,
    explain: bool = False,
    export: Path | None = None,
    no_record: NoRecord = False,
) -> ExitCode:
    """Answer a question with its figures, program and pages, or refuse it and say what is missing.

    On the command line:
        trace (--trace): Also show each step: what it found, kept and dropped.
        explain (--explain): Only print how the question is read: its tree of measures, as JSON.
        export (--export FILE): Also write the answer: .xlsx with the program as formulas (extra `excel`), .csv, or
            .html with its pages.
    """
    if explain:
        return _print_explanation(question, on)
    settings = models.settings()
    if export is not None and export.suffix.lower() not in EXPORTS:
        raise QuestionError(
            "answers cannot be written to this kind of file",
            subject=str(export),
            remedy=f"Name a file that ends in {', '.join(EXPORTS)}",
        )
    steps: list[StepTime] = []
    with on.open_workspace() as workspace, recorder_for(workspace, on, settings, not no_record) as recorder:
        started, before = datetime.now(UTC), time.perf_counter()

        def step_ended(node: str) -> None:
            nonlocal before
            now = time.perf_counter()
            steps.append(StepTime(node=node, seconds=round(now - before, 4)))
            before = now

        context = AnswerContext.from_settings(workspace, settings, notify=warn)
        with progress_shown():
            answer = answer_question(question, context, doc_ids=doc, on_step=step_ended)
        recorded = recorder.record(answer, started=started, doc_ids=doc or (), steps=steps)
        if export is not None:
            from fin_agent.presentation.exports import drawn_page, exported

            # A report leaves out pages that cannot be drawn, with a warning.
            picture = partial(drawn_page, workspace, notify=warn)
            atomic_write(export, exported(export.suffix.lower().removeprefix("."), [answer], picture))
            say(f"written to {export}")
        if on.as_json:
            show_json_line(answer_json(answer, trace=trace))
        else:
            rounds = [rounds_view(answer.trace, searched=answer.rounds > 0, full=True)] if trace else []
            show(answer_view(answer, workspace.index), *rounds)
    if recorded and messages().is_terminal:
        # Only on a terminal: a pipe gets the answer alone, and `runs list` lists the run.
        where = f" --index {on.index}" if on.index is not None else ""
        messages().print(Text(f"run {recorded}: fin-agent runs show last{where}", style="dim"), soft_wrap=True)
    return ExitCode.REFUSED if answer.refused else ExitCode.DONE


def _print_explanation(question: str, on: IndexOptions) -> ExitCode:
    """Print the question as it is read, as one JSON document.

    Raises NoReadingError where a formula of the question cannot be read.
    """
    from fin_agent.query.question_to_intent import known_names
    from fin_agent.query.reading import read_question

    with on.open_workspace() as workspace:
        query = read_question(question, known_names(workspace))
    show_json_line(query.model_dump_json(exclude_none=True))
    return ExitCode.DONE


@contextmanager
def progress_shown() -> Iterator[None]:
    """Show on a terminal the current step and the models that are called, while the block runs."""
    console = messages()
    if not console.is_terminal:
        yield
        return
    line = ["reading the question"]
    with console.status(line[0]) as status:

        def update(event: Event) -> None:
            update_line(line, event)
            status.update(Text(one_line(" · ".join(dict.fromkeys(line)), max(8, console.width - 3))))

        with event_listener(update):
            yield


def update_line(line: list[str], event: Event) -> None:
    """Change a line, the current step and then the models that are called, as an event tells."""
    match event:
        case StepBegun():
            again = f", round {event.round}" if event.round > 1 else ""
            line[0] = f"{event.node.replace('_', ' ')}{again}"
        case CallBegun():
            line.append(f"{event.role} by {event.model}")
        case CallEnded() if (called := f"{event.role} by {event.model}") in line:
            line.remove(called)
