"""Filings of an archive into an index: each looked at as if a stranger had written it, all of them or none."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from fin_agent.errors import FilingIndexError
from fin_agent.filings.reader import is_doc_id
from fin_agent.filings.readers.document import MAX_PAGES
from fin_agent.index import rows
from fin_agent.index.archive import ArchiveError, archived_filings
from fin_agent.index.database import (
    check_fts5,
    connect,
    fault,
    name_database,
    remove_database,
    remove_leftovers,
    unfinished_name,
    write_empty,
)
from fin_agent.index.filing_checks import filing_faults, vectors_whole
from fin_agent.index.ingest_lock import ingest_lock
from fin_agent.index.packed_tables import unpacked_tables
from fin_agent.index.sqlite import FILE_NAME, SqliteIndex
from fin_agent.index.stored_rows import COLUMNS, FilingRows, Part, checksum, insert_rows
from fin_agent.index.writing import delete_filing

_LARGEST_TABLES = 64 * 2**20
_LONGEST_NUMBER = 60
_SAME_BUT_SOURCE = tuple(column for column in COLUMNS[Part.FILING] if column != "source")

CheckCard = Callable[[str], object]
"""Raises ValueError for a card that is none."""


@dataclass(slots=True)
class Imported:
    """What became of the filings of an archive."""

    added: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    """They were in the index already, the same to the last figure."""


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
    with ingest_lock(folder, wait=wait):
        remove_leftovers(target)
        made = not target.exists()
        place = unfinished_name(target) if made else target
        try:
            if made:
                write_empty(place)
            else:
                SqliteIndex(folder).close()
            with closing(connect(place)) as connection:
                imported = _imported(connection, file, check_card, replace, on_filing)
                if made:
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            if made:
                name_database(place, target)
                if place.exists() and not place.samefile(target):
                    raise FilingIndexError(
                        "another command made an index here meanwhile",
                        subject=str(target),
                        remedy="Import again: the filings are added to that one",
                    )
        except sqlite3.Error as error:
            raise fault(target, error, "written") from error
        finally:
            if made:
                remove_database(place)
        return imported


def _imported(
    connection: sqlite3.Connection, file: Path, check_card: CheckCard, replace: bool, on_filing: Callable[[str], None]
) -> Imported:
    imported = Imported()
    seen: set[str] = set()
    connection.execute("BEGIN IMMEDIATE")
    try:
        for filing in archived_filings(file):
            _check_values(connection, filing, file)
            doc_id = filing.doc_id
            if doc_id in seen:
                raise ArchiveError(f"{doc_id} is twice in it", file)
            seen.add(doc_id)
            try:
                _put(connection, filing, imported, replace)
            except (sqlite3.IntegrityError, UnicodeEncodeError) as error:
                raise ArchiveError(f"{doc_id} contradicts itself ({error})", file) from error
            if doc_id not in imported.unchanged:
                _check_filing(connection, filing, check_card, file)
            on_filing(doc_id)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return imported


def _put(connection: sqlite3.Connection, filing: FilingRows, imported: Imported, replace: bool) -> None:
    held = connection.execute("SELECT * FROM filings WHERE doc_id = ?", (filing.doc_id,)).fetchone()
    if held is None:
        imported.added.append(filing.doc_id)
    elif _same(connection, held, filing):
        imported.unchanged.append(filing.doc_id)
        return
    elif replace:
        imported.replaced.append(filing.doc_id)
        delete_filing(connection, filing.doc_id)
    else:
        raise FilingIndexError(
            "the index has another filing of this name",
            subject=filing.doc_id,
            remedy="Import with `--replace`, or into another folder",
        )
    insert_rows(connection, filing)


def _same(connection: sqlite3.Connection, held: sqlite3.Row, filing: FilingRows) -> bool:
    """Vectors aside: they are made by whoever needs them."""
    if any(held[column] != filing.value(column) for column in _SAME_BUT_SOURCE):
        return False
    found = connection.execute("SELECT part, checksum FROM checksums WHERE filing_id = ?", (held["id"],)).fetchall()
    sealed = dict(found)
    return all(sealed.get(part.value) == checksum(filing.parts[part]) for part in Part if part is not Part.FILING)


def _check_values(connection: sqlite3.Connection, filing: FilingRows, file: Path) -> None:
    """Every value of the type that its column has, so that nothing is changed by writing it."""
    for part in Part:
        declared = {row["name"]: row for row in connection.execute(f"PRAGMA table_info({part})")}
        columns = [declared[column] for column in COLUMNS[part]]
        for row in filing.parts[part]:
            if len(row) != len(columns) or not all(map(_fits, row, columns)):
                raise ArchiveError(f"a row of {part} in it has values that do not belong there", file)
    doc_id = filing.doc_id
    if not is_doc_id(doc_id):
        raise ArchiveError(f"{doc_id[:80]!r} is no name of a filing", file)
    if len(filing.parts[Part.PAGES]) > MAX_PAGES:
        raise ArchiveError(f"{doc_id} has more pages than any filing", file)
    for vectors in filing.vectors:
        if len(vectors) != 7 or not vectors_whole(vectors):
            raise ArchiveError(f"vectors of {doc_id} contradict themselves", file)


def _fits(value: object, column: sqlite3.Row) -> bool:
    if value is None:
        return not column["notnull"]
    if column["type"] == "TEXT":
        return isinstance(value, str)
    if column["type"] == "BLOB":
        return isinstance(value, bytes)
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


def _check_filing(connection: sqlite3.Connection, filing: FilingRows, check_card: CheckCard, file: Path) -> None:
    """Read it back as whoever asks will: what cannot be read must not be in the index."""
    number = connection.execute("SELECT id FROM filings WHERE doc_id = ?", (filing.doc_id,)).fetchone()[0]
    if faults := filing_faults(connection, number):
        raise ArchiveError(f"{filing.doc_id}: {faults[0]}", file)
    pages = len(filing.parts[Part.PAGES])
    try:
        listed = connection.execute(
            "SELECT * FROM filings JOIN filing_details ON filing_id = id WHERE id = ?", (number,)
        ).fetchone()
        rows.filing_record(listed)
        numbers = [rows.page(row).number for row in _of(connection, "pages", number, "id")]
        placed = [rows.passage(row).page for row in _of(connection, "passages", number, "id")]
        for row in connection.execute(
            f"SELECT facts.*, {rows.TAG_SELECTION} FROM facts"
            " LEFT JOIN tags ON tags.filing_id = facts.filing_id AND tags.ordinal = facts.tag"
            " WHERE facts.filing_id = ?",
            (number,),
        ):
            fact = rows.fact(row)
            placed.append(fact.page)
            _check_number(fact.amount)
        for row in connection.execute(f"SELECT {rows.TAG_SELECTION} FROM tags WHERE filing_id = ?", (number,)):
            tag = rows.tag(row)
            placed += [] if tag.page is None else [tag.page]
            if tag.value is not None:
                _check_number(tag.value)
        for row in _of(connection, "page_tables", number, "page"):
            _check_expanded(row["tables"])
            unpacked_tables(row["tables"], row["page"])
            placed.append(row["page"])
        for (card,) in filing.parts[Part.CARDS]:
            check_card(str(card))
    except (ValueError, TypeError, KeyError, IndexError, ArithmeticError, RecursionError, zlib.error) as error:
        said = str(error).split("\n", 1)[0][:200]
        raise ArchiveError(f"{filing.doc_id}: not what a filing holds ({said})", file) from error
    if numbers != list(range(pages)) or not all(0 <= page < pages for page in placed):
        raise ArchiveError(f"{filing.doc_id}: something in it stands on a page that it does not have", file)


def _of(connection: sqlite3.Connection, table: str, number: int, order: str) -> list[sqlite3.Row]:
    return connection.execute(f"SELECT * FROM {table} WHERE filing_id = ? ORDER BY {order}", (number,)).fetchall()


def _check_number(number: Decimal) -> None:
    """An exponent of a few letters can stand for more digits than fit into memory."""
    if not number.is_finite() or abs(number.adjusted()) > _LONGEST_NUMBER or len(str(number)) > _LONGEST_NUMBER * 2:
        raise ValueError("a figure that no filing states")


def _check_expanded(packed: bytes) -> None:
    unpacking = zlib.decompressobj()
    unpacking.decompress(packed, _LARGEST_TABLES)
    if unpacking.unconsumed_tail:
        raise ValueError("tables that expand without end")
