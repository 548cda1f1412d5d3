"""The MCP server: its tools (the toolkit's and `show_page`), with concurrent calls, on standard streams or over HTTP.

It runs with versions 1 and 2 of the SDK, so that it can share an environment with packages that need either. Fields are
given by their names in the protocol, which both versions accept; the functions named `..._sdk_1` cover what differs.
"""

from __future__ import annotations

import base64
import json
import os
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from importlib.metadata import version
from math import isfinite
from typing import Annotated, Any, cast

import anyio
import anyio.from_thread
import anyio.to_thread
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared import exceptions
from pydantic import BaseModel, ConfigDict, Field
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp

from fin_agent.analyst.events import Event, StepBegun, event_listener
from fin_agent.answering.answer import Answer, Retrieved
from fin_agent.distribution import installed_version
from fin_agent.evidence.evidence import TraceStep
from fin_agent.filings.page_rendering import size_of
from fin_agent.lexicon.words import load_yaml
from fin_agent.models.metering import abandonable_calls
from fin_agent.prompts.untrusted_text import quoted_text, single_line
from fin_agent.serving.filing_resources import Json, figure_frames, page_of, page_picture, with_page_numbers
from fin_agent.serving.http_server import MAX_BYTES, Access, with_guards
from fin_agent.serving.problem_details import NotThereError
from fin_agent.tools import artifacts as make
from fin_agent.tools.argument_resolution import resolve_doc_id
from fin_agent.tools.arguments import Arguments, DocId, described
from fin_agent.tools.context import ToolContext
from fin_agent.tools.toolkit import FinAgentToolkit, make_tool

OF_SDK_1 = version("mcp").startswith("1.")
PATH = "/mcp"
CALLS_AT_ONCE = 4
INSTRUCTIONS: str = load_yaml("texts", __package__)["mcp"]


def mcp_server(toolkit: FinAgentToolkit, *, calls_at_once: int = CALLS_AT_ONCE) -> Server:
    """Return a server over the filings that `toolkit` reads, for many clients at once."""
    offered = _Offered(toolkit, calls_at_once)
    if OF_SDK_1:
        return _server_of_sdk_1(offered)
    return Server(
        "fin-agent",
        version=installed_version(),
        title="SEC filings",
        instructions=INSTRUCTIONS,
        on_list_tools=offered.list_tools,
        on_call_tool=offered.call_tool,
    )


def _server_of_sdk_1(offered: _Offered) -> Server:
    server = Server("fin-agent", version=installed_version(), instructions=INSTRUCTIONS)

    async def answered(answer: Callable[[Any, Any], Awaitable[Any]], request: Any) -> Any:
        return types.ServerResult(await answer(server.request_context, request.params))

    server.request_handlers |= {
        types.ListToolsRequest: partial(answered, offered.list_tools),
        types.CallToolRequest: partial(answered, offered.call_tool),
    }
    return server


def run_on_streams(server: Server) -> None:
    """Serve one client until it closes standard input. What is printed meanwhile goes to standard error."""
    # Python would wait for the thread that reads input: with SIG_DFL, Ctrl-C ends the process at once.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

    async def served() -> None:
        async with stdio_server(**(_streams_of_sdk_1() if OF_SDK_1 else {})) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(served)


