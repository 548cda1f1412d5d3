"""A lock for one ingest at a time, which names its owner and which the system releases when its process ends."""

from __future__ import annotations

import json
import os
import shlex
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from fin_agent.errors import FilingIndexError

LOCK_NAME = "ingest.lock"
_LOOKED_EVERY = 0.2
_WAITED_FOR_A_NAME = 1.0
"""Seconds until a new owner of the lock has written its name."""
_MAX_COMMAND_LENGTH = 300


class IndexInUseError(FilingIndexError):
    """Another process ingests into this index or repairs it."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that holds the lock, as recorded in it."""

    host: str
    pid: int
    started: str
    """UTC, ISO 8601."""
    command: str

    @classmethod
    def here(cls) -> Owner:
        """Return this process as the owner, with the current time."""
        command = shlex.join(sys.argv)[:_MAX_COMMAND_LENGTH]
        return cls(socket.gethostname(), os.getpid(), datetime.now(UTC).isoformat(timespec="seconds"), command)

    @property
    def seconds(self) -> float:
        """Seconds since it acquired the lock."""
        try:
            return max(0.0, (datetime.now(UTC) - datetime.fromisoformat(self.started)).total_seconds())
        except (ValueError, TypeError):
            return 0.0

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, for {_span(self.seconds)} (`{self.command}`)"


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
        _acquire(lock, path, wait, on_wait)
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
        _write(path, json.dumps(asdict(Owner.here())))
        yield
    finally:
        _write(path, "")
        lock.release()


def lock_owner(folder: Path) -> Owner | None:
    """Return the current owner of the lock of the index in `folder`; None where there is none."""
    path = folder / LOCK_NAME
    try:
        if path.exists():
            FileLock(path).acquire(blocking=False).lock.release()
    except Timeout:
        return _owner(path) or Owner("this machine", 0, "", "unknown")
    except OSError:
        return None
    return None


def _acquire(lock: BaseFileLock, path: Path, wait: float, on_wait: Callable[[Owner | None], None]) -> None:
    """Acquire the lock. Raises Timeout, OSError."""
    try:
        lock.acquire(blocking=False)
    except Timeout:
        owner = _owner(path)
        if wait:
            on_wait(owner)
        lock.acquire(timeout=max(wait, 0.0 if owner else _WAITED_FOR_A_NAME), poll_interval=_LOOKED_EVERY)


def _owner(path: Path) -> Owner | None:
    try:
        found = json.loads(path.read_bytes())
        return Owner(str(found["host"]), int(found["pid"]), str(found["started"]), str(found["command"]))
    except (OSError, ValueError, TypeError, KeyError):  # empty, or just being written
        return None


def _write(path: Path, content: str) -> None:
    """Write the owner, ignoring errors such as a full disk: only the lock itself is essential."""
    with suppress(OSError):
        path.write_text(content, encoding="utf-8")


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
