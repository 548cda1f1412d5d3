"""Responses as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from sse_starlette import EventSourceResponse, ServerSentEvent

SECONDS_OF_SILENCE = 15.0
"""Seconds between comments in a silent stream; proxies would close the connection otherwise."""


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
