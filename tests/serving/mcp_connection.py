"""A real MCP client, connected for as long as a test needs it, called from tests that are no coroutines."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from mcp import Client

Result = TypeVar("Result")
SECONDS = 60


class Connection:
    """A client with a thread of its own, in which it is entered, used and left."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._loop = asyncio.new_event_loop()
        self._leave = asyncio.Event()
        self._ready: Future[None] = Future()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._connected(),), daemon=True)

    def __call__(self, ask: Callable[[Client], Awaitable[Result]]) -> Result:
        """What the server answers."""
        return asyncio.run_coroutine_threadsafe(_awaited(ask(self._client)), self._loop).result(SECONDS)

    def begun(self, ask: Callable[[Client], Awaitable[Result]]) -> Future[Result]:
        """A call under way; cancelling it cancels the call."""
        return asyncio.run_coroutine_threadsafe(_awaited(ask(self._client)), self._loop)

    def enter(self) -> None:
        self._thread.start()
        self._ready.result(SECONDS)

    def leave(self) -> None:
        self._loop.call_soon_threadsafe(self._leave.set)
        self._thread.join(SECONDS)

    async def _connected(self) -> None:
        try:
            async with self._client:
                self._ready.set_result(None)
                await self._leave.wait()
        except BaseException as error:
            if not self._ready.done():
                self._ready.set_exception(error)
            raise


@contextmanager
def connected(client: Client) -> Iterator[Connection]:
    """The client, connected while the block lasts."""
    connection = Connection(client)
    connection.enter()
    try:
        yield connection
    finally:
        connection.leave()


async def _awaited(answer: Awaitable[Result]) -> Result:
    return await answer
