"""The manifest: the state of every file given to `ingest`, stored in the index with the filing in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from fin_agent.filings.reader import doc_id_of
from fin_agent.index.rows import reader_fingerprint
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.index.stored_filing import StoredFiling, insert_filing, update_source

RETRY = "Run `fin-agent ingest --retry-failed`"


class FileState(StrEnum):
    """The state of a file."""

    WAITING = "waiting"
    """Not read yet; an ingest is running or ended before reading it."""
    DONE = "done"
    FAILED = "failed"
    DAMAGED = "damaged"
    """Its filing was damaged in the index and has been removed."""


@dataclass(frozen=True, slots=True)
class FileStamp:
    """The properties of a file when it was last checked."""

    path: Path
    doc_id: str
    size: int
    modified_ns: int
    content_hash: str
    """Empty if the file could not be read."""

    @classmethod
    def of(cls, path: Path, content_hash: str) -> FileStamp:
        """Return the stamp of the file at `path`."""
        status = path.stat()
        return cls(path, doc_id_of(path), status.st_size, status.st_mtime_ns, content_hash)

    @property
    def key(self) -> str:
        """The path under which the manifest knows the file."""
        return str(self.path.resolve())


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A file whose filing is missing or outdated in the index, with the reason and a remedy."""

    path: Path
    doc_id: str
    state: FileState
    reason: str
    remedy: str

    @property
    def is_missing(self) -> bool:
        """Whether the file no longer exists."""
        return not self.path.is_file()


class Manifest:
    """The files that an index was made from, as recorded when this object was created."""

    def __init__(self, index: SqliteIndex) -> None:
        self._index = index
        with index.reading() as connection:
            present = connection.execute("SELECT doc_id, content_hash, reader_version FROM filings")
            self._present = {doc_id: (content, reader) for doc_id, content, reader in present}
            files = connection.cursor()
            files.row_factory = sqlite3.Row
            self._rows: dict[str, sqlite3.Row] = {
                row["path"]: row for row in files.execute("SELECT * FROM ingested_files")
            }

    def known_hash(self, path: Path) -> str:
        """Return the content hash at the last ingest if size and time are unchanged, otherwise an empty text."""
        row, status = self._rows.get(str(path.resolve())), path.stat()
        same = row is not None and (row["size"], row["modified_ns"]) == (status.st_size, status.st_mtime_ns)
        return str(row["content_hash"]) if row is not None and same else ""

    def is_done(self, stamp: FileStamp) -> bool:
        """Return whether this version has read this content into the index, from whatever path."""
        return self._present.get(stamp.doc_id) == (stamp.content_hash, reader_fingerprint())

    def current(self) -> dict[str, str]:
        """Return the content hash of each filing that this version has read."""
        now = reader_fingerprint()
        return {doc_id: content for doc_id, (content, reader) in self._present.items() if reader == now}

    def other_owner(self, stamp: FileStamp) -> Path | None:
        """Return another existing file with other content that has this doc_id in the index."""
        done = (row for row in self._rows.values() if row["doc_id"] == stamp.doc_id and row["state"] == FileState.DONE)
        others = (row for row in done if row["path"] != stamp.key and row["content_hash"] != stamp.content_hash)
        return next((path for row in others if (path := Path(row["path"])).is_file()), None)

    def unread(self) -> list[UnreadFile]:
        """Return the files that failed, are waiting or lost their filing, by path."""
        return [_unread_file(row) for _, row in sorted(self._rows.items()) if row["state"] != FileState.DONE]

    def add(self, stamp: FileStamp, stored: StoredFiling) -> None:
        """Write the filing and the file's entry in one transaction."""
        with self._index.writing() as connection:
            insert_filing(connection, stored)
            _record(connection, stamp, FileState.DONE)

    def record_location(self, stamp: FileStamp) -> None:
        """Record the current path and time of the file, so that the next run need not read it."""
        row = self._rows.get(stamp.key)
        if row is None or tuple(row) != _row(stamp, FileState.DONE):
            with self._index.writing() as connection:
                update_source(connection, stamp.doc_id, stamp.key)
                _record(connection, stamp, FileState.DONE)

    def record_unread(self, stamps: Iterable[FileStamp], state: FileState, reason: str, remedy: str = RETRY) -> None:
        """Record files that are waiting or failed, and why. Filings read from them earlier stay in the index."""
        with self._index.writing() as connection:
            for stamp in stamps:
                _record(connection, stamp, state, reason, remedy)

    def forget(self, paths: Iterable[Path]) -> int:
        """Remove files that are not in the index from the manifest; return how many were removed."""
        entry = "DELETE FROM ingested_files WHERE path = ? AND state != 'done'"
        with self._index.writing() as connection:
            return sum(connection.execute(entry, (str(path),)).rowcount for path in paths)


def _unread_file(row: sqlite3.Row) -> UnreadFile:
    path = Path(row["path"])
    reason, remedy = row["failure"] or "no reason is known", row["remedy"] or RETRY
    if not path.is_file():
        remedy = "The file is gone: ingest it from where it is now, or take it off this list with"
        remedy += " `fin-agent index failures --forget-gone`"
    return UnreadFile(path, row["doc_id"], FileState(row["state"]), reason, remedy)


def _record(connection: sqlite3.Connection, stamp: FileStamp, *became: str) -> None:
    row = _row(stamp, *became)
    connection.execute("INSERT OR REPLACE INTO ingested_files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)


def _row(stamp: FileStamp, state: str, failure: str | None = None, remedy: str = "") -> tuple[str | int | None, ...]:
    file = (stamp.key, stamp.doc_id, stamp.size, stamp.modified_ns, stamp.content_hash)
    return (*file, reader_fingerprint(), failure, remedy or None, str(state))
