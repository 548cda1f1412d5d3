"""Pages of a PDF, as PyMuPDF gives them: text in reading order and words with their places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fin_agent.filings.readers.pictured import says_little, share_covered
from fin_agent.filings.readers.refusals import (
    broken,
    cut_off,
    encrypted,
    is_cut_off,
    no_such_page,
    refuse_page_count,
    refuse_picture,
    refuse_textless,
    refuse_unreadable,
    within_bounds,
)
from fin_agent.filings.readers.unpacking import refuse_overpacked
from fin_agent.vocabulary.page import PageContent
from fin_agent.vocabulary.place import Box, Word

if TYPE_CHECKING:
    import pymupdf


def read_pdf(path: Path) -> list[PageContent]:
    """Read every page of the PDF at `path`, in order.

    Raises ReadError where the file is missing, empty, no PDF, broken, cut off, encrypted, scanned (textless), or far
    too long or large; the error names the file and the next step.
    """
    with _open(path) as document:
        refuse_overpacked(path)
        pages = list(within_bounds(path, (_read_page(document[number], number) for number in range(len(document)))))
        repaired = document.is_repaired
    if repaired and is_cut_off(path, b"%%EOF"):
        # MuPDF repairs such a file silently; the pages that it no longer holds come back blank or not at all.
        raise cut_off(path)
    refuse_textless(path, pages, repaired=repaired)
    return pages


def page_size(path: Path, page: int) -> tuple[float, float]:
    """Width and height of a page (0-based) as a viewer shows it, in points."""
    with _open(path) as document:
        return _size(document, path, page)


def render(path: Path, page: int, dpi: int) -> bytes:
    """A page (0-based) as a PNG picture, `dpi` dots an inch. Raises ReadError where there is no such page."""
    with _open(path) as document:
        refuse_picture(path, page, _size(document, path, page), dpi)
        refuse_overpacked(path)
        picture: bytes = document[page].get_pixmap(dpi=dpi).tobytes("png")
    return picture


def _size(document: pymupdf.Document, path: Path, page: int) -> tuple[float, float]:
    if not 0 <= page < document.page_count:
        raise no_such_page(path, page, document.page_count)
    shown = document[page].rect
    return float(shown.width), float(shown.height)


@contextmanager
def _open(path: Path) -> Iterator[pymupdf.Document]:
    import pymupdf  # half a second that only reading needs: asking and searching import this module too

    refuse_unreadable(path)
    # MuPDF prints repairs and warnings on stderr; what matters reaches the caller as an error.
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        with pymupdf.open(path, filetype="pdf") as document:
            if document.needs_pass:
                raise encrypted(path)
            refuse_page_count(path, document.page_count)
            yield document
    except (RuntimeError, ValueError, pymupdf.mupdf.FzErrorBase) as error:
        raise broken(path, _reason(error, path)) from error


def _reason(error: Exception, path: Path) -> str:
    """What MuPDF says, without its numbers of errors and without the path, which the caller may not want to show."""
    if "Failed to open" in (said := str(error)):
        return "nothing in it can be opened"
    return re.sub(r"^code=\d+: ", "", said).replace(str(path), path.name).rstrip(".")


def _read_page(page: pymupdf.Page, number: int) -> PageContent:
    textpage = page.get_textpage()
    words = page.get_text("words", textpage=textpage)
    if page.rotation:  # MuPDF gives places on the page as it was before it was turned
        words = [(*(page.rect.__class__(word[:4]) * page.rotation_matrix), word[4]) for word in words]
    text = page.get_text("text", textpage=textpage)
    return PageContent(
        number=number,
        width=page.rect.width,
        height=page.rect.height,
        text=text,
        words=tuple(Word(*word[:5]) for word in words),
        pictured=_pictured(page) if says_little(text) else 0.0,
    )


def _pictured(page: pymupdf.Page) -> float:
    before_turning = (page.rect * page.derotation_matrix).normalize()
    return share_covered(Box(*before_turning), (Box(*image["bbox"]) for image in page.get_image_info()))
