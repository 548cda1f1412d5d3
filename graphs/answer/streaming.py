"""Stream one question's events as they happen, with the answer last."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from concurrent.futures import Future
from contextlib import aclosing
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar

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
    asked = partial(answer_question, question, context, doc_ids=doc_ids, pages=pages, question_id=question_id)
    delivered: SimpleQueue[Any] = SimpleQueue()
    cancel = _run_in_thread(asked, delivered.put)
    try:
        while not isinstance(event := delivered.get(), Future):
            yield event
        yield Answered(answer=event.result())
    finally:
        cancel()


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
    async with aclosing(astream_run(asked)) as events:
        async for event in events:
            yield Answered(answer=event) if isinstance(event, Answer) else event


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
    async with aclosing(astream_run(asked, drafts=False)) as events:
        async for event in events:
            if isinstance(event, Answer):
                return event
    raise AssertionError("a run ends with an answer or an error")


async def astream_run(work: Callable[[], Last], *, drafts: bool = True) -> AsyncGenerator[Event | Last, None]:
    """Run the work in its own thread and yield its events, then its result. Raises what the work raises.

    Cancelling the task abandons it: no further step or model call begins.
    """
    delivered: asyncio.Queue[Any] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def deliver(event: object) -> None:
        loop.call_soon_threadsafe(delivered.put_nowait, event)

    cancel = _run_in_thread(work, deliver, drafts=drafts)
    try:
        while not isinstance(event := await delivered.get(), Future):
            yield event
        yield event.result()
    finally:
        cancel()


class _StreamClosedError(RuntimeError):
    """The consumer of the stream has gone."""


def _run_in_thread(
    work: Callable[[], object], deliver: Callable[[object], object], *, drafts: bool = True
) -> Callable[[], None]:
    """Run the work in its own thread, within the caller's meter and context.

    `deliver` is called from that thread with each event, then with a future that has the result or the error. Returns a
    function that prevents further steps and calls.
    """
    meter = Meter(within=current_meter())
    left = threading.Event()

    def cancel() -> None:
        left.set()
        meter.stop()

    def tell(event: object) -> None:
        if left.is_set():
            if isinstance(event, StepBegun):
                raise _StreamClosedError  # which ends the run at this step
            return
        try:
            deliver(event)
        except RuntimeError:  # the event loop is closed
            cancel()

    def run() -> None:
        ended: Future[object] = Future()
        try:
            with metered(meter), event_listener(tell, drafts=drafts):
                ended.set_result(work())
        except _StreamClosedError:
            return
        except BaseException as error:
            ended.set_exception(error)
        tell(ended)

    # A daemon thread, so that a process can end without waiting for a server.
    threading.Thread(target=copy_context().run, args=(run,), name="fin-agent-answer", daemon=True).start()
    return cancel
