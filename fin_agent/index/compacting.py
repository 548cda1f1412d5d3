"""An index made as small as what it holds."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from fin_agent.index.database import check_format, check_space, check_there, connect, fault, remove_leftovers
from fin_agent.index.ingest_lock import ingest_lock
from fin_agent.index.sqlite import FILE_NAME
from fin_agent.index.stored_filing import FULL_TEXT

_READERS_MILLISECONDS = 2_000
"""How long readers of the state before are waited for: without them the file could shrink at once."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """Bytes on disk before and after."""

    before: int
    after: int
    read_meanwhile: bool
    """Somebody still reads the old state: the file shrinks when the last one ends."""


def compact(folder: Path | str, *, wait: float = 0.0) -> Compacted:
    """Give back the room of what was removed or replaced, and join the parts of the full-text tables.

    Safe to be ended at any instant, and while others read. Raises FilingIndexError where there is no index, where
    another command writes to it, or where there is no room for a second copy.
    """
    folder = Path(folder)
    file = folder / FILE_NAME
    check_there(file)
    with ingest_lock(folder, wait=wait):
        remove_leftovers(file)
        try:
            with closing(connect(file)) as connection:
                check_format(connection, file)
                before = _bytes(file)
                # The copy is made in the folder of temporary files, then goes through the log beside the index.
                check_space(folder, 2 * before, "to write the index anew")
                check_space(_temporary(), before, "for a copy of the index")
                for table in FULL_TEXT:
                    connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")
                connection.execute("VACUUM")
                connection.execute(f"PRAGMA busy_timeout = {_READERS_MILLISECONDS}")
                busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        except sqlite3.Error as error:
            raise fault(file, error, "written") from error
        return Compacted(before, _bytes(file), bool(busy))


def _temporary() -> Path:
    """Where SQLite puts the copy: by the order that it documents for itself."""
    named = (os.environ.get(name) for name in ("SQLITE_TMPDIR", "TMPDIR"))
    for folder in (*named, "/var/tmp", "/usr/tmp", "/tmp"):
        if folder and Path(folder).is_dir() and os.access(folder, os.W_OK | os.X_OK):
            return Path(folder)
    return Path(tempfile.gettempdir())


def _bytes(file: Path) -> int:
    log = file.with_name(f"{file.name}-wal")
    return file.stat().st_size + (log.stat().st_size if log.exists() else 0)
