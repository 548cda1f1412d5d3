"""Seconds that something may take as a whole, however often a server sends a little of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from typing import TypeVar

ResultT = TypeVar("ResultT")


def within(seconds: float | None, work: Callable[[], ResultT]) -> ResultT:
    """What `work` gives. Raises TimeoutError after so many seconds; what is under way is left to itself."""
    if seconds is None:
        return work()
    with _worker(seconds) as worker:
        return worker.given(work)


def pieces_within(seconds: float | None, begin: Callable[[], Iterator[ResultT]]) -> Generator[ResultT, None, None]:
    """The pieces as they come. Raises TimeoutError once so many seconds were spent on waiting for them."""
    if seconds is None:
        yield from begin()
        return
    with _worker(seconds) as worker:
        pieces = worker.given(begin)
        try:
            while (piece := worker.given(partial(next, pieces, _END))) is not _END:
                yield piece
        finally:
            if worker.idle and (close := getattr(pieces, "close", None)) is not None:
                with suppress(TimeoutError):  # the thread sees to it
                    worker.given(close)


class _End:
    """After the last piece."""


_END = _End()


class _Worker:
    """A thread that does one thing after the other, in the context of whoever waits for it."""

    def __init__(self, seconds: float) -> None:
        self.idle = True
        self._left = seconds
        self._context = copy_context()
        self._waiting: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="fin-agent-request", daemon=True)
        self._thread.start()

    def given(self, work: Callable[[], ResultT]) -> ResultT:
        """What `work` gives, or raises. TimeoutError where the seconds are used up before."""
        result: Future[ResultT] = Future()
        began = time.monotonic()
        self.idle = False
        self._waiting.put(partial(_do, work, result))
        try:
            # With a limit, so that an interrupt is heard while this waits.
            given = result.result(max(0.0, self._left))
        except BaseException:
            self.idle = result.done()
            raise
        finally:
            self._left -= time.monotonic() - began
        self.idle = True
        return given

    def end(self) -> None:
        """Let the thread end: now, or as soon as what it is about comes to an end."""
        self._waiting.put(None)
        if self.idle:
            self._thread.join()

    def _work(self) -> None:
        while (task := self._waiting.get()) is not None:
            self._context.run(task)
            del task


def _do(work: Callable[[], ResultT], result: Future[ResultT]) -> None:
    try:
        result.set_result(work())
    except BaseException as failure:
        result.set_exception(failure)


@contextmanager
def _worker(seconds: float) -> Iterator[_Worker]:
    worker = _Worker(seconds)
    try:
        yield worker
    finally:
        worker.end()
