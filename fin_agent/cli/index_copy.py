"""`fin-agent index copy` with its arguments and options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fin_agent.cli.exits import ExitCode, reported
from fin_agent.cli.options import AsJson, Debug, IndexFolder


@reported
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
    debug: Debug = False,
) -> ExitCode:
    """Copy filings with their vectors into another index, as from this machine to an Elasticsearch cluster.

    Stop it at any time: the same command goes on where it was. Keys are taken from the environment
    (FIN_AGENT_ES_API_KEY), never from an address.
    """
    from fin_agent.cli.index_copying import copy_index

    return copy_index(index, to, doc or (), jobs=jobs, as_json=as_json)
