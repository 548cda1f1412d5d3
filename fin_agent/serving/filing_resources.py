"""Filings, pages and their pictures as servers present them, without paths of the server's files.

In JSON `page` counts from 0, as in all JSON of this package; `page_number` next to it counts from 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field

from fin_agent.errors import ReadError
from fin_agent.filings import page_rendering as drawing
from fin_agent.filings.facts.fact_selection import facts_named, similar_names
from fin_agent.index.protocol import FilingRecord, PageKey
from fin_agent.models.metering import current_meter
from fin_agent.presentation.exports import BOUNDS, USUAL_DPI
from fin_agent.presentation.filings import PageRun, fact_line, item_runs, resolve_fact_name, statement_runs
from fin_agent.presentation.terminal_text import warning_lines_by_page
from fin_agent.process_pool import CallCancelledError, PoolBusyError
from fin_agent.serving.problem_details import BusyError, NotThereError, TooLongError, names_only
from fin_agent.tools.argument_resolution import resolve_doc_id
from fin_agent.tools.artifacts import FilingListed
from fin_agent.tools.context import ToolContext
from fin_agent.tools.errors import ToolInputError, quoted_name
from fin_agent.vocabulary.place import Box
from fin_agent.workspace import Workspace

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


class Part(BaseModel):
    """Consecutive pages of a filing with a name, counted from 1 as in addresses."""

    model_config = ConfigDict(frozen=True)

    name: str
    first_page_number: int
    last_page_number: int


class FilingShown(FilingListed):
    """The identity of a filing, and the pages of its Items, statements and notes."""

    amended: bool
    cik: str | None
    other_names: tuple[str, ...] = Field(description="Further names of the company: former, short, of subsidiaries.")
    facts: int = Field(description="Number of figures that were read from it.")
    items: tuple[Part, ...]
    statements: tuple[Part, ...]
    notes: tuple[Part, ...] = Field(description="Notes to the financial statements, by number and title.")
    warnings: tuple[str, ...] = Field(description="Irregularities found while it was read.")


def filing_shown(context: ToolContext, doc_id: str) -> FilingShown:
    """Return the filing with this id. Raises NotThereError if it does not exist or may not be read."""
    record = record_of(context, doc_id)
    identity = record.identity
    outline = [stored.page for stored in context.workspace.index.outline([doc_id])]
    notes = (PageRun(f"{note.number} {note.title}".strip(), note.first_page, note.last_page) for note in record.notes)
    return FilingShown(
        **FilingListed.of(record).model_dump(),
        amended=identity.amended,
        cik=identity.cik,
        other_names=identity.other_names,
        facts=record.fact_count,
        items=_parts(item_runs(outline, record.items)),
        statements=_parts(statement_runs(outline)),
        notes=_parts(notes),
        warnings=tuple(warning_lines_by_page(record.warnings)),
    )


def _parts(runs: Iterable[PageRun]) -> tuple[Part, ...]:
    return tuple(Part(name=run.name, first_page_number=run.first + 1, last_page_number=run.last + 1) for run in runs)


def record_of(context: ToolContext, doc_id: str) -> FilingRecord:
    """Return the filing from the index; the id is looked up there and never becomes part of a path.

    Raises NotThereError if it does not exist or may not be read.
    """
    try:
        return context.workspace.index.filing(resolve_doc_id(doc_id, context.workspace, context.within))
    except ToolInputError as error:
        raise NotThereError(error.what, subject=doc_id[:100], remedy=error.remedy) from error


def page_of(record: FilingRecord, page_number: int) -> int:
    """Return the page counted from 0 for a page number. Raises NotThereError."""
    if not 1 <= page_number <= record.page_count:
        raise NotThereError(
            f"there is no page {page_number:,}",
            subject=record.doc_id,
            remedy=f"Give a page from 1 to {record.page_count:,}",
        )
    return page_number - 1


def with_page_numbers(document: Json, *, pictures: bool = False) -> Json:
    """Add `page_number` (from 1) next to every `page` (from 0) of a document, and on request the page's `picture`.

    >>> with_page_numbers({"doc_id": "acme_2023", "page": 8}, pictures=True)
    {'doc_id': 'acme_2023', 'page': 8, 'page_number': 9, 'picture': '/pages/acme_2023/9.png'}
    """
    if isinstance(document, list):
        return [with_page_numbers(each, pictures=pictures) for each in document]
    if not isinstance(document, dict):
        return document
    told = {name: with_page_numbers(value, pictures=pictures) for name, value in document.items()}
    page = document.get("page")
    if isinstance(page, int):
        told["page_number"] = page + 1
        filing = document.get("filing")
        doc_id = document.get("doc_id", filing.get("doc_id") if isinstance(filing, dict) else None)
        if pictures and isinstance(doc_id, str):
            told["picture"] = picture_address(doc_id, page + 1, document.get("box"))
    return told


def with_page_number_schemas(document: dict[str, Any]) -> dict[str, Any]:
    """Add to the schemas of an OpenAPI document what `with_page_numbers` adds to responses; may be called again."""
    for schema in document["components"]["schemas"].values():
        properties = schema.get("properties", {})
        if "page" in properties:
            properties["page_number"] = {"type": "integer", "minimum": 1, "description": "The page, counted from 1."}
            if "doc_id" in properties or "filing" in properties:
                properties["picture"] = {"type": "string", "description": "Address of the page's picture."}
    return document


def picture_address(doc_id: str, page_number: int, box: Json = None) -> str:
    """Return the address of a page's picture in the HTTP API (pages from 1), with a frame around `box` if given.

    >>> picture_address("acme 2023", 9, [72.0, 90.5, 300.0, 101.0])
    '/pages/acme%202023/9.png?box=72,90.5,300,101'
    """
    address = f"/pages/{quote(doc_id, safe='')}/{page_number}.png"
    if not isinstance(box, list):
        return address
    return f"{address}?box={','.join(f'{side:.6g}' for side in box if isinstance(side, int | float))}"


_METRES_AN_INCH = 0.0254
_FARTHEST = 2_000.0
"""Largest distance of a box from the page's corner in points; pages of HTML are drawn large enough for their boxes."""


