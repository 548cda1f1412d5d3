"""An index as one file to carry about: JSON lines, compressed; no paths, no code, nothing of SQLite."""

from __future__ import annotations

import base64
import binascii
import gzip
import hashlib
import json
import re
import uuid
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from fin_agent.errors import FilingIndexError
from fin_agent.index.filing_checks import filing_faults
from fin_agent.index.ingest_lock import LOCK_NAME
from fin_agent.index.near_names import not_indexed
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.index.stored_rows import COLUMNS, FilingRows, Part, StoredRow, read_rows
from fin_agent.written_file import WriteError, check_place, writing

ARCHIVE_VERSION = 1
_KIND = "fin-agent index"
_LONGEST_LINE = 512 * 2**20
_MOST_EXPANDED = 200
"""Times its size that an archive may grow: filings grow five to fifteen times."""
_SMALL = 64 * 2**20
_CHUNK = 2**20
_OF_DOCUMENTS = "documents:"


class ArchiveError(FilingIndexError):
    """A file is no archive of an index, or not as it was written."""

    def __init__(self, what: str, subject: Path | str) -> None:
        super().__init__(what, subject=str(subject), remedy="Nothing was taken from it. Export the index again")


@dataclass(frozen=True, slots=True)
class Exported:
    """What an archive holds."""

    file: Path
    filings: int
    size: int
    sha256: str
    """Of the file, to compare it by after it was sent."""


def export(
    index: SqliteIndex,
    file: Path,
    *,
    doc_ids: Collection[str] = (),
    on_filing: Callable[[str], None] = lambda doc_id: None,
) -> Exported:
    """Write the filings of an index (only `doc_ids`, where given) with their vectors to `file`: whole or not at all.

    The same filings give the same bytes. Of the files that they were read from, only the names go along. An archive
    that is there is replaced, and nothing else is. Raises FilingIndexError for a filing that is damaged or not there,
    WriteError where the file cannot be written.
    """
    _check_replaceable(index, file)
    unfinished = file.with_name(f".{file.name}.{uuid.uuid4().hex}.new")
    with writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        number = _written(index, file, unfinished, doc_ids, on_filing)
        with file.open("rb") as written:
            sha256 = hashlib.file_digest(written, "sha256").hexdigest()
        return Exported(file, number, file.stat().st_size, sha256)


def _check_replaceable(index: SqliteIndex, file: Path) -> None:
    """Raises WriteError where something stands at `file`, or will, that is no archive."""
    check_place(file)
    of_index = file.name.startswith(index.file.name) or file.name == LOCK_NAME
    if of_index and file.parent.resolve() == index.file.parent.resolve():
        raise WriteError("this is a file of the index itself", subject=str(file), remedy=_ELSEWHERE)
    if not file.exists() or not file.stat().st_size:
        return
    with writing(file), file.open("rb") as opened:
        begins = opened.read(_CHUNK)
    try:
        head = zlib.decompressobj(wbits=31).decompress(begins, len(_HEAD))
    except zlib.error:
        head = b""
    if head != _HEAD:
        raise WriteError(
            "this file is there and is no archive of an index; it is left", subject=str(file), remedy=_ELSEWHERE
        )


_HEAD = f'{{"kind":"{_KIND}",'.encode()
_ELSEWHERE = "Name another file for the archive, as `filings.jsonl.gz`"


def _written(
    index: SqliteIndex, file: Path, unfinished: Path, doc_ids: Collection[str], on_filing: Callable[[str], None]
) -> int:
    """Write the archive under another name first. Returns how many filings are in it."""
    try:
        with index.snapshot() as connection, unfinished.open("wb") as opened:
            listed = connection.execute("SELECT id, doc_id FROM filings ORDER BY content_hash, doc_id").fetchall()
            names = [row["doc_id"] for row in listed]
            for doc_id in doc_ids:
                if doc_id not in names:
                    raise not_indexed(doc_id, names)
            wanted = [row for row in listed if not doc_ids or row["doc_id"] in doc_ids]
            with closing(_Lines(opened)) as lines:
                lines.write({"kind": _KIND, "version": ARCHIVE_VERSION, "filings": len(wanted)})
                for row in wanted:
                    if faults := filing_faults(connection, row["id"]):
                        raise FilingIndexError(
                            f"this filing is damaged ({faults[0]})",
                            subject=row["doc_id"],
                            remedy="Run `fin-agent index repair` first",
                        )
                    lines.write(_plain(read_rows(connection, row["id"])))
                    on_filing(row["doc_id"])
                lines.write({"filings": len(wanted), "sha256": lines.digest.hexdigest()})
        unfinished.replace(file)
        return len(wanted)
    finally:
        unfinished.unlink(missing_ok=True)


