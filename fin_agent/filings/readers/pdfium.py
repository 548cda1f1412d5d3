"""Read the pages of a PDF with PDFium: the same pages, words and positions as with PyMuPDF, permissively licensed."""

from __future__ import annotations

import ctypes
import re
import struct
import zlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import pairwise, repeat
from pathlib import Path
from typing import TYPE_CHECKING

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
    import pypdfium2


@contextmanager
def open_pdf(path: Path) -> Iterator[OpenPdf]:
    """Open the PDF at `path`; see `PdfReader`."""
    import pypdfium2
    from pypdfium2 import raw

    try:
        with closing(pypdfium2.PdfDocument(path)) as document:
            yield OpenPdf(
                len(document), partial(_read_page, document), document.get_page_size, partial(_picture, document)
            )
    except pypdfium2.PdfiumError as error:
        if error.err_code == raw.FPDF_ERR_PASSWORD:
            raise encrypted_error(path) from error
        raise unreadable_error(path, str(error).rstrip(".")) from error


def _picture(document: pypdfium2.PdfDocument, page: int, dpi: int) -> bytes:
    with (
        closing(document[page]) as loaded,
        closing(loaded.render(scale=dpi / 72, rev_byteorder=True, prefer_bgrx=False, maybe_alpha=False)) as bitmap,
    ):
        return _png(bitmap)


def _png(bitmap: pypdfium2.PdfBitmap) -> bytes:
    """Return a bitmap with red, green and blue bytes as PNG (ISO/IEC 15948), without a picture library."""
    used = 3 * bitmap.width
    pixels = bytes(bitmap.buffer)
    rows = b"".join(b"\0" + pixels[row : row + used] for row in range(0, bitmap.height * bitmap.stride, bitmap.stride))
    head = struct.pack(">IIBBBBB", bitmap.width, bitmap.height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows, 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks
    )


_LINE_END_HYPHEN = "\x02\ufffe"
"""Characters that PDFium returns for a hyphen at the end of a line; the next line follows without a break."""
_BLANK = "\x00-\x20\x7f\xa0\u1680\u2000-\u200b\u2028-\u202f\u205f\u3000\ufeff"
_WORD = re.compile(f"[^{_BLANK}{_LINE_END_HYPHEN}]+[{_LINE_END_HYPHEN}]?|[{_LINE_END_HYPHEN}]")


def _read_page(document: pypdfium2.PdfDocument, number: int) -> PageContent:
    with closing(document[number]) as page, closing(page.get_textpage()) as textpage:
        printed, shown = _printed(textpage), Box(*page.get_bbox())
        spans = [match.span() for match in _WORD.finditer(printed)]
        boxes = _boxes(textpage, spans, shown, page.get_rotation())
        words = _words(printed, spans, boxes, _doubled_letters(page, textpage, printed))
        width, height = page.get_size()
        # As in PyMuPDF, words outside the page are dropped: a viewer does not show them.
        words = [word for word in words if word.x0 < width and word.x1 > 0 and word.y0 < height and word.y1 > 0]
        text = _lines(words)
        pictured = share_covered(shown, _pictures(page)) if has_little_text(text) else 0.0
    return PageContent(number, width, height, text, tuple(words), pictured=pictured)


def _pictures(page: pypdfium2.PdfPage) -> Iterator[Box]:
    """Yield the boxes of pictures in the page's own axes, including those within forms."""
    from pypdfium2 import raw

    for image in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE]):
        matrix, form = image.get_matrix(), image.container
        while form is not None:
            matrix, form = matrix.multiply(form.get_matrix()), form.container
        corners = [matrix.on_point(x, y) for x in (0, 1) for y in (0, 1)]
        yield Box.around(Box(*corner, *corner) for corner in corners)


def _printed(textpage: pypdfium2.PdfTextPage) -> str:
    """Return the page's characters, one for each of PDFium's indexes."""
    from pypdfium2 import raw

    return "".join(map(chr, map(raw.FPDFText_GetUnicode, repeat(textpage.raw), range(textpage.count_chars()))))


def _doubled_letters(page: pypdfium2.PdfPage, textpage: pypdfium2.PdfTextPage, printed: str) -> dict[int, bool]:
    """Return the indexes of each `f` in `printed` that is drawn twice, of which PDFium drops the second: `of icer`.

    The value tells whether the word goes on after it, rather than ending before a blank.
    """
    from pypdfium2 import raw

    candidates = {}
    for match in _F_BEFORE_BLANK.finditer(printed):
        own, following = (_address(raw.FPDFText_GetTextObject(textpage.raw, index)) for index in match.span())
        if own != following:
            candidates[match] = own, following
    count = raw.FPDFPage_CountObjects(page.raw) if candidates else 0
    drawn = [raw.FPDFPage_GetObject(page.raw, place) for place in range(count)]
    places = {_address(pointer): place for place, pointer in enumerate(drawn)}
    doubled = {}
    for match, (own, following) in candidates.items():
        place = places.get(own, count)
        if place + 1 >= count or _address(drawn[place + 1]) == following:
            continue
        first, second = _bounds(drawn[place]), _bounds(drawn[place + 1])
        advance = second.x0 - first.x0
        moved = zip(first, second, (advance, 0, advance, 0), strict=True)
        if 0 < advance < first.x1 - first.x0 and all(abs(new - old - by) < 0.05 for old, new, by in moved):
            gap = _origin(textpage, match.end()) - _origin(textpage, match.start()) - 2 * advance
            doubled[match.start()] = "\n" not in match.group() and abs(gap) < _SPACE * (first.y1 - first.y0)
    return doubled


