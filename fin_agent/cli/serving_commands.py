"""`fin-agent mcp` and `fin-agent serve` with their options; what they do stands in the module they import."""

from __future__ import annotations

from typing import Annotated

import typer

from fin_agent.cli.exits import ExitCode, reported
from fin_agent.cli.model_options import ModelOptions, with_model_options
from fin_agent.cli.options import Debug, Docs, IndexFolder, StrategyName

Host = Annotated[
    str,
    typer.Option(
        "--host",
        metavar="ADDRESS",
        help="Where to listen. Anything but this machine's loopback needs a token in FIN_AGENT_TOKEN.",
    ),
]
AllowedHosts = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host",
        metavar="NAME",
        help="A further name that it is called by, as of a proxy in front of it; may be given several times.",
    ),
]


@reported
@with_model_options
def mcp(
    models: ModelOptions,
    http: Annotated[
        bool, typer.Option("--http", help="Serve over streamable HTTP at /mcp instead of standard input and output.")
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="With --http: the port; 0 takes a free one.")] = 8401,
    host: Host = "127.0.0.1",
    allow_host: AllowedHosts = None,
    doc: Docs = None,
    strategy: StrategyName = None,
    index: IndexFolder = None,
    debug: Debug = False,
) -> ExitCode:
    """Serve the tools to an MCP client, which starts this command itself. Needs the extra `mcp`; docs/serving.md."""
    from fin_agent.cli.serving import Listening, serve_mcp

    where = Listening(host, port, tuple(allow_host or ())) if http else None
    return serve_mcp(where, index, models.settings(strategy=strategy), doc_ids=doc or ())


@reported
@with_model_options
def serve(
    models: ModelOptions,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = 8400,
    host: Host = "127.0.0.1",
    allow_host: AllowedHosts = None,
    at_once: Annotated[
        int, typer.Option("--at-once", min=1, max=64, help="Calls at work at once; as many again wait.")
    ] = 4,
    time_limit: Annotated[
        float, typer.Option("--time-limit", metavar="S", min=1, help="Seconds that a question may take.")
    ] = 120.0,
    doc: Docs = None,
    strategy: StrategyName = None,
    index: IndexFolder = None,
    debug: Debug = False,
) -> ExitCode:
    """Serve questions, searches, filings and pictures of pages over HTTP. Needs the extra `serve`; docs/serving.md."""
    from fin_agent.cli.serving import Listening, serve_http

    where = Listening(host, port, tuple(allow_host or ()))
    settings = models.settings(strategy=strategy)
    return serve_http(where, index, settings, doc_ids=doc or (), at_once=at_once, seconds=time_limit)