def dpi_of(png: bytes) -> int:
    """Return the resolution of a picture: lower than requested if it would be too large."""
    at = png.find(b"pHYs")
    return round(int.from_bytes(png[at + 4 : at + 8]) * _METRES_AN_INCH) if at > 0 else USUAL_DPI


def page_picture(record: FilingRecord, page: int, frames: Sequence[drawing.Frame] = (), dpi: int = USUAL_DPI) -> bytes:
    """Draw a page (0-based) as a PNG picture, with fewer dots per inch if it would be too large.

    Raises ReadError, ToolInputError, TooLongError and BusyError.
    """
    path, meter = Path(record.source), current_meter()
    wanted = [drawing.FramedPage(page, tuple(frames))]
    try:
        (png,) = drawing.draw_pages(
            path, record.content_hash, wanted, dpi, BOUNDS, left=lambda: meter is not None and meter.stopped
        )
    except drawing.OffPageError as error:
        raise ToolInputError(error.what, remedy=error.remedy) from error
    except (PoolBusyError, CallCancelledError) as error:
        raise BusyError(
            "the limit of pages drawn at the same time is reached", remedy="Call again in a few seconds"
        ) from error
    except drawing.DrawingTimeoutError as error:
        raise TooLongError(names_only(error.what, path), subject=record.doc_id, remedy=error.remedy) from error
    except ReadError as error:
        # Callers must not learn the paths of the server's files.
        raise ReadError(
            names_only(error.what, path),
            subject=record.doc_id,
            remedy="Ask the operator of the server to ingest it again; its text and figures can be read meanwhile",
        ) from error
    return png


def figure_frames(
    workspace: Workspace, record: FilingRecord, page: int, name: str, fiscal_year: int | None = None
) -> list[drawing.Frame]:
    """Return a frame around a figure of a page (0-based): a metric, a concept, or words of its label.

    Raises NotThereError if the page has no such figure; the message names similar ones.
    """
    facts = [each.fact for each in workspace.index.facts([record.doc_id], pages=[PageKey(record.doc_id, page)])]
    called = resolve_fact_name(name, facts, workspace.lexicon)
    found = facts_named(facts, called, fiscal_year, record.identity)
    if not found:
        near = " or ".join(map(quoted_name, similar_names(facts, name)))
        year = f" of fiscal {fiscal_year}" if fiscal_year else ""
        raise NotThereError(
            f"page {page + 1} has no figure called {quoted_name(name)}{year}",
            subject=record.doc_id,
            remedy=f"Did you mean {near}?" if near else "Ask for the page without a figure",
        )
    return [drawing.Frame(found[0].box, drawing.FrameColor.FACT, fact_line(found[0]))]


def box_frames(boxes: Sequence[Box]) -> list[drawing.Frame]:
    """Return a frame around each box. Raises ToolInputError for a box that is not on a page."""
    for box in boxes:
        if not all(-_FARTHEST <= side <= _FARTHEST for side in box) or box.x0 >= box.x1 or box.y0 >= box.y1:
            raise ToolInputError(
                f"{','.join(f'{side:g}' for side in box)} is not a box on a page",
                remedy="Give left, top, right, bottom in points from the page's top left, as `box` does in JSON",
            )
    return [drawing.Frame(box, drawing.FrameColor.FACT) for box in boxes]
