"""Read the pages of a PDF with PyMuPDF; also doubled letters and pages that contain only a picture."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice, repeat
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fin_agent.errors import ReadError
from fin_agent.filings.readers.decompression_limits import require_unpackable
from fin_agent.filings.readers.protocol import (
    MAX_PAGES,
    encrypted_error,
    is_truncated,
    limit_pages,
    missing_page_error,
    refuse_page_count,
    refuse_picture,
    refuse_textless,
    refuse_unreadable,
    truncated_error,
    unreadable_error,
)
from fin_agent.vocabulary.filing import ReadWarning
from fin_agent.vocabulary.page import PageContent
from fin_agent.vocabulary.place import Box, Word

PAGE_WIDTH, PAGE_HEIGHT = 612.0, 792.0


def text_pages(texts: Sequence[str]) -> list[PageContent]:
    """Return one page per text. Raises ReadError where there is no text, or far too much.

    The pages have no words with positions, so no tables or figures are read from them: text alone does not show the
    column of a number. Even where a library separates columns with blanks, headers and unit lines are misplaced so
    often that in six real filings one figure in six was wrong.
    """
    if not any(text.strip() for text in texts):
        raise ReadError("no page has text", remedy="Scanned pages need text recognition before they are loaded")
    if len(texts) > MAX_PAGES:
        raise ReadError(f"{len(texts):,} pages are not a filing", remedy=f"A filing has at most {MAX_PAGES:,} pages")
    return [PageContent(number, PAGE_WIDTH, PAGE_HEIGHT, text, ()) for number, text in enumerate(texts)]


if TYPE_CHECKING:
    import pypdfium2


def doubled_letters(page: pypdfium2.PdfPage, textpage: pypdfium2.PdfTextPage, printed: str) -> dict[int, bool]:
    """Return indexes of letters in `printed`, the text of `page`, that are drawn twice but occur once in the text.

    The value is True where the letter after the gap belongs to the same word, False where a blank follows.
    """
    candidates = [
        (match.start(), match.end(), pair)
        for match in _F_BEFORE_BLANK.finditer(printed)
        if (pair := (_object_of(textpage, match.start()), _object_of(textpage, match.end())))[0] != pair[1]
    ]
    if not candidates:
        return {}
    objects = _objects(page)
    places = {address: place for place, address in enumerate(objects)}
    doubled = {}
    for index, after, (own, next_drawn) in candidates:
        place = places.get(own, len(objects))
        if place + 1 >= len(objects) or objects[place + 1] == next_drawn:
            continue
        first, second = _sides(objects[place]), _sides(objects[place + 1])
        if not _is_doubled(first, second):
            continue
        advance = second.left - first.left
        gap = _origin(textpage, after) - _origin(textpage, index) - 2 * advance
        goes_on = "\n" not in printed[index:after] and abs(gap) < _BLANK * (first.top - first.bottom)
        doubled[index] = goes_on
    return doubled


_F_BEFORE_BLANK = re.compile(r"f\s+(?=\S)")
_BLANK = 0.15
"""Narrowest blank, relative to the letter's height."""


class _Sides(NamedTuple):
    left: float
    bottom: float
    right: float
    top: float


def _is_doubled(first: _Sides, second: _Sides) -> bool:
    """Return whether the second is the same letter right after the first; a blank has no width."""
    return (
        first.left < second.left < first.right
        and abs((second.right - second.left) - (first.right - first.left)) < 0.05
        and abs(second.bottom - first.bottom) < 0.05
        and abs(second.top - first.top) < 0.05
    )


def _object_of(textpage: pypdfium2.PdfTextPage, index: int) -> int:
    """Return the address of a character's page object; 0 for one of PDFium's own."""
    from pypdfium2 import raw

    return ctypes.cast(raw.FPDFText_GetTextObject(textpage.raw, index), ctypes.c_void_p).value or 0


def _objects(page: pypdfium2.PdfPage) -> list[int]:
    """Return the addresses of the page's objects, in drawing order."""
    from pypdfium2 import raw

    # Declared to return numbers, because pointers are three times as slow, and pages may have an object per letter.
    address = ctypes.cast(raw.FPDFPage_GetObject, ctypes.c_void_p).value
    object_at = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int)(address or 0)
    count = raw.FPDFPage_CountObjects(page.raw)
    return list(map(object_at, repeat(ctypes.cast(page.raw, ctypes.c_void_p)), range(count)))


def _sides(address: int) -> _Sides:
    from pypdfium2 import raw

    sides = [ctypes.c_float() for _ in range(4)]
    raw.FPDFPageObj_GetBounds(ctypes.cast(address, raw.FPDF_PAGEOBJECT), *sides)
    return _Sides(*(side.value for side in sides))


def _origin(textpage: pypdfium2.PdfTextPage, index: int) -> float:
    from pypdfium2 import raw

    x, y = ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetCharOrigin(textpage.raw, index, x, y)
    return x.value


def picture_warnings(pages: Iterable[PageContent]) -> Iterator[ReadWarning]:
    """Yield a warning for each page with a picture and hardly any words; small pictures such as logos do not count."""
    return (ReadWarning(_NOTHING_READ, page.number) for page in pages if page.pictured > _LEAST_SHARE)


def has_little_text(text: str) -> bool:
    """Return whether a page has so few letters (a number, a date stamp) that a picture may be all it shows."""
    return len(list(islice(filter(str.isalpha, text), _MIN_LETTERS))) < _MIN_LETTERS


