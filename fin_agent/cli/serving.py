"""`fin-agent mcp` and `fin-agent serve`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import opened
from fin_agent.cli.streams import say, warn
from fin_agent.config import Settings
from fin_agent.serving.http_server import Access, run_application
from fin_agent.serving.problems import require_extra
from fin_agent.tools import FinAgentToolkit
from fin_agent.tools.context import ToolContext


@dataclass(frozen=True, slots=True)
class Listening:
    """Where a server over HTTP listens, and by which further names it is called."""

    host: str
    port: int
    names: tuple[str, ...] = ()


def serve_mcp(where: Listening | None, given: Path | None, settings: Settings, *, doc_ids: Sequence[str]) -> ExitCode:
    """Serve the tools on standard streams, or over HTTP `where` that is said, until the client or a signal ends it."""
    require_extra("mcp", ["mcp", "uvicorn"])
    access = None if where is None else Access.of(where.host, where.names)
    from fin_agent.serving.mcp_server import PATH, http_application, mcp_server, run_on_streams

    with opened(given) as workspace:
        server = mcp_server(FinAgentToolkit(workspace=workspace, settings=settings, doc_ids=tuple(doc_ids) or None))
        if where is None or access is None:
            if sys.stdin.isatty():
                say(
                    "waiting for an MCP client on standard input: clients start this command themselves. Ctrl-C ends it"
                )
            run_on_streams(server)
        else:
            app = http_application(server, access)
            run_application(app, where.host, where.port, ready=lambda at: say(f"serving MCP at {at}{PATH}"))
    return ExitCode.DONE


def serve_http(
    where: Listening,
    given: Path | None,
    settings: Settings,
    *,
    doc_ids: Sequence[str],
    at_once: int,
    seconds: float,
) -> ExitCode:
    """Serve the HTTP API until a signal ends it."""
    require_extra("serve", ["fastapi", "sse_starlette", "uvicorn"])
    access = Access.of(where.host, where.names)
    from fin_agent.serving.http_api import Limits, http_api

    with opened(given) as workspace:
        limits = Limits(at_once=at_once, waiting=at_once, seconds=seconds)
        context = ToolContext.of(workspace, settings, doc_ids=doc_ids or None, notify=warn)
        app = http_api(context, access, limits)
        run_application(
            app, where.host, where.port, ready=lambda at: say(f"serving at {at}, described at {at}/openapi.json")
        )
    return ExitCode.DONE
