"""What `fin-agent runs ...` does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import typer

from fin_agent.answering.answer import Answer
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import chosen_index, opened
from fin_agent.cli.streams import as_plain, messages, say, show, show_json, show_json_line, show_result, warn
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
from fin_agent.presentation.runs import comparison_view, differences_view, run_view, runs_view, step_of_run_view
from fin_agent.runs.comparing import answer_differences, run_differences
from fin_agent.runs.run import RULES, IndexState, Run, index_state
from fin_agent.runs.store import RunStore, store_file
from fin_agent.workspace import Workspace
from fin_agent.written_file import write_whole


def list_runs(given: Path | None, *, limit: int, as_json: bool) -> ExitCode:
    """List the last runs."""
    with opened_store(given) as store:
        lines, kept = store.listed(limit), store.count()
        file = store.file
    if as_json:
        listed = [{**line.model_dump(), "started": line.started.isoformat()} for line in lines]
        show_json({"runs": listed, "recorded": kept, "file": str(file)})
    elif lines:
        show(runs_view(lines, kept, datetime.now(UTC).date()))
    else:
        say(f'no run is recorded in {file} yet: ask something with `fin-agent ask "QUESTION"`')
    return ExitCode.DONE


def show_run(name: str, given: Path | None, *, step: int | None, full: bool, as_json: bool) -> ExitCode:
    """Show one run, or one step of it."""
    with opened_store(given) as store:
        run = store.run(name)
    if step is not None and step > len(run.answer.trace):
        raise typer.BadParameter(f"this run has {len(run.answer.trace)} steps", param_hint="--step")
    if as_json:
        shown = run if step is None else run.answer.trace[step - 1]
        show_json_line(shown.model_dump_json())
    else:
        show(run_view(run, full=full) if step is None else step_of_run_view(run, step))
    return ExitCode.DONE


def compare_runs(name: str, other: str, given: Path | None, *, full: bool, as_json: bool) -> ExitCode:
    """Say what differs between two runs."""
    with opened_store(given) as store:
        first, second = store.run(name), store.run(other)
    differences = run_differences(first, second)
    ids = {"first": first.id, "second": second.id}
    document = {**ids, "identical": not differences, "differences": as_plain(differences)}
    show_result(as_json, document, comparison_view(first, second, differences, full=full))
    return ExitCode.DONE


def export_run(name: str, given: Path | None, *, out: Path | None) -> ExitCode:
    """Write one run as JSON: on one line to standard output, set for reading into a file."""
    with opened_store(given) as store:
        run = store.run(name)
    if out is None:
        show_json_line(run.model_dump_json())
        return ExitCode.DONE
    write_whole(out, f"{run.model_dump_json(indent=2)}\n".encode())
    say(f"run {run.id} is in {out}")
    return ExitCode.DONE


def forget_runs(names: Sequence[str], given: Path | None, *, as_json: bool) -> ExitCode:
    """Take out the runs named, or all where none is."""
    with opened_store(given) as store:
        gone = store.forget(names or None)
    show_result(as_json, {"forgotten": gone}, f"{gone} run{'' if gone == 1 else 's'} forgotten.")
    return ExitCode.DONE


def opened_store(given: Path | None) -> RunStore:
    """The runs that belong to an index, or those in the file that the environment names."""
    recording = recording_from_environment()
    return RunStore(store_file(chosen_index(given).folder, recording), recording)


def replay_run(name: str, given: Path | None, *, full: bool, as_json: bool, ask_model: bool = False) -> ExitCode:
    """Ask again over the index that is told; SOME_FAILED where the answer or its trace is not the same.

    A run that a model answered is answered by its kept replies, at no cost. Where one was not kept, the model is asked
    if `ask_model` says so, else ReplayError is raised: nothing is paid for unasked.
    """
    with opened_store(given) as store:
        run = store.run(name)
    settings = _settings(run, ask_model=ask_model)
    folder, reason = _folder(run, given)
    say(f"asking over the index in {address_of(folder) or folder} ({reason})")
    with opened(folder) as workspace:
        changes = _changes(run, index_state(workspace.index, folder))
        for change in changes:
            warn(change)
        again = _asked_again(run, settings, workspace)
    lacking = len(again.usage.left_out) - len(run.answer.usage.left_out)
    if not ask_model and lacking > 0:
        raise _needs_model(run, f"{lacking} of the replies that it needs {'is' if lacking == 1 else 'are'} not kept")
    differences = answer_differences(run.answer, again)
    if as_json:
        show_json(
            {
                "run": run.id,
                "identical": not differences,
                "changed_since": changes,
                "differences": as_plain(differences),
                "seconds": {"then": run.seconds, "now": again.seconds},
                "usage": {kept: answer.usage.model_dump(mode="json") for kept, answer in _then_and_now(run, again)},
            }
        )
    elif differences:
        show(f"Run {run.id} does not come out the same again: - then, + now.", differences_view(differences, full=full))
    else:
        took = f"{run.seconds:.2f} s then, {again.seconds:.2f} s now"
        show(f"Run {run.id} gives the same answer and the same trace again ({took}).")
    if not as_json and run.analyst != RULES:
        for when, answer in _then_and_now(run, again):
            show(f"{when.capitalize()}: {usage_line(answer.usage) or 'no model was called'}.")
    return ExitCode.SOME_FAILED if differences else ExitCode.DONE


class ReplayError(FinAgentError):
    """A run cannot be asked again as it was asked."""


def _settings(run: Run, *, ask_model: bool) -> Settings:
    """How to ask again: as then, and where the model must not be asked, with kept replies alone."""
    if not run.settings.by_model or ask_model:
        return run.settings
    models, usage = run.settings.models, run.answer.usage
    if usage.model_calls + usage.cached_calls and (models.cache is None or not models.cache.is_file()):
        gone = "no replies were kept" if models.cache is None else f"the replies kept in {models.cache} are gone"
        raise _needs_model(run, gone)
    none = models.model_copy(update={"budget": Budget(calls=0), "batch_budget": Budget()})
    return run.settings.model_copy(update={"models": none})


def _needs_model(run: Run, why: str) -> ReplayError:
    took = usage_line(run.answer.usage)
    return ReplayError(
        f"{run.settings.models.model or 'a model'} answered it, and {why}{f' (then: {took})' if took else ''}",
        subject=f"run {run.id}",
        remedy="Ask the model again, and pay for it, with --ask-model. A batch keeps replies; `ask` does where the "
        "settings name a file for them",
    )


def _then_and_now(run: Run, again: Answer) -> tuple[tuple[str, Answer], tuple[str, Answer]]:
    return ("then", run.answer), ("now", again)


def _folder(run: Run, given: Path | None) -> tuple[Path, str]:
    """The index named now, else the one that was asked then, else the one in use; and which of these it is."""
    if given is not None:
        return given, "--index"
    recorded = Path(run.index.path)
    if address_of(recorded) is not None or (recorded / FILE_NAME).is_file():
        return recorded, "the one the run was asked over"
    chosen = chosen_index(None)
    return Path(chosen.place), f"{chosen.chosen_by}: the one the run was asked over, {recorded}, is gone"


def _changes(run: Run, now: IndexState) -> list[str]:
    """What is not as it was when the run was recorded."""
    changes: list[str] = []
    if now.fingerprint != run.index.fingerprint:
        changes.append(
            f"the index has changed since: it held {run.index.filings:,} filings, and holds {now.filings:,}"
            f"{' others' if now.filings == run.index.filings else ''} now"
        )
    if run.version != installed_version():
        changes.append(f"version {run.version} answered this run, and this is {installed_version()}")
    return changes


def _asked_again(run: Run, settings: Settings, workspace: Workspace) -> Answer:
    context = AnswerContext.from_settings(workspace, settings, notify=warn)
    with messages().status("asking again"):
        return answer_question(
            run.question,
            context,
            doc_ids=run.doc_ids or None,
            pages=[PageKey(place.doc_id, place.page) for place in run.pages],
        )
