"""Pictures of pages, limited in size, with frames around boxes and figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fin_agent.errors import ReadError
from fin_agent.filings.facts.fact_selection import facts_named, similar_names
from fin_agent.filings.page_rendering import (
    Bounds,
    DrawingTimeoutError,
    Frame,
    FrameColor,
    FramedPage,
    OffPageError,
    draw_pages,
)
from fin_agent.index.protocol import FilingRecord, PageKey
from fin_agent.models.metering import current_meter
from fin_agent.presentation.filings import fact_line, metric_by_name
from fin_agent.process_pool import CallCancelledError, PoolBusyError
from fin_agent.serving.problem_details import BusyError, NotThereError, TooLongError, names_only
from fin_agent.tools.errors import ToolInputError, quoted_name
from fin_agent.vocabulary.place import Box
from fin_agent.workspace import Workspace

USUAL_DPI = 110
MAX_SIDE_LENGTH = 1_600
"""Longest side of a picture in pixels; larger ones are of no use to people and models."""
MAX_BYTES = 2_000_000
_BOUNDS = Bounds(MAX_SIDE_LENGTH, MAX_BYTES)
_METRES_AN_INCH = 0.0254
_FARTHEST = 2_000.0
"""Largest distance of a box from the page's corner in points; pages of HTML are drawn large enough for their boxes."""


def dpi_of(png: bytes) -> int:
    """Return the resolution of a picture: lower than requested if it would be too large."""
    at = png.find(b"pHYs")
    return round(int.from_bytes(png[at + 4 : at + 8]) * _METRES_AN_INCH) if at > 0 else USUAL_DPI


def page_picture(record: FilingRecord, page: int, frames: Sequence[Frame] = (), dpi: int = USUAL_DPI) -> bytes:
    """Draw a page (0-based) as a PNG picture, with fewer dots per inch if it would be too large.

    Raises ReadError, ToolInputError, TooLongError and BusyError.
    """
    path, meter = Path(record.source), current_meter()
    wanted = [FramedPage(page, tuple(frames))]
    try:
        (png,) = draw_pages(
            path, record.content_hash, wanted, dpi, _BOUNDS, left=lambda: meter is not None and meter.stopped
        )
    except OffPageError as error:
        raise ToolInputError(error.what, remedy=error.remedy) from error
    except (PoolBusyError, CallCancelledError) as error:
        raise BusyError(
            "the limit of pages drawn at the same time is reached", remedy="Call again in a few seconds"
        ) from error
    except DrawingTimeoutError as error:
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
) -> list[Frame]:
    """Return a frame around a figure of a page (0-based): a metric, a concept, or words of its label.

    Raises NotThereError if the page has no such figure; the message names similar ones.
    """
    facts = [each.fact for each in workspace.index.facts([record.doc_id], pages=[PageKey(record.doc_id, page)])]
    found = facts_named(facts, name, fiscal_year, record.identity)
    if not found and (metric := metric_by_name(name, workspace.lexicon)) is not None:
        found = facts_named(facts, metric, fiscal_year, record.identity)
    if not found:
        near = similar_names(facts, name)
        year = f" of fiscal {fiscal_year}" if fiscal_year else ""
        raise NotThereError(
            f"page {page + 1} has no figure called {quoted_name(name)}{year}",
            subject=record.doc_id,
            remedy=f"Did you mean {' or '.join(map(quoted_name, near))}?"
            if near
            else "Ask for the page without a figure",
        )
    return [Frame(found[0].box, FrameColor.FACT, fact_line(found[0]))]


def box_frames(boxes: Sequence[Box]) -> list[Frame]:
    """Return a frame around each box. Raises ToolInputError for a box that is not on a page."""
    for box in boxes:
        if not all(-_FARTHEST <= side <= _FARTHEST for side in box) or box.x0 >= box.x1 or box.y0 >= box.y1:
            raise ToolInputError(
                f"{','.join(f'{side:g}' for side in box)} is not a box on a page",
                remedy="Give left, top, right, bottom in points from the page's top left, as `box` does in JSON",
            )
    return [Frame(box, FrameColor.FACT) for box in boxes]
