"""The list of files that were given to `ingest`, as far as it can be read; what was taken out is to be read again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import suppress

from fin_agent.index.manifest import RETRY, FileState
from fin_agent.index.repaired import LostFiling
from fin_agent.index.verifying import unreadable_entries

INGEST_AGAIN = "Ingest your folders again: what is unchanged is left alone"


def copy_entries(source: sqlite3.Connection, target: sqlite3.Connection) -> list[str]:
    """Put the entries of `source` that can be read into `target`, beside those there; in words, what cannot."""
    refused = 0
    for row in _readable_manifest(source):
        try:
            if row[0] is None:
                raise sqlite3.IntegrityError("the file has no path")
            target.execute(
                f"INSERT INTO ingested_files VALUES ({', '.join('?' * len(row))}) ON CONFLICT (path) DO NOTHING", row
            )
        except sqlite3.IntegrityError:  # of a kind that its column does not take
            refused += 1
    for number in unreadable_entries(target):
        refused += target.execute("DELETE FROM ingested_files WHERE rowid = ?", (number,)).rowcount
    if refused:
        return [f"{entries(refused)} that cannot be read are taken off. {INGEST_AGAIN}"]
    if not readable(source, "ingested_files"):
        return [f"the list of files could not be read to its end. {INGEST_AGAIN}"]
    return []


def readable(source: sqlite3.Connection, table: str) -> bool:
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


def entries(number: int) -> str:
    """`1 entry of the list of files`."""
    return f"{number} entr{'y' if number == 1 else 'ies'} of the list of files"
