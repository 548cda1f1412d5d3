"""The MCP server as `langchain-mcp-adapters` has it, which needs version 1 of the SDK: an agent's tools."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.serving.conftest import MAIN, environment

client = pytest.importorskip("langchain_mcp_adapters.client", reason="langchain-mcp-adapters is not installed")


def test_its_tools_answer_in_the_environment_of_the_adapters(sample_index: Path) -> None:
    server = {"command": sys.executable, "args": [*MAIN, "mcp", "--index", str(sample_index)], "env": environment()}

    async def called() -> Any:
        tools = await client.MultiServerMCPClient({"filings": {"transport": "stdio", **server}}).get_tools()
        named = {tool.name: tool for tool in tools}
        return await named["answer_question"].ainvoke({"question": "What was Harborlight's net income in FY2023?"})

    assert "Value: 544.0 (USD millions)." in str(asyncio.run(called()))
