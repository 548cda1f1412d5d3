"""The MCP server as any client's session sees it, with versions 1 and 2 of the SDK: by the names on the wire."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.serving.conftest import FILING, MAIN, environment

pytest.importorskip("mcp", reason="needs the extra `mcp`")
pytest.importorskip("uvicorn", reason="needs the extra `mcp`")

from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client import streamable_http

from fin_agent.serving import mcp_server

QUESTION = {"question": "What was Harborlight's net income in FY2023?"}


@asynccontextmanager
async def over_streams(index: Path) -> AsyncIterator[ClientSession]:
    """A server that the client starts."""
    arguments = [*MAIN, "mcp", "--index", str(index)]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=environment())
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        yield session


@asynccontextmanager
async def over_http(index: Path) -> AsyncIterator[ClientSession]:
    """A server that is there."""
    command = [sys.executable, *MAIN, "mcp", "--http", "--port", "0", "--index", str(index)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment())
    try:
        assert process.stderr is not None
        found = re.fullmatch(r"serving MCP at (\S+)\n", said := process.stderr.readline())
        assert found is not None, said
        lowest = not hasattr(streamable_http, "streamable_http_client")
        client: Any = getattr(streamable_http, "streamablehttp_client" if lowest else "streamable_http_client")
        async with client(found[1]) as (read, write, *_), ClientSession(read, write) as session:
            await session.initialize()
            yield session
    finally:
        process.terminate()
        process.wait(20)


def plain(result: Any) -> dict[str, Any]:
    told: dict[str, Any] = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return told


async def refusal(call: Awaitable[Any]) -> str:
    with pytest.raises(Exception) as raised:
        await call
    return str(raised.value)


@pytest.mark.parametrize("reached", [over_streams, over_http])
def test_a_session_has_tools_progress_and_clear_refusals(reached: Callable[[Path], Any], sample_index: Path) -> None:
    steps: list[tuple[float, str | None]] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, message))

    async def called() -> None:
        async with reached(sample_index) as session:
            tools = {tool["name"]: tool for tool in plain(await session.list_tools())["tools"]}
            assert len(tools) == 9 and tools["answer_question"]["inputSchema"]["required"] == ["question"]
            assert tools["answer_question"]["annotations"]["readOnlyHint"] is True
            assert "citations" in tools["answer_question"]["outputSchema"]["properties"]
            answer = plain(await session.call_tool("answer_question", QUESTION, progress_callback=told))
            assert "Value: 544.0 (USD millions)." in answer["content"][0]["text"]
            assert answer["structuredContent"]["citations"][0]["doc_id"] == FILING
            wrong = plain(await session.call_tool("read_page", {"doc_id": "nope", "pages": "1"}))
            assert wrong["isError"] is True and "no filing with the id 'nope'" in wrong["content"][0]["text"]
            shown = plain(await session.call_tool("show_page", {"doc_id": FILING, "page": 9}))
            assert shown["content"][0]["mimeType"] == "image/png"
            assert "There is no tool 'nope'" in await refusal(session.call_tool("nope", {}))

    asyncio.run(called())
    assert [progress for progress, _ in steps] == [*range(1, len(steps) + 1)] and len(steps) >= 8
    assert steps[0][1] == "rewrite query"


def test_the_sdk_is_told_by_its_version() -> None:
    assert hasattr(mcp_server.exceptions, "McpError" if mcp_server.OF_SDK_1 else "MCPError")
