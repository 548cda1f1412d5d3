"""Several things done at once, each given back as it ends."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TypeVar

from fin_agent.cli.streams import say

Given = TypeVar("Given")
Result = TypeVar("Result")


def each_done(do: Callable[[Given], Result], given: Sequence[Given], jobs: int) -> Iterator[Result]:
    """The results in the order in which they come: one after the other by this thread, or `jobs` at once by others.

    What `do` raises ends it. Stopped from the keyboard, it begins no other; those under way are ended and given back
    first, because they may have been paid for. Stopped once more, it waits for nothing.
    """
    if jobs == 1:
        yield from map(do, given)
        return
    left = enumerate(given)
    under_way: dict[Future[Result], int] = {}
    with ThreadPoolExecutor(jobs, thread_name_prefix="question") as pool, _stopped(under_way) as stopped:
        while True:
            while not stopped.is_set() and len(under_way) < jobs and (following := next(left, None)) is not None:
                under_way[pool.submit(do, following[1])] = following[0]
            if not under_way:
                break
            done = wait(under_way, return_when=FIRST_COMPLETED).done
            for future in sorted(done, key=under_way.__getitem__):
                del under_way[future]
                yield future.result()
        if stopped.is_set():
            raise KeyboardInterrupt


@contextmanager
def _stopped(under_way: dict[Future[Result], int]) -> Iterator[threading.Event]:
    """Set by the first interrupt inside the block; the second one is raised, as any is outside."""
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return

    def stop(number: int, frame: FrameType | None) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt
        stopped.set()
        with suppress(RuntimeError):  # in the midst of another line, no line can be written
            say(f"stopping: the {len(under_way)} under way are ended first")

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGINT, before)
