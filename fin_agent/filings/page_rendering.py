"""Render pages as pictures, with frames around what was read."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fin_agent.errors import FinAgentError, ReadError
from fin_agent.filings.html.document import read_html
from fin_agent.filings.html.typesetting import SIZE
from fin_agent.filings.reader import content_hash
from fin_agent.filings.readers.protocol import missing_page_error, pdf_reader, refuse_picture
from fin_agent.process_pool import CallTimeoutError, Limits, WorkerEndedError, WorkerPool
from fin_agent.vocabulary.page import PageContent
from fin_agent.vocabulary.place import Box, Word


class FrameColor(Enum):
    """Colors of frames, as red, green and blue from 0 to 1."""

    TABLE = (0.10, 0.40, 0.85)
    FACT = (0.85, 0.10, 0.15)


@dataclass(frozen=True, slots=True)
class Frame:
    """A box on a page in points, its color, and in words what is framed (may be empty; not drawn)."""

    box: Box
    ink: FrameColor
    note: str = ""


def draw_frames(picture: bytes, frames: Sequence[Frame], dpi: int) -> bytes:
    """Return the PNG `picture` of a page at `dpi` dots per inch with `frames` drawn on it."""
    pymupdf = _drawing_library("frames")
    scale = dpi / 72
    line = max(1, round(_LINE * scale))
    width, height = size_of(picture)
    with pymupdf.open() as document:
        # A point of this page is a pixel of the picture, which is therefore inserted without scaling.
        page = document.new_page(width=width, height=height)
        page.insert_image(page.rect, stream=picture)
        for frame in frames:
            # The centers of the lines are on whole pixels around the box, so that lines are sharp.
            sides = zip(frame.box, (-1, -1, 1, 1), strict=True)
            around = (round(side * scale) + out * (round(_AROUND * scale) - line % 2 / 2) for side, out in sides)
            page.draw_rect(pymupdf.Rect(*around) & page.rect, color=frame.ink.value, width=line)
        pixels = page.get_pixmap(dpi=72)
        pixels.set_dpi(dpi, dpi)
        drawn: bytes = pixels.tobytes("png")
    return drawn


def render_html_page(content: PageContent, dpi: int) -> bytes:
    """Return a page of HTML as a PNG picture, each word at its position. Raises ReadError without PyMuPDF."""
    pymupdf = _drawing_library("HTML pages")
    with pymupdf.open() as document:
        page = document.new_page(width=content.width, height=content.height)
        writer = pymupdf.TextWriter(page.rect)
        font = pymupdf.Font("helv")
        for word in content.words:
            if word.text.strip():
                writer.append((word.x0, word.y1 - _BASELINE), word.text, font=font, fontsize=SIZE)
        if content.words:
            writer.write_text(page)
        picture: bytes = page.get_pixmap(dpi=dpi).tobytes("png")
    return picture


def size_of(picture: bytes) -> tuple[int, int]:
    """Return width and height of a PNG picture, in pixels."""
    width, height = struct.unpack(">II", picture[16:24])
    return width, height


_BASELINE = 3.5
"""Distance from the bottom of a word's box to its baseline, in points."""
_AROUND = 1.0
_LINE = 1.2


def _drawing_library(what: str) -> Any:
    """Return PyMuPDF, only part of which is typed. Raises ReadError where it is not installed for drawing `what`."""
    if find_spec("pymupdf") is None:
        raise ReadError(
            f"{what} are drawn with PyMuPDF, which is not installed",
            remedy="`pip install 'pymupdf<2'` (AGPL or commercial licence), or `fin-agent show` for the page as text",
        )
    return import_module("pymupdf")


@dataclass(frozen=True, slots=True)
class FramedPage:
    """A page to draw with its frames."""

    page: int
    """0-based."""
    frames: tuple[Frame, ...] = ()


class DrawingTimeoutError(ReadError):
    """Drawing took too long, or crashed the process that drew."""


class OffPageError(FinAgentError):
    """A frame is not on the page."""


