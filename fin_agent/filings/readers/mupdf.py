"""Read the pages of a PDF with PyMuPDF."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fin_agent.errors import require_versions
from fin_agent.filings.readers.protocol import (
    OpenPdf,
    encrypted_error,
    has_little_text,
    share_covered,
    unreadable_error,
)
from fin_agent.vocabulary.page import PageContent
from fin_agent.vocabulary.place import Box, Word

if TYPE_CHECKING:
    import pymupdf


@contextmanager
def open_pdf(path: Path) -> Iterator[OpenPdf]:
    """Open the PDF at `path`; see `PdfReader`."""
    require_versions("pymupdf")
    import pymupdf  # takes half a second, and is not needed for asking and searching, which import this module too

    # MuPDF prints repairs and warnings on stderr; relevant ones reach the caller as errors.
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        with pymupdf.open(path, filetype="pdf") as document:
            if document.needs_pass:
                raise encrypted_error(path)
            yield OpenPdf(
                document.page_count,
                lambda page: _read_page(document[page], page),
                lambda page: (document[page].rect.width, document[page].rect.height),
                lambda page, dpi: document[page].get_pixmap(dpi=dpi).tobytes("png"),
                lambda: bool(document.is_repaired),
            )
    except (RuntimeError, ValueError, pymupdf.mupdf.FzErrorBase) as error:
        raise unreadable_error(path, _reason(error, path)) from error


def _reason(error: Exception, path: Path) -> str:
    """Return MuPDF's message without error numbers and without the path, which the caller may not want to show."""
    if "Failed to open" in (said := str(error)):
        return "nothing in it can be opened"
    return re.sub(r"^code=\d+: ", "", said).replace(str(path), path.name).rstrip(".")


def _read_page(page: pymupdf.Page, number: int) -> PageContent:
    textpage = page.get_textpage()
    words = textpage.extractWORDS()
    text = textpage.extractText()
    unseen = _invisible_text(page, textpage) if _MAY_BE_UNSEEN.search(textpage.extractHTML()) else []
    if unseen and sum(len(span["text"]) for span in unseen) < len(text) / 2:  # otherwise the OCR text of a scan
        boxes = [span["bbox"] for span in unseen if span["text"].strip()]
        words = [word for word in words if not any(_holds(box, word) for box in boxes)]
        text = _without(textpage.extractDICT()["blocks"], unseen)
    if page.rotation:  # MuPDF gives positions on the page before its rotation
        words = [(*(page.rect.__class__(word[:4]) * page.rotation_matrix), word[4]) for word in words]
    _, _, width, height = page.rect
    return PageContent(
        number=number,
        width=width,
        height=height,
        text=text,
        words=tuple(Word(*word[: len(Word._fields)]) for word in words),  # without numbers of blocks and lines
        pictured=_pictured(page) if has_little_text(text) else 0.0,
    )


_Span = dict[str, Any]


def _invisible_text(page: pymupdf.Page, textpage: pymupdf.TextPage) -> list[_Span]:
    """Return text that is invisible on the page: not drawn, as small as a point, or white on white."""
    spans = [span for block in textpage.extractDICT()["blocks"] for line in block["lines"] for span in line["spans"]]
    unseen = [span for span in spans if not span.get("alpha", _OPAQUE) or span["size"] < _SMALLEST]
    white = [span for span in spans if span["color"] == _WHITE and span not in unseen and span["text"].strip()]
    if white:
        under = [drawing["rect"] for drawing in page.get_cdrawings() if min(drawing.get("fill") or (1,)) < _DARK]
        under += [image["bbox"] for image in page.get_image_info()]
        unseen += [span for span in white if not any(_holds(box, span["bbox"]) for box in under)]
    return unseen


_OPAQUE, _WHITE = 255, 0xFFFFFF
_SMALLEST = 1.5
"""Points; the smallest print in filings has four."""
_MAY_BE_UNSEEN = re.compile(r"font-size:(?:[01]\.|[\d.]+pt\")|color:#ffffff")
"""In MuPDF's HTML of a page, made in a fifth of the time of its spans: print that is tiny, white or of no colour."""


_DARK = 0.9


def _holds(box: Sequence[float], other: Sequence[float]) -> bool:
    """Return whether the center of `other` is within `box`."""
    across, down = (other[0] + other[2]) / 2, (other[1] + other[3]) / 2
    return bool(box[0] <= across <= box[2] and box[1] <= down <= box[3])


def _without(blocks: Iterable[Mapping[str, Any]], unseen: Sequence[_Span]) -> str:
    """Return the text of a page in MuPDF's form, one line each, without these spans."""
    lines = []
    left_out = {(span["bbox"], span["text"]) for span in unseen}
    for block in blocks:
        for line in block.get("lines", ()):
            seen = [span["text"] for span in line["spans"] if (span["bbox"], span["text"]) not in left_out]
            if any(map(str.strip, seen)):
                lines.append("".join(seen))
    return "\n".join((*lines, ""))


def _pictured(page: pymupdf.Page) -> float:
    before_turning = (page.rect * page.derotation_matrix).normalize()
    return share_covered(Box(*before_turning), (Box(*image["bbox"]) for image in page.get_image_info()))
