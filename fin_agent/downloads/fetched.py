"""What was fetched into a folder: one line of JSON for each file, in `fetched.jsonl` beside them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

MANIFEST = "fetched.jsonl"


class Fetched(BaseModel):
    """A file and the filing that it is."""

    model_config = ConfigDict(frozen=True)

    file: str
    """Its name in the folder."""
    url: str
    accession: str
    cik: int
    company: str
    form: str
    filed: date
    period: date | None
    bytes: int
    sha256: str
    fetched_at: datetime


class FetchedFiles:
    """The files of a folder that were fetched. Lines are only added, each at once: processes may share the folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / MANIFEST

    def known(self) -> dict[str, Fetched]:
        """By accession number: what is in the folder, as it was fetched, and still has the size it had."""
        kept = {each.accession: each for each in self._lines() if _is_name(each.file)}
        return {
            accession: each
            for accession, each in kept.items()
            if (path := self._folder / each.file).is_file() and path.stat().st_size == each.bytes
        }

    def add(self, fetched: Fetched) -> None:
        """Note a file."""
        line = fetched.model_dump_json().encode() + b"\n"
        opened = os.open(self._file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            end = os.lseek(opened, 0, os.SEEK_END)
            whole = end == 0 or _last_byte(opened, end) == b"\n"  # a line cut off by a full disk spoils no other
            os.write(opened, line if whole else b"\n" + line)
        finally:
            os.close(opened)

    def _lines(self) -> Iterator[Fetched]:
        try:
            lines = self._file.read_bytes().splitlines()
        except OSError:
            return
        for line in lines:
            try:
                yield Fetched.model_validate_json(line)
            except ValidationError:
                continue  # cut off, or of another program: the file it meant is fetched again


def _last_byte(opened: int, end: int) -> bytes:
    os.lseek(opened, end - 1, os.SEEK_SET)
    return os.read(opened, 1)


def _is_name(file: str) -> bool:
    """Whether it is the name of a file in the folder, and no way out of it."""
    return Path(file).name == file and file not in ("", ".", "..") and "\\" not in file and "\0" not in file
