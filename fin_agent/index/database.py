"""The SQLite file under the embedded index: made whole or not at all, opened, and its faults told in words."""

from __future__ import annotations

import sqlite3
import uuid
from contextlib import suppress
from importlib import resources
from pathlib import Path

from fin_agent.errors import FilingIndexError

FORMAT_VERSION = "4"
_BUSY_MILLISECONDS = 30_000
_DAMAGED = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""Primary result codes of a file that is none of ours or not all of it; SQLITE_ERROR is a table that is missing."""


def connect(file: Path) -> sqlite3.Connection:
    """A connection as the index uses it: explicit transactions, WAL, rows by name. Never makes the file."""
    address = f"{file.absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    connection.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA cache_size = -65536")
    return connection


def create_database(file: Path) -> None:
    """Make the database at `file`, whole at once; does nothing where there is one. Raises FilingIndexError."""
    _check_fts5()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            _write_schema(file)
    except (OSError, sqlite3.Error) as error:
        raise FilingIndexError(
            f"no index can be made here ({_reason(error)})",
            subject=str(file.parent),
            remedy="Name a folder that may be written to with `--index`",
        ) from error


def check_format(connection: sqlite3.Connection, file: Path) -> None:
    """Raises FilingIndexError where the database is of another format; sqlite3.Error where it is no index at all."""
    _check_length(file)
    row = connection.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    if row is None or row[0] != FORMAT_VERSION:
        raise FilingIndexError(
            f"the index has format {row[0] if row else 'unknown'}; this version reads format {FORMAT_VERSION}",
            subject=str(file),
            remedy="Ingest the filings again into another folder, or use the version that wrote it",
        )


def _check_length(file: Path) -> None:
    """Raises sqlite3.DatabaseError where the file is shorter than its header says: SQLite finds that out much later."""
    with file.open("rb") as opened:
        header = opened.read(_HEADER_BYTES)
    log = file.with_name(f"{file.name}-wal")
    if len(header) < _HEADER_BYTES or (log.exists() and log.stat().st_size):
        return  # what is not a database is told by opening it; pages may still stand in the write-ahead log
    page_size = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big")
    if file.stat().st_size < (65_536 if page_size == 1 else page_size) * pages:
        error = sqlite3.DatabaseError("the file is shorter than its header says")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error


_HEADER_BYTES = 100
"""SQLite file format, 1.3: page size at byte 16, length in pages at byte 28."""


def fault(file: Path, error: sqlite3.Error, doing: str) -> FilingIndexError:
    """What SQLite's error means for whoever was `doing` (`read`, `written`) something with the index."""
    if getattr(error, "sqlite_errorcode", -1) & 0xFF in _DAMAGED:
        return FilingIndexError(
            f"the index is damaged or was half written ({error})",
            subject=str(file),
            remedy="Delete this file and ingest the filings again",
        )
    remedy = "Check that the folder may be written to (reading keeps a lock beside the index) and try again"
    if doing == "written":
        remedy = "Check the free space and that no other ingest is running, then run the same command again"
    return FilingIndexError(f"the index could not be {doing} ({error})", subject=str(file), remedy=remedy)


def _check_fts5() -> None:
    connection = sqlite3.connect(":memory:")
    options = {row[0] for row in connection.execute("PRAGMA compile_options")}
    connection.close()
    if "ENABLE_FTS5" not in options:
        raise FilingIndexError(
            "this Python's SQLite has no full-text search (FTS5)",
            remedy="Use a Python whose sqlite3 is compiled with FTS5: those of python.org and of Debian are",
        )


def _write_schema(file: Path) -> None:
    """Write the schema under another name first: an index that exists is a whole one."""
    schema = resources.files("fin_agent.index").joinpath("schema.sql").read_text(encoding="utf-8")
    unfinished = file.with_name(f".{file.name}.{uuid.uuid4().hex}.new")
    unfinished.touch()
    try:
        connection = connect(unfinished)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(schema)
            connection.execute("INSERT INTO meta VALUES ('format', ?)", (FORMAT_VERSION,))
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()
        _name(unfinished, file)
    finally:
        unfinished.unlink(missing_ok=True)


def _name(unfinished: Path, file: Path) -> None:
    """Give the file its name, unless another process was first: what that one wrote since must not be replaced."""
    with suppress(FileExistsError):
        try:
            file.hardlink_to(unfinished)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            if not file.exists():
                unfinished.replace(file)


def _reason(error: OSError | sqlite3.Error) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
