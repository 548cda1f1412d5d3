"""The first hundred bytes of an SQLite database: looked at, and put right in a copy of a damaged one."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

_LENGTH = 100
_MAGIC = b"SQLite format 3\0"
_PAGE_SIZE = 4096
"""Of the indexes that are made here: SQLite's own since version 3.12."""


def is_database(file: Path) -> bool:
    """Whether something of the file says that SQLite wrote it; a header overwritten as a whole says nothing."""
    with file.open("rb") as opened:
        header = opened.read(_LENGTH)
    return header.startswith(_MAGIC) or _constant(header) == _constant(_made(_PAGE_SIZE, 1))


def is_header_sound(file: Path) -> bool:
    """Whether SQLite finds in the header what it needs to."""
    with file.open("rb") as opened:
        header = opened.read(_LENGTH)
        made = _made(page_size_of(opened), 1)
    return header[:18] == made[:18] and header[18:20] in (b"\1\1", b"\2\2") and _constant(header) == _constant(made)


def mend_header(file: Path) -> None:
    """Put right what SQLite has to find in a header to open the file; the rest of the file is left alone.

    A last page that is there in part is filled up with zeros. Raises OSError.
    """
    with file.open("r+b") as opened:
        size = page_size_of(opened)
        pages = max(1, -(-opened.seek(0, 2) // size))
        opened.truncate(pages * size)
        opened.seek(0)
        header = bytearray(opened.read(_LENGTH))
        made = _made(size, pages)
        # Where a list of free pages begins is nowhere else: it stays if it can be one.
        (free,) = struct.unpack_from(">I", header, 32)
        if free <= pages:
            made[32:40] = header[32:40]
        made[18:20] = header[18:20] if header[18:20] == b"\1\1" else made[18:20]
        opened.seek(0)
        opened.write(made)


def page_size_of(opened: BinaryIO) -> int:
    """Bytes of a page: as the header says where it can be right."""
    opened.seek(0)
    header = opened.read(_LENGTH).ljust(_LENGTH, b"\0")
    (size,) = struct.unpack_from(">H", header, 16)
    size = 65536 if size == 1 else size
    right = size >= 512 and not size & (size - 1) and _constant(header) == _constant(_made(size, 1))
    return size if right else _PAGE_SIZE


def _constant(header: bytes | bytearray) -> bytes:
    """What is the same in every index: room kept on each page, shares of a page, format of the schema, encoding."""
    return bytes(header[20:24] + header[44:48] + header[56:60])


def _made(page_size: int, pages: int) -> bytearray:
    made = bytearray(_LENGTH)
    made[:16] = _MAGIC
    struct.pack_into(">H", made, 16, 1 if page_size == 65536 else page_size)
    made[18:24] = bytes((2, 2, 0, 64, 32, 32))
    struct.pack_into(">II", made, 24, 1, pages)
    struct.pack_into(">I", made, 44, 4)
    struct.pack_into(">I", made, 56, 1)
    struct.pack_into(">I", made, 92, 1)
    return made