def archived_filings(file: Path) -> Iterator[FilingRows]:
    """The filings of an archive, one after the other; only after the last is known that it is whole.

    Types of values are not looked at. Raises ArchiveError, OSError.
    """
    digest = hashlib.sha256()
    lines = _lines(file)
    first = next(lines, b"")
    head = _object(first, file)
    if head.get("kind") != _KIND:
        raise ArchiveError("this is no archive of an index", file)
    if head.get("version") != ARCHIVE_VERSION:
        raise ArchiveError(f"it has version {head.get('version')!r}; this version reads {ARCHIVE_VERSION}", file)
    digest.update(first)
    for filings, line in enumerate(lines):
        found = _object(line, file)
        if "sha256" in found:
            if found.get("filings") != filings or head.get("filings") != filings:
                raise ArchiveError(f"it says it has {head.get('filings')!r} filings, and has {filings}", file)
            if found["sha256"] != digest.hexdigest():
                raise ArchiveError("its content is not what was written: the checksum differs", file)
            if next(lines, None) is not None:
                raise ArchiveError("it goes on after its end", file)
            return
        digest.update(line)
        yield _filing(found, file)
    raise ArchiveError("it is cut off", file)


class _Lines:
    """JSON objects, a line each, compressed the same way every time."""

    def __init__(self, opened: BinaryIO) -> None:
        self.digest = hashlib.sha256()
        self._packed = gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=opened, mtime=0)

    def write(self, document: dict[str, object]) -> None:
        line = _line(document)
        self.digest.update(line)
        self._packed.write(line)

    def close(self) -> None:
        self._packed.close()


def _line(document: dict[str, object]) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _plain(filing: FilingRows) -> dict[str, object]:
    parts = dict(filing.parts)
    parts[Part.FILING] = [_without_folder(parts[Part.FILING][0])]
    return {
        "parts": {part.value: [list(map(_packed, row)) for row in parts[part]] for part in Part},
        "vectors": [list(map(_packed, row)) for row in filing.vectors],
    }


def _without_folder(row: StoredRow) -> StoredRow:
    """Folders of the one who exports are nobody else's business, and a path from elsewhere is never opened."""
    at = COLUMNS[Part.FILING].index("source")
    source = str(row[at])
    name = source if source.startswith(_OF_DOCUMENTS) else re.split(r"[/\\]", source)[-1]
    return (*row[:at], name, *row[at + 1 :])


def _packed(value: object) -> object:
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def _lines(file: Path) -> Iterator[bytes]:
    """Lines with their ends, read bit by bit: what expands without end is not expanded."""
    unpacking = zlib.decompressobj(wbits=31)
    held = bytearray()
    expanded = 0
    try:
        with file.open("rb") as opened:
            while chunk := opened.read(_CHUNK):
                while chunk:
                    if unpacking.eof:
                        raise ArchiveError("it goes on after its end", file)
                    piece = unpacking.decompress(chunk, _CHUNK)
                    chunk = unpacking.unconsumed_tail or unpacking.unused_data
                    expanded += len(piece)
                    if expanded > max(_SMALL, _MOST_EXPANDED * opened.tell()):
                        raise ArchiveError("it expands far more than filings do: it is made to fill the disk", file)
                    start = len(held)
                    held += piece
                    while (end := held.find(b"\n", start)) >= 0:
                        yield bytes(held[: end + 1])
                        del held[: end + 1]
                        start = 0
                    if len(held) > _LONGEST_LINE:
                        raise ArchiveError("a filing in it is larger than any is", file)
    except zlib.error as error:
        raise ArchiveError(f"this is no archive of an index, or it is damaged ({error})", file) from error
    if held or not unpacking.eof:
        raise ArchiveError("it is cut off", file)


def _object(line: bytes, file: Path) -> dict[str, object]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ArchiveError("a line of it is not JSON", file) from error
    if not isinstance(found, dict):
        raise ArchiveError("a line of it is no JSON object", file)
    return found


def _filing(found: dict[str, object], file: Path) -> FilingRows:
    parts, vectors = found.get("parts"), found.get("vectors")
    if not isinstance(parts, dict) or set(parts) != {part.value for part in Part} or not isinstance(vectors, list):
        raise ArchiveError("a filing in it does not have the parts that filings have", file)
    rows = {part: _rows(parts[part.value], file) for part in Part}
    if len(rows[Part.FILING]) != 1 or len(rows[Part.FILING][0]) != len(COLUMNS[Part.FILING]):
        raise ArchiveError("a filing in it does not say what it is", file)
    rows[Part.FILING] = [_without_folder(rows[Part.FILING][0])]
    return FilingRows(rows, _rows(vectors, file))


def _rows(found: object, file: Path) -> list[StoredRow]:
    if not isinstance(found, list) or not all(isinstance(row, list) for row in found):
        raise ArchiveError("a filing in it is no list of rows", file)
    return [tuple(_unpacked(value, file) for value in row) for row in found]


def _unpacked(value: object, file: Path) -> str | int | float | bytes | None:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, dict) and isinstance(packed := value.get("base64"), str):
        try:
            return base64.b64decode(packed, validate=True)
        except (binascii.Error, ValueError) as error:
            raise ArchiveError("bytes in it are not base64", file) from error
    raise ArchiveError("a value in it is of no kind that filings have", file)
