"""An index as one file to carry about: JSON lines, compressed; no paths, no code, nothing of SQLite.

What comes in is looked at as if a stranger had written it, and all of it is taken in or nothing.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import hashlib
import json
import re
import sqlite3
import uuid
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from fin_agent.errors import FilingIndexError
from fin_agent.filings.reader import is_doc_id
from fin_agent.filings.readers.protocol import MAX_PAGES
from fin_agent.index import rows
from fin_agent.index.database import (
    check_fts5,
    connect,
    fault,
    give_name,
    remove_leftovers,
    transaction,
    unfinished_database,
)
from fin_agent.index.ingest_lock import LOCK_NAME, ingest_lock
from fin_agent.index.opening import not_indexed
from fin_agent.index.rows import SqlValue, StoredRow
from fin_agent.index.sqlite import FILE_NAME, SqliteIndex
from fin_agent.index.stored_filing import (
    COLUMNS,
    VECTOR_COLUMNS,
    Part,
    StoredFiling,
    are_vectors,
    delete_filing,
    filing_faults,
    insert_filing,
    read_checksums,
    read_filing,
)
from fin_agent.written_file import WriteError, check_place, writing

ARCHIVE_VERSION = 1
_KIND = "fin-agent index"
_HEAD = f'{{"kind":"{_KIND}",'.encode()
_ELSEWHERE = "Name another file for the archive, as `filings.jsonl.gz`"
_MOST_EXPANDED = 200
"""Times its size that an archive may grow: filings grow five to fifteen times."""
_SMALL = 64 * 2**20
_LARGEST_TABLES = 64 * 2**20
_LONGEST_NUMBER = 60
_OF_DOCUMENTS = "documents:"
_SOURCE = COLUMNS[Part.FILING].index("source")
_TAG = COLUMNS[Part.FACTS].index("tag")

CheckCard = Callable[[str], object]
"""Raises ValueError for a card that is none."""


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


@dataclass(slots=True)
class Imported:
    """What became of the filings of an archive."""

    added: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    """They were in the index already, the same to the last figure."""


def export(
    index: SqliteIndex,
    file: Path | str,
    *,
    doc_ids: Collection[str] = (),
    on_filing: Callable[[str], None] = lambda doc_id: None,
) -> Exported:
    """Write the filings of an index (only `doc_ids`, where given) with their vectors to `file`: whole or not at all.

    The same filings give the same bytes. Of the files that they were read from, only the names go along. An archive
    that is there is replaced, and nothing else is. Raises FilingIndexError for a filing that is damaged or not there,
    WriteError where the file cannot be written.
    """
    file = Path(file)
    _check_replaceable(index, file)
    unfinished = file.with_name(f".{file.name}.{uuid.uuid4().hex}.new")
    with writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            number = _write_archive(index, unfinished, doc_ids, on_filing)
            unfinished.replace(file)
        finally:
            unfinished.unlink(missing_ok=True)
        with file.open("rb") as written:
            sha256 = hashlib.file_digest(written, "sha256").hexdigest()
        return Exported(file, number, file.stat().st_size, sha256)


def import_archive(
    file: Path,
    folder: Path,
    check_card: CheckCard,
    *,
    replace: bool = False,
    wait: float = 0.0,
    on_filing: Callable[[str], None] = lambda doc_id: None,
) -> Imported:
    """Bring the filings of an archive into the index in `folder`, which is made where there is none.

    They become visible together, after the last of them was checked; where one is wrong, nothing has changed. A filing
    of the same name with other content is an error, or is replaced with `replace`. `check_card` raises ValueError for
    what is no card; `fin_agent.evidence.importing.import_archive` brings it along. Raises ArchiveError or
    FilingIndexError.
    """
    target = folder / FILE_NAME
    if not file.is_file():
        raise FilingIndexError("there is no such file", subject=str(file), remedy="Check the path")
    check_fts5()
    folder.mkdir(parents=True, exist_ok=True)
    with ingest_lock(folder, wait=wait), ExitStack() as stack:
        remove_leftovers(target)
        place = target
        try:
            if target.exists():
                SqliteIndex(folder).close()
            else:
                place = stack.enter_context(unfinished_database(target))
            with closing(connect(place)) as connection:
                with transaction(connection):
                    imported = _import_filings(connection, file, check_card, replace, on_filing)
                if place is not target:
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            if place is not target and not give_name(place, target):
                raise FilingIndexError(
                    "another command made an index here meanwhile",
                    subject=str(target),
                    remedy="Import again: the filings are added to that one",
                )
        except sqlite3.Error as error:
            raise fault(target, error, "written") from error
        return imported


def _check_replaceable(index: SqliteIndex, file: Path) -> None:
    """Raises WriteError where something stands at `file`, or will, that is no archive."""
    check_place(file)
    of_index = file.name.startswith(index.file.name) or file.name == LOCK_NAME
    if of_index and file.parent.resolve() == index.file.parent.resolve():
        raise WriteError("this is a file of the index itself", subject=str(file), remedy=_ELSEWHERE)
    if not file.exists() or not file.stat().st_size:
        return
    with writing(file), file.open("rb") as opened:
        begins = opened.read(2**20)
    try:
        head = zlib.decompressobj(wbits=31).decompress(begins, len(_HEAD))
    except zlib.error:
        head = b""
    if head != _HEAD:
        raise WriteError(
            "this file is there and is no archive of an index; it is left", subject=str(file), remedy=_ELSEWHERE
        )


def _write_archive(index: SqliteIndex, file: Path, doc_ids: Collection[str], on_filing: Callable[[str], None]) -> int:
    """Returns how many filings are in it."""
    with (
        index.snapshot() as connection,
        file.open("wb") as opened,
        gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=opened, mtime=0) as packed,
    ):
        listed = connection.execute("SELECT id, doc_id FROM filings ORDER BY content_hash, doc_id").fetchall()
        names = [row["doc_id"] for row in listed]
        for doc_id in doc_ids:
            if doc_id not in names:
                raise not_indexed(doc_id, names)
        wanted = [row for row in listed if not doc_ids or row["doc_id"] in doc_ids]
        digest = hashlib.sha256()

        def write(document: dict[str, object]) -> None:
            line = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
            digest.update(line)
            packed.write(line)

        write({"kind": _KIND, "version": ARCHIVE_VERSION, "filings": len(wanted)})
        for row in wanted:
            if damage := next(filing_faults(connection, row["id"]), None):
                raise FilingIndexError(
                    f"this filing is damaged ({damage})",
                    subject=row["doc_id"],
                    remedy="Run `fin-agent index repair` first",
                )
            write(_plain(read_filing(connection, row["id"])))
            on_filing(row["doc_id"])
        write({"filings": len(wanted), "sha256": digest.hexdigest()})
    return len(wanted)


def _plain(stored: StoredFiling) -> dict[str, object]:
    parts = {**stored.parts, Part.FILING: [_without_folder(stored.parts[Part.FILING][0])]}
    return {
        "parts": {part.value: [list(map(_packed, row)) for row in parts[part]] for part in Part},
        "vectors": [list(map(_packed, row)) for row in stored.vectors],
    }


def _without_folder(row: StoredRow) -> StoredRow:
    """Folders of the one who exports are nobody else's business, and a path from elsewhere is never opened."""
    source = str(row[_SOURCE])
    name = source if source.startswith(_OF_DOCUMENTS) else re.split(r"[/\\]", source)[-1]
    return (*row[:_SOURCE], name, *row[_SOURCE + 1 :])


