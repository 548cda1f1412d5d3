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

from fin_agent.errors import FilingIndexError

LOCK_NAME = "ingest.lock"
_LOOKED_EVERY = 0.2
_LEAST_WAIT = 0.3
"""Seconds until a new owner of the lock has written its name."""


class IndexInUseError(FilingIndexError):
    """Another process ingests into this index or repairs it."""


@contextmanager
def ingest_lock(
    folder: Path, *, wait: float = 0.0, on_wait: Callable[[str], None] = lambda owner: None
) -> Iterator[None]:
    """Hold the lock of the index in `folder`, which readers and writers of single filings do not use.

    Another owner is waited for up to `wait` seconds, after `on_wait` was called with its process, in words.

    Raises:
        IndexInUseError: Another process holds the lock.
        FilingIndexError: The lock cannot be created.
    """
    path = folder / LOCK_NAME
    lock = FileLock(path)
    try:
        if wait and (owner := lock_owner(folder)):
            on_wait(owner)
        lock.acquire(timeout=max(wait, _LEAST_WAIT), poll_interval=_LOOKED_EVERY)
    except Timeout:
        raise IndexInUseError(
            f"another command is writing to this index: {_owner(path)}",
            subject=str(folder),
            remedy="Wait for it to end, or give `--wait` to start after it",
        ) from None
    except OSError as error:
        raise FilingIndexError(
            f"the index cannot be locked ({error.strerror or error})",
            subject=str(path),
            remedy="Check that the folder is there and may be written to, and that the lock is not a link elsewhere",
        ) from error
    since = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
    try:
        _write(path, f"process {os.getpid()} on {socket.gethostname()}, since {since} (`{shlex.join(sys.argv)[:300]}`)")
        yield
    finally:
        _write(path, "")
        lock.release()


def lock_owner(folder: Path) -> str:
    """Return the process that holds the lock of the index in `folder`, in words; empty where there is none.

    The lock file was last written when the process took the lock.
    """
    path = folder / LOCK_NAME
    with suppress(OSError):
        try:
            if path.exists():
                FileLock(path).acquire(blocking=False).lock.release()
        except Timeout:
            return _owner(path)
    return ""


def _owner(path: Path) -> str:
    with suppress(OSError, ValueError):
        written = path.read_text(encoding="utf-8")
        if written.isprintable() and written:
            return written
    return "one that has just started"


def _write(path: Path, content: str) -> None:
    """Write the owner, ignoring errors such as a full disk: only the lock itself is essential."""
    with suppress(OSError):
        path.write_text(content, encoding="utf-8")
