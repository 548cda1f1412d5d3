"""How many calls may be under way at once to one provider, for all threads and event loops of the process together."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager

CALLS_AT_ONCE = 8


class Slots:
    """Places for calls under way, given out in the order they were asked for."""

    def __init__(self, most: int) -> None:
        if most < 1:
            raise ValueError("at least one call at once must be allowed")
        self._most = most
        self._taken = 0
        self._waiting: deque[Future[None]] = deque()
        self._guard = threading.Lock()

    @property
    def most(self) -> int:
        """Calls at once."""
        return self._most

    @property
    def taken(self) -> int:
        """Calls under way now."""
        return self._taken

    @contextmanager
    def held(self) -> Iterator[None]:
        """One place, waited for by this thread."""
        turn = self._asked()
        try:
            turn.result()
        except BaseException:
            self._left(turn)
            raise
        try:
            yield
        finally:
            self._give_back()

    @asynccontextmanager
    async def aheld(self) -> AsyncIterator[None]:
        """One place, waited for by this task; the event loop goes on."""
        turn = self._asked()
        try:
            await asyncio.wrap_future(turn)
        except BaseException:
            self._left(turn)
            raise
        try:
            yield
        finally:
            self._give_back()

    def narrow(self, most: int) -> None:
        """Allow no more than this from now on; never more than before."""
        with self._guard:
            self._most = min(self._most, max(1, most))

    def _asked(self) -> Future[None]:
        turn: Future[None] = Future()
        with self._guard:
            if self._taken < self._most and not self._waiting:
                self._taken += 1
                turn.set_result(None)
            else:
                self._waiting.append(turn)
        return turn

    def _left(self, turn: Future[None]) -> None:
        """Whoever waited has gone: a place that was already given goes to the next one."""
        if not turn.cancel() and not turn.cancelled():
            self._give_back()

    def _give_back(self) -> None:
        granted: list[Future[None]] = []
        with self._guard:
            self._taken -= 1
            while self._waiting and self._taken < self._most:
                turn = self._waiting.popleft()
                if turn.set_running_or_notify_cancel():
                    self._taken += 1
                    granted.append(turn)
        for turn in granted:  # outside the guard: a callback may run at once
            turn.set_result(None)


_SLOTS: dict[tuple[str, str], Slots] = {}
_SLOTS_GUARD = threading.Lock()


def slots_for(provider: str, base_url: str | None, most: int = CALLS_AT_ONCE) -> Slots:
    """The places of one provider at one address, the same for every caller; the lowest limit asked for holds."""
    with _SLOTS_GUARD:
        slots = _SLOTS.setdefault((provider, base_url or ""), Slots(most))
    slots.narrow(most)
    return slots
