"""`fin-agent runs ...`: recorded runs listed, shown and replayed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from fin_agent.answering.answer import Answer, Usage
from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import IndexOptions, chosen_index, command, open_existing_index
from fin_agent.cli.streams import as_plain, messages, say, show_json_line, warn
from fin_agent.config import Settings, recording_from_environment
from fin_agent.distribution import installed_version
from fin_agent.errors import FinAgentError
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import answer_question
from fin_agent.index.opening import address_of
from fin_agent.index.protocol import PageKey
from fin_agent.index.sqlite import FILE_NAME
from fin_agent.models.metering import Budget
from fin_agent.presentation.answers import usage_line
from fin_agent.presentation.runs import differences_view, run_view, runs_view
from fin_agent.presentation.terminal_text import count_with_noun
from fin_agent.runs.comparing import answer_differences
from fin_agent.runs.run import RULES, IndexState, Run, index_state
from fin_agent.runs.store import RunStore, store_file
from fin_agent.workspace import Workspace

RunName = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="A run's id, its beginning, `last`, `last~1` for the one before, or the id of its question in a batch.",
    ),
]
Full = Annotated[bool, typer.Option("--full", help="Show everything, not only the first lines of each part.")]


@command
def list_(on: IndexOptions, limit: Annotated[int, typer.Option(min=1)] = 20) -> ExitCode:
    """List recorded runs, newest first.

    On the command line:
        limit (--k, -k, --limit, -n): Number of runs.
    """
    with _open_store(on) as store:
        lines, kept, file = store.listed(limit), store.count(), store.file
    listed = [{**line.model_dump(), "started": line.started.isoformat()} for line in lines]
    shown = [runs_view(lines, kept, datetime.now(UTC).date())] if lines else []
    on.show({"runs": listed, "recorded": kept, "file": str(file)}, *shown)
    if not lines:
        on.say(f'no run is recorded in {file} yet. Ask a question with `fin-agent ask "QUESTION"`')
    return ExitCode.DONE


@command
def show(run: RunName, on: IndexOptions, full: Full = False) -> ExitCode:
    """Show a run: question, answer, ledger, what each round searched, found, kept and dropped, evidence, program.

    With --json it is the whole run with its trace.
    """
    with _open_store(on) as store:
        found = store.run(run)
    if on.as_json:
        show_json_line(found.model_dump_json())
    else:
        on.show({}, run_view(found, full=full))
    return ExitCode.DONE


@command
def forget(on: IndexOptions, names: list[str] | None = None, every: bool = False) -> ExitCode:
    """Delete recorded runs.

    On the command line:
        names (RUN...): Runs to delete.
        every (--all): Delete all runs.
    """
    if bool(names) == every:
        raise typer.BadParameter("name runs, or give --all", param_hint="RUN")
    with _open_store(on) as store:
        gone = store.forget(names or None)
    on.show({"forgotten": gone}, f"{count_with_noun(gone, 'run')} deleted.")
    return ExitCode.DONE


def _open_store(on: IndexOptions) -> RunStore:
    """Return the store of the runs of an index, or of the file that the environment names."""
    recording = recording_from_environment()
    return RunStore(store_file(on.chosen.folder, recording), recording)


@command
def replay(run: RunName, on: IndexOptions, ask_model: bool = False) -> ExitCode:
    """Ask the question of a run again, and show what differs. Exit code 3 if anything does.

    Without --index the run's own index is asked, if it still exists. A run that a model answered is replayed from the
    cached replies; without these the model is only called with --ask-model.

    On the command line:
        ask_model (--ask-model): Call the model, and pay for it, if its replies were not cached.
    """
    with _open_store(on) as store:
        then = store.run(run)
    settings = _settings(then, ask_model=ask_model)
    folder, reason = _folder(then, on.index)
    say(f"asking the index in {address_of(folder) or folder} ({reason})")
    with open_existing_index(folder) as workspace:
        changes = _changes(then, index_state(workspace.index, folder))
        for change in changes:
            warn(change)
        again = _ask_again(then, settings, workspace)
    lacking = len(again.usage.left_out) - len(then.answer.usage.left_out)
    if not ask_model and lacking > 0:
        model, took = then.settings.models.model or "a model", usage_line(then.answer.usage)
        raise ReplayError(
            f"{model} answered it, and replies that it needs are not stored (then: {took})",
            subject=f"run {then.id}",
            remedy="Call the model again, and pay for it, with --ask-model. A batch caches replies; `ask` does if the "
            "settings name a file for them",
        )
    differences = answer_differences(then.answer, again)
    usages = {"then": then.answer.usage, "now": again.usage}
    document = {
        "run": then.id,
        "identical": not differences,
        "changed_since": changes,
        "differences": as_plain(differences),
        "seconds": {"then": then.seconds, "now": again.seconds},
        "usage": as_plain(usages),
    }
    if differences:
        told = f"Run {then.id} gives another result: - then, + now."
        on.show(document, told, differences_view(differences), *_usage_comparison(then, usages))
        return ExitCode.SOME_FAILED
    took = f"{then.seconds:.2f} s then, {again.seconds:.2f} s now"
    told = f"Run {then.id} gives the same answer and the same trace again ({took})."
    on.show(document, told, *_usage_comparison(then, usages))
    return ExitCode.DONE


def _usage_comparison(run: Run, usages: Mapping[str, Usage]) -> list[str]:
    """Return the usage of model calls then and now; empty if rules answered."""
    if run.analyst == RULES:
        return []
    return [f"{when.capitalize()}: {usage_line(usage) or 'no model was called'}." for when, usage in usages.items()]


class ReplayError(FinAgentError):
    """A run cannot be asked again under the same conditions."""


def _settings(run: Run, *, ask_model: bool) -> Settings:
    """Return the settings to ask again: those of the run, limited to cached replies if the model must not be called."""
    if not run.settings.by_model or ask_model:
        return run.settings
    models = run.settings.models
    none = models.model_copy(update={"budget": Budget(calls=0), "batch_budget": Budget()})
    return run.settings.model_copy(update={"models": none})


def _folder(run: Run, given: Path | None) -> tuple[Path, str]:
    """Return the index that is named now, else the run's own, else the default, and which of these it is."""
    if given is not None:
        return given, "--index"
    recorded = Path(run.index.path)
    if address_of(recorded) is not None or (recorded / FILE_NAME).is_file():
        return recorded, "that of the run"
    chosen = chosen_index(None)
    return Path(chosen.place), f"{chosen.chosen_by}, since that of the run, {recorded}, no longer exists"


def _changes(run: Run, now: IndexState) -> list[str]:
    """Return what has changed since the run was recorded."""
    changes: list[str] = []
    if now.fingerprint != run.index.fingerprint:
        changes.append(
            f"the index has changed since: it contained {run.index.filings:,} filings, and now contains"
            f" {now.filings:,}{' others' if now.filings == run.index.filings else ''}"
        )
    if run.version != installed_version():
        changes.append(f"version {run.version} answered this run, and this is {installed_version()}")
    return changes


def _ask_again(run: Run, settings: Settings, workspace: Workspace) -> Answer:
    context = AnswerContext.from_settings(workspace, settings, notify=warn)
    with messages().status("asking again"):
        return answer_question(
            run.question,
            context,
            doc_ids=run.doc_ids or None,
            pages=[PageKey(place.doc_id, place.page) for place in run.pages],
        )
