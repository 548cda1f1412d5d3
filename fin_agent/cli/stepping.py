"""`fin-agent ask --step`: node by node, in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from fin_agent.cli.answers import answer_json
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import opened
from fin_agent.cli.streams import messages, say, show, show_json_line, warn
from fin_agent.config import Settings
from fin_agent.errors import FinAgentError
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.stepping import SteppedRun
from fin_agent.presentation.answers import answer_view
from fin_agent.presentation.runs import about_to_run, left_view, stopped_step_view

KEYS = "Enter goes on; e WORDS searches for other words; d N drops passage N; q stops"


def step_through(
    question: str, given: Path | None, settings: Settings, *, doc_ids: Sequence[str], as_json: bool
) -> ExitCode:
    """Answer one question, stopping after each node; STOPPED where it is left on the way. The run is not recorded."""
    with opened(given) as workspace:
        run = SteppedRun(question, AnswerContext.from_settings(workspace, settings, notify=warn), doc_ids=doc_ids)
        shown = messages()
        shown.print(Text(KEYS, style="dim"))
        while True:
            step = run.advance()
            if step is not None:
                shown.print(stopped_step_view(step))
            if run.next is None:
                break
            if step is not None:
                shown.print(left_view(run.state, run.next, run.passages))
            else:
                shown.print(about_to_run(run.program or ""))
            if not _go_on(run):
                return ExitCode.STOPPED
        answer = run.answer
        assert answer is not None, "the last node always answers or refuses"
    shown.print()
    if as_json:
        show_json_line(answer_json(answer))
    else:
        show(answer_view(answer))
    return ExitCode.REFUSED if answer.refused else ExitCode.DONE


def _go_on(run: SteppedRun) -> bool:
    """Take what is typed until the run is to go on; where nothing more comes, it goes on."""
    while True:
        typed = _typed(f"{run.next} > ")
        command, _, rest = typed.strip().partition(" ")
        try:
            match command, rest.strip():
                case "", _:
                    return True
                case "q", "":
                    return False
                case "e", words:
                    run.search_for(words or _typed("search for > ").strip())
                    say(f"searching for: {run.state['query'].text}")
                case "d", number if number.isdigit():
                    dropped = run.drop(int(number))
                    say(f"dropped: {dropped.doc_id} page {dropped.page + 1}; next: {run.next}")
                case _:
                    say(KEYS)
        except FinAgentError as error:
            say(str(error))


def _typed(prompt: str) -> str:
    sys.stderr.write(prompt)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not sys.stdin.isatty():
        # What was typed is not on the screen, nor the end of its line.
        sys.stderr.write(line if line.endswith("\n") else f"{line}\n")
    return line
