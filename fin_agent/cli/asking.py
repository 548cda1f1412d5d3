"""`fin-agent ask`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.text import Text

from fin_agent.analyst.events import listening
from fin_agent.answering.answer import Answer
from fin_agent.cli.answers import answer_json
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import opened
from fin_agent.cli.recording import Stopwatch, recorder_for
from fin_agent.cli.streams import messages, show, show_json_line, warn
from fin_agent.cli.watching import Watching
from fin_agent.config import Settings
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import answer_question
from fin_agent.presentation.answers import answer_view, trace_view


def ask_question(
    question: str,
    given: Path | None,
    settings: Settings,
    *,
    doc_ids: Sequence[str],
    trace: bool,
    record: bool = True,
    as_json: bool,
) -> ExitCode:
    """Answer one question, and record the run; REFUSED where it is refused."""
    watch = Stopwatch()
    with opened(given) as workspace, recorder_for(workspace, given, settings, record) as recorder:
        started = datetime.now(UTC)
        answer = _watched(question, AnswerContext.from_settings(workspace, settings, notify=warn), doc_ids, watch)
        recorded = recorder.record(answer, started=started, doc_ids=doc_ids, steps=watch.steps)
    if as_json:
        show_json_line(answer_json(answer, trace=trace))
    else:
        show(answer_view(answer), *([trace_view(answer.trace)] if trace else []))
    if recorded and messages().is_terminal:
        # Whoever reads this from a pipe has asked for the answer, and finds the run with `runs list`.
        where = f" --index {given}" if given is not None else ""
        messages().print(Text(f"run {recorded}: fin-agent runs show last{where}", style="dim"), soft_wrap=True)
    return ExitCode.REFUSED if answer.refused else ExitCode.DONE


def _watched(question: str, context: AnswerContext, doc_ids: Sequence[str], watch: Stopwatch) -> Answer:
    """Answer; a terminal shows the step at work, the model asked, and a draft of the answer as it grows."""
    console = messages()
    watch.start()
    if not console.is_terminal:
        return answer_question(question, context, doc_ids=doc_ids or None, on_step=watch.step)
    with Watching(console) as shown, listening(shown.heard):
        return answer_question(question, context, doc_ids=doc_ids or None, on_step=watch.step)
