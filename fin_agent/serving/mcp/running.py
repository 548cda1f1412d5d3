"""The MCP server on standard streams, for a client that starts it, or over HTTP on loopback."""

from __future__ import annotations

import signal

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

from fin_agent.serving.access import Access
from fin_agent.serving.guard import App, Guard

PATH = "/mcp"


def run_on_streams(server: Server) -> None:
    """Serve one client until it closes our standard input. What is printed meanwhile goes to standard error."""
    # A thread waits for a line of input, and Python would wait for that thread: Ctrl-C ends the process itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    anyio.run(_on_streams, server)


def http_application(server: Server, access: Access) -> App:
    """The server over streamable HTTP at /mcp, behind the guard, which looks at names, origins, token and size."""
    guarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    return Guard(server.streamable_http_app(streamable_http_path=PATH, transport_security=guarded), access)


async def _on_streams(server: Server) -> None:
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
