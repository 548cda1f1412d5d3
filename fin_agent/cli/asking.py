"""`fin-agent ask`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.text import Text

from fin_agent.answering.answer import Answer
from fin_agent.cli.answers import answer_json
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import opened
from fin_agent.cli.recording import Stopwatch, recorder_for
from fin_agent.cli.streams import messages, show, show_json_line, warn
from fin_agent.config import settings_from_environment
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import answer_question
from fin_agent.presentation.answers import answer_view, trace_view


def ask_question(
    question: str,
    given: Path | None,
    *,
    doc_ids: Sequence[str],
    strategy: str,
    trace: bool,
    record: bool = True,
    as_json: bool,
) -> ExitCode:
    """Answer one question, and record the run; REFUSED where it is refused."""
    settings = settings_from_environment(strategy=strategy)
    watch = Stopwatch()
    with opened(given) as workspace, recorder_for(workspace, given, settings, record) as recorder:
        started = datetime.now(UTC)
        answer = _watched(question, AnswerContext.by_rules(workspace, settings, notify=warn), doc_ids, watch)
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
    """Answer, naming the step at work on a terminal."""
    with messages().status("reading the question") as status:

        def done(node: str) -> None:
            watch.step(node)
            status.update(f"{node.replace('_', ' ')}: done")

        watch.start()
        return answer_question(question, context, doc_ids=doc_ids, on_step=done)
