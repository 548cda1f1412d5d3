"""`fin-agent ask`."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from fin_agent.analyst.events import (
    AnswerPiece,
    CallBegun,
    CallEnded,
    Draft,
    DraftWithdrawn,
    Event,
    StepBegun,
    event_listener,
)
from fin_agent.answering.answer import Answer
from fin_agent.atomic_write import atomic_write
from fin_agent.cli.answer_jobs import Stopwatch, answer_json, recorder_for
from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import Docs, IndexOptions, ModelOptions, NoRecord, Question, StrategyName, command
from fin_agent.cli.streams import messages, say, show, show_json_line, warn
from fin_agent.errors import QuestionError
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import answer_question
from fin_agent.presentation.answers import answer_view
from fin_agent.presentation.terminal_text import one_line, plain
from fin_agent.presentation.traces import rounds_view
from fin_agent.workspace import Workspace

EXPORTS = (".html", ".xlsx", ".csv")


@command
def ask(
    question: Question,
    on: IndexOptions,
    models: ModelOptions,
    doc: Docs = None,
    strategy: StrategyName = None,
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
    settings = models.settings(strategy=strategy)
    watch = Stopwatch()
    if export is not None and export.suffix.lower() not in EXPORTS:
        raise QuestionError(
            "answers cannot be written to this kind of file",
            subject=str(export),
            remedy=f"Name a file that ends in {', '.join(EXPORTS)}",
        )
    with on.open_workspace() as workspace, recorder_for(workspace, on, settings, not no_record) as recorder:
        started = datetime.now(UTC)
        answer = _answer_with_progress(
            question, AnswerContext.from_settings(workspace, settings, notify=warn), doc or (), watch
        )
        recorded = recorder.record(answer, started=started, doc_ids=doc or (), steps=watch.steps)
        if export is not None:
            atomic_write(export, _export(answer, export.suffix.lower(), workspace))
            say(f"written to {export}")
    steps = [rounds_view(answer.trace, searched=answer.rounds > 0, full=True)] if trace else []
    _show(answer, on, *steps, trace=trace)
    if recorded and messages().is_terminal:
        # Only on a terminal: a pipe gets the answer alone, and `runs list` lists the run.
        where = f" --index {on.index}" if on.index is not None else ""
        messages().print(Text(f"run {recorded}: fin-agent runs show last{where}", style="dim"), soft_wrap=True)
    return ExitCode.REFUSED if answer.refused else ExitCode.DONE


def _show(answer: Answer, on: IndexOptions, *below: RenderableType, trace: bool = False) -> None:
    if on.as_json:
        show_json_line(answer_json(answer, trace=trace))
    else:
        show(answer_view(answer), *below)


def _export(answer: Answer, suffix: str, workspace: Workspace) -> bytes:
    """Return the answer as a file of this kind; a report leaves out pages that cannot be drawn, with a warning."""
    from fin_agent.presentation import report, workbook

    if suffix == ".xlsx":
        return workbook.answer_workbook([answer])
    if suffix == ".csv":
        return workbook.answer_csv([answer]).encode("utf-8-sig")

    return report.html_report([answer], partial(report.drawn_page, workspace, notify=warn)).encode()


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


def _answer_with_progress(question: str, context: AnswerContext, doc_ids: Sequence[str], watch: Stopwatch) -> Answer:
    """Answer the question; a terminal shows the current step, the model that is called, and a draft of the answer."""
    console = messages()
    watch.start()
    if not console.is_terminal:
        return answer_question(question, context, doc_ids=doc_ids or None, on_step=watch.step)
    with ProgressDisplay(console) as shown, event_listener(shown.on_event):
        return answer_question(question, context, doc_ids=doc_ids or None, on_step=watch.step)


_MAX_LINES = 8
"""Lines of a draft that are shown, from its end."""


class ProgressDisplay:
    """Shows events in place while the block runs; `on_event` may be called by several threads.

    A draft is marked as such, and is replaced by the answer as soon as that is verified.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._guard = threading.Lock()
        self._doing = "reading the question"
        self._asked: list[str] = []
        self._draft = ""
        self._answer = ""
        self._spinner = Spinner("dots")
        self._live = Live(console=console, transient=True, get_renderable=self.renderable, refresh_per_second=8)

    def __enter__(self) -> ProgressDisplay:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def on_event(self, event: Event) -> None:
        """See Listener."""
        with self._guard:
            match event:
                case StepBegun():
                    again = f", round {event.round}" if event.round > 1 else ""
                    self._doing = f"{event.node.replace('_', ' ')}{again}"
                case CallBegun():
                    self._asked.append(_call(event))
                case CallEnded() if _call(event) in self._asked:
                    self._asked.remove(_call(event))
                case Draft():
                    self._draft += event.text
                case DraftWithdrawn():
                    self._draft = ""
                case AnswerPiece():
                    self._draft = ""
                    self._answer += event.text

    def renderable(self) -> RenderableType:
        """Return what the terminal shows now."""
        with self._guard:
            asked = "".join(f" · {call}" for call in dict.fromkeys(self._asked))
            lines: list[RenderableType] = [self._line(f"{self._doing}{asked}")]
            if self._draft:
                lines += [Text("draft, not checked yet:", style="dim"), self._last(self._draft, "dim italic")]
            elif self._answer:
                lines.append(self._last(self._answer, ""))
        return Group(*lines)

    def _line(self, text: str) -> RenderableType:
        self._spinner.update(text=Text(one_line(text, max(8, self._console.width - 3))))
        return self._spinner

    def _last(self, text: str, style: str) -> RenderableType:
        wrapped = Text(plain(text), style=style).wrap(self._console, max(1, self._console.width - 1))
        return Text("\n").join(wrapped[-_MAX_LINES:])


def _call(event: CallBegun | CallEnded) -> str:
    return f"{event.role} by {event.model}"
