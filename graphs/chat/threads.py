"""Threads kept in one SQLite file: LangGraph's checkpoints, of each thread the last one, and a list of the threads."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from fin_agent.errors import FinAgentError
from fin_agent.graphs.answer.typed import state_types
from fin_agent.graphs.chat.state import ChatState

FILE_NAME = "threads.sqlite"
FORMAT_VERSION = 1
_APPLICATION = 0x46415448
"""Marks the file as ours (SQLite file format, 1.3.14)."""
_BUSY_MILLISECONDS = 5_000
_LONGEST_TITLE = 200
_SCHEMA = """
CREATE TABLE threads (
  thread TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  turns INTEGER NOT NULL,
  changed TEXT NOT NULL
);
CREATE TABLE checkpoints (
  thread TEXT NOT NULL,
  ns TEXT NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  packed BLOB NOT NULL,
  metadata_kind TEXT NOT NULL,
  metadata BLOB NOT NULL,
  PRIMARY KEY (thread, ns)
);
CREATE TABLE writes (
  thread TEXT NOT NULL,
  ns TEXT NOT NULL,
  id TEXT NOT NULL,
  task TEXT NOT NULL,
  place INTEGER NOT NULL,
  channel TEXT NOT NULL,
  kind TEXT NOT NULL,
  packed BLOB NOT NULL,
  path TEXT NOT NULL,
  PRIMARY KEY (thread, ns, id, task, place)
);
"""


def chat_serializer() -> JsonPlusSerializer:
    """For a checkpointer of one's own (`InMemorySaver(serde=chat_serializer())`): reads the types of a chat alone."""
    return JsonPlusSerializer(allowed_msgpack_modules=state_types(ChatState))


class ThreadStoreError(FinAgentError):
    """The kept threads cannot be read or written."""


@dataclass(frozen=True, slots=True)
class KeptThread:
    """A thread as it is listed."""

    name: str
    title: str
    """Its first message."""
    turns: int
    changed: datetime


