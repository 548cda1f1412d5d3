"""`fin-agent runs replay`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from fin_agent.answering.answer import Answer
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import chosen_index, opened
from fin_agent.cli.run_commands import opened_store
from fin_agent.cli.streams import messages, say, show, show_json, warn
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import answer_question
from fin_agent.index.protocol import PageKey
from fin_agent.index.sqlite import FILE_NAME
from fin_agent.presentation.runs_list import differences_view
from fin_agent.runs.comparing import answer_differences
from fin_agent.runs.fingerprint import index_state
from fin_agent.runs.run import RULES, IndexState, Run, running_version
from fin_agent.workspace import Workspace


def replay_run(name: str, given: Path | None, *, full: bool, as_json: bool) -> ExitCode:
    """Ask again over the index that is told; SOME_FAILED where the answer or its trace is not the same."""
    with opened_store(given) as store:
        run = store.run(name)
    folder, reason = _folder(run, given)
    say(f"asking over the index in {folder} ({reason})")
    with opened(folder) as workspace:
        changes = _changes(run, index_state(workspace.index, folder))
        for change in changes:
            warn(change)
        again = _asked_again(run, workspace)
    differences = answer_differences(run.answer, again)
    if as_json:
        show_json(
            {
                "run": run.id,
                "identical": not differences,
                "changed_since": changes,
                "differences": [asdict(difference) for difference in differences],
                "seconds": {"then": run.seconds, "now": again.seconds},
            }
        )
    elif differences:
        show(f"Run {run.id} does not come out the same again: - then, + now.", differences_view(differences, full=full))
    else:
        took = f"{run.seconds:.2f} s then, {again.seconds:.2f} s now"
        show(f"Run {run.id} gives the same answer and the same trace again ({took}).")
    return ExitCode.SOME_FAILED if differences else ExitCode.DONE


def _folder(run: Run, given: Path | None) -> tuple[Path, str]:
    """The index named now, else the one that was asked then, else the one in use; and which of these it is."""
    if given is not None:
        return given, "--index"
    recorded = Path(run.index.path)
    if (recorded / FILE_NAME).is_file():
        return recorded, "the one the run was asked over"
    chosen = chosen_index(None)
    return chosen.folder, f"{chosen.chosen_by}: the one the run was asked over, {recorded}, is gone"


def _changes(run: Run, now: IndexState) -> list[str]:
    """What is not as it was when the run was recorded."""
    changes: list[str] = []
    if now.fingerprint != run.index.fingerprint:
        changes.append(
            f"the index has changed since: it held {run.index.filings:,} filings, and holds {now.filings:,}"
            f"{' others' if now.filings == run.index.filings else ''} now"
        )
    if run.version != running_version():
        changes.append(f"version {run.version} answered this run, and this is {running_version()}")
    if run.analyst != RULES:
        changes.append(f"{run.analyst} answered this run, and {RULES} is asked now")
    return changes


def _asked_again(run: Run, workspace: Workspace) -> Answer:
    context = AnswerContext.by_rules(workspace, run.settings, notify=warn)
    with messages().status("asking again"):
        return answer_question(
            run.question,
            context,
            doc_ids=run.doc_ids,
            pages=[PageKey(place.doc_id, place.page) for place in run.pages],
        )
