"""The MCP server, by a real client: started by it over standard streams, and over HTTP."""

from __future__ import annotations

import base64
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fin_agent.filings.page_rendering import size_of
from fin_agent.presentation.exports import BOUNDS
from fin_agent.tools.toolkit import FinAgentToolkit
from fin_agent.workspace import Workspace
from tests.serving.conftest import FILING, MAIN, environment
from tests.serving.mcp_connection import Connection, connected
from tests.tools.conftest import called

mcp = pytest.importorskip("mcp", reason="needs the extra `mcp`")
if not hasattr(mcp, "Client"):
    pytest.skip("calls by the client of the SDK's version 2; test_mcp_sdks.py calls by both", allow_module_level=True)

from mcp.client.stdio import StdioServerParameters  # noqa: E402
from mcp.shared.exceptions import MCPError  # noqa: E402

QUESTION = "What was Harborlight's net income in FY2023?"
CALLS: Mapping[str, dict[str, Any]] = {
    "list_filings": {"form": "10-K", "fiscal_year": 2023},
    "document_search": {"query": "Quillmark's inventories in fiscal 2023", "k": 2},
    "page_search": {"query": "restructuring", "company": "Harborlight", "k": 2},
    "fact_search": {"phrase": "total assets", "company": "Harborlight", "fiscal_year": 2023},
    "read_page": {"doc_id": FILING, "pages": "9"},
    "card_extraction": {"doc_id": FILING, "pages": "9"},
    "python_execution": {
        "code": "def solution():\n    net_income = 544  # USD millions\n    return net_income",
        "sources": [{"doc_id": FILING, "pages": "9"}],
    },
    "answer_question": {"question": QUESTION},
}
WRONG: Mapping[str, tuple[dict[str, Any], str]] = {
    "list_filings": ({"form": "10-X"}, "form: Input should be '10-K'"),
    "document_search": ({}, "query: Field required"),
    "page_search": ({"query": "x", "k": 0}, "k: Input should be greater than or equal to 1"),
    "fact_search": ({"phrase": "sales", "each": "segment"}, "Give company and fiscal_year with each"),
    "read_page": ({"doc_id": "nope", "pages": "1"}, "no filing with the id 'nope'"),
    "card_extraction": ({"doc_id": FILING, "pages": "99"}, "Name pages from 1 to 17"),
    "python_execution": ({"code": "import os"}, "python_execution could not do this"),
    "answer_question": ({"question": QUESTION, "company": "Apple"}, "'Apple' does not clearly name an indexed company"),
    "show_page": ({"doc_id": FILING, "page": 18}, "Give a page from 1 to 17"),
}


@contextmanager
def over_streams(index: Path) -> Iterator[Connection]:
    """A server that the client starts."""
    command = StdioServerParameters(
        command=sys.executable, args=[*MAIN, "mcp", "--index", str(index)], env=environment()
    )
    with connected(mcp.Client(command)) as connection:
        yield connection


@contextmanager
def over_http(index: Path) -> Iterator[Connection]:
    """A server that is there."""
    process = subprocess.Popen(
        [sys.executable, *MAIN, "mcp", "--http", "--port", "0", "--index", str(index)],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env=environment(),
    )
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        found = re.fullmatch(r"serving MCP at (http://127\.0\.0\.1:\d+/mcp)\n", said)
        assert found is not None, said
        with connected(mcp.Client(found[1])) as connection:
            yield connection
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(scope="session", params=[over_streams, over_http], ids=["streams", "http"])
def client(request: pytest.FixtureRequest, sample_index: Path) -> Iterator[Connection]:
    with request.param(sample_index) as connection:
        yield connection


@pytest.fixture(scope="session")
def toolkit(workspace: Workspace) -> FinAgentToolkit:
    return FinAgentToolkit(workspace=workspace)


def test_it_says_who_it_is_and_how_to_use_it(client: Connection) -> None:
    async def told(client: Any) -> tuple[str, str]:
        return client.server_info.name, client.instructions

    name, instructions = client(told)
    assert name == "fin-agent"
    for tool in (*CALLS, "show_page"):
        assert tool in instructions


