"""The commands `fin-agent index ...` with their arguments and options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.options import AsJson, IndexFolder, Wait, command

Archive = Annotated[Path, typer.Argument(metavar="ARCHIVE", help="The file; `.jsonl.gz` says what it is.")]

index_commands = typer.Typer(
    help="Keep the index: verify, repair, compact, carry about, copy to a cluster, list what could not be read.",
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
def verify(wait: Wait = False, index: IndexFolder = None, as_json: AsJson = False) -> ExitCode:
    """Hold everything in the index against what was written. Exit code 0 where it is whole, 3 where a fault is found.

    Changes nothing, and may run while others read and write.
    """
    from fin_agent.cli.index_keeping import verify_index

    return verify_index(index, wait=wait, as_json=as_json)


@command(index_commands)
def repair(wait: Wait = False, index: IndexFolder = None, as_json: AsJson = False) -> ExitCode:
    """Build again what can be, take out filings that are damaged and mark their files to be read again.

    A damaged database is kept under another name beside the new one. Exit code 3 where a filing had to be taken out.
    """
    from fin_agent.cli.index_keeping import repair_index

    return repair_index(index, wait=wait, as_json=as_json)


@command(index_commands)
def compact(wait: Wait = False, index: IndexFolder = None, as_json: AsJson = False) -> ExitCode:
    """Give back the room of filings that were removed or replaced. Needs twice the room of the index while it runs.

    Stop it at any time: the index stays as it was.
    """
    from fin_agent.cli.index_keeping import compact_index

    return compact_index(index, wait=wait, as_json=as_json)


@command(index_commands)
def export(
    archive: Archive,
    doc: Annotated[
        list[str] | None, typer.Option("--doc", metavar="ID", help="This filing only; may be given several times.")
    ] = None,
    index: IndexFolder = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Write the filings, with their vectors, to one portable file. Folders on this machine do not go along."""
    from fin_agent.cli.index_keeping import export_index

    return export_index(archive, index, doc_ids=doc or (), as_json=as_json)


@command(index_commands, "import")
def import_(
    archive: Archive,
    replace: Annotated[
        bool, typer.Option("--replace", help="Filings of the same name with other content are replaced.")
    ] = False,
    wait: Wait = False,
    index: IndexFolder = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Bring the filings of an archive into the index: all of them, checked, or none."""
    from fin_agent.cli.index_keeping import import_index

    return import_index(archive, index, replace=replace, wait=wait, as_json=as_json)


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
