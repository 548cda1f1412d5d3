"""What every file given to `ingest` came to: kept in the index, written in one transaction with the filing."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fin_agent.filings.reader import doc_id_of
from fin_agent.index.read_by import read_by
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.index.writing import delete_filing, insert_filing
from fin_agent.vocabulary.filing import Filing


@dataclass(frozen=True, slots=True)
class FileStamp:
    """A file as it was when it was looked at."""

    path: Path
    doc_id: str
    size: int
    modified_ns: int
    content_hash: str

    @classmethod
    def of(cls, path: Path, content_hash: str) -> FileStamp:
        """The stamp of the file at `path`."""
        status = path.stat()
        return cls(path, doc_id_of(path), status.st_size, status.st_mtime_ns, content_hash)


class Manifest:
    """The files an index was made from."""

    def __init__(self, index: SqliteIndex) -> None:
        self._index = index
        with index.reading() as connection:
            found = connection.execute("SELECT * FROM ingested_files").fetchall()
            present = connection.execute("SELECT doc_id, content_hash, reader_version FROM filings").fetchall()
        self._present = {row["doc_id"]: (row["content_hash"], row["reader_version"]) for row in present}
        self._rows: dict[str, sqlite3.Row] = {row["path"]: row for row in found}

    def unchanged(self, path: Path) -> bool:
        """Whether size and time are those of the last ingest: then the content need not be hashed again."""
        row = self._rows.get(_key(path))
        status = path.stat()
        return row is not None and (row["size"], row["modified_ns"]) == (status.st_size, status.st_mtime_ns)

    def hash_of(self, path: Path) -> str:
        """Content hash at the last ingest."""
        return str(self._rows[_key(path)]["content_hash"])

    def is_done(self, stamp: FileStamp) -> bool:
        """Whether this content was read by this version and is in the index, wherever the file was then."""
        return self._present.get(stamp.doc_id) == (stamp.content_hash, read_by())

    def seen(self, stamp: FileStamp) -> None:
        """Keep where the file is now and its time, so that the next run need not read it to see that it is the same."""
        row = self._rows.get(_key(stamp.path))
        if row is not None and tuple(row) == _row(stamp, None, None):
            return
        with self._index.writing() as connection:
            connection.execute("UPDATE filings SET source = ? WHERE doc_id = ?", (_key(stamp.path), stamp.doc_id))
            _record(connection, stamp, None, None)

    def other_owner(self, stamp: FileStamp) -> Path | None:
        """Another file, still there and with other content, that this doc_id was ingested from."""
        for row in self._rows.values():
            if row["doc_id"] == stamp.doc_id and row["failure"] is None and row["path"] != _key(stamp.path):
                other = Path(row["path"])
                if row["content_hash"] != stamp.content_hash and other.is_file():
                    return other
        return None

    def add(self, stamp: FileStamp, filing: Filing, cards: Sequence[str], summary: str) -> None:
        """Write the filing and the file's entry in one transaction."""
        with self._index.writing() as connection:
            delete_filing(connection, filing.doc_id)
            insert_filing(connection, filing, cards, summary)
            _record(connection, stamp, None, None)

    def failed(self, stamp: FileStamp, reason: str, remedy: str) -> None:
        """Keep why the file could not be read. A filing read from it before stays in the index."""
        with self._index.writing() as connection:
            _record(connection, stamp, reason, remedy)


def _record(connection: sqlite3.Connection, stamp: FileStamp, failure: str | None, remedy: str | None) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO ingested_files VALUES (?, ?, ?, ?, ?, ?, ?, ?)", _row(stamp, failure, remedy)
    )


def _row(stamp: FileStamp, failure: str | None, remedy: str | None) -> tuple[str | int | None, ...]:
    return (
        _key(stamp.path),
        stamp.doc_id,
        stamp.size,
        stamp.modified_ns,
        stamp.content_hash,
        read_by(),
        failure,
        remedy,
    )


def _key(path: Path) -> str:
    return str(path.resolve())
