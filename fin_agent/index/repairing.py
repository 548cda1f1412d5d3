"""An index made whole again: what can be built again is, what is damaged goes and its files are to be read again."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from fin_agent.errors import FilingIndexError
from fin_agent.index.database import (
    check_format,
    connect,
    fault,
    is_damage,
    leftovers,
    other_format,
    remove_leftovers,
)
from fin_agent.index.filing_checks import filing_faults
from fin_agent.index.ingest_lock import ingest_lock
from fin_agent.index.kept_files import INGEST_AGAIN, entries, mark_damaged
from fin_agent.index.manifest import RETRY, FileState
from fin_agent.index.migrating import FORMAT_VERSION, format_of, migrate
from fin_agent.index.repaired import LostFiling as LostFiling
from fin_agent.index.repaired import Repaired as Repaired
from fin_agent.index.salvaging import salvage
from fin_agent.index.sqlite import FILE_NAME
from fin_agent.index.stored_rows import insert_rows
from fin_agent.index.verifying import FULL_TEXT, agrees, opened_whole, unreadable_entries
from fin_agent.index.whole_filings import name_of, whole_filing
from fin_agent.index.write_ahead_log import is_log_whole
from fin_agent.index.writing import OF_A_FILING, delete_rows


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
        # Before SQLite opens the database, and forgets what it cannot read. Twice: it may be written meanwhile.
        log_whole = is_log_whole(file) or is_log_whole(file)
        if log_whole:
            _migrate(file)
        if log_whole and opened_whole(file):
            try:
                _repair_in_place(file, repaired)
                return repaired
            except sqlite3.Error as error:
                if not is_damage(error):
                    raise fault(file, error, "written") from error
        _check_ours(file)
        return salvage(file, Repaired(repaired.done), log_whole=log_whole)


def _migrate(file: Path) -> None:
    """Bring rows to the columns of this format, so that they can be read one by one; a database too damaged stays."""
    with suppress(sqlite3.Error), closing(connect(file)) as connection:
        migrate(connection)


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


def _repair_manifest(connection: sqlite3.Connection, repaired: Repaired) -> None:
    unreadable = unreadable_entries(connection)
    for number in unreadable:
        connection.execute("DELETE FROM ingested_files WHERE rowid = ?", (number,))
    if unreadable:
        repaired.done.append(f"{entries(len(unreadable))} that cannot be read are taken off. {INGEST_AGAIN}")
    known = ", ".join(f"'{state.value}'" for state in FileState)
    missing = connection.execute(
        "UPDATE ingested_files SET state = 'waiting', failure = ?, remedy = ? WHERE state NOT IN"
        f" ({known}) OR (state = 'done' AND doc_id NOT IN (SELECT doc_id FROM filings))",
        ("its filing is not in the index", RETRY),
    ).rowcount
    if missing:
        repaired.done.append(f"{missing} files without a filing are to be read again: {RETRY}")


def _check_ours(file: Path) -> None:
    """Raises FilingIndexError for the database of another program, or one of a later format."""
    with suppress(sqlite3.Error), closing(connect(file, only_looking=True)) as connection:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and not {"meta", "filings", "pages"} & tables:
            raise FilingIndexError(
                "this database is no index of fin-agent; it is left as it is",
                subject=str(file),
                remedy="Name another folder with `--index`",
            )
        if (found := format_of(connection)) is not None and found.isdigit() and int(found) > int(FORMAT_VERSION):
            raise other_format(found, file)
