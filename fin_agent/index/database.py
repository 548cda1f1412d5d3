"""The SQLite file under the embedded index: made whole or not at all, opened, and its faults told in words."""

from __future__ import annotations

import errno
import shutil
import sqlite3
import time
import uuid
from contextlib import closing, suppress
from functools import cache
from importlib import resources
from pathlib import Path

from fin_agent.errors import FilingIndexError
from fin_agent.index.migrating import FORMAT_VERSION as FORMAT_VERSION
from fin_agent.index.migrating import format_of, migrate
from fin_agent.written_file import free_words as free_words

_BUSY_MILLISECONDS = 30_000
_DAMAGED = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""Primary result codes of a file that is none of ours or not all of it; SQLITE_ERROR is a table that is missing."""


def connect(
    file: Path, *, damaged: bool = False, only_looking: bool = False, alone: bool = False
) -> sqlite3.Connection:
    """A connection as the index uses it: explicit transactions, WAL, rows by name. Never makes the file.

    `damaged`: where a table's description cannot be read, the other tables can be all the same. `only_looking`: nothing
    is written, and what stands in the log stays there when the connection is closed. `alone`: nobody else can read
    meanwhile; what readers share (`-shm`) needs no room on the disk then.
    """
    address = f"{file.absolute().as_uri()}?mode={'ro' if only_looking else 'rw'}"
    connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
    try:
        connection.row_factory = sqlite3.Row
        if alone:  # before anything is read
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        if damaged:
            connection.execute("PRAGMA writable_schema = ON")
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA cache_size = -65536")
    except sqlite3.Error:
        connection.close()  # or its locks stay for as long as somebody looks at the error
        raise
    return connection


def create_database(file: Path) -> None:
    """Make the database at `file`, whole at once; does nothing where there is one. Raises FilingIndexError."""
    check_fts5()
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
    """Bring the database to the format of this version where it is of an earlier one.

    Raises FilingIndexError where it is of a format that there is no way from, sqlite3.Error where it is no index.
    """
    check_length(connection, file)
    migrate(connection)
    found = format_of(connection)
    if found != FORMAT_VERSION:
        raise other_format(found, file)


def other_format(found: str | None, file: Path) -> FilingIndexError:
    """The error for an index that another version wrote."""
    return FilingIndexError(
        f"the index has format {found or 'unknown'}; this version reads format {FORMAT_VERSION}",
        subject=str(file),
        remedy="Ingest the filings again into another folder, or use the version that wrote it",
    )


def check_length(connection: sqlite3.Connection, file: Path) -> None:
    """Raises sqlite3.DatabaseError where the file is shorter than its header says: SQLite finds that out much later.

    The file itself must not be opened for that: to close it again takes from every connection of this process the locks
    it has on the file, and another process that ends then takes the log away from under them.
    """
    log = file.with_name(f"{file.name}-wal")
    connection.execute("BEGIN")
    try:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        page_size = connection.execute("PRAGMA page_size").fetchone()[0]
        if log.exists() and log.stat().st_size:
            return  # pages may still stand in the write-ahead log
        if not pages or file.stat().st_size < pages * page_size:
            error = sqlite3.DatabaseError("the file is shorter than its header says")
            error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise error
    finally:
        connection.execute("ROLLBACK")


def fault(file: Path, error: sqlite3.Error, doing: str) -> FilingIndexError:
    """What SQLite's error means for whoever was `doing` (`read`, `written`) something with the index."""
    if is_damage(error):
        return FilingIndexError(
            f"the index is damaged or was half written ({error})",
            subject=str(file),
            remedy="`fin-agent index repair` saves the filings that are whole and says which have to be read again",
        )
    if is_full(error, file):
        return full_disk(file, f"the index could not be {doing}")
    remedy = (
        "Check that the folder may be written to (reading keeps a lock beside the index) and try again;"
        " copy an index on a read-only medium first"
    )
    if doing == "written":
        remedy = "Check the free space and that no other ingest is running, then run the same command again"
    return FilingIndexError(f"the index could not be {doing} ({error})", subject=str(file), remedy=remedy)


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error says that the file is none of ours or not all of it, and not that it cannot be had just now."""
    return _code(error) in _DAMAGED or "decode to UTF-8" in str(error)


def is_full(error: OSError | sqlite3.Error, file: Path) -> bool:
    """Whether an error that came of writing beside `file` says that there is no room."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return _code(error) == sqlite3.SQLITE_FULL or (_code(error) == sqlite3.SQLITE_IOERR and _disk_is_full(file.parent))


def full_disk(file: Path, what: str) -> FilingIndexError:
    """The error for `what` could not be done, for want of room where `file` is."""
    return FilingIndexError(
        f"{what}: the disk is full",
        subject=str(file),
        remedy=f"{free_words(file.parent)} Make room and run the same command again: what was done stays done".strip(),
    )


def _disk_is_full(folder: Path) -> bool:
    """Whether not even what SQLite shares between readers (`-shm`, 32 kB) finds room: it tells that as an I/O error."""
    try:
        return shutil.disk_usage(folder).free < 2**16
    except OSError:
        return False


def _code(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", -1)) & 0xFF


def check_fts5() -> None:
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
    remove_leftovers(file)
    unfinished = unfinished_name(file)
    try:
        write_empty(unfinished)
        name_database(unfinished, file)
    finally:
        remove_database(unfinished)


def write_empty(file: Path) -> None:
    """Make an index without filings at `file`, where nothing is. Raises OSError or sqlite3.Error."""
    file.touch()
    with closing(connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(_schema())
        connection.execute("INSERT INTO meta VALUES ('format', ?)", (FORMAT_VERSION,))
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def tables_of(connection: sqlite3.Connection) -> dict[str, tuple[tuple[object, ...], ...]]:
    """Tables, views and triggers with their columns; without what SQLite and FTS5 keep for themselves."""
    names = [
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type != 'index' ORDER BY name")
        if "_fts_" not in name and not name.startswith("sqlite_")
    ]
    # Name, type, whether it may be empty, default, place in the key.
    return {
        name: tuple(tuple(column)[1:] for column in connection.execute("SELECT * FROM pragma_table_info(?)", (name,)))
        for name in names
    }


@cache
def tables_made() -> dict[str, tuple[tuple[object, ...], ...]]:
    """Those of an index as this version makes it."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(_schema())
        return tables_of(connection)


def _schema() -> str:
    return resources.files("fin_agent.index").joinpath("schema.sql").read_text(encoding="utf-8")


def unfinished_name(file: Path) -> Path:
    """A name beside `file` for what is to take its place once it is whole."""
    return file.with_name(f".{file.name}.{uuid.uuid4().hex}.new")


def leftovers(file: Path) -> list[Path]:
    """What writers that were killed left beside `file`, and none has touched for a while."""
    found = []
    for left in sorted(file.parent.glob(f".{file.name}.*.new*")):
        with suppress(FileNotFoundError):
            if time.time() - left.stat().st_mtime > _LEFT_SECONDS:
                found.append(left)
    return found


def remove_leftovers(file: Path) -> None:
    """Take them away."""
    for left in leftovers(file):
        left.unlink(missing_ok=True)


_LEFT_SECONDS = 600
"""An unfinished file that nobody wrote to for so long has no writer any more."""


def remove_database(file: Path) -> None:
    """Delete a database with what SQLite keeps beside it."""
    for ending in ("-wal", "-shm", ""):
        file.with_name(file.name + ending).unlink(missing_ok=True)


def name_database(unfinished: Path, file: Path) -> None:
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
