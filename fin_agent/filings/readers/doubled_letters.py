"""Letters that PDFium leaves out: the second `f` of `office`, where a file sets each letter by itself.

PDFium takes a letter that overlaps the same letter before it for a shadow or a fake bold, and drops it. An `f` reaches
so far to both sides that this happens to most `ff` of a file printed from a browser, and the gap reads as a blank.
"""

from __future__ import annotations

import ctypes
import re
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pypdfium2


def doubled_letters(page: pypdfium2.PdfPage, textpage: pypdfium2.PdfTextPage, printed: str) -> dict[int, bool]:
    """Indexes of the letters of `printed`, the text of `page`, that stand on the page twice and in the text once.

    True where the letter after the gap is of the same word, False where a blank follows.
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
        if not _is_twin(first, second):
            continue
        advance = second.left - first.left
        gap = _origin(textpage, after) - _origin(textpage, index) - 2 * advance
        goes_on = "\n" not in printed[index:after] and abs(gap) < _BLANK * (first.top - first.bottom)
        doubled[index] = goes_on
    return doubled


_F_BEFORE_BLANK = re.compile(r"f\s+(?=\S)")
_BLANK = 0.15
"""Narrowest blank, as a part of the letter's height."""


class _Sides(NamedTuple):
    left: float
    bottom: float
    right: float
    top: float


def _is_twin(first: _Sides, second: _Sides) -> bool:
    """Whether the second is the same letter right after the first; a blank has no width at all."""
    return (
        first.left < second.left < first.right
        and abs((second.right - second.left) - (first.right - first.left)) < 0.05
        and abs(second.bottom - first.bottom) < 0.05
        and abs(second.top - first.top) < 0.05
    )


def _object_of(textpage: pypdfium2.PdfTextPage, index: int) -> int:
    """Address of the page object that a character is of; 0 for one of PDFium's own."""
    from pypdfium2 import raw

    return ctypes.cast(raw.FPDFText_GetTextObject(textpage.raw, index), ctypes.c_void_p).value or 0


def _objects(page: pypdfium2.PdfPage) -> list[int]:
    """Addresses of the page's objects, in the order in which they are drawn."""
    from pypdfium2 import raw

    # Declared to return numbers, as pointers are three times as slow: a page can have an object for each letter.
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
