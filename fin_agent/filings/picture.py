"""Pages of a filing as PNG pictures, with frames around what was read on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fin_agent.errors import ReadError
from fin_agent.filings.drawing import Frame, framed, sheet_of
from fin_agent.filings.reader import content_hash
from fin_agent.filings.readers.protocol import pdf_reader
from fin_agent.filings.readers.refusals import no_such_page, refuse_picture
from fin_agent.vocabulary.page import PageContent
from fin_agent.vocabulary.place import Box

LEAST_DPI, MOST_DPI = 36, 300


@dataclass(frozen=True, slots=True)
class FramedPage:
    """A page to draw and what to frame on it."""

    page: int
    """0-based."""
    frames: tuple[Frame, ...] = ()


def draw_pages(path: Path, expected_hash: str, pages: Sequence[FramedPage], dpi: int) -> Iterator[bytes]:
    """PNG pictures of `pages` of the filing at `path`, in the order given, `dpi` dots an inch.

    A PDF is drawn by its reader; of HTML, which has no pages to draw, the layout is drawn that it was read in. Raises
    ReadError where the file is gone or is not the one with `expected_hash` (SHA-256): its frames would lie.
    """
    refuse_changed(path, expected_hash)
    if path.suffix.lower() == ".pdf":
        yield from _of_pdf(path, pages, dpi)
    else:
        yield from _of_html(path, pages, dpi)


def refuse_changed(path: Path, expected_hash: str) -> None:
    """Raise ReadError where a file has gone, or is not the one with `expected_hash` (SHA-256)."""
    if not path.is_file():
        raise ReadError(
            "the file that this filing was read from is gone",
            subject=str(path),
            remedy="Put it back, or ingest it from where it is now with `fin-agent ingest PATH`",
        )
    if content_hash(path) != expected_hash:
        raise ReadError(
            "the file has changed since it was read: what was read no longer stands where the index says",
            subject=str(path),
            remedy=f"Read it again with `fin-agent ingest {path}`, then draw it",
        )


def _of_pdf(path: Path, pages: Sequence[FramedPage], dpi: int) -> Iterator[bytes]:
    reader = pdf_reader()
    for wanted in pages:
        picture = reader.render(path, wanted.page, dpi)
        yield framed(picture, wanted.frames, dpi) if wanted.frames else picture


def _of_html(path: Path, pages: Sequence[FramedPage], dpi: int) -> Iterator[bytes]:
    from fin_agent.filings.html.reading import read_html

    contents = read_html(path).pages
    for wanted in pages:
        if not 0 <= wanted.page < len(contents):
            raise no_such_page(path, wanted.page, len(contents))
        content = _with_room(contents[wanted.page], [frame.box for frame in wanted.frames])
        refuse_picture(path, wanted.page, (content.width, content.height), dpi)
        yield framed(sheet_of(content, dpi), wanted.frames, dpi)


def _with_room(content: PageContent, boxes: Sequence[Box]) -> PageContent:
    """The page, as wide and high as what stands on it: a table may run over the sheet it was set on."""
    boxes = [*boxes, *(Box(word.x0, word.y0, word.x1, word.y1) for word in content.words)]
    width = max((box.x1 for box in boxes), default=0.0) + _MARGIN
    height = max((box.y1 for box in boxes), default=0.0) + _MARGIN
    return PageContent(
        content.number, max(content.width, width), max(content.height, height), content.text, content.words
    )


_MARGIN = 18.0
