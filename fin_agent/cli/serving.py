"""`fin-agent mcp` and `serve`. What needs an extra is imported when they run."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import AnswerOptions, IndexOptions, command
from fin_agent.cli.streams import say, warn
from fin_agent.config import Settings
from fin_agent.errors import require_extra
from fin_agent.index.sqlite import FILE_NAME, SqliteIndex
from fin_agent.process_pool import exclude_current_folder
from fin_agent.serving.http_server import Access, run_application
from fin_agent.tools.context import ToolContext
from fin_agent.tools.toolkit import FinAgentToolkit
from fin_agent.workspace import Workspace

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from fin_agent.serving.calls import Limits
    from fin_agent.web.server_options import Storage


@dataclass(frozen=True, slots=True, kw_only=True)
class HostOptions:
    """Where a server listens."""

    host: str = "127.0.0.1"
    allow_host: list[str] | None = None


@command
def mcp(
    on: IndexOptions,
    models: AnswerOptions,
    at: HostOptions,
    http: bool = False,
    port: int = 8401,
    doc: list[str] | None = None,
) -> ExitCode:
    """Serve the tools to an MCP client, which starts this command itself. Needs the extra `mcp`: docs/serving.md."""
    settings = models.settings()
    require_extra("mcp", ["mcp", "uvicorn"])
    access = Access.of(at.host, at.allow_host or ()) if http else None
    from fin_agent.serving.mcp_server import PATH, http_application, mcp_server, run_on_streams

    with on.open_workspace() as workspace:
        server = mcp_server(FinAgentToolkit(workspace=workspace, settings=settings, doc_ids=tuple(doc or ()) or None))
        if access is not None:
            app = http_application(server, access)
            run_application(app, at.host, port, ready=lambda url: say(f"serving MCP at {url}{PATH}"))
        else:
            if sys.stdin.isatty():
                say("waiting for an MCP client on standard input, which starts this command itself; Ctrl-C ends it")
            run_on_streams(server)
    return ExitCode.DONE


@command
def serve(
    on: IndexOptions,
    models: AnswerOptions,
    at: HostOptions,
    port: int = 8400,
    at_once: int = 4,
    workers: int = 1,
    time_limit: float = 120.0,
    read_only: bool = False,
    offer_model: list[str] | None = None,
    offer_index: list[Path] | None = None,
    doc: list[str] | None = None,
) -> ExitCode:
    """Serve the workspace in the browser, and an HTTP API for questions, searches, filings and pages.

    Needs the extra `serve`; see docs/serving.md.
    """
    settings = models.settings()
    require_extra("serve", ["fastapi", "sse_starlette", "uvicorn"])
    access = Access.of(at.host, at.allow_host or ())
    from fin_agent.serving.calls import Limits
    from fin_agent.web.server_options import Storage

    limits = Limits(at_once=at_once, waiting=at_once, seconds=time_limit)

    def ready(url: str) -> None:
        by = f" with {workers} processes" if workers > 1 else ""
        say(f"serving at {url}, ready to open in a browser{by}; {url}/docs describes the API")

    chosen = on.chosen
    folder = chosen.folder if chosen.address is None else None
    storage = Storage.next_to_index(folder, uploads=not read_only and not doc)
    if on.index is None and storage.uploads and folder is not None and not (folder / FILE_NAME).is_file():
        SqliteIndex.create(folder).close()  # a first filing can be added in the browser
        say(f"created an empty index in {folder}")
    build = partial(
        _application,
        access=access,
        limits=limits,
        storage=storage,
        models=tuple(offer_model or ()),
        indexes=tuple(offer_index or ()),
        read_only=read_only,
    )
    with on.open_workspace() as workspace:  # errors of the index or the settings are reported here, once
        context = ToolContext.of(workspace, settings, doc_ids=doc, notify=warn)
        app = build(context)
        if workers == 1:
            run_application(app, at.host, port, ready=ready)
    if workers > 1:
        worker = partial(_worker, chosen.place, settings.model_dump_json(), doc, build)
        with exclude_current_folder():
            run_application(worker, at.host, port, ready=ready, workers=workers)
    return ExitCode.DONE


def _application(
    context: ToolContext,
    *,
    access: Access,
    limits: Limits,
    storage: Storage,
    models: Sequence[str],
    indexes: Sequence[Path],
    read_only: bool,
) -> ASGIApp:
    """Build the application. Raises FilingIndexError for a folder without an index, and ModelSetupError."""
    from fin_agent.serving.http_api import http_api
    from fin_agent.web.server_options import Storage

    others = {}
    for folder in indexes:
        plain = re.sub(r"[^\w.-]+", "_", folder.resolve().name, flags=re.ASCII) or "index"
        names = (plain if number == 1 else f"{plain}-{number}" for number in count(1))
        name = next(each for each in names if each not in others)
        other = ToolContext.of(Workspace.open(folder), context.settings)
        others[name] = (other, Storage.next_to_index(folder, uploads=not read_only))
    return http_api(context, access, limits, storage, models=models, others=others)


def _worker(
    place: Path | str, settings: str, doc_ids: Sequence[str] | None, build: Callable[[ToolContext], ASGIApp]
) -> object:
    """Build the application of one worker process, over the index at `place`."""
    return build(ToolContext.of(Workspace.open(place), Settings.model_validate_json(settings), doc_ids=doc_ids))
