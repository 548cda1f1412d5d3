"""An index made whole again: what can be built again is, what is damaged goes and its files are to be read again."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from fin_agent.errors import FilingIndexError
from fin_agent.index.database import (
    check_format,
    check_length,
    connect,
    fault,
    is_damage,
    leftovers,
    remove_database,
    remove_leftovers,
    unfinished_name,
    write_empty,
)
from fin_agent.index.filing_checks import filing_faults
from fin_agent.index.ingest_lock import ingest_lock
from fin_agent.index.manifest import RETRY, FileState
from fin_agent.index.migrating import format_of
from fin_agent.index.space import check_space
from fin_agent.index.sqlite import FILE_NAME
from fin_agent.index.stored_rows import insert_rows
from fin_agent.index.verifying import FULL_TEXT, agrees, opened_whole, unreadable_entries
from fin_agent.index.whole_filings import filing_numbers, name_of, whole_filing
from fin_agent.index.writing import OF_A_FILING, delete_rows


@dataclass(frozen=True, slots=True)
class LostFiling:
    """A filing that was taken out, since not all of it is as it was written."""

    doc_id: str
    source: str
    why: str

    @property
    def remedy(self) -> str:
        """How it comes back."""
        if self.source and Path(self.source).is_file():
            return RETRY
        if not self.source:
            return "Ingest your folders again, or import an archive of the index"
        return f"Get its file again and ingest it: it was {self.source}"


@dataclass(slots=True)
class Repaired:
    """What a repair did."""

    done: list[str] = field(default_factory=list)
    """In sentences."""
    lost: list[LostFiling] = field(default_factory=list)
    kept: int = 0
    """Filings that are in the index now."""
    damaged_copy: Path | None = None
    """The damaged database, where a new one was made of it."""


def repair(folder: Path, *, wait: float = 0.0) -> Repaired:
    """Make the index in `folder` whole; does nothing to one that is. Filings that are whole stay.

    A database whose structure is damaged is kept under another name; what is whole in it goes into a new one, which
    takes its place in one step. Raises FilingIndexError where there is no index, where it is in use, of another program
    or of a format that cannot be read, or where there is no room.
    """
    file = folder / FILE_NAME
    if not file.is_file():
        raise FilingIndexError(
            "there is no index here", subject=str(folder), remedy="Make one with `fin-agent ingest PATH...`"
        )
    with ingest_lock(folder, wait=wait):
        repaired = Repaired()
        if left := leftovers(file):
            remove_leftovers(file)
            repaired.done.append(f"{len(left)} unfinished files of writers that were killed are removed")
        if opened_whole(file):
            try:
                _repair_in_place(file, repaired)
                return repaired
            except sqlite3.Error as error:
                if not is_damage(error):
                    raise fault(file, error, "written") from error
        _check_ours(file)
        return _salvage(file, Repaired(repaired.done))


def _repair_in_place(file: Path, repaired: Repaired) -> None:
    with closing(connect(file)) as connection:
        check_format(connection, file)
        connection.execute("BEGIN IMMEDIATE")
        try:
            _repair_rows(connection, repaired)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _repair_rows(connection: sqlite3.Connection, repaired: Repaired) -> None:
    # Rows that belong to nothing and rows put in anew both leave the full text behind: it is built again at the end.
    stale = [table for table in FULL_TEXT if not agrees(connection, table)]
    touched = _remove_orphans(connection, repaired)
    for (number,) in connection.execute("SELECT id FROM filings ORDER BY id").fetchall():
        faults = filing_faults(connection, number)
        sealed = connection.execute("SELECT 1 FROM checksums WHERE filing_id = ? LIMIT 1", (number,)).fetchone()
        if not faults and sealed:
            continue
        touched = True
        doc_id, source = name_of(connection, number)
        found = whole_filing(connection, number)
        delete_rows(connection, number)
        if isinstance(found, str):
            repaired.lost.append(LostFiling(doc_id, source, found))
            mark_damaged(connection, repaired.lost[-1])
        else:
            insert_rows(connection, found)
            repaired.done.append(f"{doc_id}: {'; '.join(faults)}: mended" if faults else f"{doc_id}: checksums added")
    _repair_manifest(connection, repaired)
    if touched or stale:
        for table in FULL_TEXT:
            connection.execute(f"INSERT INTO {table} ({table}) VALUES ('rebuild')")
        repaired.done.append(f"full text of {', '.join(stale or FULL_TEXT)} is built again")
    repaired.kept = connection.execute("SELECT count(*) FROM filings").fetchone()[0]


def _remove_orphans(connection: sqlite3.Connection, repaired: Repaired) -> bool:
    removed = 0
    for table in OF_A_FILING:
        rows = connection.execute(f"DELETE FROM {table} WHERE filing_id NOT IN (SELECT id FROM filings)").rowcount
        removed += rows
        if rows:
            repaired.done.append(f"{rows} rows of {table} that belong to no filing are removed")
    return bool(removed)


def mark_damaged(connection: sqlite3.Connection, lost: LostFiling) -> None:
    """Have the files of a filing that was taken out read again, within the caller's transaction."""
    failure = f"its filing was damaged in the index and has been taken out: {lost.why}"
    marked = connection.execute(
        "UPDATE ingested_files SET state = ?, failure = ?, remedy = ? WHERE doc_id = ? AND state = 'done'",
        (FileState.DAMAGED.value, failure, RETRY, lost.doc_id),
    ).rowcount
    if not marked and lost.source:
        connection.execute(
            "INSERT OR IGNORE INTO ingested_files VALUES (?, ?, 0, 0, '', '', ?, ?, ?)",
            (lost.source, lost.doc_id, failure, RETRY, FileState.DAMAGED.value),
        )


