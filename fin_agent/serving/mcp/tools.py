"""The toolkit's tools as MCP has them: text for the model, structured content for code, pictures as pictures."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from math import isfinite
from typing import cast

import mcp_types as types
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from pydantic import BaseModel

from fin_agent.answering.answer import Answer
from fin_agent.prompts.material import as_quoted
from fin_agent.serving.mcp.show_page import NAME as SHOW_PAGE
from fin_agent.serving.mcp.show_page import PageShown, show_page_tool
from fin_agent.serving.places import Json, schemas_with_page_numbers, with_page_numbers
from fin_agent.tools import FinAgentToolkit
from fin_agent.tools import artifacts as make

ARTIFACTS: Mapping[str, type[BaseModel]] = {
    "list_filings": make.FilingsListed,
    "document_search": make.DocumentsFound,
    "page_search": make.PagesFound,
    "read_page": make.PagesRead,
    "card_extraction": make.CardsMade,
    "python_execution": make.ProgramRun,
    "answer_question": Answer,
    SHOW_PAGE: PageShown,
}
"""What each tool hands to code."""
_LEFT_OUT: Mapping[type[BaseModel], set[str]] = {Answer: {"trace", "retrieved"}, PageShown: {"png"}}
MOST_CHARACTERS = 100_000
"""Of structured content, as JSON."""
_TITLES = {
    "list_filings": "List filings",
    "document_search": "Find filings",
    "page_search": "Find pages",
    "read_page": "Read pages",
    "card_extraction": "Describe passages",
    "python_execution": "Compute",
    "answer_question": "Answer a question",
    SHOW_PAGE: "Show a page",
}


def served_tools(toolkit: FinAgentToolkit) -> dict[str, BaseTool]:
    """The toolkit's tools and `show_page`, by name."""
    return {tool.name: tool for tool in (*toolkit.get_tools(), show_page_tool(toolkit.context))}


def declared(tool: BaseTool) -> types.Tool:
    """A tool as clients are told of it."""
    takes = tool.args_schema
    assert isinstance(takes, type) and issubclass(takes, BaseModel), takes
    return types.Tool(
        name=tool.name,
        title=_TITLES[tool.name],
        description=tool.description,
        input_schema=takes.model_json_schema(),
        output_schema=_output_schema(ARTIFACTS[tool.name]),
        annotations=types.ToolAnnotations(
            title=_TITLES[tool.name],
            read_only_hint=True,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )


def call(tool: BaseTool, arguments: Mapping[str, object]) -> types.CallToolResult:
    """What the tool answers; what it cannot do is a result marked as an error, which says what to do next."""
    message = tool.invoke({"type": "tool_call", "id": "call", "name": tool.name, "args": dict(arguments)})
    assert isinstance(message, ToolMessage), message
    content: list[types.ContentBlock] = [types.TextContent(text=str(message.content))]
    if message.status == "error":
        return types.CallToolResult(content=content, is_error=True)
    artifact = message.artifact
    if isinstance(artifact, PageShown):
        content.insert(0, types.ImageContent(data=base64.b64encode(artifact.png).decode(), mime_type="image/png"))
    return types.CallToolResult(content=content, structured_content=structured(artifact))


def structured(artifact: BaseModel) -> dict[str, Json]:
    """An artifact for code, of which many clients show a model all: with the numbers of pages, defused, bounded.

    Texts of filings carry no invisible characters and nothing that looks like a mark of a chat model. Of an answer,
    the trace and what was retrieved are left out, by far the longest parts; of what is too long still, the ends of its
    lists, and `left_out` says of how many.
    """
    document = _defused(with_page_numbers(cast(Json, artifact.model_dump(mode="json", exclude=_left_out(artifact)))))
    assert isinstance(document, dict)
    return _bounded(document)


def _left_out(artifact: BaseModel | type[BaseModel]) -> set[str]:
    kind = artifact if isinstance(artifact, type) else type(artifact)
    return _LEFT_OUT.get(kind, set())


def _bounded(document: dict[str, Json]) -> dict[str, Json]:
    lists = {name: list(value) for name, value in document.items() if isinstance(value, list)}
    wholes = {name: len(value) for name, value in lists.items()}
    excess = len(_line(document)) - MOST_CHARACTERS
    while excess > 0 and any(lists.values()):
        longest = max(lists, key=lambda name: (len(_line(lists[name])), name))
        excess -= len(_line(lists[longest].pop())) + 1
    cut = [f"{wholes[name] - len(value)} of {wholes[name]} {name}" for name, value in lists.items()
           if len(value) < wholes[name]]  # fmt: skip
    return {**document, **lists, **({"left_out": ", ".join(cut)} if cut else {})}


def _line(document: Json) -> str:
    return json.dumps(document, ensure_ascii=False)


def _defused(document: Json) -> Json:
    if isinstance(document, str):
        return as_quoted(document)
    if isinstance(document, float):
        return document if isfinite(document) else None  # JSON has no such number
    if isinstance(document, list):
        return [_defused(each) for each in document]
    if isinstance(document, dict):
        return {name: _defused(value) for name, value in document.items()}
    return document


def _output_schema(artifact: type[BaseModel]) -> dict[str, Json]:
    schema = cast(dict[str, Json], artifact.model_json_schema(mode="serialization"))
    schema.pop("description", None)  # written for readers of the code
    hidden = _left_out(artifact)
    if isinstance(properties := schema.get("properties"), dict):
        schema["properties"] = {name: each for name, each in properties.items() if name not in hidden}
    if isinstance(required := schema.get("required"), list):
        schema["required"] = [name for name in required if name not in hidden]
    named = cast(dict[str, Json], schema.pop("$defs", {}))
    (described,) = schemas_with_page_numbers({"": schema}).values()
    assert isinstance(described, dict)
    used = _used(described, schemas_with_page_numbers(named))
    return {**described, "$defs": used} if used else described


def _used(schema: Json, named: Mapping[str, Json]) -> dict[str, Json]:
    """Those of the named schemas that a schema refers to, and that these refer to."""
    found: dict[str, Json] = {}
    looked_at = [_line(schema)]
    while looked_at:
        line = looked_at.pop()
        new = [name for name in named if name not in found and f'"#/$defs/{name}"' in line]
        found.update((name, named[name]) for name in new)
        looked_at += [_line(named[name]) for name in new]
    return {name: found[name] for name in named if name in found}
