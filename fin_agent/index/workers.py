"""Read files in processes of their own: a file that brings the PDF library down costs that file, not the run."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TypeVar

from fin_agent.errors import FilingIndexError, FinAgentError, LexiconError, ReadError
from fin_agent.filings.readers.protocol import limited

Read = TypeVar("Read")
"""What is made of a file."""

_AHEAD = 2
"""Files read ahead per worker: enough to keep all busy, few enough to keep memory flat."""


LONG = 20.0
"""Seconds after which somebody who sees nothing happen wants to know what is being read."""


def read_in_workers(
    paths: Sequence[Path], read: Callable[[Path], Read], workers: int, on_long: Callable[[Path], None]
) -> Iterator[tuple[Path, Read | FinAgentError]]:
    """What `read` makes of each of `paths`, or why it could not, in the order in which they are done.

    `on_long` is told what is being read, again and again while no file is done for LONG seconds. Files that were being
    read when a worker ended are read again by themselves, so that the one to blame is known. Raises FinAgentError where
    no worker can start: no file is to blame for that.
    """
    waiting = list(reversed(paths))
    suspects: list[Path] = []
    started = False
    while waiting:
        with _pool(min(workers, len(waiting))) as pool:
            started = started or _starts(pool)
            running: dict[Future[Read | FinAgentError], Path] = {}
            try:
                while waiting or running:
                    while waiting and len(running) < workers * _AHEAD:
                        running[pool.submit(_read_within_limits, read, waiting[-1])] = waiting[-1]
                        waiting.pop()
                    finished, _ = wait(running, timeout=LONG, return_when=FIRST_COMPLETED)
                    if not finished:
                        on_long(next(iter(running.values())))  # the first of them is no longer waiting for a worker
                    for future in sorted(finished, key=lambda future: str(running[future])):
                        outcome = future.result()
                        yield running.pop(future), outcome
            except BrokenProcessPool:
                suspects += running.values()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    for path in suspects:
        yield path, _alone(read, path, on_long)


def read_here(
    paths: Sequence[Path], read: Callable[[Path], Read], workers: int, on_long: Callable[[Path], None]
) -> Iterator[tuple[Path, Read | FinAgentError]]:
    """As `read_in_workers`, in this process, which can do nothing else meanwhile."""
    for path in paths:
        yield path, _read(read, path)


def reader_failed(path: Path, error: Exception) -> ReadError:
    """The failure of a reader, or of what it made, on the file at `path`."""
    return ReadError(
        f"the reader failed on it ({type(error).__name__}: {error})",
        subject=path.name,
        remedy="Please report this file; the others are not affected",
    )


def _starts(pool: ProcessPoolExecutor) -> bool:
    """True once a worker answers. Raises FinAgentError where none does."""
    answer, worker = _submit(pool, os.getpid)
    try:
        answer.result()
    except BrokenProcessPool as error:
        if _was_killed(worker):
            raise FinAgentError(
                "the system ended a process that was to read files before it read any, as one short of memory does",
                remedy="Free memory, or read fewer files at once: `--workers 1` (`workers=1` in Python); with 0 they"
                " are read without a further process",
            ) from error
        raise FinAgentError(
            "the processes that read files cannot start",
            remedy="In a script, call `ingest` below `if __name__ == '__main__':`, or pass `workers=0`",
        ) from error
    return True


def _alone(read: Callable[[Path], Read], path: Path, on_long: Callable[[Path], None]) -> Read | FinAgentError:
    with _pool(1) as pool:
        worker: BaseProcess | None = None
        try:
            answer, worker = _submit(pool, _read_within_limits, read, path)
            while not wait([answer], timeout=LONG).done:
                on_long(path)
            return answer.result()
        except BrokenProcessPool:
            return _ended_by_the_system(path) if _was_killed(worker) else _brought_down(path)


Answer = TypeVar("Answer")


def _submit(
    pool: ProcessPoolExecutor, call: Callable[..., Answer], *arguments: object
) -> tuple[Future[Answer], BaseProcess | None]:
    """The first call of a pool, and the worker that was started for it; None where that has ended already."""
    before = multiprocessing.active_children()
    answer = pool.submit(call, *arguments)
    started = [process for process in multiprocessing.active_children() if process not in before]
    return answer, started[0] if len(started) == 1 else None


def _was_killed(worker: BaseProcess | None) -> bool:
    """Whether a worker was ended from without, and neither by itself nor by its own limits."""
    if worker is None:
        return False
    until = time.monotonic() + _TIME_TO_END
    while worker.exitcode is None and time.monotonic() < until:
        time.sleep(0.01)  # the pool waits for its end as well, and the system tells one of the two only
    return worker.exitcode in _ENDED_FROM_WITHOUT


_TIME_TO_END = 5.0
_ENDED_FROM_WITHOUT = (-9, -15)
"""SIGKILL, which a system short of memory sends, and SIGTERM."""


def _read_within_limits(read: Callable[[Path], Read], path: Path) -> Read | FinAgentError:
    with limited():
        return _read(read, path)


def _read(read: Callable[[Path], Read], path: Path) -> Read | FinAgentError:
    try:
        return read(path)
    except ReadError as error:
        return ReadError(error.what, subject=error.subject, remedy=error.remedy)
    except (FilingIndexError, LexiconError):
        raise  # no file is to blame
    except MemoryError:
        return _brought_down(path)
    except Exception as error:  # a file that breaks the reader must not end the run; its name and reason are kept
        return reader_failed(path, error)


def _brought_down(path: Path) -> ReadError:
    return ReadError(
        "reading it brought the reader down (it crashed, or took more time or memory than any filing needs)",
        subject=path.name,
        remedy="Download the filing again; where a viewer or a browser opens it, print it to a new PDF and ingest that",
    )


def _ended_by_the_system(path: Path) -> ReadError:
    return ReadError(
        "the system ended the process that read it, as one short of memory does",
        subject=path.name,
        remedy="Free memory and run `fin-agent ingest --retry-failed --workers 1`; `--workers 0` reads without a"
        " further process",
    )


def _pool(workers: int) -> ProcessPoolExecutor:
    # A fresh interpreter per worker: forking a process with threads (progress bars, the sandbox's pool) can hang.
    return ProcessPoolExecutor(
        workers, mp_context=multiprocessing.get_context("spawn"), initializer=end_with_the_ingest
    )


def end_with_the_ingest() -> None:
    """In a worker: nothing of it outlasts the process that started it.

    Stopped from the keyboard, it ends at once and without a traceback: that process says what was stopped. Where that
    one is killed, it would wait for the next file for ever.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if (parent := multiprocessing.parent_process()) is not None:
        threading.Thread(target=_exit_after, args=(parent,), daemon=True).start()


def _exit_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
