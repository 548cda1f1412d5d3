"""Read files in processes of their own: a file that brings the PDF library down costs that file, not the run."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from fin_agent.errors import FilingIndexError, FinAgentError, LexiconError, ReadError
from fin_agent.index.stored_filing import StoredFiling
from fin_agent.process_pool import CallTimeoutError, Limits, WorkerEndedError, WorkerPool

if TYPE_CHECKING:
    from fin_agent.index.ingest import Prepare

READING = Limits()
_AHEAD = 2
"""Files read ahead per worker: enough to keep all busy, few enough to keep memory flat."""


LONG = 20.0
"""Seconds after which somebody who sees nothing happen wants to know what is being read."""


def read_in_workers(
    paths: Sequence[Path], read: Prepare, workers: int, on_long: Callable[[Path], None]
) -> Iterator[tuple[Path, StoredFiling | FinAgentError]]:
    """What the index keeps of each of `paths`, or why `read` could not read it, in the order in which they are done.

    Rows are made where the file is read: they pass between processes in an eighth of the time of a Filing.
    `on_long` is told what is being read, again and again while no file is done for LONG seconds. A file is to blame
    only for the end of a process that has read nothing before it. Raises FinAgentError where no worker can start: no
    file is to blame for that.
    """
    waiting = list(reversed(paths))
    pool = WorkerPool(workers)
    with ThreadPoolExecutor(min(workers, len(waiting)) or 1) as threads:
        running: dict[Future[StoredFiling | FinAgentError], Path] = {}
        try:
            while waiting or running:
                while waiting and len(running) < workers * _AHEAD:
                    path = waiting.pop()
                    running[threads.submit(_read_in_process, pool, read, path)] = path
                finished, _ = wait(running, timeout=LONG, return_when=FIRST_COMPLETED)
                if not finished:
                    on_long(next(iter(running.values())))  # the first of them is no longer waiting for a worker
                for future in sorted(finished, key=lambda future: str(running[future])):
                    outcome = future.result()
                    yield running.pop(future), outcome
        finally:
            pool.close()
            threads.shutdown(wait=False, cancel_futures=True)


def read_here(
    paths: Sequence[Path], read: Prepare, workers: int, on_long: Callable[[Path], None]
) -> Iterator[tuple[Path, StoredFiling | FinAgentError]]:
    """As `read_in_workers`, in this process, which can do nothing else meanwhile.

    Time is limited here as well where this is the main thread and the system has alarms; it cannot stop a PDF library
    that is caught in a file before that comes back.
    """
    for path in paths:
        try:
            with _interrupted(READING):
                outcome: StoredFiling | FinAgentError = _read(read, path)
        except _InterruptedError:
            outcome = _crash_error(path)
        except ReadError as error:
            outcome = error
        except MemoryError:
            outcome = _crash_error(path)
        yield path, outcome


def reader_failure(path: Path, error: Exception) -> ReadError:
    """The failure of a reader, or of what it made, on the file at `path`."""
    return ReadError(
        f"the reader failed ({type(error).__name__}: {error})",
        subject=path.name,
        remedy="Report this file; the others are not affected",
    )


def _read_in_process(pool: WorkerPool, read: Prepare, path: Path) -> StoredFiling | FinAgentError:
    while True:
        try:
            return pool.call(_read, read, path, limits=READING)
        except ReadError as error:
            return error
        except (MemoryError, CallTimeoutError):
            return _crash_error(path)
        except WorkerEndedError as end:
            if end.calls == 0:
                raise _cannot_start(end) from end
            if end.calls == 1:
                return _killed_error(path) if end.killed_by_system else _crash_error(path)


def _read(read: Prepare, path: Path) -> StoredFiling:
    """Raises ReadError, MemoryError, and what no file is to blame for."""
    try:
        prepared = read(path)
        return StoredFiling.of(prepared.filing, prepared.cards, prepared.summary)
    except (FilingIndexError, LexiconError, MemoryError):
        raise
    except ReadError as error:
        raise ReadError(error.what, subject=error.subject, remedy=error.remedy) from None
    except Exception as error:  # a file that breaks the reader must not end the run; its name and reason are kept
        raise reader_failure(path, error) from error


class _InterruptedError(BaseException):
    """Time is over. No reader that catches every Exception keeps it."""


@contextmanager
def _interrupted(limits: Limits) -> Iterator[None]:
    """Raise _InterruptedError in this thread where what runs inside takes more time than allowed."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def raised(number: int, frame: FrameType | None) -> None:
        raise _InterruptedError

    alarms = {signal.SIGPROF: (signal.ITIMER_PROF, limits.seconds), signal.SIGALRM: (signal.ITIMER_REAL, limits.wait)}
    handlers = {number: signal.signal(number, raised) for number in alarms}
    try:
        for timer, seconds in alarms.values():
            signal.setitimer(timer, seconds)
        yield
    finally:
        for timer, _ in alarms.values():
            signal.setitimer(timer, 0)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _cannot_start(end: WorkerEndedError) -> FinAgentError:
    if end.killed_by_system:
        return FinAgentError(
            "the operating system ended a process before it read a file, probably because memory ran out",
            remedy="Free memory, or read fewer files at once: `--workers 1` (`workers=1` in Python); with 0 they"
            " are read without a further process",
        )
    return FinAgentError(
        "the processes that read files cannot start",
        remedy="Pass `workers=0`: the files are then read in this process",
    )


def _crash_error(path: Path) -> ReadError:
    return ReadError(
        "the reader crashed, or took more time or memory than any filing needs",
        subject=path.name,
        remedy="Download the filing again; where a viewer or a browser opens it, print it to a new PDF and ingest that",
    )


def _killed_error(path: Path) -> ReadError:
    return ReadError(
        "the operating system ended the process that read the file, probably because memory ran out",
        subject=path.name,
        remedy="Free memory and run `fin-agent ingest --retry-failed --workers 1`; `--workers 0` reads without a"
        " further process",
    )
