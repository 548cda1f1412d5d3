"""The SQLite file that holds runs: made, opened, and its faults told in words."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fin_agent.errors import FinAgentError

FORMAT_VERSION = 1
_APPLICATION = 0x46415255
"""Marks the file as ours (SQLite file format, 1.3.14)."""
_BUSY_MILLISECONDS = 5_000
_DAMAGED = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_SCHEMA = """
CREATE TABLE runs (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  started TEXT NOT NULL,
  question TEXT NOT NULL,
  question_id TEXT,
  strategy TEXT NOT NULL,
  refused INTEGER NOT NULL,
  value REAL,
  unit TEXT,
  said TEXT NOT NULL,
  rounds INTEGER NOT NULL,
  seconds REAL NOT NULL,
  bytes INTEGER NOT NULL
);
CREATE TABLE contents (
  number INTEGER PRIMARY KEY REFERENCES runs (number) ON DELETE CASCADE,
  packed BLOB NOT NULL
);
"""
"""What a list shows stands apart from the runs themselves, which are big; `packed` is JSON, deflated."""


class RunStoreError(FinAgentError):
    """The recorded runs cannot be read or written, or the run named is not among them."""


def connect(file: Path, *, make: bool) -> sqlite3.Connection:
    """The runs in `file`, which is made where `make` allows it. Raises RunStoreError."""
    connection: sqlite3.Connection | None = None
    try:
        if make:
            file.parent.mkdir(parents=True, exist_ok=True)
        address = f"{file.absolute().as_uri()}?{_way_in(file, make)}"
        connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
        connection.row_factory = sqlite3.Row
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")  # a run that is forgotten is gone from the disk
        _check(connection, file)
    except (OSError, sqlite3.Error, RunStoreError) as error:
        if connection is not None:
            connection.close()
        if isinstance(error, RunStoreError):
            raise
        raise fault(file, error) from error
    return connection


def _way_in(file: Path, make: bool) -> str:
    """Where the folder is only to be read, SQLite can make no lock: it is told that nobody writes."""
    if make:
        return "mode=rwc"
    log = file.with_name(f"{file.name}-wal")
    return "mode=rw" if os.access(file.parent, os.W_OK) or log.exists() else "mode=ro&immutable=1"


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """One write transaction: all of it, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def fault(file: Path, error: OSError | sqlite3.Error) -> RunStoreError:
    """What an error of the file or of SQLite means, and what to do."""
    if isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", -1) & 0xFF in _DAMAGED:
        return RunStoreError(
            f"this file of recorded runs is damaged or is something else ({error})",
            subject=str(file),
            remedy="Move it away: the next question makes a new one. Answers and the index do not depend on it",
        )
    reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    return RunStoreError(
        f"the recorded runs cannot be opened or written ({reason})",
        subject=str(file),
        remedy="Name a file that can be written with FIN_AGENT_RUNS, or record nothing with FIN_AGENT_RECORD=0",
    )


def _check(connection: sqlite3.Connection, file: Path) -> None:
    """Make the tables in an empty file. Raises RunStoreError where it is not ours or of another version."""
    if _is_empty(connection):
        # Other bytes than these shrink the file when runs go; it has to be said before the first table is made.
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        with writing(connection):
            if _is_empty(connection):
                for statement in _SCHEMA.split(";\n"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
        _log_ahead(connection)
    if _number(connection, "application_id") != _APPLICATION:
        raise RunStoreError(
            "this is a database of something else, not of recorded runs",
            subject=str(file),
            remedy="Name another file with FIN_AGENT_RUNS, or move this one away",
        )
    found = _number(connection, "user_version")
    if found != FORMAT_VERSION:
        raise RunStoreError(
            f"these runs were recorded in format {found}; this version reads format {FORMAT_VERSION}",
            subject=str(file),
            remedy="Move the file away, or read it with the version that wrote it",
        )


def _log_ahead(connection: sqlite3.Connection) -> None:
    """Readers and a writer do not wait for each other. A file that is in use right now gets it the next time."""
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise


def _is_empty(connection: sqlite3.Connection) -> bool:
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return not tables and _number(connection, "application_id") == 0


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])