def _packed(value: object) -> object:
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def archived_filings(file: Path) -> Iterator[StoredFiling]:
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


def _lines(file: Path) -> Iterator[bytes]:
    """Lines with their ends, read bit by bit: what expands without end is not expanded."""
    left = max(_SMALL, _MOST_EXPANDED * file.stat().st_size)
    try:
        with gzip.open(file) as opened:
            while line := opened.readline(left + 1):
                left -= len(line)
                if left < 0:
                    raise ArchiveError("it expands far more than filings do: it is made to fill the disk", file)
                if not line.endswith(b"\n"):
                    raise ArchiveError("it is cut off", file)
                yield line
    except EOFError as error:
        raise ArchiveError("it is cut off", file) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise ArchiveError(f"this is no archive of an index, or it is damaged ({error})", file) from error


def _object(line: bytes, file: Path) -> dict[str, object]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ArchiveError("a line of it is not JSON", file) from error
    if not isinstance(found, dict):
        raise ArchiveError("a line of it is no JSON object", file)
    return found


def _filing(found: dict[str, object], file: Path) -> StoredFiling:
    parts, vectors = found.get("parts"), found.get("vectors")
    if not isinstance(parts, dict) or set(parts) != {part.value for part in Part}:
        raise ArchiveError("a filing in it does not have the parts that filings have", file)
    kept = {part: _rows(parts[part.value], len(COLUMNS[part]), file) for part in Part}
    if len(kept[Part.FILING]) != 1:
        raise ArchiveError("a filing in it does not say what it is", file)
    kept[Part.FILING] = [_without_folder(kept[Part.FILING][0])]
    return StoredFiling(kept, _rows(vectors, len(VECTOR_COLUMNS), file))


def _rows(found: object, length: int, file: Path) -> list[StoredRow]:
    if not isinstance(found, list) or not all(isinstance(row, list) and len(row) == length for row in found):
        raise ArchiveError("a filing in it is no list of rows", file)
    return [tuple(_unpacked(value, file) for value in row) for row in found]


def _unpacked(value: object, file: Path) -> SqlValue:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, dict) and isinstance(packed := value.get("base64"), str):
        try:
            return base64.b64decode(packed, validate=True)
        except (binascii.Error, ValueError) as error:
            raise ArchiveError("bytes in it are not base64", file) from error
    raise ArchiveError("a value in it is of no kind that filings have", file)


