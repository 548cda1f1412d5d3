"""A lock for one ingest at a time, which names its owner and which the system releases when its process ends."""

from __future__ import annotations

import os
import shlex
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict

from fin_agent.errors import FilingIndexError

LOCK_NAME = "ingest.lock"
_LOOKED_EVERY = 0.2
_LEAST_WAIT = 0.3
"""Seconds until a new owner of the lock has written its name."""


class IndexInUseError(FilingIndexError):
    """Another process ingests into this index or repairs it."""


class Owner(BaseModel):
    """The process that holds the lock, as recorded in it."""

    model_config = ConfigDict(frozen=True)

    host: str = "this machine"
    pid: int = 0
    started: datetime
    command: str = "unknown"

    @classmethod
    def here(cls) -> Owner:
        """Return this process as the owner, with the current time."""
        now = datetime.now(UTC).replace(microsecond=0)
        return cls(host=socket.gethostname(), pid=os.getpid(), started=now, command=shlex.join(sys.argv)[:300])

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, since {self.started:%Y-%m-%d %H:%M:%S} UTC (`{self.command}`)"


@contextmanager
def ingest_lock(
    folder: Path, *, wait: float = 0.0, on_wait: Callable[[Owner | None], None] = lambda owner: None
) -> Iterator[None]:
    """Hold the lock of the index in `folder`.

    Readers do not use this lock, nor do writers of single filings, whose transactions are atomic.

    Args:
        folder: The folder of the index.
        wait: Seconds to wait for another owner.
        on_wait: Called once with the owner that is waited for.

    Raises:
        IndexInUseError: Another process holds the lock.
        FilingIndexError: The lock cannot be created.
    """
    path = folder / LOCK_NAME
    lock = FileLock(path)
    try:
        try:
            lock.acquire(blocking=False)
        except Timeout:
            if wait:
                on_wait(_owner(path))
            lock.acquire(timeout=max(wait, _LEAST_WAIT), poll_interval=_LOOKED_EVERY)
    except Timeout:
        raise IndexInUseError(
            f"another command is writing to this index: {_owner(path) or 'one that has just started'}",
            subject=str(folder),
            remedy="Wait for it to end, or give `--wait` to start after it",
        ) from None
    except OSError as error:
        raise FilingIndexError(
            f"the index cannot be locked ({error.strerror or error})",
            subject=str(path),
            remedy="Check that the folder is there and may be written to, and that the lock is not a link elsewhere",
        ) from error
    try:
        _write(path, Owner.here().model_dump_json())
        yield
    finally:
        _write(path, "")
        lock.release()


def lock_owner(folder: Path) -> Owner | None:
    """Return the current owner of the lock of the index in `folder`; None where there is none."""
    path = folder / LOCK_NAME
    with suppress(OSError):
        try:
            if path.exists():
                FileLock(path).acquire(blocking=False).lock.release()
        except Timeout:
            return _owner(path) or Owner(started=datetime.now(UTC))
    return None


def _owner(path: Path) -> Owner | None:
    with suppress(OSError, ValueError):  # empty, or just being written
        return Owner.model_validate_json(path.read_bytes())
    return None


def _write(path: Path, content: str) -> None:
    """Write the owner, ignoring errors such as a full disk: only the lock itself is essential."""
    with suppress(OSError):
        path.write_text(content, encoding="utf-8")