DRAW_LIMITS = Limits(seconds=20.0, wait=30.0, memory=3 * 2**30)
"""Limits for one page; the fullest pages of filings take a second."""
MAX_DRAWING_CALLS, MAX_WAITING_CALLS = 2, 8
"""Number of calls that draw, and of calls that may wait."""
_POOL = WorkerPool(MAX_DRAWING_CALLS, MAX_WAITING_CALLS)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a picture; a larger one is drawn with fewer dots per inch."""

    longest_side: int
    """In pixels."""
    most_bytes: int


def draw_pages(
    path: Path,
    expected_hash: str,
    pages: Sequence[FramedPage],
    dpi: int,
    bounds: Bounds | None = None,
    *,
    left: Callable[[], bool] = lambda: False,
) -> list[bytes]:
    """Return PNG pictures of `pages` of a filing, in the order given.

    A PDF is drawn by its reader; for HTML, which has no pages, its layout is drawn. Drawing runs in a separate process
    with limits, because a drawing library cannot be interrupted from within. `expected_hash` is the SHA-256 of the
    content that the frames refer to; `left` returns whether the caller has stopped waiting.

    Raises:
        ReadError: The file is gone or has changed, so that frames would be wrong.
        DrawingTimeoutError: Drawing exceeded its limits.
        PoolBusyError: Too many calls are drawing.
        CallLeftError: `left` returned True.
    """
    limits = replace(DRAW_LIMITS, seconds=DRAW_LIMITS.seconds * len(pages), wait=DRAW_LIMITS.wait * len(pages))
    try:
        return _POOL.call(draw_pages_in_process, path, expected_hash, pages, dpi, bounds, limits=limits, cancelled=left)
    except (WorkerEndedError, CallTimeoutError, MemoryError):
        raise DrawingTimeoutError(
            f"drawing it took more than {DRAW_LIMITS.seconds:.0f} seconds or {DRAW_LIMITS.memory >> 30} GB, or crashed"
            " the drawing library",
            subject=path.name,
            remedy="Its text and figures can be read without a picture; a viewer may open it",
        ) from None


def draw_pages_in_process(
    path: Path, expected_hash: str, pages: Sequence[FramedPage], dpi: int, bounds: Bounds | None = None
) -> list[bytes]:
    """Return the same pictures, drawn in this process and without limits."""
    if not path.is_file():
        raise ReadError(
            "the file that this filing was read from is gone",
            subject=str(path),
            remedy="Restore it, or ingest it from its current path with `fin-agent ingest PATH`",
        )
    if content_hash(path) != expected_hash:
        what = "the file has changed since it was read: the positions in the index may be wrong"
        raise ReadError(what, subject=str(path), remedy=f"Read it again with `fin-agent ingest {path}`, then draw it")
    if path.suffix.lower() == ".pdf":
        return [_of_pdf(path, wanted, dpi, bounds) for wanted in pages]
    contents = read_html(path).pages
    return [_of_html(path, contents, wanted, dpi, bounds) for wanted in pages]


def _of_pdf(path: Path, wanted: FramedPage, dpi: int, bounds: Bounds | None) -> bytes:
    reader = pdf_reader()
    if bounds is not None:
        width, height = reader.page_size(path, wanted.page)
        for box in (frame.box for frame in wanted.frames):
            if box.x0 >= width or box.y0 >= height or box.x1 <= 0 or box.y1 <= 0:
                raise OffPageError(
                    f"the box is not on page {wanted.page + 1}", remedy="Give one in points from the page's top left"
                )
        dpi = max(1, min(dpi, int(bounds.longest_side * 72 / max(width, height))))

    def draw(dpi: int) -> bytes:
        picture = reader.render(path, wanted.page, dpi)
        return draw_frames(picture, wanted.frames, dpi) if wanted.frames else picture

    return _within_bounds(draw, dpi, bounds)


def _of_html(path: Path, contents: Sequence[PageContent], wanted: FramedPage, dpi: int, bounds: Bounds | None) -> bytes:
    if not 0 <= wanted.page < len(contents):
        raise missing_page_error(path, wanted.page, len(contents))
    content = contents[wanted.page]
    boxes: list[Box | Word] = [*(frame.box for frame in wanted.frames), *content.words]
    # A table, or a frame, may extend beyond its sheet.
    width = max([content.width, *(box.x1 + _MARGIN for box in boxes)])
    height = max([content.height, *(box.y1 + _MARGIN for box in boxes)])
    content = replace(content, width=width, height=height)

    def draw(dpi: int) -> bytes:
        refuse_picture(path, wanted.page, (width, height), dpi)
        return draw_frames(render_html_page(content, dpi), wanted.frames, dpi)

    return _within_bounds(draw, dpi, bounds)


_MARGIN = 18.0


def _within_bounds(draw: Callable[[int], bytes], dpi: int, bounds: Bounds | None) -> bytes:
    for _ in range(_MAX_TRIES):
        png = draw(dpi)
        if bounds is None or dpi <= 1:
            break
        shrink = bounds.longest_side / max(size_of(png))
        if shrink >= 1 and len(png) <= bounds.most_bytes:
            break
        dpi = max(1, int(dpi * min(shrink, 0.9 if shrink >= 1 else 1.0)))
    return png


_MAX_TRIES = 5
