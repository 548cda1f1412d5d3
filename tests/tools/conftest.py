"""The tools over the sample filings, and a way to call them as an agent does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool

from fin_agent.tools.toolkit import FinAgentToolkit
from fin_agent.workspace import Workspace

Call = Callable[..., ToolMessage]


@pytest.fixture(scope="session")
def toolkit(workspace: Workspace) -> FinAgentToolkit:
    """All tools, all filings."""
    return FinAgentToolkit(workspace=workspace)


@pytest.fixture(scope="session")
def tools(toolkit: FinAgentToolkit) -> Mapping[str, BaseTool]:
    """The tools by name."""
    return {tool.name: tool for tool in toolkit.get_tools()}


def called(tools: Mapping[str, BaseTool], name: str, arguments: Mapping[str, Any]) -> ToolMessage:
    """What the tool answers to a model's call."""
    message = tools[name].invoke({"type": "tool_call", "id": "c1", "name": name, "args": dict(arguments)})
    assert isinstance(message, ToolMessage)
    return message


@pytest.fixture(scope="session")
def call(tools: Mapping[str, BaseTool]) -> Call:
    """Call a tool of the sample toolkit."""

    def calling(name: str, **arguments: Any) -> ToolMessage:
        return called(tools, name, arguments)

    return calling