def share_covered(page: Box, pictures: Iterable[Box]) -> float:
    """Return the share of the page that pictures cover, 0 to 1; a scan may consist of many overlapping strips."""
    across = [page.x0 + (page.x1 - page.x0) * (place + 0.5) / _PLACES for place in range(_PLACES)]
    down = [page.y0 + (page.y1 - page.y0) * (place + 0.5) / _PLACES for place in range(_PLACES)]
    covered: set[tuple[int, int]] = set()
    for box in pictures:
        columns = [place for place, x in enumerate(across) if box.x0 <= x <= box.x1]
        rows = [place for place, y in enumerate(down) if box.y0 <= y <= box.y1]
        covered.update((column, row) for column in columns for row in rows)
    return len(covered) / _PLACES**2


_NOTHING_READ = (
    "nothing but a picture: what it says is not read. Run text recognition over the file (for example"
    " `ocrmypdf --skip-text in.pdf out.pdf`) and ingest the result"
)
_LEAST_SHARE = 0.25
"""Minimum share of the page; logos are well below, charts above a third."""
_MIN_LETTERS = 20
_PLACES = 32
"""Number of sample points across and down the page."""


if TYPE_CHECKING:
    import pymupdf


def read_pdf(path: Path, *, accept_repaired: bool = False) -> list[PageContent]:
    """Read every page of the PDF at `path`, in order; see `PdfReader.read_pdf`.

    Raises:
        ReadError: The file is missing, empty, not a PDF, broken, truncated, encrypted, scanned (without text), or too
            large; the error names the file and the next step.
    """
    with _open(path) as document:
        require_unpackable(path)
        pages = list(limit_pages(path, (_read_page(document[number], number) for number in range(len(document)))))
        repaired = document.is_repaired
    if repaired and not accept_repaired and is_truncated(path, b"%%EOF"):
        # MuPDF repairs such a file silently; missing pages are then blank or absent.
        raise truncated_error(path)
    refuse_textless(path, pages, repaired=repaired)
    return pages


def page_size(path: Path, page: int) -> tuple[float, float]:
    """Return width and height of a page (0-based) as a viewer shows it, in points."""
    with _open(path) as document:
        return _size(document, path, page)


def render(path: Path, page: int, dpi: int) -> bytes:
    """Return a page (0-based) as a PNG picture at `dpi` dots per inch. Raises ReadError for a missing page."""
    with _open(path) as document:
        refuse_picture(path, page, _size(document, path, page), dpi)
        require_unpackable(path)
        picture: bytes = document[page].get_pixmap(dpi=dpi).tobytes("png")
    return picture


def _size(document: pymupdf.Document, path: Path, page: int) -> tuple[float, float]:
    if not 0 <= page < document.page_count:
        raise missing_page_error(path, page, document.page_count)
    shown = document[page].rect
    return float(shown.width), float(shown.height)


@contextmanager
def _open(path: Path) -> Iterator[pymupdf.Document]:
    import pymupdf  # takes half a second, and is not needed for asking and searching, which import this module too

    refuse_unreadable(path)
    # MuPDF prints repairs and warnings on stderr; relevant ones reach the caller as errors.
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        with pymupdf.open(path, filetype="pdf") as document:
            if document.needs_pass:
                raise encrypted_error(path)
            refuse_page_count(path, document.page_count)
            yield document
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
        words=tuple(map(_word, map(_place_and_text, words))),
        pictured=_picture_warning(page) if has_little_text(text) else 0.0,
    )


_word = partial(tuple.__new__, Word)
_place_and_text = itemgetter(slice(len(Word._fields)))
"""Position and text of a word from MuPDF, without its block and line numbers."""
_Span = dict[str, Any]


def _invisible_text(page: pymupdf.Page, textpage: pymupdf.TextPage) -> list[_Span]:
    """Return text that is invisible on the page: not drawn, as small as a point, or white on white."""
    spans = [span for block in textpage.extractDICT()["blocks"] for line in block["lines"] for span in line["spans"]]
    unseen = [span for span in spans if not span.get("alpha", _OPAQUE) or span["size"] < _SMALLEST]
    white = [span for span in spans if span["color"] == _WHITE and span not in unseen and span["text"].strip()]
    if white:
        under = [drawing["rect"] for drawing in page.get_cdrawings() if _is_dark(drawing.get("fill"))]
        under += [image["bbox"] for image in page.get_image_info()]
        unseen += [span for span in white if not any(_holds(box, span["bbox"]) for box in under)]
    return unseen


_OPAQUE, _WHITE = 255, 0xFFFFFF
_SMALLEST = 1.5
"""Points; the smallest print in filings has four."""
_MAY_BE_UNSEEN = re.compile(r"font-size:(?:[01]\.|[\d.]+pt\")|color:#ffffff")
"""In MuPDF's HTML of a page, made in a fifth of the time of its spans: print that is tiny, white or of no colour."""


def _is_dark(fill: Sequence[float] | None) -> bool:
    return fill is not None and min(fill) < _DARK


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


def _picture_warning(page: pymupdf.Page) -> float:
    before_turning = (page.rect * page.derotation_matrix).normalize()
    return share_covered(Box(*before_turning), (Box(*image["bbox"]) for image in page.get_image_info()))
