"""The tool that shows a page as it is printed: a picture, with a figure framed."""

from __future__ import annotations

from typing import Annotated

from langchain_core.tools import BaseTool
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from fin_agent.index.protocol import FilingRecord
from fin_agent.prompts.material import as_quoted, on_a_line
from fin_agent.serving.errors import NotThereError
from fin_agent.serving.filings import page_of
from fin_agent.serving.pictures import figure_frames, page_picture
from fin_agent.tools.arguments import Arguments, DocId
from fin_agent.tools.artifacts import FilingListed
from fin_agent.tools.context import ToolContext
from fin_agent.tools.narrowing import known_id
from fin_agent.tools.toolkit import made_tool

NAME = "show_page"
DESCRIPTION = (
    "Show one page of a filing as a picture, as it is printed, with a figure framed where one is named. Use it to "
    "check a table that reads oddly as text, or to show people where a figure stands."
)


def _nothing(given: object) -> object:
    """Models that must fill every argument fill what they do not need with an empty text or zero."""
    return None if given in ("", 0, "null", "None") else given


class ShowPageArguments(Arguments):
    """Of `show_page`."""

    doc_id: DocId
    page: Annotated[int, Field(ge=1, description="The page as a PDF viewer counts, from 1. Tools print these numbers.")]
    figure: Annotated[
        Annotated[str, Field(max_length=300)] | None,
        BeforeValidator(_nothing),
        Field(description="The figure on that page to frame: its label as printed, or what it is ('net income')."),
    ] = None
    fiscal_year: Annotated[
        Annotated[int, Field(ge=1900, le=2200)] | None,
        BeforeValidator(_nothing),
        Field(description="The fiscal year whose figure is framed, where the page has several."),
    ] = None


class PageShown(BaseModel):
    """Of `show_page`; the picture itself is beside it."""

    model_config = ConfigDict(frozen=True)

    filing: FilingListed
    page: int
    """0-based."""
    framed: tuple[str, ...]
    """What is framed, in words."""
    width: int
    height: int
    """Of the picture, in pixels."""
    png: bytes = Field(exclude=True, repr=False)


def show_page_tool(context: ToolContext) -> BaseTool:
    """The tool over the filings of `context`."""

    def shown(given: ShowPageArguments) -> tuple[str, BaseModel]:
        record = _record(context, given.doc_id)
        page = page_of(record, given.page)
        frames, note = [], ""
        if given.figure is not None:
            try:
                frames = figure_frames(context.workspace, record, page, given.figure, given.fiscal_year)
            except NotThereError as error:
                note = f" Nothing is framed: {error.what}. {error.remedy}."
        picture = page_picture(record, page, frames)
        width, height = picture.size
        page_shown = PageShown(
            filing=FilingListed.of(record),
            page=page,
            framed=picture.framed,
            width=width,
            height=height,
            png=picture.png,
        )
        framed = f" Framed in red: {_said(picture.framed[0])}." if picture.framed else ""
        return (
            f"{_said(record.doc_id)}, page {given.page} of {record.page_count}, as printed.{framed}{note}",
            page_shown,
        )

    return made_tool(NAME, DESCRIPTION, ShowPageArguments, shown)


def _record(context: ToolContext, doc_id: str) -> FilingRecord:
    return context.workspace.index.filing(known_id(doc_id, context.workspace, context.within))


def _said(words: str) -> str:
    return on_a_line(as_quoted(words))
