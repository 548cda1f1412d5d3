"""At most so many requests a second, counted over all processes of a user: a turn is taken from a file they share."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from fin_agent.downloads.refusals import not_writable

PER_SECOND = 9
"""The SEC allows ten; one is kept back for requests that the network delays and then delivers together."""
_FARTHEST = 3600.0
"""Seconds. A turn further off was written by a clock that has been set since."""


class Pace:
    """Turns, a ninth of a second apart, in a small SQLite file: its lock is the system's, and ends with its process.

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
    ) -> None:
        """Raises DownloadError where the file cannot be made."""
        self._file = file
        self._apart = 1 / per_second
        self._clock = clock
        self._sleep = sleep
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._change("CREATE TABLE IF NOT EXISTS pace (turn REAL NOT NULL)")
        except (OSError, sqlite3.Error) as error:
            raise not_writable(str(file), str(error)) from error

    def wait(self) -> float:
        """Wait for a turn; the seconds waited."""
        turn, now = self._next(lambda free, now: (free, free + self._apart))
        waited = max(0.0, turn - now)
        if waited:
            self._sleep(waited)
        return waited

    def pause(self, seconds: float) -> None:
        """Let no process ask for so long: the server says that there were too many requests."""
        self._next(lambda free, now: (free, max(free, now + min(seconds, _FARTHEST / 2))))

    def _next(self, taken: Callable[[float, float], tuple[float, float]]) -> tuple[float, float]:
        """The turn taken, and the time; `taken` gives the turn to take and the next free one."""
        try:
            connection = sqlite3.connect(self._file, timeout=60, isolation_level=None)
            try:
                connection.execute("BEGIN IMMEDIATE")
                row = connection.execute("SELECT turn FROM pace").fetchone()
                now = self._clock()
                kept = row[0] if row is not None and row[0] < now + _FARTHEST else now
                turn, free = taken(max(kept, now), now)
                connection.execute("DELETE FROM pace")
                connection.execute("INSERT INTO pace VALUES (?)", (free,))
                connection.execute("COMMIT")
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise not_writable(str(self._file), str(error)) from error
        return turn, now

    def _change(self, statement: str) -> None:
        connection = sqlite3.connect(self._file, timeout=60, isolation_level=None)
        try:
            connection.execute(statement)
        finally:
            connection.close()
