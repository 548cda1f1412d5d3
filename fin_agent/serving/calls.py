"""Calls of a server: a limited number at once, each within its time and while the caller is connected; events."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeVar, cast

import anyio
from anyio.to_thread import run_sync
from fastapi import Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel
from sse_starlette import EventSourceResponse, ServerSentEvent

from fin_agent.models.metering import abandonable_calls
from fin_agent.serving.filing_resources import Json, with_page_numbers
from fin_agent.serving.problem_details import BusyError, Problem, TooLongError

Result = TypeVar("Result")

EVENTS = "text/event-stream"
SECONDS_OF_SILENCE = 15.0
"""Seconds between comments in a silent stream; proxies would close the connection otherwise."""
_SECONDS_EARLY = 0.05
"""Timers of event loops can go off slightly early, since they round to milliseconds."""
_PATIENCE = 30.0


@dataclass(frozen=True, slots=True)
class Limits:
    """How many calls run at once, how many wait, and how long a call may take."""

    at_once: int = 4
    waiting: int = 4
    seconds: float = 120.0
    """Seconds for one question."""


class CallerGoneError(Exception):
    """The caller has disconnected."""


class Calls:
    """Runs calls: a limited number at once, others waiting, each within its time and while the caller is connected."""

    def __init__(self, limits: Limits, patience: float = _PATIENCE) -> None:
        self._limits = limits
        self._patience = patience
        self._places = anyio.Semaphore(limits.at_once)

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold a slot while the block runs. Raises BusyError if none becomes free in time."""
        busy = BusyError("the limit of calls at the same time is reached", remedy="Call again in a few seconds")
        if not self._places.value and self._places.statistics().tasks_waiting >= self._limits.waiting:
            raise busy
        try:
            with anyio.fail_after(self._patience):
                await self._places.acquire()
        except TimeoutError:
            raise busy from None
        try:
            yield
        finally:
            self._places.release()

    async def in_thread(self, work: Callable[[], Result], request: Request) -> Result:
        """Run work in a thread. Raises BusyError, TooLongError, CallerGoneError, and what the work raises."""
        with abandonable_calls():
            return await self.run(lambda: run_sync(work, abandon_on_cancel=True), request)

    async def run(self, work: Callable[[], Coroutine[Any, Any, Result]], request: Request) -> Result:
        """Await work, which is cancelled after its time and when the caller leaves.

        Raises BusyError, TooLongError, CallerGoneError, and what the work raises.
        """
        async with self.place():
            at_work = asyncio.ensure_future(work())
            leaving = asyncio.ensure_future(_until_gone(request))
            try:
                await asyncio.wait({at_work, leaving}, timeout=self._limits.seconds, return_when="FIRST_COMPLETED")
                if at_work.done():
                    return at_work.result()
                raise CallerGoneError if leaving.done() else self._too_long()
            finally:
                for task in (at_work, leaving):
                    task.cancel()
                    with suppress(asyncio.CancelledError, Exception):
                        await task

    def threaded(self, handler: Callable[..., object]) -> Callable[..., Awaitable[Response]]:
        """Make a route of a function, which then runs in a thread; what it returns is sent as JSON."""

        async def called(request: Request, **given: object) -> Response:
            return await self.in_thread(lambda: _as_response(handler(**given)), request)

        taken = inspect.signature(handler, eval_str=True)
        first = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Request)
        named = getattr(handler, "func", handler)  # of a partial
        called.__name__, called.__doc__ = named.__name__, named.__doc__
        called.__signature__ = taken.replace(  # type: ignore[attr-defined]
            parameters=[first, *taken.parameters.values()], return_annotation=Response
        )
        return called

    async def stream(
        self, happening: AsyncGenerator[Result, None], shown: Callable[[Result], Awaitable[ServerSentEvent | None]]
    ) -> AsyncGenerator[ServerSentEvent, None]:
        """Yield a comment, then what is shown of each event, and `failed` if the work fails or takes too long.

        Closing the generator abandons the work.
        """
        deadline = monotonic() + self._limits.seconds
        async with self.place(), aclosing(happening):
            yield ServerSentEvent(comment="at work", sep="\n")
            try:
                while True:
                    each = await asyncio.wait_for(anext(happening), deadline - monotonic())
                    if (sent := await shown(each)) is not None:
                        yield sent
            except StopAsyncIteration:
                return
            except Exception as error:  # the response has begun, so that its status cannot change
                late = isinstance(error, TimeoutError) and monotonic() >= deadline - _SECONDS_EARLY
                yield event("failed", Problem.of(self._too_long() if late else error).model_dump())

    def _too_long(self) -> TooLongError:
        return TooLongError(
            f"it took more than {self._limits.seconds:g} seconds",
            remedy="Ask a narrower question; the operator of the server can raise --time-limit",
        )


async def streamed(events: AsyncGenerator[ServerSentEvent, None]) -> EventSourceResponse:
    """Return a response that sends events as they occur, comments during silence, and ends when the caller disconnects.

    The first event is awaited here, so that an error before it still gets its own HTTP status.
    """
    begun = await anext(events)

    async def going_on() -> AsyncGenerator[ServerSentEvent, None]:
        async with aclosing(events):
            yield begun
            async for event in events:
                yield event

    return EventSourceResponse(
        going_on(),
        ping=SECONDS_OF_SILENCE,
        ping_message_factory=lambda: ServerSentEvent(comment="at work", sep="\n"),
        sep="\n",
    )


def event(kind: str, told: object) -> ServerSentEvent:
    """Return an event with JSON as its data."""
    return ServerSentEvent(JSONResponse(told).body.decode(), event=kind, sep="\n")


def _as_response(found: object) -> Response:
    if isinstance(found, Response):
        return found
    if isinstance(found, BaseModel):
        found = with_page_numbers(cast(Json, found.model_dump(mode="json")), pictures=True)
    return JSONResponse(found)


async def _until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
