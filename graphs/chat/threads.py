"""Threads in one SQLite file: LangGraph's saver with only the last checkpoint per thread, and a list of threads."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from weakref import WeakValueDictionary

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    get_checkpoint_id,
)
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from fin_agent.atomic_write import create_private_file
from fin_agent.errors import FinAgentError, how_to_install

_INSTALLED = find_spec("langgraph.checkpoint.sqlite") is not None
if TYPE_CHECKING or _INSTALLED:
    from langgraph.checkpoint.sqlite import SqliteSaver
else:  # chats without the extra `chat` go on in memory: a store says so when it is made
    SqliteSaver = BaseCheckpointSaver

FILE_NAME = "threads.sqlite"
FORMAT_VERSION = 2
_BUSY_SECONDS = 5
_MAX_TITLE_LENGTH = 200


class ThreadStoreError(FinAgentError):
    """The stored threads cannot be read or written."""


@dataclass(frozen=True, slots=True)
class ThreadSummary:
    """A thread in a list."""

    name: str
    title: str
    """Its first message."""
    turns: int
    changed: datetime


class ThreadStore(SqliteSaver):  # type: ignore[misc]
    """A checkpointer over one SQLite file (extra `chat`); several processes may use it at once.

    Only the last checkpoint of each thread is stored, and only plain data is read back. `delete_thread(name)` removes a
    thread. A graph that is awaited takes LangGraph's own `AsyncSqliteSaver` in its place.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from fin_agent import ThreadStore
    >>> with TemporaryDirectory() as folder, ThreadStore(Path(folder) / "threads.sqlite") as store:
    ...     store.listed()
    []
    """

    def __init__(self, file: Path | str) -> None:
        """Open the file, creating it if missing. Raises ThreadStoreError if it is unreadable or not a thread store."""
        if not _INSTALLED:
            raise ThreadStoreError(
                "keeping chats needs langgraph-checkpoint-sqlite, which is not installed",
                subject=str(file),
                remedy=f"Install it: {how_to_install('chat')}",
            )
        self.file = file = Path(file)
        with self._reporting_errors():
            super().__init__(_connected(file), serde=JsonPlusSerializer(allowed_msgpack_modules=None))
            self.lock = threading.RLock()  # makes `put` one transaction around the saver's own
            self.setup()

    def __enter__(self) -> ThreadStore:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with self.lock:
            self.conn.close()

    def listed(self) -> list[ThreadSummary]:
        """List the threads.

        Returns:
            The threads, most recently used first.

        Raises:
            ThreadStoreError: The file cannot be read.
        """
        with self.cursor(transaction=False) as cursor:
            rows = cursor.execute(
                "SELECT thread_id FROM checkpoints WHERE checkpoint_ns = '' GROUP BY 1 ORDER BY max(checkpoint_id) DESC"
            ).fetchall()
        listed = []
        for (name,) in rows:
            if (found := self.get_tuple({"configurable": {"thread_id": name}})) is not None:
                values, changed = found.checkpoint["channel_values"], datetime.fromisoformat(found.checkpoint["ts"])
                said = (each for each in values.get("messages", ()) if isinstance(each, BaseMessage))
                title = next((" ".join(each.text.split()) for each in said if each.type == "human"), "")
                listed.append(ThreadSummary(name, title[:_MAX_TITLE_LENGTH], len(values.get("turns", ())), changed))
        return listed

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """See BaseCheckpointSaver.put. The checkpoint replaces the previous one.

        Raises:
            ThreadStoreError: The thread was continued elsewhere since the run began; nothing is overwritten.
        """
        thread, ns = str(config["configurable"]["thread_id"]), config["configurable"].get("checkpoint_ns", "")
        place = (thread, ns)
        with self.cursor() as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            (last,) = cursor.execute(
                "SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?", place
            ).fetchone()
            if not ns and last not in (None, get_checkpoint_id(config), checkpoint["id"]):
                raise ThreadStoreError(
                    "this thread was continued elsewhere in the meantime, so the message was not processed",
                    subject=thread,
                    remedy="Ask again to continue from there (/history shows it), or use another thread",
                )
            kept: RunnableConfig = super().put(config, checkpoint, metadata, new_versions)  # and commits
            for table in ("checkpoints", "writes"):
                cursor.execute(
                    f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id < ?",
                    (*place, checkpoint["id"]),
                )
        return kept

    @contextmanager
    def cursor(self, transaction: bool = True) -> Iterator[sqlite3.Cursor]:
        """See SqliteSaver.cursor. Raises ThreadStoreError."""
        with self._reporting_errors(), super().cursor(transaction) as cursor:
            yield cursor

    @contextmanager
    def _reporting_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise ThreadStoreError(
                f"the threads of chats cannot be read or written ({error})",
                subject=str(self.file),
                remedy="Move the file away if it is damaged, or chat without keeping: `fin-agent chat --no-record`",
            ) from error


_LOOKING = threading.Lock()
_TURNS: WeakValueDictionary[tuple[object, str], threading.Lock] = WeakValueDictionary()
"""A lock for each thread of this process: locks of files do not exclude the threads of one process."""


@contextmanager
def thread_turn_lock(
    keeper: BaseCheckpointSaver[str], thread: str, on_wait: Callable[[], object] = bool
) -> Iterator[None]:
    """Hold the lock of a thread for one turn, in this process and across processes; wait while another turn has it.

    Where files cannot be locked, other processes are not waited for; `put` then reports the conflict. `on_wait` is
    called if there is a turn to wait for.
    """
    file = keeper.file if isinstance(keeper, ThreadStore) else None
    with _LOOKING:
        within = _TURNS.setdefault((file or id(keeper), thread), threading.Lock())
    if not within.acquire(blocking=False):
        on_wait()
        within.acquire()
    try:
        with nullcontext() if file is None else _thread_file_lock(file, thread, on_wait):
            yield
    finally:
        within.release()


@contextmanager
def _thread_file_lock(file: Path, thread: str, on_wait: Callable[[], object]) -> Iterator[None]:
    """Hold a lock on the byte of a file that belongs to the thread."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    lock = _lock_file(file.with_name(f"{file.name}.lock"))
    place = 1, int.from_bytes(hashlib.sha256(thread.encode()).digest()[:4], "big") >> 1
    with suppress(OSError):  # some network file systems have no locks
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB, *place)
        except BlockingIOError:
            on_wait()
            fcntl.lockf(lock, fcntl.LOCK_EX, *place)
    try:
        yield
    finally:
        with suppress(OSError):
            fcntl.lockf(lock, fcntl.LOCK_UN, *place)


@cache
def _lock_file(file: Path) -> BinaryIO:
    """Return the file, which stays open: closing it would release all of the process's locks on it."""
    return file.open("ab")


def _connected(file: Path) -> sqlite3.Connection:
    file.parent.mkdir(parents=True, exist_ok=True)
    create_private_file(file)
    connection = sqlite3.connect(file, timeout=_BUSY_SECONDS, check_same_thread=False)
    try:
        connection.execute("PRAGMA secure_delete = ON")
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        if found != FORMAT_VERSION:
            raise ThreadStoreError(
                f"this file is of format {found}; this version reads chats in format {FORMAT_VERSION}",
                subject=str(file),
                remedy="Move the file away, or read it with the version that wrote it",
            )
    except BaseException:
        connection.close()
        raise
    return connection
