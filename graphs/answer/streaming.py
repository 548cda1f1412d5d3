"""Stream one question's events as they happen, with the answer last."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import aclosing
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Generic, TypeAlias, TypeVar

from fin_agent.analyst.events import Answered, Event, StepBegun, event_listener
from fin_agent.answering.answer import Answer
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import answer_question
from fin_agent.index.protocol import PageKey
from fin_agent.models.metering import Meter, current_meter, metered

Last = TypeVar("Last")


def stream_answer(
    question: str,
    context: AnswerContext,
    *,
    doc_ids: Sequence[str] | None = None,
    pages: Sequence[PageKey] | None = None,
    question_id: str | None = None,
) -> Generator[Event, None, None]:
    """Answer a question in its own thread and yield events as they happen.

    Closing the iterator early returns at once: no further step or model call begins, a streamed reply is abandoned, and
    a call in progress ends by itself.

    Args:
        question: The question in English.
        context: The index, and the analyst.
        doc_ids: The filings to search; None for all.
        pages: The pages to search; None for all.
        question_id: An id to store in the answer.

    Yields:
        The events in order; the last one is `Answered`.

    Raises:
        QuestionError: The question is empty or too long.
        FilingIndexError: A filing in `doc_ids` is not indexed, or `doc_ids` is empty.

    >>> from pathlib import Path
    >>> from fin_agent import AnswerContext, Workspace, stream_answer
    >>> context = AnswerContext.by_rules(Workspace.open(Path("my-index")))
    >>> events = list(stream_answer("What was Harborlight's net income in FY2023?", context))
    >>> events[0].kind, events[0].node, events[-1].kind
    ('step_begun', 'rewrite_query', 'answered')
    """
    delivered: SimpleQueue[_Delivered[Answered]] = SimpleQueue()
    asked = partial(answer_question, question, context, doc_ids=doc_ids, pages=pages, question_id=question_id)
    run = _Run(partial(_as_event, asked))
    run.start(delivered.put)
    try:
        while True:
            event = _event(delivered.get())
            if isinstance(event, _Result):
                yield event.value
                return
            yield event
    finally:
        run.cancel()


async def astream_answer(
    question: str,
    context: AnswerContext,
    *,
    doc_ids: Sequence[str] | None = None,
    pages: Sequence[PageKey] | None = None,
    question_id: str | None = None,
) -> AsyncGenerator[Event, None]:
    """See `stream_answer`. The event loop is not blocked; cancelling the task abandons the run."""
    asked = partial(answer_question, question, context, doc_ids=doc_ids, pages=pages, question_id=question_id)
    async with aclosing(astream_run(partial(_as_event, asked))) as events:
        async for event in events:
            yield event


async def astream_run(work: Callable[..., Last]) -> AsyncGenerator[Event | Last, None]:
    """Run `work(on_step=...)` in its own thread and yield its events, then its result.

    The work calls `on_step` between its steps. Cancelling the task abandons it: no further step or model call begins.
    Raises what the work raises.
    """
    run: _Run[Last] = _Run(work)
    happening = _awaited(run)
    async with aclosing(happening) as events:
        async for event in events:
            yield event


async def aanswer_question(
    question: str,
    context: AnswerContext,
    *,
    doc_ids: Sequence[str] | None = None,
    pages: Sequence[PageKey] | None = None,
    question_id: str | None = None,
) -> Answer:
    """See `answer_question`. The event loop is not blocked; cancelling the task abandons the run.

    >>> import asyncio
    >>> from pathlib import Path
    >>> from fin_agent import AnswerContext, Workspace, aanswer_question
    >>> context = AnswerContext.by_rules(Workspace.open(Path("my-index")))
    >>> asyncio.run(aanswer_question("What was Harborlight's net income in FY2023?", context)).answer.value
    544.0
    """
    asked = partial(answer_question, question, context, doc_ids=doc_ids, pages=pages, question_id=question_id)
    async with aclosing(_awaited(_Run(partial(_as_event, asked), drafts=False))) as events:
        async for event in events:
            if isinstance(event, Answered):
                return event.answer
    raise AssertionError("a run ends with an answer or an error")


def _as_event(asked: Callable[..., Answer], on_step: Callable[[str], None]) -> Answered:
    return Answered(answer=asked(on_step=on_step))


async def _awaited(run: _Run[Last]) -> AsyncGenerator[Event | Last, None]:
    delivered: asyncio.Queue[_Delivered[Last]] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    run.start(lambda event: loop.call_soon_threadsafe(delivered.put_nowait, event))
    try:
        while True:
            event = _event(await delivered.get())
            if isinstance(event, _Result):
                yield event.value
                return
            yield event
    finally:
        run.cancel()


class _StreamClosedError(RuntimeError):
    """The consumer of the stream has gone."""


@dataclass(frozen=True, slots=True)
class _Failed:
    """The error that ended a run."""

    error: BaseException


@dataclass(frozen=True)
class _Result(Generic[Last]):
    """The result that ended a run."""

    value: Last


_Delivered: TypeAlias = Event | _Failed | _Result[Last]


class _Run(Generic[Last]):
    """Work in its own thread, within the caller's meter and context."""

    def __init__(self, work: Callable[..., Last], *, drafts: bool = True) -> None:
        self._work = work
        self._drafts = drafts
        self._meter = Meter(within=current_meter())
        self._left = threading.Event()

    def start(self, deliver: Callable[[_Delivered[Last]], object]) -> None:
        """Start. `deliver` is called from other threads with each event, then with the result or the error."""
        # A daemon thread, so that a process can end without waiting for a server.
        threading.Thread(
            target=copy_context().run, args=(self._run, deliver), name="fin-agent-answer", daemon=True
        ).start()

    def cancel(self) -> None:
        """Prevent further steps and calls; no effect if the run has ended."""
        self._left.set()
        self._meter.stop()

    def _run(self, deliver: Callable[[_Delivered[Last]], object]) -> None:
        try:
            with metered(self._meter), event_listener(partial(self._tell, deliver), drafts=self._drafts):
                last: _Delivered[Last] = _Result(self._work(on_step=self._check))
        except _StreamClosedError:
            return
        except BaseException as error:
            last = _Failed(error)
        self._tell(deliver, last)

    def _tell(self, deliver: Callable[[_Delivered[Last]], object], event: _Delivered[Last]) -> None:
        if self._left.is_set():
            if isinstance(event, StepBegun):
                raise _StreamClosedError  # stops the steps of an answer within a larger graph
            return
        try:
            deliver(event)
        except RuntimeError:  # the event loop is closed
            self.cancel()

    def _check(self, node: str) -> None:
        if self._left.is_set():
            raise _StreamClosedError


def _event(delivered: _Delivered[Last]) -> Event | _Result[Last]:
    if isinstance(delivered, _Failed):
        raise delivered.error
    return delivered
