"""The SQLite file of the embedded index: create, open, read and write it, and report its errors."""

from __future__ import annotations

import errno
import shutil
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from importlib import resources
from itertools import count
from pathlib import Path

from fin_agent.errors import FilingIndexError

FORMAT_VERSION = "7"
PAGE_BYTES = 65_536
"""SQLite's largest page size: the root of a table at the start of the file then leads to its rows without pages in
between, up to about 400 MB of them. If such a page were at the end of a truncated file, half of the table would be
lost."""
_PAGES_OF_LOG = 256
"""Pages in the log before they are written to the file: up to 16 MB."""
_BUSY_MILLISECONDS = 30_000
_DAMAGED = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""Primary result codes of a file that is foreign or incomplete; SQLITE_ERROR means a missing table."""


@contextmanager
def transaction(connection: sqlite3.Connection, begin: str = "BEGIN IMMEDIATE") -> Iterator[sqlite3.Connection]:
    """Run all statements inside or none; with `begin` BEGIN, reads see one state."""
    connection.execute(begin)
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite may have ended it by itself, as where the disk is full
            connection.execute("ROLLBACK")
        raise


def connect(file: Path, *, damaged: bool = False) -> sqlite3.Connection:
    """Return a connection with the settings of the index: explicit transactions, a bounded log.

    It never creates the file. With `damaged`, tables can be read although the description of another cannot, or the
    file is too short; what cannot be read at all is told at once.
    """
    address = f"{file.absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
    try:
        if damaged:
            connection.execute("PRAGMA writable_schema = ON")
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA cache_size = -65536")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_PAGES_OF_LOG}")
        if damaged:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()  # otherwise its locks remain as long as the error is referenced
        raise
    except UnicodeDecodeError:  # of SQLite's own message, which quotes what the schema holds
        connection.close()
        raise _DamageError("malformed database schema") from None
    return connection


def create_database(file: Path) -> None:
    """Create the database at `file` atomically, unless it exists. Raises FilingIndexError."""
    new = file.with_name(f".{file.name}.{uuid.uuid4().hex}.new")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists():
            return
        write_empty_index(new)
        try:
            file.hardlink_to(new)
        except OSError:  # another process was first, or the file system has no hard links
            if not file.exists():
                new.replace(file)
    except (OSError, sqlite3.Error) as error:
        raise FilingIndexError(
            f"no index can be made here ({getattr(error, 'strerror', None) or error})",
            subject=str(file.parent),
            remedy="Name a folder that may be written to with `--index`",
        ) from error
    finally:
        with suppress(OSError):
            delete_database(new)


def write_empty_index(file: Path, page_bytes: int = PAGE_BYTES) -> None:
    """Write an index without filings to a new file."""
    file.touch()
    with closing(connect(file)) as connection:
        connection.execute(f"PRAGMA page_size = {page_bytes}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(schema())
        connection.execute("INSERT INTO meta VALUES ('format', ?)", (FORMAT_VERSION,))
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def delete_database(file: Path) -> None:
    """Delete a database with its log, as far as they exist."""
    for ending in ("-wal", "-shm", ""):
        file.with_name(file.name + ending).unlink(missing_ok=True)


def require_file(file: Path) -> None:
    """Raise FilingIndexError where there is no file."""
    if not file.is_file():
        raise FilingIndexError(
            "there is no index here", subject=str(file.parent), remedy="Make one with `fin-agent ingest PATH...`"
        )


def check_format(connection: sqlite3.Connection, file: Path) -> None:
    """Raise FilingIndexError for an index of another format, sqlite3.Error where it is damaged or foreign."""
    check_length(connection, file)
    row = connection.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    if row is None or row[0] != FORMAT_VERSION:
        raise FilingIndexError(
            f"the index has format {row[0] if row else 'unknown'}; this version reads format {FORMAT_VERSION}",
            subject=str(file),
            remedy=f"`fin-agent ingest --again` reads the {len(_known_files(file)):,} files again that it knows, and"
            " keeps what is there beside",
        )


def _known_files(file: Path) -> list[Path]:
    """Return the files that an index of any version was read from; empty where that is unknown."""
    with suppress(sqlite3.Error), closing(connect(file)) as connection:
        return [Path(path) for (path,) in connection.execute("SELECT path FROM ingested_files ORDER BY path")]
    return []


def rename_outdated(file: Path) -> list[Path]:
    """Rename an outdated index file, and return the files to be read again."""
    files = _known_files(file)
    with suppress(sqlite3.Error), closing(connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # the log keeps its name
    if files:
        names = (file.with_name(f"{file.name}.before-{number}") for number in count(1))
        file.rename(next(name for name in names if not name.exists()))
    return files


def check_length(connection: sqlite3.Connection, file: Path) -> None:
    """Raise sqlite3.DatabaseError where the file is shorter than its header says, which SQLite finds out much later.

    The file must not be opened for that: closing it again releases all locks of this process on the file, and another
    process that ends could then remove the log that is in use.
    """
    log = file.with_name(f"{file.name}-wal")
    with transaction(connection, "BEGIN"):
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        page_size = connection.execute("PRAGMA page_size").fetchone()[0]
        is_short = not pages or file.stat().st_size < pages * page_size
        if is_short and not (log.exists() and log.stat().st_size):  # pages may still stand in the write-ahead log
            raise _DamageError("the file is shorter than its header says")


class _DamageError(sqlite3.DatabaseError):
    """Damage that SQLite itself does not report as such."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


def sqlite_error(file: Path, error: sqlite3.Error, doing: str) -> FilingIndexError:
    """Return the error to report for SQLite's error, for a caller that was `doing` (`read`, `written`) something."""
    if is_damage(error):
        return damaged_error(file, str(error))
    remedy = "Check that the folder may be written to (reading keeps a lock there); copy a read-only index first"
    if is_full(error, file):
        remedy = "Make room and run the same command again: what was done stays done"
    elif doing == "written":
        remedy = "Check the free space and that no other ingest is running, then run the same command again"
    return FilingIndexError(f"the index could not be {doing} ({error})", subject=str(file), remedy=remedy)


def damaged_error(file: Path, why: str) -> FilingIndexError:
    """Return the error for an index that differs from what was written."""
    return FilingIndexError(
        f"the index is damaged or incomplete ({why})",
        subject=str(file),
        remedy="`fin-agent index repair` saves the intact filings and lists those to be read again",
    )


@contextmanager
def reading_damaged() -> Iterator[list[str]]:
    """End the block where a damaged file cannot be read on, and put the reason into the list; raise other errors."""
    why: list[str] = []
    try:
        yield why
    except (sqlite3.Error, TypeError, ValueError) as error:  # a damaged file yields values never written
        if isinstance(error, sqlite3.Error) and not is_damage(error):
            raise
        why.append(str(error))


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether an error means a damaged or foreign file, rather than one that is unavailable now."""
    return _code(error) in _DAMAGED or "decode to UTF-8" in str(error)


def is_full(error: OSError | sqlite3.Error, file: Path) -> bool:
    """Return whether an error while writing next to `file` means that the disk is full."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    if _code(error) != sqlite3.SQLITE_IOERR:
        return _code(error) == sqlite3.SQLITE_FULL
    with suppress(OSError):  # not even SQLite's shared file (`-shm`, 32 kB) has room, which it reports so
        return shutil.disk_usage(file.parent).free < 2**16
    return False


def _code(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", -1)) & 0xFF


def schema() -> str:
    """Return the statements that create an empty index."""
    return resources.files("fin_agent.index").joinpath("schema.sql").read_text(encoding="utf-8")
