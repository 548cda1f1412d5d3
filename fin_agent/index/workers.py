"""Read files in worker processes: a file that crashes the PDF library affects only itself."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
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

READ_LIMITS = Limits()
_AHEAD = 2
"""Files read ahead per worker: enough to keep all busy, few enough to limit memory."""


def read_in_workers(
    paths: Sequence[Path], read: Prepare, workers: int
) -> Iterator[tuple[Path, StoredFiling | FinAgentError]]:
    """Yield each path with its filing, or with the error of `read`, in order of completion.

    Rows are made in the worker, because they pass between processes in an eighth of the time of a Filing. A file is
    only blamed for the end of a process that had read nothing else.

    Args:
        paths: The files.
        read: Reads one file.
        workers: Number of processes.

    Raises:
        FinAgentError: No worker can start.
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
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in sorted(finished, key=lambda future: str(running[future])):
                    outcome = future.result()
                    yield running.pop(future), outcome
        finally:
            pool.close()
            threads.shutdown(wait=False, cancel_futures=True)


def read_here(
    paths: Sequence[Path], read: Prepare, workers: int
) -> Iterator[tuple[Path, StoredFiling | FinAgentError]]:
    """Yield the same, read in this process.

    The time limit applies where this is the main thread and the system has alarms; it cannot interrupt a PDF library
    before that returns.
    """
    for path in paths:
        try:
            with _interrupted(READ_LIMITS):
                outcome: StoredFiling | FinAgentError = _read(read, path)
        except (_InterruptedError, MemoryError):
            outcome = _crash_error(path)
        except ReadError as error:
            outcome = error
        yield path, outcome


def reader_failure(path: Path, error: Exception) -> ReadError:
    """Return the error for an exception of a reader, or of what uses its result, on the file at `path`."""
    return ReadError(
        f"the reader failed ({type(error).__name__}: {error})",
        subject=path.name,
        remedy="Report this file; the others are not affected",
    )


def _read_in_process(pool: WorkerPool, read: Prepare, path: Path) -> StoredFiling | FinAgentError:
    while True:
        try:
            return pool.call(_read, read, path, limits=READ_LIMITS)
        except ReadError as error:
            return error
        except (MemoryError, CallTimeoutError):
            return _crash_error(path)
        except WorkerEndedError as end:
            if end.calls == 0:
                raise _cannot_start(end) from end
            if end.calls == 1:
                return _crash_error(path, killed=end.killed_by_system)


def _read(read: Prepare, path: Path) -> StoredFiling:
    """Read one file. Raises ReadError, MemoryError, and errors that are not due to the file."""
    try:
        prepared = read(path)
        return StoredFiling.of(prepared.filing, prepared.cards, prepared.summary)
    except (FilingIndexError, LexiconError, MemoryError):
        raise
    except ReadError as error:
        raise ReadError(error.what, subject=error.subject, remedy=error.remedy) from None
    except Exception as error:  # a file that breaks the reader must not end the run; it is reported
        raise reader_failure(path, error) from error


class _InterruptedError(BaseException):
    """The time limit is exceeded. A reader that catches every Exception does not catch this."""


@contextmanager
def _interrupted(limits: Limits) -> Iterator[None]:
    """Raise _InterruptedError in this thread when the code inside exceeds its time limit."""
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
        what = "the operating system ended a process before it read a file, probably because memory ran out"
        return FinAgentError(what, remedy=_FREE_MEMORY)
    what = "the processes that read files cannot start"
    return FinAgentError(what, remedy="Pass `workers=0`: the files are then read in this process")


_FREE_MEMORY = (
    "Free memory, or read fewer files at once: `--workers 1` (`workers=1` in Python); `--workers 0` reads them without"
    " a further process"
)


def _crash_error(path: Path, *, killed: bool = False) -> ReadError:
    what = "the reader crashed, or took more time or memory than any filing needs"
    remedy = "Download the filing again; where a viewer or a browser opens it, print it to a new PDF and ingest that"
    if killed:
        what = "the operating system ended the process that read the file, probably because memory ran out"
        remedy = _FREE_MEMORY
    return ReadError(what, subject=path.name, remedy=remedy)
