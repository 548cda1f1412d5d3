"""Questions answered for callers that may go away, within a time limit: as one answer, or event by event."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from time import monotonic
from typing import TypeAlias, TypeVar, cast

from anyio.to_thread import run_sync

from fin_agent.analyst.events import Answered, Event
from fin_agent.answering.answer import Answer
from fin_agent.graphs.answer.streaming import aanswer_question, astream_answer
from fin_agent.models.metering import Meter, current_meter, metered
from fin_agent.serving.api.asked import AskRequest
from fin_agent.serving.api.turnstile import Turnstile
from fin_agent.serving.errors import TooLongError
from fin_agent.serving.places import Json, with_page_numbers
from fin_agent.serving.problems import Problem
from fin_agent.tools.context import ToolContext
from fin_agent.tools.narrowing import narrowed

Result = TypeVar("Result")
Gone: TypeAlias = Callable[[], Awaitable[None]]
"""Returns when the caller has gone."""

SECONDS_OF_SILENCE = 15.0
"""After so long without an event a comment is sent: what stands between would else close the connection."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is at work at once, how much waits, and for how long anything may take."""

    at_once: int = 4
    waiting: int = 4
    seconds: float = 120.0
    """For a question."""


class CallerGoneError(Exception):
    """Nobody waits for it any more."""


class Answering:
    """Answers over one context."""

    def __init__(self, context: ToolContext, limits: Limits) -> None:
        self._context = context
        self._limits = limits
        self._turnstile = Turnstile(limits.at_once, limits.waiting)

    async def answer(self, asked: AskRequest, gone: Gone) -> Json:
        """The answer's JSON. Raises CallerGoneError, TooLongError, BusyError, and what the tools raise."""
        async with self._turnstile.place():
            answer = await self._unless_gone(self._answered(asked), gone)
        return answer_json(answer, trace=asked.trace)

    async def found(self, search: Callable[[], Result], gone: Gone) -> Result:
        """What a search, or anything that reads the index, gives. Raises as `answer` does."""
        meter = Meter(within=current_meter())

        def at_work() -> Result:
            with metered(meter):
                return search()

        try:
            async with self._turnstile.place():
                return await self._unless_gone(run_sync(at_work, abandon_on_cancel=True), gone)
        finally:
            meter.stop()  # of work that was left: no further call of a model begins

    async def events(self, asked: AskRequest) -> AsyncGenerator[bytes, None]:
        """Events as server-sent events, the last one `answered` or `failed`; closing it leaves the run.

        The first piece is sent once there is a place and the filings named are there: until then errors are raised.
        """
        async with self._turnstile.place():
            doc_ids = await run_sync(self._doc_ids, asked)
            yield b": at work\n\n"
            run = astream_answer(asked.question, self._context.answering, doc_ids=doc_ids, question_id=asked.id)
            async with aclosing(run), aclosing(self._in_time(run)) as events:
                try:
                    async for event in events:
                        yield b": at work\n\n" if event is None else _sent(event, trace=asked.trace)
                except Exception as error:  # the answer is on its way: there is no other status any more
                    yield _event("failed", Problem.of(error).model_dump_json())

    async def _answered(self, asked: AskRequest) -> Answer:
        doc_ids = await run_sync(self._doc_ids, asked)
        return await aanswer_question(asked.question, self._context.answering, doc_ids=doc_ids, question_id=asked.id)

    def _doc_ids(self, asked: AskRequest) -> tuple[str, ...] | None:
        return narrowed(self._context.workspace, asked, self._context.within)

    async def _unless_gone(self, work: Awaitable[Result], gone: Gone) -> Result:
        at_work = asyncio.ensure_future(work)
        leaving = asyncio.ensure_future(gone())
        try:
            await asyncio.wait({at_work, leaving}, timeout=self._limits.seconds, return_when=asyncio.FIRST_COMPLETED)
            if at_work.done():
                return at_work.result()
            if leaving.done():
                raise CallerGoneError
            raise self._too_long()
        finally:
            await _ended(at_work, leaving)

    async def _in_time(self, run: AsyncGenerator[Event, None]) -> AsyncGenerator[Event | None, None]:
        """The events of a run; None where there was none for a while. Raises TooLongError."""
        deadline = monotonic() + self._limits.seconds
        while True:
            coming = asyncio.ensure_future(anext(run, None))
            try:
                while True:
                    left = deadline - monotonic()
                    if left <= 0:
                        raise self._too_long()
                    await asyncio.wait({coming}, timeout=min(left, SECONDS_OF_SILENCE))
                    if coming.done():
                        break
                    yield None
                event = coming.result()
            finally:
                await _ended(coming)
            if event is None:
                return
            yield event

    def _too_long(self) -> TooLongError:
        return TooLongError(
            f"it took more than {self._limits.seconds:g} seconds",
            remedy="Ask something narrower; whoever runs the server sets --time-limit",
        )


def answer_json(answer: Answer, *, trace: bool) -> Json:
    """The published contract, with the number and the picture of each page it names; the trace only on request."""
    document = answer.model_dump(mode="json", exclude=None if trace else {"trace"})
    return with_page_numbers(cast(Json, document), pictures=True)


def _sent(event: Event, *, trace: bool) -> bytes:
    if isinstance(event, Answered):
        answered: Json = {"kind": event.kind, "answer": answer_json(event.answer, trace=trace)}
        return _event(event.kind, json.dumps(answered, ensure_ascii=False))
    return _event(event.kind, event.model_dump_json())


def _event(name: str, line: str) -> bytes:
    return f"event: {name}\ndata: {line}\n\n".encode("utf-8", "replace")


async def _ended(*tasks: asyncio.Future[Result] | asyncio.Future[None]) -> None:
    for task in tasks:
        task.cancel()
    for task in tasks:
        with suppress(asyncio.CancelledError, Exception):
            await task
