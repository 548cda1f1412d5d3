"""Limit the size to which a PDF unpacks, from its bytes alone: a few kilobytes can contain gigabytes of drawing."""

from __future__ import annotations

import mmap
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fin_agent.errors import ReadError

MAX_UNPACKED = 16 * 2**20
"""Limit in bytes for one stream, or one form with all it draws; pages and fonts of filings stay below 2 MB."""


def require_unpackable(path: Path) -> None:
    """Raise ReadError where a stream, or a form with the forms it draws, unpacks to more than MAX_UNPACKED bytes.

    Encrypted streams and filters other than Flate are not checked; the limits of worker processes cover them.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        forms: dict[int, _Form] = {}
        for stream in _streams(content):
            if stream.is_image or not (stream.is_form or stream.most > MAX_UNPACKED):
                continue
            unpacked = _unpacked(content, stream)
            if len(unpacked) > MAX_UNPACKED:
                raise _decompression_bomb(path, f"its object {stream.number} unpacks")
            if stream.is_form:
                forms[stream.number] = _Form(len(unpacked), Counter(_DRAWN.findall(_decoded(unpacked))), stream.head)
        if any(form.drawn for form in forms.values()):
            _refuse_nested(path, forms, content)


def _decompression_bomb(path: Path, what: str) -> ReadError:
    return ReadError(
        f"{what} to more than {MAX_UNPACKED >> 20} MB; no page of a filing does",
        subject=path.name,
        remedy="Download the filing again from its publisher; if a viewer opens it, print it to a new PDF",
    )


_MAX_PACKED = 1032
"""Deflate compresses at most 1,032 to 1."""
_STREAM = re.compile(rb"stream(?<!endstream)\r?\n")
_OBJECT = re.compile(rb"(\d{1,10})\s+\d{1,5}\s+obj\b")
_HEAD_WITHIN = 16_384
_FLATE = re.compile(rb"/(?:FlateDecode|Fl)\b")
_DRAWN = re.compile(rb"/([^\s/<>\[\](){}%]+)\s+Do\b")


@dataclass(frozen=True, slots=True)
class _Stream:
    number: int
    """Number of its object; 0 where none is found."""
    head: bytes
    """The object's dictionary."""
    start: int
    packed: int

    @property
    def most(self) -> int:
        """Most bytes that it can unpack to."""
        return self.packed * int(_MAX_PACKED ** len(_FLATE.findall(self.head)))

    @property
    def is_image(self) -> bool:
        return re.search(rb"/Subtype\s*/Image\b", self.head) is not None

    @property
    def is_form(self) -> bool:
        return re.search(rb"/Subtype\s*/Form\b", self.head) is not None


@dataclass(frozen=True, slots=True)
class _Form:
    size: int
    drawn: Counter[bytes]
    """How often it draws each name."""
    head: bytes


def _streams(content: mmap.mmap) -> Iterator[_Stream]:
    for match in _STREAM.finditer(content):
        first, last = max(0, match.start() - _HEAD_WITHIN), match.start()
        begins = content.rfind(b"obj", first, last)
        named = _OBJECT.search(content, max(first, begins - 20), last) if begins >= 0 else None
        end = content.find(b"endstream", match.end())
        packed = (end if end >= 0 else len(content)) - match.end()
        head = _decoded(content[named.end() if named else first : last])
        yield _Stream(int(named[1]) if named else 0, head, match.end(), packed)


def _decoded(written: bytes) -> bytes:
    """Return the text with names decoded: `/#46lateDecode` is `/FlateDecode` (PDF reference 1.7, section 3.2.4)."""
    return _ENCODED.sub(lambda code: bytes([int(code[1], 16)]), written)


_ENCODED = re.compile(rb"#([\da-fA-F]{2})")


def _unpacked(content: mmap.mmap, stream: _Stream) -> bytes:
    """Return the unpacked stream, at most one byte more than MAX_UNPACKED; unchanged where it is not packed."""
    unpacked: bytes = content[stream.start : stream.start + stream.packed]
    for _ in _FLATE.findall(stream.head):
        try:
            unpacked = zlib.decompressobj().decompress(unpacked, MAX_UNPACKED + 1)
        except zlib.error:  # broken, or another filter comes first: the library reads what it can
            break
    return unpacked


_REFERENCE = re.compile(rb"/([^\s/<>\[\](){}%]+)\s+(\d{1,10})\s+\d{1,5}\s+R\b")


def _refuse_nested(path: Path, forms: Mapping[int, _Form], content: mmap.mmap) -> None:
    sizes: dict[int, int] = {}
    for number in forms:
        _measure(path, number, forms, content, sizes, ())


def _measure(
    path: Path,
    number: int,
    forms: Mapping[int, _Form],
    content: mmap.mmap,
    sizes: dict[int, int],
    within: tuple[int, ...],
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
    form = forms[number]
    targets = {name: int(target) for name, target in _REFERENCE.findall(_resources(form, content))}
    size = form.size
    for name, times in form.drawn.items():
        if (target := targets.get(name)) in forms and target is not None:
            size += times * (_COST_OF_DRAWING + _measure(path, target, forms, content, sizes, (*within, number)))
    if size > MAX_UNPACKED:
        raise _decompression_bomb(path, f"its form {number} with the forms that it draws comes")
    sizes[number] = size
    return size


_DEEPEST = 28
"""Limit of nested forms; readers give up at about this depth."""
_COST_OF_DRAWING = 1000
"""Cost of drawing a form once more, in equivalent bytes of drawing."""


def _resources(form: _Form, content: mmap.mmap) -> bytes:
    """Return the form's dictionary, and the objects it refers to for its resources."""
    found = form.head
    for _ in range(2):  # /Resources 8 0 R, and in it /XObject 9 0 R
        for match in re.finditer(rb"/(?:Resources|XObject)\s+(\d{1,10})\s+\d{1,5}\s+R\b", found):
            place = re.search(rb"(?<!\d)" + match[1] + rb"\s+\d{1,5}\s+obj\b", content)
            if place:
                found += _decoded(content[place.end() : content.find(b"endobj", place.end())])
    return found
