"""The toolkit's tools and `show_page` for MCP: text for the model, structured content for code, pictures."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from math import isfinite
from typing import Annotated, cast

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from mcp import types  # fields by their names on the wire, which versions 1 and 2 of the SDK both take
from pydantic import BaseModel, ConfigDict, Field

from fin_agent.answering.answer import Answer, Retrieved
from fin_agent.evidence.trace import TraceStep
from fin_agent.filings.page_rendering import size_of
from fin_agent.prompts.untrusted_text import quoted_text, single_line
from fin_agent.serving.filing_resources import Json, page_of, with_page_numbers
from fin_agent.serving.page_images import figure_frames, page_picture
from fin_agent.serving.problem_details import NotThereError
from fin_agent.tools import artifacts as make
from fin_agent.tools.argument_resolution import resolve_doc_id
from fin_agent.tools.arguments import Arguments, DocId
from fin_agent.tools.context import ToolContext
from fin_agent.tools.toolkit import FinAgentToolkit, make_tool

MAX_CHARACTERS = 100_000
"""Characters of structured content at most, as JSON."""


class ShowPageArguments(Arguments):
    """Arguments of `show_page`."""

    doc_id: DocId
    page: Annotated[int, Field(ge=1, description="The page as a PDF viewer counts, from 1. Tools print these numbers.")]
    figure: Annotated[
        str | None,
        Field(
            max_length=300,
            description="The figure on that page to frame: its label as printed, or what it is ('net income').",
        ),
    ] = None
    fiscal_year: Annotated[
        int | None,
        Field(ge=1900, le=2200, description="The fiscal year whose figure is framed, where the page has several."),
    ] = None


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
    return types.Tool(
        name=tool.name,
        title=title,
        description=tool.description,
        inputSchema=takes,
        outputSchema=_output_schema(artifact),
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
        content.insert(
            0, types.ImageContent(type="image", data=base64.b64encode(artifact.png).decode(), mimeType="image/png")
        )
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
    lists = {name: list(value) for name, value in document.items() if isinstance(value, list)}
    wholes = {name: len(value) for name, value in lists.items()}
    excess = len(_line(document)) - MAX_CHARACTERS
    while excess > 0 and any(lists.values()):
        longest = max(lists, key=lambda name: (len(_line(lists[name])), name))
        excess -= len(_line(lists[longest].pop())) + 1
    cut = [f"{wholes[name] - len(kept)} of {wholes[name]} {name}" for name, kept in lists.items()
           if len(kept) < wholes[name]]  # fmt: skip
    return {**document, **lists, **({"left_out": ", ".join(cut)} if cut else {})}


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


def _output_schema(artifact: type[BaseModel]) -> dict[str, Json]:
    schema = artifact.model_json_schema(mode="serialization")
    schema.pop("description", None)  # the class docstring is for readers of the code
    return schema


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
            filing=make.FilingListed.of(record),
            page=page,
            framed=framed,
            width=width,
            height=height,
            png=png,
        )
        named = single_line(quoted_text(record.doc_id))
        return f"{named}, page {given.page} of {record.page_count}, as printed.{note}", artifact

    return make_tool("show_page", ShowPageArguments, shown)
