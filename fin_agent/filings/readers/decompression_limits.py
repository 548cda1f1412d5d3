"""Limit the size to which a PDF unpacks, from its bytes alone: a few kilobytes can contain gigabytes of drawing."""

from __future__ import annotations

import mmap
import re
import zlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from fin_agent.errors import ReadError

MAX_UNPACKED = 16 * 2**20
"""Limit in bytes for one stream, or one form with all it draws; pages and fonts of filings stay below 2 MB."""


def require_unpackable(path: Path) -> None:
    """Raise ReadError where a stream, or a form with the forms it draws, unpacks to more than MAX_UNPACKED bytes.

    Pictures, encrypted streams and filters other than Flate are not checked; the limits of worker processes cover them.
    """
    forms: dict[int, _Form] = {}
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for match in _STREAM.finditer(content):
            end = content.find(b"endstream", match.end())
            end = len(content) if end < 0 else end
            number, head = _object_at(content, match.start())
            filters = len(_FLATE.findall(head))
            is_form = _FORM.search(head) is not None
            most = (end - match.end()) * int(_MAX_PACKED**filters)
            if _IMAGE.search(head) or not (is_form or most > MAX_UNPACKED):
                continue
            unpacked = _unpacked(content[match.end() : end], filters)
            if len(unpacked) > MAX_UNPACKED:
                raise _too_large(path, f"its object {number} unpacks")
            if is_form:
                drawn = Counter(_DRAWN.findall(_decoded(unpacked)))
                targets = {name: int(target) for name, target in _XOBJECT.findall(_resources(head, content))}
                forms[number] = _Form(len(unpacked), {targets.get(name, 0): drawn[name] for name in drawn})
    sizes: dict[int, int] = {}
    for number in forms:
        _measure(path, number, forms, sizes, ())


_MAX_PACKED = 1032
"""Deflate compresses at most 1,032 to 1."""
_STREAM = re.compile(rb"stream(?<!endstream)\r?\n")
_OBJECT = re.compile(rb"(\d{1,10})\s+\d{1,5}\s+obj\b")
_HEAD_WITHIN = 16_384
_FLATE = re.compile(rb"/(?:FlateDecode|Fl)\b")
_IMAGE = re.compile(rb"/Subtype\s*/Image\b")
_FORM = re.compile(rb"/Subtype\s*/Form\b")
_ENCODED = re.compile(rb"#([\da-fA-F]{2})")
_DRAWN = re.compile(rb"/([^\s/<>\[\](){}%]+)\s+Do\b")
_XOBJECT = re.compile(rb"/([^\s/<>\[\](){}%]+)\s+(\d{1,10})\s+\d{1,5}\s+R\b")
_ELSEWHERE = re.compile(rb"/(?:Resources|XObject)\s+(\d{1,10})\s+\d{1,5}\s+R\b")


class _Form(NamedTuple):
    size: int
    drawn: Mapping[int, int]
    """How often it draws which object."""


def _too_large(path: Path, what: str) -> ReadError:
    return ReadError(
        f"{what} to more than {MAX_UNPACKED >> 20} MB; no page of a filing does",
        subject=path.name,
        remedy="Download the filing again from its publisher; if a viewer opens it, print it to a new PDF",
    )


def _object_at(content: mmap.mmap, start: int) -> tuple[int, bytes]:
    """Return number (0 where none is found) and dictionary of the object whose stream begins at `start`."""
    first = max(0, start - _HEAD_WITHIN)
    begins = content.rfind(b"obj", first, start)
    named = _OBJECT.search(content, max(first, begins - 20), start) if begins >= 0 else None
    return (int(named[1]), _decoded(content[named.end() : start])) if named else (0, _decoded(content[first:start]))


def _decoded(written: bytes) -> bytes:
    """Return the text with names decoded: `/#46lateDecode` is `/FlateDecode` (PDF reference 1.7, section 3.2.4)."""
    return _ENCODED.sub(lambda code: bytes([int(code[1], 16)]), written)


def _unpacked(packed: bytes, filters: int) -> bytes:
    """Return the unpacked stream, at most one byte more than MAX_UNPACKED."""
    for _ in range(filters):
        try:
            packed = zlib.decompressobj().decompress(packed, MAX_UNPACKED + 1)
        except zlib.error:  # broken, or another filter comes first: the library reads what it can
            break
    return packed


def _resources(head: bytes, content: mmap.mmap) -> bytes:
    """Return a form's dictionary, and the objects that it refers to for its resources."""
    for _ in range(2):  # /Resources 8 0 R, and in it /XObject 9 0 R
        for number in _ELSEWHERE.findall(head):
            place = re.search(rb"(?<!\d)" + number + rb"\s+\d{1,5}\s+obj\b", content)
            if place:
                head += _decoded(content[place.end() : content.find(b"endobj", place.end())])
    return head


def _measure(
    path: Path, number: int, forms: Mapping[int, _Form], sizes: dict[int, int], within: tuple[int, ...]
) -> int:
    """Return the bytes of drawing of a form including the forms that it draws."""
    if number in sizes:
        return sizes[number]
    if number in within or len(within) > _DEEPEST:
        raise ReadError(
            f"its form {number} draws itself" if number in within else f"its forms nest more than {_DEEPEST} deep",
            subject=path.name,
            remedy="Print the filing to a new PDF from a viewer that opens it",
        )
    size, drawn = forms[number]
    for target, times in drawn.items():
        if target in forms:
            size += times * (_COST_OF_DRAWING + _measure(path, target, forms, sizes, (*within, number)))
    if size > MAX_UNPACKED:
        raise _too_large(path, f"its form {number} with the forms that it draws comes")
    sizes[number] = size
    return size


_DEEPEST = 28
"""Limit of nested forms; readers give up at about this depth."""
_COST_OF_DRAWING = 1000
"""Cost of drawing a form once more, in equivalent bytes of drawing."""
