"""What `fin-agent runs ...` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import typer

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import chosen_index
from fin_agent.cli.streams import say, show, show_json, show_json_line
from fin_agent.config import recording_from_environment
from fin_agent.presentation.runs import comparison_view, run_view, runs_view, step_of_run_view
from fin_agent.runs.comparing import run_differences
from fin_agent.runs.store import RunStore, store_file


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
        show_json_line(_on_one_line(shown.model_dump_json()))
    else:
        show(run_view(run, full=full) if step is None else step_of_run_view(run, step))
    return ExitCode.DONE


def compare_runs(name: str, other: str, given: Path | None, *, full: bool, as_json: bool) -> ExitCode:
    """Say what differs between two runs."""
    with opened_store(given) as store:
        first, second = store.run(name), store.run(other)
    differences = run_differences(first, second)
    if as_json:
        show_json(
            {
                "first": first.id,
                "second": second.id,
                "identical": not differences,
                "differences": [asdict(difference) for difference in differences],
            }
        )
    else:
        show(comparison_view(first, second, differences, full=full))
    return ExitCode.DONE


def export_run(name: str, given: Path | None, *, out: Path | None) -> ExitCode:
    """Write one run as JSON: on one line to standard output, set for reading into a file."""
    with opened_store(given) as store:
        run = store.run(name)
    if out is None:
        show_json_line(_on_one_line(run.model_dump_json()))
        return ExitCode.DONE
    unfinished = out.with_name(f"{out.name}.part")
    unfinished.write_text(f"{run.model_dump_json(indent=2)}\n", encoding="utf-8", newline="\n")
    unfinished.replace(out)
    say(f"run {run.id} is in {out}")
    return ExitCode.DONE


def forget_runs(names: Sequence[str], given: Path | None, *, as_json: bool) -> ExitCode:
    """Take out the runs named, or all where none is."""
    with opened_store(given) as store:
        gone = store.forget(names or None)
    if as_json:
        show_json({"forgotten": gone})
    else:
        show(f"{gone} run{'' if gone == 1 else 's'} forgotten.")
    return ExitCode.DONE


def opened_store(given: Path | None) -> RunStore:
    """The runs that belong to an index, or those in the file that the environment names."""
    recording = recording_from_environment()
    return RunStore(store_file(chosen_index(given).folder, recording), recording)


def _on_one_line(document: str) -> str:
    # U+2028 and its like end a line for some readers of JSON Lines.
    return document.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\u0085", "\\u0085")