def test_its_tools_are_those_of_the_toolkit_and_one_that_shows_pages(
    client: Connection, toolkit: FinAgentToolkit
) -> None:
    tools = {tool.name: tool for tool in client(lambda each: each.list_tools()).tools}
    own = {tool.name: tool for tool in toolkit.get_tools()}
    assert list(tools) == [*own, "show_page"]
    for name, tool in own.items():
        assert tools[name].description == tool.description
        assert tools[name].input_schema == tool.args_schema
    for tool in tools.values():
        assert tool.annotations.read_only_hint is True
        assert tool.output_schema["type"] == "object"


@pytest.mark.parametrize("name", CALLS)
def test_a_tool_tells_the_model_what_the_toolkit_tells_and_code_the_artifact(
    client: Connection, toolkit: FinAgentToolkit, name: str
) -> None:
    own = called({tool.name: tool for tool in toolkit.get_tools()}, name, CALLS[name])
    # The client holds the structured content against the schema that the server told.
    told = client(lambda each: each.call_tool(name, CALLS[name]))
    assert not told.is_error
    assert [each.type for each in told.content] == ["text"]
    assert told.content[0].text == own.content
    read = type(own.artifact).model_validate(told.structured_content)
    left_out = {"trace", "retrieved"}
    assert read.model_dump(exclude=left_out) == own.artifact.model_dump(exclude=left_out)


def test_pages_count_from_1_beside_those_from_0(client: Connection) -> None:
    told = client(lambda each: each.call_tool("answer_question", CALLS["answer_question"])).structured_content
    assert [(each["page"], each["page_number"]) for each in told["citations"]] == [(8, 9)]


def test_each_tool_says_what_is_wrong_and_what_to_do(client: Connection) -> None:
    for name, (arguments, said) in WRONG.items():
        told = client(lambda each, name=name, arguments=arguments: each.call_tool(name, arguments))
        assert told.is_error, name
        assert told.structured_content is None
        assert told.content[0].text.startswith(f"{name} could not do this: ")
        assert said in told.content[0].text


def test_a_tool_that_is_not_there_is_an_error_of_the_call(client: Connection) -> None:
    with pytest.raises(MCPError, match=r"There is no tool 'buy_shares'. There are: list_filings,"):
        client(lambda each: each.call_tool("buy_shares", {}))


def test_a_page_is_shown_as_a_picture_with_the_figure_framed(client: Connection) -> None:
    def shown(**arguments: object) -> Any:
        return client(lambda each: each.call_tool("show_page", {"doc_id": FILING, "page": 9, **arguments}))

    plain, framed = shown(), shown(figure="net income", fiscal_year=2022)
    for told in (plain, framed):
        assert [each.type for each in told.content] == ["image", "text"]
        assert told.content[0].mime_type == "image/png"
        png = base64.b64decode(told.content[0].data)
        assert size_of(png) == (told.structured_content["width"], told.structured_content["height"])
        assert max(size_of(png)) <= BOUNDS.longest_side
        assert len(png) < 2_000_000
    assert plain.content[0].data != framed.content[0].data
    assert framed.structured_content["framed"] == ["Net income, FY2022: 474,000,000 USD"]
    assert "png" not in framed.structured_content
    assert framed.content[1].text == (
        f"{FILING}, page 9 of 17, as printed. Framed in red: Net income, FY2022: 474,000,000 USD."
    )


def test_a_figure_that_is_not_there_is_said_beside_the_page(client: Connection) -> None:
    told = client(lambda each: each.call_tool("show_page", {"doc_id": FILING, "page": 9, "figure": "gross bookings"}))
    assert [each.type for each in told.content] == ["image", "text"]
    assert "Nothing is framed: page 9 has no figure called 'gross bookings'" in told.content[1].text


def test_who_asks_for_it_is_told_which_step_is_at_work(client: Connection) -> None:
    steps: list[str] = []

    async def progress(done: float, total: float | None, words: str | None) -> None:
        steps.append(words or "")

    client(lambda each: each.call_tool("answer_question", CALLS["answer_question"], progress_callback=progress))
    assert steps[0] == "rewrite query"
    assert steps[-1] == "verify answer"
