"""The log beside a database, looked at as SQLite would: whether a damaged place in it hides what was written later."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

_HEADER, _FRAME = 32, 24
_MAGICS = {0x377F0682: "<", 0x377F0683: ">"}
"""By the order of bytes that checksums are made in."""


def log_of(file: Path) -> Path:
    """Where the log of a database is, if there is one."""
    return file.with_name(f"{file.name}-wal")


def is_log_whole(file: Path) -> bool:
    """Whether SQLite would take in all of the log beside `file`; True where there is none. Raises OSError.

    It reads up to the first place that is not as it was written, and forgets the rest without a word. A frame of the
    same round after that place, or one that the readers' shared memory (`-shm`) still counts, shows that there was one.
    """
    log = log_of(file)
    if not log.exists() or not log.stat().st_size:
        return True
    with log.open("rb") as opened:
        header = opened.read(_HEADER)
        if len(header) < _HEADER:
            return False
        magic, _, page_size = struct.unpack_from(">III", header)
        order = _MAGICS.get(magic)
        if order is None or _checksum(order, header[:24], (0, 0)) != struct.unpack_from(">II", header, 24):
            return False
        whole = _whole_frames(opened, header, order, page_size)
        frames, rest = divmod(log.stat().st_size - _HEADER, _FRAME + page_size)
        # A frame is written as its head, then its page: a writer that is killed leaves no other part of one.
        if rest not in (0, _FRAME):
            return False
        for number in range(whole, frames):
            opened.seek(_HEADER + number * (_FRAME + page_size))
            # The first that is not whole may just have been written when its writer was killed.
            if number > whole and opened.read(_FRAME)[8:16] == header[16:24]:
                return False
        return whole >= _frames_shared(file, header)


def _whole_frames(opened: BinaryIO, header: bytes, order: str, page_size: int) -> int:
    summed: tuple[int, int] = struct.unpack_from(">II", header, 24)
    whole = 0
    while len(frame := opened.read(_FRAME + page_size)) == _FRAME + page_size:
        summed = _checksum(order, frame[_FRAME:], _checksum(order, frame[:8], summed))
        if frame[8:16] != header[16:24] or summed != struct.unpack_from(">II", frame, 16):
            break
        whole += 1
    return whole


def _checksum(order: str, held: bytes, before: tuple[int, int]) -> tuple[int, int]:
    first, second = before
    words = struct.unpack(f"{order}{len(held) // 4}I", held)
    for at in range(0, len(words), 2):
        first = first + words[at] + second & 0xFFFFFFFF
        second = second + words[at + 1] + first & 0xFFFFFFFF
    return first, second


def _frames_shared(file: Path, header: bytes) -> int:
    """Frames that were committed as the shared memory says, which survives its writer; 0 where it says nothing."""
    shared = file.with_name(f"{file.name}-shm")
    if not shared.exists():
        return 0
    with shared.open("rb") as opened:
        held = opened.read(40)
    if len(held) < 40 or not held[12] or held[32:40] != header[16:24]:
        return 0
    return int(struct.unpack_from("=I", held, 16)[0])
