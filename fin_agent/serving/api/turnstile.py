"""So many calls at work, so many waiting, and no more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fin_agent.serving.errors import BusyError


class Turnstile:
    """Lets `at_once` in; `waiting` more wait for at most `patience` seconds."""

    def __init__(self, at_once: int, waiting: int, patience: float = 30.0) -> None:
        self._places = asyncio.Semaphore(at_once)
        self._room = at_once + waiting
        self._patience = patience
        self._here = 0

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """A place while the block lasts. Raises BusyError where there is none."""
        if self._here >= self._room:
            raise _busy()
        self._here += 1
        try:
            try:
                await asyncio.wait_for(self._places.acquire(), self._patience)
            except TimeoutError:
                raise _busy() from None
            try:
                yield
            finally:
                self._places.release()
        finally:
            self._here -= 1


def _busy() -> BusyError:
    return BusyError("as many calls are at work as may be", remedy="Call again in a few seconds")
