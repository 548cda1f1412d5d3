"""What every file given to `ingest` came to: kept in the index, written in one transaction with the filing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from fin_agent.filings.reader import doc_id_of
from fin_agent.index.rows import reader_fingerprint
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.index.stored_filing import StoredFiling, delete_filing, insert_filing, update_source


class FileState(StrEnum):
    """What is known of a file."""

    WAITING = "waiting"
    """An ingest has still to read it, or was ended before it did."""
    DONE = "done"
    FAILED = "failed"
    DAMAGED = "damaged"
    """Its filing was damaged in the index and has been taken out."""


@dataclass(frozen=True, slots=True)
class FileStamp:
    """A file as it was when it was looked at."""

    path: Path
    doc_id: str
    size: int
    modified_ns: int
    content_hash: str
    """Empty where it could not be read."""

    @classmethod
    def of(cls, path: Path, content_hash: str) -> FileStamp:
        """The stamp of the file at `path`."""
        status = path.stat()
        return cls(path, doc_id_of(path), status.st_size, status.st_mtime_ns, content_hash)


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A file that is not in the index as it should be, why, and what to do."""

    path: Path
    doc_id: str
    state: FileState
    reason: str
    remedy: str

    @property
    def is_missing(self) -> bool:
        """Whether the file is no longer there."""
        return not self.path.is_file()


class Manifest:
    """The files an index was made from, as they were when this was opened."""

    def __init__(self, index: SqliteIndex) -> None:
        self._index = index
        with index.reading() as connection:
            found = connection.execute("SELECT * FROM ingested_files").fetchall()
            present = connection.execute("SELECT doc_id, content_hash, reader_version FROM filings").fetchall()
        self._present = {row["doc_id"]: (row["content_hash"], row["reader_version"]) for row in present}
        self._rows: dict[str, sqlite3.Row] = {row["path"]: row for row in found}

    def known_hash(self, path: Path) -> str:
        """Content hash at the last ingest, where size and time are still those; else empty."""
        row, status = self._rows.get(_key(path)), path.stat()
        same = row is not None and (row["size"], row["modified_ns"]) == (status.st_size, status.st_mtime_ns)
        return str(row["content_hash"]) if row is not None and same else ""

    def is_done(self, stamp: FileStamp) -> bool:
        """Whether this content was read by this version and is in the index, wherever the file was then."""
        return self._present.get(stamp.doc_id) == (stamp.content_hash, reader_fingerprint())

    def current(self) -> dict[str, str]:
        """The content hash of each filing that this version has read."""
        return {
            doc_id: content for doc_id, (content, reader) in self._present.items() if reader == reader_fingerprint()
        }

    def record_location(self, stamp: FileStamp) -> None:
        """Keep where the file is now and its time, so that the next run need not read it to see that it is the same."""
        row = self._rows.get(_key(stamp.path))
        if row is not None and tuple(row) == _row(stamp, FileState.DONE):
            return
        with self._index.writing() as connection:
            update_source(connection, stamp.doc_id, _key(stamp.path))
            _record(connection, stamp, FileState.DONE)

    def other_owner(self, stamp: FileStamp) -> Path | None:
        """Another file, still there and with other content, that this doc_id was ingested from."""
        for row in self._rows.values():
            if row["doc_id"] == stamp.doc_id and row["state"] == FileState.DONE and row["path"] != _key(stamp.path):
                other = Path(row["path"])
                if row["content_hash"] != stamp.content_hash and other.is_file():
                    return other
        return None

    def record_pending(self, stamps: Iterable[FileStamp]) -> None:
        """Keep which files are about to be read: what an ingest that is ended leaves is known."""
        with self._index.writing() as connection:
            for stamp in stamps:
                _record(connection, stamp, FileState.WAITING, "it was not read yet: the ingest ended before", RETRY)

    def add(self, stamp: FileStamp, stored: StoredFiling) -> None:
        """Write the filing and the file's entry in one transaction."""
        with self._index.writing() as connection:
            delete_filing(connection, stored.doc_id)
            insert_filing(connection, stored)
            _record(connection, stamp, FileState.DONE)

    def record_failure(self, stamp: FileStamp, reason: str, remedy: str) -> None:
        """Keep why the file could not be read. A filing read from it before stays in the index."""
        with self._index.writing() as connection:
            _record(connection, stamp, FileState.FAILED, reason, remedy)

    def record_copy(self, stamp: FileStamp) -> None:
        """Another file of this content is in the index: nothing of this one is left to be read."""
        with self._index.writing() as connection:
            connection.execute(
                "DELETE FROM ingested_files WHERE path = ? AND state != ?", (_key(stamp.path), FileState.DONE)
            )

    def unread(self) -> list[UnreadFile]:
        """Files that failed, wait to be read or lost their filing, by path."""
        return [unread_file(row) for _, row in sorted(self._rows.items()) if row["state"] != FileState.DONE]

    def forget(self, paths: Iterable[Path]) -> int:
        """Take files off the manifest; their filings stay. Returns how many were on it."""
        with self._index.writing() as connection:
            return sum(
                connection.execute("DELETE FROM ingested_files WHERE path = ?", (str(path),)).rowcount for path in paths
            )


RETRY = "Run `fin-agent ingest --retry-failed`"


def unread_file(row: sqlite3.Row) -> UnreadFile:
    """A row of `ingested_files` that is not done."""
    path = Path(row["path"])
    reason, remedy = row["failure"] or "no reason is known", row["remedy"] or RETRY
    if not path.is_file():
        remedy = "The file is gone: ingest it from where it is now, or take it off this list with"
        remedy += " `fin-agent index failures --forget-gone`"
    return UnreadFile(path, row["doc_id"], FileState(row["state"]), reason, remedy)


def _record(
    connection: sqlite3.Connection, stamp: FileStamp, state: FileState, failure: str | None = None, remedy: str = ""
) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO ingested_files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", _row(stamp, state, failure, remedy)
    )


def _row(
    stamp: FileStamp, state: FileState, failure: str | None = None, remedy: str = ""
) -> tuple[str | int | None, ...]:
    return (
        _key(stamp.path),
        stamp.doc_id,
        stamp.size,
        stamp.modified_ns,
        stamp.content_hash,
        reader_fingerprint(),
        failure,
        remedy or None,
        state.value,
    )


def _key(path: Path) -> str:
    return str(path.resolve())
