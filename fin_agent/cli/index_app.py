"""The commands `fin-agent index ...` with their arguments and options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.options import AsJson, IndexFolder, Wait, command

index_commands = typer.Typer(
    help="Keep the index: verify, repair, copy to another folder or a cluster, list what could not be read.",
    no_args_is_help=True,
)


@command(index_commands)
def copy(
    to: Annotated[
        Path,
        typer.Option(
            "--to", metavar="PLACE", help="https://host:9200/prefix of a cluster, or a folder. Made where it is not."
        ),
    ],
    doc: Annotated[
        list[str] | None, typer.Option("--doc", metavar="ID", help="This filing only; may be given several times.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Filings on their way at once.")] = 4,
    index: IndexFolder = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Copy filings with their vectors into another index, as from this machine to an Elasticsearch cluster.

    Stop it at any time: the same command goes on where it was. Keys are taken from the environment
    (FIN_AGENT_ES_API_KEY), never from an address.
    """
    from fin_agent.cli.index_keeping import copy_index

    return copy_index(index, to, doc or (), jobs=jobs, as_json=as_json)


@command(index_commands)
def verify(index: IndexFolder = None, as_json: AsJson = False) -> ExitCode:
    """Hold everything in the index against what was written. Exit code 0 where it is whole, 3 where a fault is found.

    Changes nothing, and may run while others read and write.
    """
    from fin_agent.cli.index_keeping import verify_index

    return verify_index(index, as_json=as_json)


@command(index_commands)
def repair(wait: Wait = False, index: IndexFolder = None, as_json: AsJson = False) -> ExitCode:
    """Build again what can be, take out filings that are damaged and mark their files to be read again.

    A damaged database is kept under another name beside the new one. Exit code 3 where a filing had to be taken out.
    """
    from fin_agent.cli.index_keeping import repair_index

    return repair_index(index, wait=wait, as_json=as_json)


@command(index_commands)
def failures(
    forget_gone: Annotated[
        bool, typer.Option("--forget-gone", help="Take files that are no longer there off the list.")
    ] = False,
    index: IndexFolder = None,
    as_json: AsJson = False,
) -> ExitCode:
    """List files that are not in the index as they should be: failed, not read yet, or damaged here; and what to do."""
    from fin_agent.cli.index_keeping import list_failures

    return list_failures(index, forget_gone=forget_gone, as_json=as_json)
