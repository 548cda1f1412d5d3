"""At most so many requests a second, and none while a host wants none: over all processes of a user, by a file."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fin_agent.downloads.refusals import held_back, not_writable

PER_SECOND = 9
"""The SEC allows ten; one is kept back for requests that the network delays and then delivers together."""
_FARTHEST = 3600.0
"""Seconds. A turn further off was written by a clock that has been set since."""
_LONGEST_HOLD = 86_400.0
"""Seconds for which a host is left alone at most, whatever it asks for."""
_TOLD_FROM = 2.0
"""Seconds of waiting that are told: shorter ones nobody notices."""
_TABLES = (
    "CREATE TABLE IF NOT EXISTS pace (turn REAL NOT NULL)",
    "CREATE TABLE IF NOT EXISTS held (host TEXT PRIMARY KEY, until REAL NOT NULL)",
)


class Pace:
    """Turns, a ninth of a second apart, in a small SQLite file: its lock is the system's, and ends with its process.

    A host that asked for a pause is left alone by all processes. `told` hears how many seconds are waited for that,
    before they are; more than `longest` are not waited for.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     Pace(Path(folder) / "pace.sqlite").wait()
    0.0
    """

    def __init__(
        self,
        file: Path,
        per_second: float = PER_SECOND,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        longest: float = 120.0,
        told: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        """Raises DownloadError where the file cannot be made."""
        self._file = file
        self._apart = 1 / per_second
        self._clock = clock
        self._sleep = sleep
        self._longest = longest
        self._told = told
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._make()
        except (OSError, sqlite3.Error) as error:
            raise not_writable(str(file), str(error)) from error

    def wait(self, host: str = "") -> float:
        """Wait for a turn to ask `host`; the seconds waited.

        Raises DownloadError, without waiting, where the host asked for a longer pause than anybody sits through.
        """
        pause = self._pause_of(host)
        if pause > _TOLD_FROM:
            self._told(pause)
        if pause:
            self._sleep(pause)
        # After the pause: all who waited for its end would ask at once.
        left = self._turn()
        if left:
            self._sleep(left)
        return pause + left

    def pause(self, seconds: float, host: str = "") -> None:
        """Let no process ask `host` for so long: it says that there were too many requests, or that it is busy."""
        with self._locked() as connection:
            until = max(self._held(connection, host, now := self._clock()), now + min(seconds, _LONGEST_HOLD))
            connection.execute("INSERT OR REPLACE INTO held VALUES (?, ?)", (host, until))

    def _pause_of(self, host: str) -> float:
        """Seconds that `host` wants to be left alone for. Raises DownloadError for more than anybody sits through."""
        with self._locked() as connection:
            pause = self._held(connection, host, now := self._clock()) - now
        if pause > self._longest:
            raise held_back(host, pause)
        return pause

    def _turn(self) -> float:
        """Seconds until the turn that was taken."""
        with self._locked() as connection:
            row, now = connection.execute("SELECT turn FROM pace").fetchone(), self._clock()
            kept = row[0] if row is not None and row[0] < now + _FARTHEST else now
            turn = max(kept, now)
            connection.execute("DELETE FROM pace")
            connection.execute("INSERT INTO pace VALUES (?)", (turn + self._apart,))
        return turn - now

    def _held(self, connection: sqlite3.Connection, host: str, now: float) -> float:
        """Until when the host is left alone; now where it is not."""
        row = connection.execute("SELECT until FROM held WHERE host = ?", (host,)).fetchone()
        return float(row[0]) if row is not None and now < row[0] <= now + _LONGEST_HOLD else now

    @contextmanager
    def _locked(self) -> Iterator[sqlite3.Connection]:
        """The file, to be read and written by nobody else meanwhile."""
        try:
            connection = sqlite3.connect(self._file, timeout=60, isolation_level=None)
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise not_writable(str(self._file), str(error)) from error

    def _make(self) -> None:
        connection = sqlite3.connect(self._file, timeout=60, isolation_level=None)
        try:
            for table in _TABLES:
                connection.execute(table)
        finally:
            connection.close()