def _streams_of_sdk_1() -> dict[str, Any]:
    """Return copies of the standard streams, since this SDK closes its stream and does not redirect other output."""
    incoming, outgoing = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    opened = (open(incoming, encoding="utf-8", errors="replace"), open(outgoing, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    return dict(zip(("stdin", "stdout"), map(anyio.wrap_file, opened), strict=True))


def http_application(server: Server, access: Access) -> ASGIApp:
    """Return the server over streamable HTTP at /mcp, behind the guards and the SDK's own transport security."""
    names = access.answers_to
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=names is not None,
        allowed_hosts=[pattern for name in names or () for pattern in (name, f"{name}:*")],
        # The guards check that the origin is the server's own, since they know the host name of the call.
        allowed_origins=[
            f"{scheme}://{name}{port}" for name in names or () for scheme in ("http", "https") for port in ("", ":*")
        ],
    )
    if OF_SDK_1:
        return with_guards(_http_application_of_sdk_1(server, security), access)
    app = server.streamable_http_app(
        streamable_http_path=PATH, transport_security=security, max_request_body_size=MAX_BYTES
    )
    return with_guards(app, access)


def _http_application_of_sdk_1(server: Server, security: TransportSecuritySettings) -> ASGIApp:
    from mcp.server.fastmcp.server import StreamableHTTPASGIApp
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    sessions = StreamableHTTPSessionManager(server, security_settings=security)
    route = Route(PATH, endpoint=StreamableHTTPASGIApp(sessions))
    return Starlette(routes=[route], lifespan=lambda app: sessions.run())


class _Offered:
    """The server's handlers. Work runs in threads, a limited number at once; cancelled work is abandoned."""

    def __init__(self, toolkit: FinAgentToolkit, calls_at_once: int) -> None:
        self._tools = served_tools(toolkit)
        self._declared = [declared(tool) for tool in self._tools.values()]
        self._context = toolkit.context
        self._at_once = calls_at_once
        self._places: anyio.CapacityLimiter | None = None

    async def list_tools(self, context: Any, given: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=self._declared)

    async def call_tool(self, context: Any, given: types.CallToolRequestParams) -> types.CallToolResult:
        tool = self._tools.get(given.name)
        if tool is None:
            names = ", ".join(self._tools)
            raise _refusal(f"There is no tool {given.name[:60]!r}. There are: {names}.")
        steps = 0

        def told(event: Event) -> None:
            """Report the current step to a client that requested it, from the answering thread."""
            nonlocal steps
            if isinstance(event, StepBegun):
                steps += 1
                words = event.node.replace("_", " ")
                anyio.from_thread.run(_report_progress, context, steps, words)

        if self._places is None:  # needs a running event loop
            self._places = anyio.CapacityLimiter(self._at_once)
        with abandonable_calls(), event_listener(told, drafts=False):
            work = partial(call, tool, given.arguments or {})
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._places)


def _refusal(what: str) -> Any:
    """Return the error for a call that is not valid."""
    if OF_SDK_1:
        return exceptions.McpError(types.ErrorData(code=types.INVALID_PARAMS, message=what))
    return exceptions.MCPError(types.INVALID_PARAMS, what)


async def _report_progress(context: Any, steps: int, message: str) -> None:
    """Report progress to a client that requested it."""
    if not OF_SDK_1:
        await context.session.report_progress(steps, message=message)
    elif context.meta is not None and context.meta.progressToken is not None:
        await context.session.send_progress_notification(
            context.meta.progressToken, steps, message=message, related_request_id=str(context.request_id)
        )


MAX_CHARACTERS = 100_000
"""Characters of structured content at most, as JSON."""


class ShowPageArguments(Arguments):
    """Arguments of `show_page`."""

    doc_id: DocId
    page: Annotated[int, described("shown_page", ge=1)]
    figure: Annotated[str | None, described("figure", max_length=300)] = None
    fiscal_year: Annotated[int | None, described("figure_year", ge=1900, le=2200)] = None


class PageShown(BaseModel):
    """Result of `show_page`; the picture itself is sent next to it."""

    model_config = ConfigDict(frozen=True)

    filing: make.FilingListed
    page: int
    """0-based."""
    framed: tuple[str, ...]
    """Descriptions of what is framed."""
    width: int
    height: int
    """Height of the picture in pixels."""
    png: bytes = Field(exclude=True, repr=False)


class _ShortAnswer(Answer):
    """An answer without its longest parts."""

    trace: tuple[TraceStep, ...] = Field(exclude=True)
    retrieved: Retrieved = Field(exclude=True)


_TOOLS: Mapping[str, tuple[str, type[BaseModel]]] = {
    "list_filings": ("List filings", make.FilingsListed),
    "document_search": ("Find filings", make.DocumentsFound),
    "page_search": ("Find pages", make.PagesFound),
    "fact_search": ("Find figures", make.FactsListed),
    "read_page": ("Read pages", make.PagesRead),
    "card_extraction": ("Describe passages", make.CardsMade),
    "python_execution": ("Compute", make.ProgramRun),
    "answer_question": ("Answer a question", _ShortAnswer),
    "show_page": ("Show a page", PageShown),
}
"""Tool -> its title, and the type of its structured content."""