def _repair_manifest(connection: sqlite3.Connection, repaired: Repaired) -> None:
    unreadable = unreadable_entries(connection)
    for number in unreadable:
        connection.execute("DELETE FROM ingested_files WHERE rowid = ?", (number,))
    if unreadable:
        repaired.done.append(f"{_entries(len(unreadable))} that cannot be read are taken off. {_INGEST_AGAIN}")
    known = ", ".join(f"'{state.value}'" for state in FileState)
    missing = connection.execute(
        "UPDATE ingested_files SET state = 'waiting', failure = ?, remedy = ? WHERE state NOT IN"
        f" ({known}) OR (state = 'done' AND doc_id NOT IN (SELECT doc_id FROM filings))",
        ("its filing is not in the index", RETRY),
    ).rowcount
    if missing:
        repaired.done.append(f"{missing} files without a filing are to be read again: {RETRY}")


def _entries(number: int) -> str:
    return f"{number} entr{'y' if number == 1 else 'ies'} of the list of files"


_INGEST_AGAIN = "Ingest your folders again: what is unchanged is left alone"


def _check_ours(file: Path) -> None:
    """Raises FilingIndexError for the database of another program, or one of a later format."""
    with suppress(sqlite3.Error), closing(connect(file)) as connection:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and not {"meta", "filings", "pages"} & tables:
            raise FilingIndexError(
                "this database is no index of fin-agent; it is left as it is",
                subject=str(file),
                remedy="Name another folder with `--index`",
            )
        if (found := format_of(connection)) is not None and not found.isdigit():
            return  # damaged there as well
        check_format(connection, file)


def _salvage(file: Path, repaired: Repaired) -> Repaired:
    log = file.with_name(f"{file.name}-wal")
    size = file.stat().st_size + (log.stat().st_size if log.exists() else 0)
    check_space(file.parent, 3 * size, "to keep the damaged index and make a new one")
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    copy = file.with_name(f"{file.name}.damaged-{stamp}")
    shutil.copy2(file, copy)
    if log.exists():
        shutil.copy2(log, copy.with_name(f"{copy.name}-wal"))
    repaired.damaged_copy = copy
    unfinished = unfinished_name(file)
    try:
        write_empty(unfinished)
        with closing(connect(unfinished)) as target:
            with closing(_opened(file)) as source:
                _copy_whole(source, target, repaired)
            target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            repaired.kept = target.execute("SELECT count(*) FROM filings").fetchone()[0]
            _take_place(target, file, unfinished)
    except (OSError, sqlite3.Error) as error:
        raise FilingIndexError(
            f"the index could not be repaired ({error}); the damaged one is as it was",
            subject=str(file),
            remedy="Make room, or check the disk, and run the same command again",
        ) from error
    finally:
        remove_database(unfinished)
    repaired.done.append(f"{repaired.kept} whole filings are in a new database")
    return repaired