_F_BEFORE_BLANK = re.compile(r"f\s+(?=\S)")


def _address(pointer: object) -> int:
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0  # type: ignore[arg-type]


def _bounds(drawn: object) -> Box:
    from pypdfium2 import raw

    sides = [ctypes.c_float() for _ in range(4)]
    raw.FPDFPageObj_GetBounds(drawn, *sides)
    return Box(*(side.value for side in sides))


def _origin(textpage: pypdfium2.PdfTextPage, index: int) -> float:
    from pypdfium2 import raw

    x, y = ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetCharOrigin(textpage.raw, index, x, y)
    return x.value


Span = tuple[int, int]
"""Index of a word's first character, and the one after its last."""


def _boxes(textpage: pypdfium2.PdfTextPage, spans: Sequence[Span], page: Box, rotation: int) -> list[Box]:
    """Return the boxes of words, as high as their font, from the top left corner of the visible page.

    Only the first and last character of a word are queried, because querying all takes three times as long. `page` is
    left, bottom, right and top of the visible part, in the page's own axes.
    """
    from pypdfium2 import raw

    indexes = [index for start, end in spans for index in (start, end - 1)]
    rects = (raw.FS_RECTF * len(indexes))()
    deque(map(raw.FPDFText_GetLooseCharBox, repeat(textpage.raw), indexes, rects), maxlen=0)
    sides = memoryview(rects).cast("B").cast("f").tolist()  # left, top, right, bottom of each
    lefts = map(min, sides[0::8], sides[4::8])
    tops = map(max, sides[1::8], sides[5::8])
    rights = map(max, sides[2::8], sides[6::8])
    bottoms = map(min, sides[3::8], sides[7::8])
    left, bottom, right, top = page
    each = zip(lefts, bottoms, rights, tops, strict=True)
    match rotation:
        case 90:
            return [Box(y0 - bottom, x0 - left, y1 - bottom, x1 - left) for x0, y0, x1, y1 in each]
        case 180:
            return [Box(right - x1, y0 - bottom, right - x0, y1 - bottom) for x0, y0, x1, y1 in each]
        case 270:
            return [Box(top - y1, right - x1, top - y0, right - x0) for x0, y0, x1, y1 in each]
    return [Box(x0 - left, top - y1, x1 - left, top - y0) for x0, y0, x1, y1 in each]


_SPACE = 0.15
"""Letters further apart than this share of their height belong to two words (MuPDF's SPACE_DIST)."""


def _words(printed: str, spans: Sequence[Span], boxes: Sequence[Box], doubled: Mapping[int, bool]) -> list[Word]:
    words: list[Word] = []
    end = 0
    goes_on = False
    for (start, after), box in zip(spans, boxes, strict=True):
        text = printed[start:after]
        if text[-1] in _LINE_END_HYPHEN:
            text = text[:-1] + "-"
        if after - 1 in doubled:
            text += text[-1]
        if words and (goes_on or ("\n" in printed[end:start] and _continues_word(words[-1], box))):
            before = words.pop()
            top, bottom = min(before.y0, box.y0), max(before.y1, box.y1)
            words.append(Word(before.x0, top, box.x1, bottom, before.text + text))
        else:
            words.append(Word(*box, text))
        end = after
        goes_on = doubled.get(after - 1, False)
    return words


def _continues_word(word: Word, box: Box) -> bool:
    """Return whether a fragment is right after `word`: a footnote mark, or a separately placed letter."""
    return abs(box.x0 - word.x1) < _SPACE * max(box.y1 - box.y0, word.y1 - word.y0) and _overlap(word, box)


def _overlap(first: Word | Box, second: Word | Box) -> bool:
    shared = min(first[3], second[3]) - max(first[1], second[1])
    return shared > 0.4 * min(first[3] - first[1], second[3] - second[1])


_CELL_GAP = 0.8
"""Words further apart than this share of their height are on separate lines of text (MuPDF's SPACE_MAX_DIST)."""


def _lines(words: Sequence[Word]) -> str:
    """Return the words in reading order; a line of text is a line of prose, or the content of a table cell."""
    behind = ["\n" if _ends_line(word, after) else " " for word, after in pairwise(words)]
    return "".join(word.text + space for word, space in zip(words, [*behind, "\n"], strict=False))


def _ends_line(word: Word, after: Word) -> bool:
    height = word.y1 - word.y0
    width = word.x1 - word.x0
    if height > 1.5 * width and len(word.text) > 2:  # set along the page's height
        away = max(after.y0 - word.y1, word.y0 - after.y1)
        return abs(after.x0 - word.x0) > 0.5 * width or away > _CELL_GAP * width
    return after.x0 - word.x1 > _CELL_GAP * height or after.x0 < word.x0 or not _overlap(word, after)
