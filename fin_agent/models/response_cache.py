"""Replies kept, so that a batch that was interrupted pays for none of them twice."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from types import TracebackType

from pydantic import BaseModel, ConfigDict, ValidationError

from fin_agent.models.call import Call, Finish, OutputT
from fin_agent.models.schemas import schema_text
from fin_agent.models.usage import Usage

FORMAT_VERSION = 1
_APPLICATION = 0x46414D52
"""Marks the file as ours (SQLite file format, 1.3.14)."""
_BUSY_MILLISECONDS = 10_000
_MEGABYTE = 1_000_000
_EVICTED_A_TIME = 64
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_SCHEMA = """
CREATE TABLE replies (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE,
  reply TEXT NOT NULL,
  bytes INTEGER NOT NULL
) STRICT
"""
_LOG = logging.getLogger(__name__)


class KeptReply(BaseModel):
    """What is kept of a reply that was good."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    usage: Usage
    model: str
    finish: Finish


class ResponseCache:
    """Replies in one SQLite file, bounded in size. Several threads and several processes may use it at once.

    It never stands in the way: a file that is damaged is renamed and a new one begun, one that is locked or cannot be
    written is passed over, each with a warning in the log. Holds neither prompts nor keys, but replies as they came.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, ResponseCache(Path(folder) / "replies.sqlite") as cache:
    ...     cache.get("a key") is None
    True
    """

    def __init__(self, file: Path, *, megabytes: int = 200) -> None:
        """Nothing is opened yet. The oldest replies go where all together take more than `megabytes`."""
        self.file = file
        self._most = megabytes * _MEGABYTE
        self._guard = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._process = os.getpid()
        self._given_up = False

    def __enter__(self) -> ResponseCache:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; the next use opens it anew."""
        with self._guard:
            self._close()

    def get(self, key: str) -> KeptReply | None:
        """The reply kept under a key of `cache_key`; None where there is none."""
        with self._guard:
            rows = self._run("SELECT reply FROM replies WHERE key = ?", (key,))
        if not rows:
            return None
        try:
            return KeptReply.model_validate_json(str(rows[0][0]))
        except ValidationError:
            _LOG.warning("A kept reply in %s cannot be read and is asked for anew", self.file)
            return None

    def put(self, key: str, reply: KeptReply) -> None:
        """Keep a reply, in place of another under this key, and let the oldest go where there are too many."""
        text = reply.model_dump_json()
        size = len(text.encode())
        if size > self._most:
            return
        with self._guard:
            self._run("INSERT OR REPLACE INTO replies (key, reply, bytes) VALUES (?, ?, ?)", (key, text, size))
            while (held := self._held()) is not None and held > self._most:
                self._run(
                    "DELETE FROM replies WHERE number IN (SELECT number FROM replies ORDER BY number LIMIT ?)",
                    (max(1, min(_EVICTED_A_TIME, self._count() // 2)),),
                )

    def count(self) -> int:
        """How many replies are kept."""
        with self._guard:
            return self._count()

    def _count(self) -> int:
        return int(rows[0][0]) if (rows := self._run("SELECT count(*) FROM replies")) else 0

    def _held(self) -> int | None:
        rows = self._run("SELECT coalesce(sum(bytes), 0) FROM replies")
        return int(rows[0][0]) if rows else None

    def _run(self, statement: str, values: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]] | None:
        """The rows of one statement, which is a transaction of its own; None where the file cannot be used now."""
        if self._given_up:
            return None
        for fresh in (False, True):
            try:
                return self._opened().execute(statement, values).fetchall()
            except sqlite3.Error as error:
                code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
                self._close()
                if code in _BUSY:
                    _LOG.warning("Kept replies in %s are not used now: %s", self.file, error)
                    return None
                if fresh or code not in _DAMAGED or not self._put_aside(error):
                    self._give_up(error)
                    return None
            except OSError as error:
                self._give_up(error)
                return None
        return None

    def _opened(self) -> sqlite3.Connection:
        if self._connection is not None and self._process != os.getpid():
            self._connection = None  # of the process this one was forked from: it must not even be closed here
        if self._connection is None:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self._connection = _connect(self.file)
            self._process = os.getpid()
        return self._connection

    def _close(self) -> None:
        if self._connection is not None and self._process == os.getpid():
            self._connection.close()
        self._connection = None

    def _put_aside(self, error: sqlite3.Error) -> bool:
        """Rename the damaged file; whether that could be done."""
        aside = self.file.with_name(f"{self.file.name}.damaged-{time.time_ns()}")
        try:
            for ending in ("-wal", "-shm"):
                self.file.with_name(f"{self.file.name}{ending}").unlink(missing_ok=True)
            self.file.rename(aside)
        except FileNotFoundError:
            return True  # another process was faster
        except OSError:
            return False
        _LOG.warning("Kept replies in %s are damaged (%s): now %s, and begun anew", self.file, error, aside.name)
        return True

    def _give_up(self, error: sqlite3.Error | OSError) -> None:
        self._given_up = True
        _LOG.warning("No replies are kept: %s cannot be used (%s)", self.file, error)


def cache_key(call: Call[OutputT], model: str, base_url: str | None, mode: str) -> str:
    """Under what a reply is kept: all that it depends on.

    `mode` is the output mode as it was set, not as it came out: a batch that goes on has not yet found that out.
    """
    parts = {
        "model": model,
        "base_url": base_url,
        "prompt": list(call.prompt),
        "messages": [list(message) for message in call.messages],
        "output": None if call.output is None else schema_text(call.output),
        "temperature": call.temperature,
        "mode": mode,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def kept_in(file: Path) -> int:
    """How many replies a file holds, without changing it. Raises OSError, or sqlite3.DatabaseError where it is damaged.

    A file that is there and holds something else is an OSError as well.
    """
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")
        if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            return 0
        _check_format(connection)
        return int(connection.execute("SELECT count(*) FROM replies").fetchone()[0])


def _connect(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    try:
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")
        connection.execute("PRAGMA synchronous = NORMAL")
        if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            _log_ahead(connection)
            connection.execute("BEGIN IMMEDIATE")
            if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                connection.execute(_SCHEMA)
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
            connection.execute("COMMIT")
        _check_format(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_format(connection: sqlite3.Connection) -> None:
    found = tuple(connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    if found != (_APPLICATION, FORMAT_VERSION):
        raise _AnotherFileError("it is a database of something else, or of another version")


def _log_ahead(connection: sqlite3.Connection) -> None:
    """Readers and a writer do not wait for each other. Where two begin the file at once, one of them sees to it."""
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in _BUSY:
            raise


class _AnotherFileError(OSError):
    """The file is in order, but not ours: it is left as it is."""
