"""The SQLite file under an index, opened: a connection for each thread, transactions, and what was read once."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Generic, TypeVar

from fin_agent.errors import FilingIndexError
from fin_agent.index.database import check_format, connect, fault
from fin_agent.index.rows import SqlValue

T = TypeVar("T")


class OpenedFile:
    """An index's file. Safe to share between threads: each gets a connection of its own."""

    def __init__(self, file: Path) -> None:
        """Open the file of an index that exists.

        Raises FilingIndexError where there is none, or where it was half written, is damaged or of another version.
        """
        self.file = file
        self._local = threading.local()
        self._connections: list[tuple[threading.Thread, sqlite3.Connection]] = []
        self._guard = threading.Lock()
        if not file.is_file():
            raise FilingIndexError(
                "there is no index here", subject=str(file.parent), remedy="Make one with `fin-agent ingest PATH...`"
            )
        try:
            with self.reading() as connection:
                check_format(connection, file)
        except FilingIndexError:
            self.close()
            raise

    def close(self) -> None:
        """Close every thread's connection."""
        with self._guard:
            for _, connection in self._connections:
                connection.close()
            self._connections.clear()
            self._local = threading.local()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """This thread's connection, for reads that the protocol does not name."""
        try:
            yield self._connection
        except sqlite3.Error as error:
            raise fault(self.file, error, "read") from error

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Several reads of one state: what others write meanwhile is not seen."""
        with self.reading() as connection:
            if connection.in_transaction:
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")

    def one_state(self) -> AbstractContextManager[object]:
        """See HoldsStill."""
        return self.snapshot()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One write transaction: everything inside becomes visible at once, or nothing does."""
        connection: sqlite3.Connection | None = None
        try:
            connection = self._connection
            connection.execute("BEGIN IMMEDIATE")
            self._local.writing = True
            yield connection
            connection.execute("COMMIT")
        except BaseException as error:
            if connection is not None and connection.in_transaction:
                connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise fault(self.file, error, "written") from error
            raise
        finally:
            self._local.writing = False

    @property
    def is_writing(self) -> bool:
        """Whether this thread is inside a write transaction."""
        return bool(getattr(self._local, "writing", False))

    def _read(self, statement: str, values: Sequence[SqlValue] = ()) -> list[sqlite3.Row]:
        with self.reading() as connection:
            return connection.execute(statement, values).fetchall()

    @property
    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = connect(self.file)
            self._local.connection = connection
            with self._guard:
                for thread, left in self._connections:
                    if not thread.is_alive():
                        left.close()
                self._connections = [kept for kept in self._connections if kept[0].is_alive()]
                self._connections.append((threading.current_thread(), connection))
        return connection


class ReadOnce(Generic[T]):
    """What `read` gives, read once and the same object in every thread, until it is another."""

    def __init__(self, opened: OpenedFile, read: Callable[[sqlite3.Connection], T], empty: T) -> None:
        self._opened = opened
        self._read = read
        self._shared = empty
        self._guard = threading.Lock()
        self._local = threading.local()

    def value(self) -> T:
        """As it is now."""
        with self._opened.reading() as connection:
            version = (connection.execute("PRAGMA data_version").fetchone()[0], connection.total_changes)
            kept: tuple[sqlite3.Connection, tuple[int, int], T] | None = getattr(self._local, "kept", None)
            if kept is not None and kept[0] is connection and kept[1] == version:
                return kept[2]
            found = self._read(connection)
            if self._opened.is_writing:  # what is not committed may never be
                return found
        with self._guard:
            if found != self._shared:
                self._shared = found
            self._local.kept = (connection, version, self._shared)
            return self._shared
