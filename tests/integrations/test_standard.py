"""LangChain's own tests of tools and retrievers, where they are installed (`langchain-tests`)."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from langchain_core.tools import BaseTool

from fin_agent import FinAgentRetriever, FinAgentToolkit
from fin_agent.workspace import Workspace

pytest.importorskip("langchain_tests", reason="langchain-tests is not installed")

from langchain_tests.integration_tests import RetrieversIntegrationTests, ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

EXAMPLES: dict[str, dict[str, Any]] = {
    "list_filings": {"company": "Quillmark"},
    "document_search": {"query": "inventory turnover of Tellurond"},
    "page_search": {"query": "restructuring charges", "company": "HLGT"},
    "fact_search": {"phrase": "total assets", "company": "HLGT"},
    "read_page": {"doc_id": "harborlight_2023_10k", "pages": "9"},
    "card_extraction": {"doc_id": "harborlight_2023_10k", "pages": "9"},
    "python_execution": {"code": "def solution():\n    return 1 + 1"},
    "answer_question": {"question": "What was Harborlight's net income in FY2023?"},
}


def awaited(suite: type[Any]) -> type[Any]:
    """A suite whose coroutines are marked: pytest-asyncio, which comes with langchain-tests, runs no others."""
    for name, function in inspect.getmembers(suite, inspect.iscoroutinefunction):
        setattr(suite, name, pytest.mark.asyncio(function))
    return suite


class OneTool:
    """A tool of the sample toolkit as the suites ask for it."""

    @pytest.fixture(autouse=True, params=EXAMPLES)
    def _chosen(self, request: pytest.FixtureRequest, workspace: Workspace) -> None:
        self.name = request.param
        self.tools = {tool.name: tool for tool in FinAgentToolkit(workspace=workspace).get_tools()}

    @property
    def tool_constructor(self) -> BaseTool:
        return self.tools[self.name]

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return EXAMPLES[self.name]


class TestToolUnits(OneTool, ToolsUnitTests):
    """Name, schema, example arguments."""


@awaited
class TestToolCalls(OneTool, ToolsIntegrationTests):
    """Calls with and without a tool call around them, awaited too."""


@awaited
class TestRetriever(RetrieversIntegrationTests):
    """`k`, documents, awaited too."""

    @pytest.fixture(autouse=True)
    def _opened(self, workspace: Workspace) -> None:
        self.workspace = workspace

    @property
    def retriever_constructor(self) -> type[FinAgentRetriever]:
        return FinAgentRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"workspace": self.workspace}

    @property
    def retriever_query_example(self) -> str:
        return "What was Harborlight's net income in FY2023?"
