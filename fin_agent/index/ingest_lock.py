"""One ingest at a time: a lock that names its owner, and that the system takes from a process that is gone."""

from __future__ import annotations

import json
import os
import shlex
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path

from fin_agent.errors import FilingIndexError

LOCK_NAME = "ingest.lock"
_LOOKED_EVERY = 0.2
_WAITED_FOR_A_NAME = 1.0
"""Seconds until whoever has just taken the lock has written who it is."""
_LONGEST_COMMAND = 300


class IndexInUseError(FilingIndexError):
    """Another process ingests into this index, or repairs it."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Who holds the lock, as written in it."""

    host: str
    pid: int
    started: str
    """UTC, ISO 8601."""
    command: str

    @classmethod
    def here(cls) -> Owner:
        """This process, now."""
        command = shlex.join(sys.argv)[:_LONGEST_COMMAND]
        return cls(socket.gethostname(), os.getpid(), datetime.now(UTC).isoformat(timespec="seconds"), command)

    @property
    def seconds(self) -> float:
        """Since it took the lock."""
        try:
            return max(0.0, (datetime.now(UTC) - datetime.fromisoformat(self.started)).total_seconds())
        except (ValueError, TypeError):
            return 0.0

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, for {_span(self.seconds)} (`{self.command}`)"


@contextmanager
def ingest_lock(
    folder: Path,
    *,
    wait: float = 0.0,
    on_wait: Callable[[Owner | None], None] = lambda owner: None,
) -> Iterator[Owner | None]:
    """Hold the lock of the index in `folder`; gives the owner that ended without giving it back, where one did.

    Waits up to `wait` seconds for another to end; `on_wait` is told once for whom. Readers do not meet this lock, and
    neither do writers of single filings: each of their transactions is whole by itself. Raises IndexInUseError.
    """
    path = folder / LOCK_NAME
    try:
        # Unbuffered: what a full disk does not take must not come up again when the file is closed.
        opened = FileIO(path, "a+", opener=_no_link)
    except OSError as error:
        raise FilingIndexError(
            f"the index cannot be locked ({error.strerror or error})",
            subject=str(path),
            remedy="Check that the folder is there and may be written to, and that the lock is no link elsewhere",
        ) from error
    with opened:
        _wait_for(opened, path, wait, on_wait)
        try:
            left = _owner(opened)
            _write(opened, json.dumps(asdict(Owner.here())).encode())
            yield left
        finally:
            _write(opened, b"")
            _unlock(opened)


def lock_owner(folder: Path) -> Owner | None:
    """Who holds the lock of the index in `folder` now; None where nobody does."""
    try:
        with FileIO(folder / LOCK_NAME, "r+", opener=_no_link) as opened:
            if _locked(opened):
                _unlock(opened)
                return None
            return _owner(opened) or _UNKNOWN
    except OSError:
        return None


_UNKNOWN = Owner("this machine", 0, "", "unknown")


def _no_link(path: str, flags: int) -> int:
    """In an index of somebody else the lock may be a link: what it leads to would be emptied."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def _wait_for(opened: FileIO, path: Path, wait: float, on_wait: Callable[[Owner | None], None]) -> None:
    waited_since = time.monotonic()
    told = False
    while not _locked(opened):
        owner = _owner(opened)
        unasked = _WAITED_FOR_A_NAME if owner is None else 0.0
        if time.monotonic() - waited_since >= max(wait, unasked):
            raise IndexInUseError(
                f"another command is writing to this index: {owner or 'one that has just begun'}",
                subject=str(path.parent),
                remedy="Let it end, or give `--wait` to go on after it",
            )
        if owner is not None and not told:
            on_wait(owner)
            told = True
        time.sleep(_LOOKED_EVERY)


def _owner(opened: FileIO) -> Owner | None:
    opened.seek(0)
    try:
        found = json.loads(opened.read(4096))
        return Owner(str(found["host"]), int(found["pid"]), str(found["started"]), str(found["command"]))
    except (ValueError, TypeError, KeyError):  # empty, or just being written
        return None


def _write(opened: FileIO, content: bytes) -> None:
    """Full disks included: the lock is the system's, what is written only says whose it is."""
    try:
        opened.truncate(0)
        opened.seek(0)
        opened.write(content)
        opened.flush()
    except OSError:
        return


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 30
    """A byte behind what is written: Windows keeps others from reading the bytes that are locked."""

    def _locked(opened: FileIO) -> bool:
        opened.seek(_FAR)
        try:
            msvcrt.locking(opened.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(opened: FileIO) -> None:
        opened.seek(_FAR)
        msvcrt.locking(opened.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _locked(opened: FileIO) -> bool:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(opened: FileIO) -> None:
        fcntl.flock(opened, fcntl.LOCK_UN)
