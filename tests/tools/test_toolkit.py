"""The toolkit as a whole: what it hands out, what the tools take, and what every one of them keeps to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import BaseTool, BaseToolkit
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import BaseModel, ValidationError

from fin_agent.answering.answer import Answer
from fin_agent.errors import FilingIndexError
from fin_agent.models.tokens import approximate_tokens
from fin_agent.tools.artifacts import (
    CardsMade,
    DocumentsFound,
    FactsListed,
    FilingsListed,
    PagesFound,
    PagesRead,
    ProgramRun,
)
from fin_agent.tools.errors import ToolInputError
from fin_agent.tools.toolkit import FinAgentToolkit
from fin_agent.workspace import Workspace
from tests.tools.conftest import Call, called

PROGRAM = "def solution():\n    net_income = 544  # USD millions\n    return net_income / 2"
CALLS: Mapping[str, tuple[dict[str, Any], type[BaseModel]]] = {
    "list_filings": ({"company": "Quillmark"}, FilingsListed),
    "document_search": ({"query": "inventory turnover of Tellurond in FY2023"}, DocumentsFound),
    "page_search": ({"query": "restructuring charges", "company": "HLGT", "fiscal_year": 2023}, PagesFound),
    "fact_search": ({"phrase": "total assets", "company": "HLGT", "fiscal_year": 2023}, FactsListed),
    "read_page": ({"doc_id": "harborlight_2023_10k", "pages": "9-10"}, PagesRead),
    "card_extraction": ({"doc_id": "harborlight_2023_10k", "pages": "9"}, CardsMade),
    "python_execution": (
        {"code": PROGRAM, "sources": [{"doc_id": "harborlight_2023_10k", "pages": "9"}]},
        ProgramRun,
    ),
    "answer_question": ({"question": "What was Harborlight's net income in FY2023?"}, Answer),
}


def test_the_eight_tools(toolkit: FinAgentToolkit) -> None:
    assert isinstance(toolkit, BaseToolkit)
    assert {tool.name for tool in toolkit.get_tools()} == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_gives_text_and_a_typed_artifact(call: Call, name: str) -> None:
    arguments, kind = CALLS[name]
    message = call(name, **arguments)
    assert message.status == "success"
    assert isinstance(message.content, str)
    assert message.content
    assert type(message.artifact) is kind
    assert message.tool_call_id == "c1"


@pytest.mark.parametrize("name", CALLS)
def test_the_same_call_gives_the_same(workspace: Workspace, call: Call, name: str) -> None:
    arguments, _ = CALLS[name]
    other = {tool.name: tool for tool in FinAgentToolkit(workspace=Workspace(workspace.index)).get_tools()}
    first, second = call(name, **arguments), called(other, name, arguments)
    assert first.content == second.content
    assert first.artifact == second.artifact


@pytest.mark.parametrize("name", CALLS)
def test_awaited_it_gives_the_same(tools: Mapping[str, BaseTool], call: Call, name: str) -> None:
    arguments, _ = CALLS[name]
    asked = {"type": "tool_call", "id": "c1", "name": name, "args": arguments}
    awaited = asyncio.run(tools[name].ainvoke(asked))  # type: ignore[arg-type]
    assert awaited == call(name, **arguments)


def test_calls_side_by_side_do_not_disturb_each_other(call: Call) -> None:
    alone = {name: call(name, **arguments).content for name, (arguments, _) in CALLS.items()}
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda name: (name, call(name, **CALLS[name][0]).content), [*CALLS] * 3))
    assert all(alone[name] == content for name, content in together)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("most", [300, 700])
def test_no_result_says_more_than_its_tokens(workspace: Workspace, name: str, most: int) -> None:
    few = {tool.name: tool for tool in FinAgentToolkit(workspace=workspace, max_tokens=most).get_tools()}
    message = called(few, name, CALLS[name][0])
    assert approximate_tokens(str(message.content)) <= most
    assert message.artifact is not None


def test_a_budget_that_holds_nothing_is_refused(workspace: Workspace) -> None:
    with pytest.raises(ValidationError):
        FinAgentToolkit(workspace=workspace, max_tokens=10)


def test_a_model_is_told_what_every_argument_is(tools: Mapping[str, BaseTool]) -> None:
    """What all narrow by is told once, with the first tool that has it."""
    told: set[str] = set()
    for name, tool in tools.items():
        function = convert_to_openai_tool(tool)["function"]
        assert function["name"] == name
        assert len(function["description"]) > 60
        for argument, schema in function["parameters"]["properties"].items():
            assert argument in told or "enum" in schema or len(schema["description"]) > 14, argument
            told.add(argument)
        json.dumps(function)


def test_what_is_the_same_is_called_the_same(tools: Mapping[str, BaseTool]) -> None:
    described: dict[str, set[str]] = {}
    for tool in tools.values():
        for argument, schema in convert_to_openai_tool(tool)["function"]["parameters"]["properties"].items():
            kinds = [schema] if "type" in schema else schema["anyOf"]
            described.setdefault(argument, set()).add(
                json.dumps([each["type"] for each in kinds if each["type"] != "null"])
            )
    narrowing = {"company", "form", "fiscal_year", "quarter", "doc_ids"}
    for name in ("list_filings", "document_search", "page_search", "answer_question"):
        assert narrowing <= set(tools[name].args)
    assert {argument for argument, types in described.items() if len(types) > 1} == set()


def test_only_the_filings_it_is_given_can_be_read(workspace: Workspace) -> None:
    only = FinAgentToolkit(workspace=workspace, doc_ids=("harborlight_2023_10k",))
    few = {tool.name: tool for tool in only.get_tools()}
    listed = called(few, "list_filings", {}).artifact
    assert [filing.doc_id for filing in listed.filings] == ["harborlight_2023_10k"]
    assert not called(few, "page_search", {"query": "net income of Quillmark", "k": 10}).artifact.pages
    found = called(few, "page_search", {"query": "net income", "k": 10}).artifact
    assert {page.filing.doc_id for page in found.pages} == {"harborlight_2023_10k"}
    for name, arguments in (
        ("read_page", {"doc_id": "quillmark_2023_10k", "pages": "1"}),
        ("card_extraction", {"doc_id": "quillmark_2023_10k", "pages": "1"}),
        ("page_search", {"query": "revenue", "doc_ids": ["quillmark_2023_10k"]}),
        ("python_execution", {"code": PROGRAM, "sources": [{"doc_id": "quillmark_2023_10k", "pages": "9"}]}),
        ("answer_question", {"question": "What was net income in FY2023?", "company": "Quillmark"}),
    ):
        refused = called(few, name, arguments)
        assert refused.status == "error", name
    answer = called(few, "answer_question", {"question": "What was Quillmark's net income in FY2023?"}).artifact
    assert answer.refused


def test_the_index_is_opened_or_given(sample_index: Path, workspace: Workspace, tmp_path: Path) -> None:
    assert FinAgentToolkit(index=sample_index).get_tools()
    with pytest.raises(ValidationError, match="not both"):
        FinAgentToolkit(index=sample_index, workspace=workspace)
    with pytest.raises(FilingIndexError, match="there is no index here"):
        FinAgentToolkit(index=tmp_path)
    with pytest.raises(FilingIndexError, match="Did you mean harborlight_2023_10k"):
        FinAgentToolkit(workspace=workspace, doc_ids=("HARBORLIGHT_2023_10K",))


def test_the_index_of_the_environment_is_the_usual_one(sample_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIN_AGENT_INDEX", str(sample_index))
    tools = {tool.name: tool for tool in FinAgentToolkit().get_tools()}
    assert called(tools, "list_filings", {}).artifact.total == 15


def test_some_of_the_tools_under_names_of_ones_own(sample_index: Path) -> None:
    toolkit = FinAgentToolkit(index=str(sample_index))
    tools = toolkit.get_tools(include=["page_search", "answer_question"], prefix="sec_")
    assert [tool.name for tool in tools] == ["sec_page_search", "sec_answer_question"]
    assert "ticker" in tools[0].args["company"]["description"]  # told once, in the first that has it
    assert tools[1].args["company"] == {"type": "string"}
    with pytest.raises(ToolInputError, match=r"there is no tool 'page_serch'\. There are: list_filings, "):
        toolkit.get_tools(include=["page_serch"])


def test_schemas_are_short_and_name_what_is_required_first(sample_index: Path) -> None:
    tools = FinAgentToolkit(index=sample_index).get_tools()
    schemas = [convert_to_openai_tool(tool) for tool in tools]
    assert len(json.dumps(schemas)) < 5_650  # 1,483 tokens as o200k_base and cl100k_base count them
    for schema in schemas:
        takes = schema["function"]["parameters"]
        assert [*takes["properties"]][: len(takes["required"])] == takes["required"]


def test_an_artifact_that_comes_back_from_a_checkpoint_is_read_as_its_type(sample_index: Path) -> None:
    tools = {tool.name: tool for tool in FinAgentToolkit(index=sample_index).get_tools()}
    question = {"question": "What was Harborlight's net income in FY2023?"}
    serializer = JsonPlusSerializer(allowed_msgpack_modules=None)
    for name, arguments in {"answer_question": question, "list_filings": {"company": "HLGT"}}.items():
        message = tools[name].invoke({"type": "tool_call", "id": "1", "name": name, "args": arguments})
        kept = serializer.loads_typed(serializer.dumps_typed(message))
        assert isinstance(kept.artifact, dict)
        read = type(message.artifact).from_artifact(kept.artifact)
        assert read.model_dump() == message.artifact.model_dump()
        assert type(message.artifact).from_artifact(message.artifact) is message.artifact
