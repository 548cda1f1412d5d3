"""Events of a call as a response."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from sse_starlette import EventSourceResponse, ServerSentEvent

SECONDS_OF_SILENCE = 15.0
"""Between comments in a stream of events: what stands between would else close the connection."""


async def streamed(events: AsyncGenerator[ServerSentEvent, None]) -> EventSourceResponse:
    """The events as they come, comments in silence; closed where the caller leaves.

    What cannot be begun is raised here, while there is a status to say so.
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