class ThreadStore(BaseCheckpointSaver[int]):
    """A checkpointer over one SQLite file, made when something is first kept; several processes may use it at once.

    Of each thread the last checkpoint is kept, from which it goes on; earlier ones are not. Only types of the chat's
    state are read back.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from fin_agent import ThreadStore
    >>> with TemporaryDirectory() as folder, ThreadStore(Path(folder) / "threads.sqlite") as store:
    ...     store.listed()
    []
    """

    def __init__(self, file: Path) -> None:
        """Nothing is opened yet."""
        super().__init__(serde=chat_serializer())
        self.file = file
        self._guard = threading.RLock()
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> ThreadStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def make(self) -> None:
        """Make the file where it is not there. Raises ThreadStoreError where it cannot be written, or is not ours."""
        with self._opened() as connection, _writing(connection):
            pass

    def close(self) -> None:
        """Close the file."""
        with self._guard:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextmanager
    def turn_in(self, thread: str) -> Iterator[None]:
        """Wait until no other process is within a turn of the thread, and keep others out of it.

        Where the system has no locks on ranges of a file nothing is waited for: `put` then tells of what went on.
        """
        try:
            import fcntl
        except ImportError:
            yield
            return
        at = int.from_bytes(hashlib.sha256(thread.encode()).digest()[:4], "big") >> 1
        with self._opened():
            lock = self.file.with_name(f"{self.file.name}.lock").open("ab")
        with lock:  # closing it gives it up, also where the process is killed
            with suppress(OSError):  # some network file systems have no locks
                fcntl.lockf(lock, fcntl.LOCK_EX, 1, at)
            yield

    def listed(self) -> list[KeptThread]:
        """The threads, the last one that was used first. Raises ThreadStoreError."""
        if self._connection is None and not self.file.exists():
            return []
        with self._opened() as connection:
            rows = connection.execute(
                "SELECT thread, title, turns, changed FROM threads ORDER BY changed DESC, thread"
            ).fetchall()
        return [KeptThread(name, title, turns, datetime.fromisoformat(changed)) for name, title, turns, changed in rows]

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """See BaseCheckpointSaver.get_tuple; None also for a checkpoint that is no longer the last of its thread."""
        thread, ns = _place(config)
        if self._connection is None and not self.file.exists():
            return None
        with self._opened() as connection:
            row = connection.execute(
                "SELECT id, kind, packed, metadata_kind, metadata FROM checkpoints WHERE thread = ? AND ns = ?",
                (thread, ns),
            ).fetchone()
            if row is None or get_checkpoint_id(config) not in (None, row[0]):
                return None
            writes = connection.execute(
                "SELECT task, channel, kind, packed FROM writes WHERE thread = ? AND ns = ? AND id = ?"
                " ORDER BY task, place",
                (thread, ns, row[0]),
            ).fetchall()
        return CheckpointTuple(
            config={"configurable": {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": row[0]}},
            checkpoint=self.serde.loads_typed((row[1], row[2])),
            metadata=self.serde.loads_typed((row[3], row[4])),
            pending_writes=[
                (task, channel, self.serde.loads_typed((kind, packed))) for task, channel, kind, packed in writes
            ],
        )

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """See BaseCheckpointSaver.list: the last checkpoint of the thread, or of every thread."""
        if before is not None or limit == 0:
            return
        names = [thread.name for thread in self.listed()] if config is None else [_place(config)[0]]
        for name in names[:limit]:
            found = self.get_tuple({"configurable": {"thread_id": name}})
            wanted = filter or {}
            if found is not None and all(found.metadata.get(key) == value for key, value in wanted.items()):
                yield found

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """See BaseCheckpointSaver.put. It takes the place of the one before, in one transaction.

        Raises ThreadStoreError where the thread went on elsewhere since the run began: nothing is then written over.
        """
        thread, ns = _place(config)
        kind, packed = self.serde.dumps_typed(checkpoint)
        metadata_kind, told = self.serde.dumps_typed(get_checkpoint_metadata(config, metadata))
        title, turns = _listed(checkpoint)
        now = datetime.now(UTC).isoformat()
        with self._opened() as connection, _writing(connection):
            if not ns:
                _check_it_goes_on(connection, thread, get_checkpoint_id(config), checkpoint["id"])
            connection.execute(
                "INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)",
                (thread, ns, checkpoint["id"], kind, packed, metadata_kind, told),
            )
            connection.execute(
                "DELETE FROM writes WHERE thread = ? AND ns = ? AND id < ?", (thread, ns, checkpoint["id"])
            )
            if not ns:
                connection.execute("INSERT OR REPLACE INTO threads VALUES (?, ?, ?, ?)", (thread, title, turns, now))
        return {"configurable": {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": checkpoint["id"]}}

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """See BaseCheckpointSaver.put_writes."""
        thread, ns = _place(config)
        checkpoint = config["configurable"]["checkpoint_id"]
        rows = [
            (
                thread,
                ns,
                checkpoint,
                task_id,
                WRITES_IDX_MAP.get(channel, at),
                channel,
                *self.serde.dumps_typed(value),
                task_path,
            )
            for at, (channel, value) in enumerate(writes)
        ]
        special = all(channel in WRITES_IDX_MAP for channel, _ in writes)
        how = "REPLACE" if special else "IGNORE"
        with self._opened() as connection, _writing(connection):
            connection.executemany(f"INSERT OR {how} INTO writes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def delete_thread(self, thread_id: str) -> None:
        """Take a thread out."""
        with self._opened() as connection, _writing(connection):
            for table in ("threads", "checkpoints", "writes"):
                connection.execute(f"DELETE FROM {table} WHERE thread = ?", (thread_id,))

    def _all(
        self,
        config: RunnableConfig | None,
        wanted: dict[str, Any] | None,
        before: RunnableConfig | None,
        most: int | None,
    ) -> Sequence[CheckpointTuple]:
        return tuple(self.list(config, filter=wanted, before=before, limit=most))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """See `get_tuple`."""
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """See `list`."""
        for each in await asyncio.to_thread(partial(self._all, config, filter, before, limit)):
            yield each

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """See `put`."""
        return await asyncio.to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """See `put_writes`."""
        await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """See `delete_thread`."""
        await asyncio.to_thread(self.delete_thread, thread_id)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with self._guard:
            try:
                if self._connection is None:
                    self._connection = _connected(self.file)
                yield self._connection
            except (sqlite3.Error, OSError) as error:
                raise ThreadStoreError(
                    f"the threads of chats cannot be read or written ({error})",
                    subject=str(self.file),
                    remedy="Move the file away if it is damaged, or chat without keeping: `fin-agent chat --no-record`",
                ) from error


def continued_elsewhere(thread: str) -> ThreadStoreError:
    """What is said where two talk in one thread at once."""
    return ThreadStoreError(
        "this thread was continued elsewhere in the meantime, and the message was not taken up",
        subject=thread,
        remedy="Ask again, which goes on from what was said there (/history shows it), or talk in another thread",
    )


def _check_it_goes_on(connection: sqlite3.Connection, thread: str, parent: str | None, new: str) -> None:
    row = connection.execute("SELECT id FROM checkpoints WHERE thread = ? AND ns = ''", (thread,)).fetchone()
    if row is not None and row[0] not in (parent, new):
        raise continued_elsewhere(thread)


def _place(config: RunnableConfig) -> tuple[str, str]:
    configurable = config["configurable"]
    return str(configurable["thread_id"]), str(configurable.get("checkpoint_ns", ""))


def _listed(checkpoint: Checkpoint) -> tuple[str, int]:
    """The first message of a thread, and how many turns it has."""
    values = checkpoint["channel_values"]
    said = [message for message in values.get("messages", ()) if isinstance(message, BaseMessage)]
    title = next((" ".join(message.text.split()) for message in said if message.type == "human"), "")
    return title[:_LONGEST_TITLE], len(values.get("turns", ()))


def _connected(file: Path) -> sqlite3.Connection:
    file.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    try:
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")
        connection.execute("PRAGMA secure_delete = ON")
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            with _writing(connection):
                if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    for statement in _SCHEMA.split(";\n"):
                        connection.execute(statement)
                    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                    connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
        if connection.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
            raise ThreadStoreError(
                "this is a database of something else, not of chats", subject=str(file), remedy="Move it away"
            )
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        if found != FORMAT_VERSION:
            raise ThreadStoreError(
                f"these chats were kept in format {found}; this version reads format {FORMAT_VERSION}",
                subject=str(file),
                remedy="Move the file away, or read it with the version that wrote it",
            )
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _writing(connection: sqlite3.Connection) -> Iterator[None]:
    """One write transaction: all of it, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
