"""The commands `fin-agent runs ...` with their arguments and options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.options import AsJson, IndexFolder, command

RunName = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="Its id, the beginning of it, `last`, `last~1` for the one before, or the id of its question in a batch.",
    ),
]
Other = Annotated[str, typer.Argument(metavar="OTHER", help="The run to hold against it.")]
AllDifferences = Annotated[
    bool, typer.Option("--full", help="Show every difference; without it the first few of each part.")
]
AskedIndex = Annotated[
    Path | None,
    typer.Option(
        "--index",
        metavar="DIR",
        help="Folder of the index to ask, and whose runs are meant. Not given: the run's own index where it still is,"
        " else that of FIN_AGENT_INDEX, else one of your own; which one is said.",
    ),
]

runs = typer.Typer(help="Look at recorded runs: list, show, replay, compare.", no_args_is_help=True)


@command(runs, "list")
def list_(
    limit: Annotated[int, typer.Option("--k", "-k", "--limit", "-n", min=1, help="How many to list.")] = 20,
    index: IndexFolder = None,
    as_json: AsJson = False,
) -> ExitCode:
    """List recorded runs, the last one first."""
    from fin_agent.cli.run_commands import list_runs

    return list_runs(index, limit=limit, as_json=as_json)


@command(runs)
def show(
    run: RunName,
    step: Annotated[int | None, typer.Option(min=1, help="Show only this step, in full.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Show every line of every step.")] = False,
    index: IndexFolder = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Show a run: question, answer, ledger, what each round searched, found, kept and dropped, evidence, program."""
    from fin_agent.cli.run_commands import show_run

    return show_run(run, index, step=step, full=full, as_json=as_json)


@command(runs)
def replay(
    run: RunName,
    full: AllDifferences = False,
    ask_model: Annotated[
        bool,
        typer.Option("--ask-model", help="Ask the model, and pay for it, where the replies it gave were not kept."),
    ] = False,
    index: AskedIndex = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Ask again as it was asked then, and say what differs. Exit code 3 where something does.

    A run that a model answered is answered by its kept replies. Where these are gone it is not asked again unasked.
    """
    from fin_agent.cli.run_commands import replay_run

    return replay_run(run, index, full=full, as_json=as_json, ask_model=ask_model)


@command(runs)
def diff(
    run: RunName,
    other: Other,
    full: AllDifferences = False,
    index: IndexFolder = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Say what differs between two runs: settings, intent, what was found and kept, ledger, program, answer."""
    from fin_agent.cli.run_commands import compare_runs

    return compare_runs(run, other, index, full=full, as_json=as_json)


@command(runs)
def export(
    run: RunName,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.json", help="Gets the run; standard output where not given.")
    ] = None,
    index: IndexFolder = None,
    as_json: Annotated[bool, typer.Option("--json", help="For the sake of scripts: it is JSON anyway.")] = False,
) -> ExitCode:
    """Write a run, with its whole trace, as JSON: on one line, or set for reading where a file gets it."""
    from fin_agent.cli.run_commands import export_run

    return export_run(run, index, out=out)


@command(runs)
def forget(
    names: Annotated[list[str] | None, typer.Argument(metavar="RUN...", help="Runs to take out.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Take out all runs.")] = False,
    index: IndexFolder = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Take runs out of the record."""
    from fin_agent.cli.run_commands import forget_runs

    if bool(names) == every:
        raise typer.BadParameter("name runs, or give --all", param_hint="RUN")
    return forget_runs(names or (), index, as_json=as_json)
