"""One question answered while whoever asked looks on: events as they happen, the answer last."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import aclosing
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import TypeAlias

from fin_agent.analyst.events import Answered, Event, listening
from fin_agent.answering.answer import Answer
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import answer_question
from fin_agent.index.protocol import PageKey
from fin_agent.models.metering import Meter, current_meter, metered


def stream_answer(
    question: str,
    context: AnswerContext,
    *,
    doc_ids: Sequence[str] | None = None,
    pages: Sequence[PageKey] | None = None,
    question_id: str | None = None,
) -> Generator[Event, None, None]:
    """What happens while the question is answered, as it happens; the last event is `Answered`.

    Takes what `answer_question` takes, answers the same and raises the same. The run has a thread of its own. Closing
    the iterator early takes no time: no further step and no further call of a model begins, a reply that is streamed
    is left, and a call under way ends by itself.

    >>> from pathlib import Path
    >>> from fin_agent import AnswerContext, Workspace, stream_answer
    >>> context = AnswerContext.by_rules(Workspace.open(Path("my-index")))
    >>> events = list(stream_answer("What was Harborlight's net income in FY2023?", context))
    >>> events[0].kind, events[0].node, events[-1].kind
    ('step_begun', 'rewrite_query', 'answered')
    """
    delivered: SimpleQueue[_Delivered] = SimpleQueue()
    run = _Run(partial(answer_question, question, context, doc_ids=doc_ids, pages=pages, question_id=question_id))
    run.start(delivered.put)
    try:
        while True:
            event = _event(delivered.get())
            yield event
            if isinstance(event, Answered):
                return
    finally:
        run.leave()


async def astream_answer(
    question: str,
    context: AnswerContext,
    *,
    doc_ids: Sequence[str] | None = None,
    pages: Sequence[PageKey] | None = None,
    question_id: str | None = None,
) -> AsyncGenerator[Event, None]:
    """See `stream_answer`. The event loop goes on; a task that is cancelled leaves the run."""
    run = _Run(partial(answer_question, question, context, doc_ids=doc_ids, pages=pages, question_id=question_id))
    async with aclosing(_awaited(run)) as events:
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
    """See `answer_question`. The event loop goes on; a task that is cancelled leaves the run.

    >>> import asyncio
    >>> from pathlib import Path
    >>> from fin_agent import AnswerContext, Workspace, aanswer_question
    >>> context = AnswerContext.by_rules(Workspace.open(Path("my-index")))
    >>> asyncio.run(aanswer_question("What was Harborlight's net income in FY2023?", context)).answer.value
    544.0
    """
    asked = partial(answer_question, question, context, doc_ids=doc_ids, pages=pages, question_id=question_id)
    async with aclosing(_awaited(_Run(asked, drafts=False))) as events:
        async for event in events:
            if isinstance(event, Answered):
                return event.answer
    raise AssertionError("a run ends with an answer or an error")


async def _awaited(run: _Run) -> AsyncGenerator[Event, None]:
    delivered: asyncio.Queue[_Delivered] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    run.start(lambda event: loop.call_soon_threadsafe(delivered.put_nowait, event))
    try:
        while True:
            event = _event(await delivered.get())
            yield event
            if isinstance(event, Answered):
                return
    finally:
        run.leave()


class _LeftError(Exception):
    """Nobody waits for the run any more."""


@dataclass(frozen=True, slots=True)
class _Failed:
    """What a run ended with in place of an answer."""

    error: BaseException


_Delivered: TypeAlias = Event | _Failed


class _Run:
    """A question that is answered in a thread of its own, within the meter and the context of whoever asks."""

    def __init__(self, answer: Callable[..., Answer], *, drafts: bool = True) -> None:
        self._answer = answer
        self._drafts = drafts
        self._meter = Meter(within=current_meter())
        self._left = threading.Event()

    def start(self, deliver: Callable[[_Delivered], object]) -> None:
        """Begin. `deliver` is called from other threads, with events as they happen, the answer or the error last."""
        # A daemon: a process that is to end does not wait for a server.
        threading.Thread(
            target=copy_context().run, args=(self._run, deliver), name="fin-agent-answer", daemon=True
        ).start()

    def leave(self) -> None:
        """Let nothing further begin. Does nothing where the run has ended."""
        self._left.set()
        self._meter.stop()

    def _run(self, deliver: Callable[[_Delivered], object]) -> None:
        try:
            with metered(self._meter), listening(partial(self._tell, deliver), drafts=self._drafts):
                answer = self._answer(on_step=self._check)
            last: _Delivered = Answered(answer=answer)
        except _LeftError:
            return
        except BaseException as error:
            last = _Failed(error)
        self._tell(deliver, last)

    def _tell(self, deliver: Callable[[_Delivered], object], event: _Delivered) -> None:
        if self._left.is_set():
            return
        try:
            deliver(event)
        except RuntimeError:  # the event loop has gone
            self.leave()

    def _check(self, node: str) -> None:
        if self._left.is_set():
            raise _LeftError


def _event(delivered: _Delivered) -> Event:
    if isinstance(delivered, _Failed):
        raise delivered.error
    return delivered
