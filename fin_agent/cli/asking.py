"""`fin-agent ask`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fin_agent.answering.answer import Answer
from fin_agent.cli.answers import answer_json
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import opened
from fin_agent.cli.streams import messages, show, show_json_line, warn
from fin_agent.config import settings_from_environment
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import answer_question
from fin_agent.presentation.answers import answer_view, trace_view


def ask_question(
    question: str, given: Path | None, *, doc_ids: Sequence[str], strategy: str, trace: bool, as_json: bool
) -> ExitCode:
    """Answer one question; REFUSED where it is refused."""
    settings = settings_from_environment(strategy=strategy)
    with opened(given) as workspace:
        answer = _watched(question, AnswerContext.by_rules(workspace, settings, notify=warn), doc_ids)
    if as_json:
        show_json_line(answer_json(answer, trace=trace))
    else:
        show(answer_view(answer), *([trace_view(answer.trace)] if trace else []))
    return ExitCode.REFUSED if answer.refused else ExitCode.DONE


def _watched(question: str, context: AnswerContext, doc_ids: Sequence[str]) -> Answer:
    """Answer, naming the step at work on a terminal."""
    with messages().status("reading the question") as status:
        return answer_question(
            question,
            context,
            doc_ids=doc_ids,
            on_step=lambda node: status.update(f"{node.replace('_', ' ')}: done"),
        )
