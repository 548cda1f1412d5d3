"""An index of an earlier version, brought to the form of this one: in one transaction, the filings untouched."""

from __future__ import annotations

import sqlite3

FORMAT_VERSION = "6"

_STEPS = {
    # Checksums and states of files. What was written before has no checksums: `verify` says so, `repair` adds them.
    "4": (
        "CREATE TABLE checksums (filing_id INTEGER NOT NULL REFERENCES filings (id), part TEXT NOT NULL,"
        " checksum TEXT NOT NULL, PRIMARY KEY (filing_id, part)) STRICT, WITHOUT ROWID",
        "ALTER TABLE vectors ADD COLUMN checksum TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE ingested_files ADD COLUMN state TEXT NOT NULL DEFAULT 'done'",
        "UPDATE ingested_files SET state = 'failed' WHERE failure IS NOT NULL",
        "UPDATE meta SET value = '5' WHERE key = 'format'",
    ),
    # The whole address of a fact. Rows have grown, so that their checksums say nothing any more.
    "5": (
        "ALTER TABLE facts ADD COLUMN column_path TEXT NOT NULL DEFAULT '[]'",
        "ALTER TABLE facts ADD COLUMN caption TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE facts ADD COLUMN note TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE facts ADD COLUMN part_kind TEXT",
        "ALTER TABLE facts ADD COLUMN proved INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE facts ADD COLUMN doubtful INTEGER NOT NULL DEFAULT 0",
        "DELETE FROM checksums",
        "UPDATE meta SET value = '6' WHERE key = 'format'",
    ),
}
"""Format -> statements that make the next one of it."""


def format_of(connection: sqlite3.Connection) -> str | None:
    """The format of a database. Raises sqlite3.Error where it is no index."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    return None if row is None else str(row[0])


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the database to FORMAT_VERSION, where there is a way; whole or not at all. Raises sqlite3.Error."""
    if format_of(connection) not in _STEPS:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been first.
        while (found := format_of(connection)) in _STEPS:
            for statement in _STEPS[found]:
                connection.execute(statement)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite may have ended it by itself, as where the disk is full
            connection.execute("ROLLBACK")
        raise
