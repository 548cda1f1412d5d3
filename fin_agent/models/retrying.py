"""When a call that failed is made again, and after how long."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


@dataclass(frozen=True, slots=True)
class Retrying:
    """How often and how patiently. The same seed and call give the same waits.

    >>> Retrying().wait(1, asked=7.0, call="any")
    7.0
    """

    attempts: int = 4
    """Requests at most, the first included."""
    first_wait: float = 0.5
    """Seconds; doubled with each attempt."""
    longest_wait: float = 20.0
    """Seconds, where the server does not say how long."""
    longest_asked: float = 60.0
    """Seconds of a server's Retry-After at most; where it asks for more, the call has failed."""
    seed: int = 0

    def wait(self, attempt: int, *, asked: float | None, call: str) -> float:
        """Seconds to wait after the attempt of this number, from 1; infinity where the server asks for too many.

        `asked`: by the server; `call` names the call.
        """
        if asked is not None:
            return asked if asked <= self.longest_asked else math.inf
        longest = min(self.longest_wait, self.first_wait * 2.0 ** min(attempt - 1, 30))
        return longest * random.Random(f"{self.seed}:{call}:{attempt}").uniform(0.5, 1.0)


def seconds_asked(retry_after: str, now: datetime | None = None) -> float | None:
    """Seconds of a Retry-After header (RFC 9110, 10.2.3): a number, or a date; None where it is neither.

    >>> seconds_asked("Sat, 21 Nov 2026 10:00:30 GMT", datetime(2026, 11, 21, 10, tzinfo=UTC))
    30.0
    """
    written = retry_after.strip()
    if written.replace(".", "", 1).isdecimal() and written.isascii():
        return float(written)
    try:
        then = parsedate_to_datetime(written)
    except ValueError:
        return None
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    return max(0.0, (then - (now or datetime.now(UTC))).total_seconds())