def _opened(file: Path) -> sqlite3.Connection:
    """The damaged database; an empty one where SQLite cannot open it."""
    with suppress(sqlite3.DatabaseError), ExitStack() as closed:
        source = closed.enter_context(closing(connect(file, damaged=True)))
        source.execute("SELECT count(*) FROM sqlite_master").fetchone()
        closed.pop_all()
        return source
    return sqlite3.connect(":memory:", isolation_level=None)


def _copy_whole(source: sqlite3.Connection, target: sqlite3.Connection, repaired: Repaired) -> None:
    """Everything of `source` that is whole."""
    target.execute("BEGIN")
    _copy_manifest(source, target, repaired)
    saved: set[str] = set()
    for number in filing_numbers(source):
        found = whole_filing(source, number)
        if isinstance(found, str):
            doc_id, path = name_of(source, number)
            repaired.lost.append(LostFiling(doc_id or f"filing {number}, whose name is lost", path, found))
        elif found.doc_id not in saved:
            saved.add(found.doc_id)
            insert_rows(target, found)
    if not saved and not repaired.lost and not _readable(source, "filings"):
        why = "nothing of the index can be read, not even which filings it held"
        repaired.lost.append(LostFiling("all filings", "", why))
    # A filing may be lost with its name: then the manifest still knows its file.
    for doc_id, path in target.execute("SELECT doc_id, path FROM ingested_files WHERE state = 'done'").fetchall():
        if doc_id not in saved and doc_id not in {lost.doc_id for lost in repaired.lost}:
            repaired.lost.append(LostFiling(doc_id, path, "nothing of it can be read"))
    for lost in repaired.lost:
        mark_damaged(target, lost)
    target.execute("COMMIT")


def _copy_manifest(source: sqlite3.Connection, target: sqlite3.Connection, repaired: Repaired) -> None:
    refused = 0
    for row in _readable_manifest(source):
        try:
            if row[0] is None:
                raise sqlite3.IntegrityError("the file has no path")
            target.execute(f"INSERT OR REPLACE INTO ingested_files VALUES ({', '.join('?' * len(row))})", row)
        except sqlite3.IntegrityError:  # of a kind that its column does not take
            refused += 1
    for number in unreadable_entries(target):
        refused += target.execute("DELETE FROM ingested_files WHERE rowid = ?", (number,)).rowcount
    if refused:
        repaired.done.append(f"{_entries(refused)} that cannot be read are taken off. {_INGEST_AGAIN}")
    elif not _readable(source, "ingested_files"):
        repaired.done.append(f"the list of files could not be read to its end. {_INGEST_AGAIN}")


def _readable(source: sqlite3.Connection, table: str) -> bool:
    """Whether every row of a table can be read."""
    try:
        for _ in source.execute(f"SELECT * FROM {table} NOT INDEXED"):
            pass
    except sqlite3.Error:
        return False
    return True


def _readable_manifest(source: sqlite3.Connection) -> Iterator[tuple[str | int | None, ...]]:
    columns = ("path", "doc_id", "size", "modified_ns", "content_hash", "reader_version", "failure", "remedy")
    for order in ("", " ORDER BY rowid DESC"):
        with suppress(sqlite3.Error):
            for row in source.execute(f"SELECT * FROM ingested_files NOT INDEXED{order}"):
                values = dict(zip(row.keys(), row, strict=True))
                yield (*(values.get(column) for column in columns), values.get("state", FileState.DONE.value))


def _take_place(target: sqlite3.Connection, file: Path, unfinished: Path) -> None:
    """Put the new database where the damaged one is: as one transaction of it where SQLite still opens it."""
    try:
        with closing(connect(file)) as damaged:
            check_length(damaged, file)
            target.backup(damaged)
            damaged.execute("PRAGMA busy_timeout = 2000")
            damaged.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        target.close()
        # The log of a file that SQLite cannot open is of no use, and must not be taken for the new one's.
        for ending in ("-wal", "-shm"):
            file.with_name(file.name + ending).unlink(missing_ok=True)
        unfinished.replace(file)