def served_tools(toolkit: FinAgentToolkit) -> dict[str, BaseTool]:
    """Return the toolkit's tools and `show_page`, by name."""
    return {tool.name: tool for tool in (*toolkit.get_tools(), _show_page_tool(toolkit.context))}


def declared(tool: BaseTool) -> types.Tool:
    """Return a tool as it is declared to clients."""
    takes = tool.args_schema
    assert isinstance(takes, dict), takes
    title, artifact = _TOOLS[tool.name]
    gives = artifact.model_json_schema(mode="serialization")
    gives.pop("description", None)  # the class docstring is for readers of the code
    return types.Tool(
        name=tool.name,
        title=title,
        description=tool.description,
        inputSchema=takes,
        outputSchema=gives,
        annotations=types.ToolAnnotations(
            title=title, readOnlyHint=True, destructiveHint=False, idempotentHint=True, openWorldHint=False
        ),
    )


def call(tool: BaseTool, arguments: Mapping[str, object]) -> types.CallToolResult:
    """Call a tool. A tool's error becomes a result that is marked as an error and states the remedy."""
    message = tool.invoke({"type": "tool_call", "id": "call", "name": tool.name, "args": dict(arguments)})
    assert isinstance(message, ToolMessage), message
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=str(message.content))]
    if message.status == "error":
        return types.CallToolResult(content=content, isError=True)
    artifact = message.artifact
    if isinstance(artifact, PageShown):
        png = base64.b64encode(artifact.png).decode()
        content.insert(0, types.ImageContent(type="image", data=png, mimeType="image/png"))
    return types.CallToolResult(content=content, structuredContent=structured(artifact))


def structured(artifact: BaseModel) -> dict[str, Json]:
    """Return an artifact as structured content, which many clients show to a model in full.

    Page numbers are added. Texts of filings lose invisible characters and whatever looks like a control token of a chat
    model. An answer leaves out its trace and its retrieved passages, by far the longest parts. If the rest is still too
    long, lists are cut at their ends, and `left_out` gives the number of dropped entries.
    """
    whole = cast(
        Json, artifact.model_dump(mode="json", exclude={"trace", "retrieved"} if isinstance(artifact, Answer) else None)
    )
    document = _defused(with_page_numbers(whole))
    assert isinstance(document, dict)
    lists = {name: value for name, value in document.items() if isinstance(value, list)}
    dropped = Counter[str]()
    excess = len(_line(document)) - MAX_CHARACTERS
    while excess > 0 and any(lists.values()):
        longest = max(lists, key=lambda name: (len(_line(lists[name])), name))
        excess -= len(_line(lists[longest].pop())) + 1
        dropped[longest] += 1
    cut = ", ".join(f"{count} of {count + len(lists[name])} {name}" for name, count in dropped.items())
    return {**document, **({"left_out": cut} if cut else {})}


def _defused(document: Json) -> Json:
    if isinstance(document, str):
        return quoted_text(document)
    if isinstance(document, float):
        return document if isfinite(document) else None  # JSON has no NaN and no infinity
    if isinstance(document, list):
        return [_defused(each) for each in document]
    if isinstance(document, dict):
        return {name: _defused(value) for name, value in document.items()}
    return document


def _line(document: Json) -> str:
    return json.dumps(document, ensure_ascii=False)


def _show_page_tool(context: ToolContext) -> BaseTool:
    def shown(given: ShowPageArguments) -> tuple[str, BaseModel]:
        record = context.workspace.index.filing(resolve_doc_id(given.doc_id, context.workspace, context.within))
        page = page_of(record, given.page)
        frames, note = [], ""
        if given.figure is not None:
            try:
                frames = figure_frames(context.workspace, record, page, given.figure, given.fiscal_year)
            except NotThereError as error:
                note = f" Nothing is framed: {error.what}. {error.remedy}."
        png = page_picture(record, page, frames)
        framed = tuple(frame.note for frame in frames)
        if framed:
            note = f" Framed in red: {single_line(quoted_text(framed[0]))}."
        width, height = size_of(png)
        artifact = PageShown(
            filing=make.FilingListed.of(record), page=page, framed=framed, width=width, height=height, png=png
        )
        named = single_line(quoted_text(record.doc_id))
        return f"{named}, page {given.page} of {record.page_count}, as printed.{note}", artifact

    return make_tool("show_page", ShowPageArguments, shown)
