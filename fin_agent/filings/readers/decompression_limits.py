"""Limit the size to which a stream of a PDF unpacks, from its bytes alone: a few kilobytes can contain gigabytes."""

from __future__ import annotations

import mmap
import re
import zlib
from pathlib import Path

from fin_agent.errors import ReadError

MAX_UNPACKED = 16 * 2**20
"""Limit in bytes for one stream; pages and fonts of filings stay below 2 MB."""


def require_unpackable(path: Path) -> None:
    """Raise ReadError where a stream other than a picture unpacks to more than MAX_UNPACKED bytes.

    Encrypted streams, filters other than Flate and forms that draw forms many times are not checked; the limits of
    worker processes cover them.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for match in _STREAM.finditer(content):
            end = content.find(b"endstream", match.end())
            end = len(content) if end < 0 else end
            head = _head_of_stream(content, match.start())
            filters = len(_FLATE.findall(head))
            most = (end - match.end()) * int(_MAX_PACKED**filters)
            if (
                most > MAX_UNPACKED
                and not _IMAGE.search(head)
                and _unpacks_too_far(content[match.end() : end], filters)
            ):
                raise ReadError(
                    f"a stream of it, at byte {match.start():,}, unpacks to more than {MAX_UNPACKED >> 20} MB;"
                    " no page of a filing does",
                    subject=path.name,
                    remedy="Download the filing again from its publisher; if a viewer opens it, print it to a new PDF",
                )


_MAX_PACKED = 1032
"""Deflate compresses at most 1,032 to 1."""
_STREAM = re.compile(rb"stream(?<!endstream)\r?\n")
_HEAD_WITHIN = 16_384
_FLATE = re.compile(rb"/(?:FlateDecode|Fl)\b")
_IMAGE = re.compile(rb"/Subtype\s*/Image\b")
_ENCODED = re.compile(rb"#([\da-fA-F]{2})")


def _head_of_stream(content: mmap.mmap, start: int) -> bytes:
    """Return the dictionary of the stream at `start`, with names decoded: `/#46lateDecode` is `/FlateDecode`."""
    first = max(0, start - _HEAD_WITHIN)
    begins = content.rfind(b"obj", first, start)
    return _ENCODED.sub(lambda code: bytes([int(code[1], 16)]), content[max(first, begins) : start])


def _unpacks_too_far(packed: bytes, filters: int) -> bool:
    for _ in range(filters):
        try:
            packed = zlib.decompressobj().decompress(packed, MAX_UNPACKED + 1)
        except zlib.error:  # broken, or another filter comes first: the library reads what it can
            break
    return len(packed) > MAX_UNPACKED