def _import_filings(
    connection: sqlite3.Connection, file: Path, check_card: CheckCard, replace: bool, on_filing: Callable[[str], None]
) -> Imported:
    """Within the caller's transaction."""
    imported = Imported()
    seen: set[str] = set()
    for stored in archived_filings(file):
        doc_id = stored.doc_id
        if not is_doc_id(doc_id):
            raise ArchiveError(f"{doc_id[:80]!r} is no name of a filing", file)
        if doc_id in seen:
            raise ArchiveError(f"{doc_id} is twice in it", file)
        seen.add(doc_id)
        try:
            number = _put(connection, stored, imported, replace)
            if number is not None:
                _check_filing(connection, number, stored, check_card)
        except (sqlite3.IntegrityError, UnicodeEncodeError, OverflowError) as error:
            raise ArchiveError(f"{doc_id} contradicts itself ({error})", file) from error
        except (ValueError, TypeError, KeyError, IndexError, ArithmeticError, RecursionError, zlib.error) as error:
            said = str(error).split("\n", 1)[0][:200]
            raise ArchiveError(f"{doc_id}: not what a filing holds ({said})", file) from error
        on_filing(doc_id)
    return imported


def _put(connection: sqlite3.Connection, stored: StoredFiling, imported: Imported, replace: bool) -> int | None:
    """The number of a filing that was put in; None for one that is there, the same to the last figure."""
    held = connection.execute("SELECT id FROM filings WHERE doc_id = ?", (stored.doc_id,)).fetchone()
    if held is None:
        imported.added.append(stored.doc_id)
    elif _same(connection, held["id"], stored):
        imported.unchanged.append(stored.doc_id)
        return None
    elif replace:
        imported.replaced.append(stored.doc_id)
        delete_filing(connection, stored.doc_id)
    else:
        raise FilingIndexError(
            "the index has another filing of this name",
            subject=stored.doc_id,
            remedy="Import with `--replace`, or into another folder",
        )
    return insert_filing(connection, stored)


def _same(connection: sqlite3.Connection, number: int, stored: StoredFiling) -> bool:
    """But for where its file was. Vectors aside, too: they are made by whoever needs them."""
    held = read_filing(connection, number).parts[Part.FILING][0]
    sealed, brought = read_checksums(connection, number), stored.checksums()
    sealed.pop(Part.FILING, None), brought.pop(Part.FILING)
    return sealed == brought and _but_source(held) == _but_source(stored.parts[Part.FILING][0])


def _but_source(row: StoredRow) -> StoredRow:
    return (*row[:_SOURCE], *row[_SOURCE + 1 :])


def _check_filing(connection: sqlite3.Connection, number: int, stored: StoredFiling, check_card: CheckCard) -> None:
    """Read it back as whoever asks will: what cannot be read must not be in the index.

    That each value is of its column's kind is SQLite's to say (its tables are STRICT), and the checksum's where it
    made another of it. Raises ValueError and what reading raises.
    """
    parts = stored.parts
    if damage := next(filing_faults(connection, number), None):
        raise ValueError(damage)
    record = rows.filing_record(parts[Part.FILING][0], parts[Part.DETAILS][0])
    counts = (record.page_count, record.passage_count, record.fact_count, record.passage_count, 1)
    counted = (Part.PAGES, Part.PASSAGES, Part.FACTS, Part.CARDS, Part.DETAILS)
    if counts != tuple(len(parts[part]) for part in counted) or record.page_count > MAX_PAGES:
        raise ValueError("it does not hold as much as it says, or more pages than any filing")
    if [rows.page(row).number for row in parts[Part.PAGES]] != list(range(record.page_count)):
        raise ValueError("its pages are not numbered one after the other")
    tags = {tag[0]: rows.tag(tag) for tag in parts[Part.TAGS]}
    facts = [rows.fact(fact, tags.get(fact[_TAG])) for fact in parts[Part.FACTS]]
    placed = [
        *(rows.passage(row).page for row in parts[Part.PASSAGES]),
        *(fact.page for fact in facts),
        *(tag.page for tag in tags.values() if tag.page is not None),
        *(row[0] for row in parts[Part.TABLES]),
    ]
    if not all(isinstance(page, int) and 0 <= page < record.page_count for page in placed):
        raise ValueError("something in it stands on a page that it does not have")
    for figure in (*(fact.amount for fact in facts), *(tag.value for tag in tags.values() if tag.value is not None)):
        _check_figure(figure)
    for page, packed in parts[Part.TABLES]:
        assert isinstance(page, int) and isinstance(packed, bytes)  # its column holds nothing else
        _check_expanded(packed)
        rows.tables(page, packed)
    for (card,) in parts[Part.CARDS]:
        check_card(str(card))
    if not all(map(are_vectors, stored.vectors)):
        raise ValueError("its vectors contradict themselves")


def _check_figure(number: Decimal) -> None:
    """An exponent of a few letters can stand for more digits than fit into memory."""
    if not number.is_finite() or abs(number.adjusted()) > _LONGEST_NUMBER or len(str(number)) > _LONGEST_NUMBER * 2:
        raise ValueError("a figure that no filing states")


def _check_expanded(packed: bytes) -> None:
    unpacking = zlib.decompressobj()
    unpacking.decompress(packed, _LARGEST_TABLES)
    if unpacking.unconsumed_tail:
        raise ValueError("tables that expand without end")
