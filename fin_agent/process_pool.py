"""Calls in worker processes with limits of time and memory: a crash affects its own call only."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, TypeVar

from fin_agent.errors import FinAgentError

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one call. Where the system cannot enforce them (Windows), only `wait` applies."""

    seconds: float = 60.0
    """Processor time; the longest filings take three seconds."""
    wait: float = 600.0
    """Seconds of wall-clock time: a reader that waits for something takes no processor time."""
    memory: int = 6 * 2**30
    """Bytes of address space of the process."""


class WorkerEndedError(Exception):
    """The worker process ended before the call was done."""

    def __init__(self, exit_code: int | None, calls: int) -> None:
        super().__init__(f"exit code {exit_code} in call {calls}")
        self.exit_code = exit_code
        self.calls = calls
        """Calls that the process had received, this one included."""

    @property
    def killed_by_system(self) -> bool:
        """Whether the system killed the process (SIGKILL, SIGTERM), for instance for lack of memory."""
        return self.exit_code in (-9, -15)


class CallCancelledError(Exception):
    """The caller no longer waits for the result; the process was ended."""


class CallTimeoutError(Exception):
    """The call exceeded its time limit; the process was ended."""


class PoolBusyError(FinAgentError):
    """The limit of running and waiting calls is reached."""


class WorkerPool:
    """A pool of worker processes, started on demand and reused for later calls; thread-safe.

    A process that ended, or that has used much of its memory, is replaced before the next call.
    """

    def __init__(self, most: int, waiting: int | None = None) -> None:
        """Create a pool of at most `most` processes, for which `waiting` calls may wait (None: any number)."""
        self._places = threading.Semaphore(most)
        self._line = None if waiting is None else threading.Semaphore(most + waiting)
        self._idle: list[_Worker] = []
        self._guard = threading.Lock()
        self._closed = False

    def call(
        self,
        function: Callable[..., Result],
        *arguments: object,
        limits: Limits,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Result:
        """Run `function`, which can be imported by name, in a worker process; return or raise what it does.

        The arguments are pickled. `cancelled` returns whether the caller no longer waits; it is polled.

        Raises:
            WorkerEndedError: The process ended before the call was done.
            CallTimeoutError: The call exceeded its time limit.
            CallCancelledError: `cancelled` returned true, or the pool was closed.
            PoolBusyError: The limit of running and waiting calls is reached.
        """

        def gone() -> bool:
            return self._closed or cancelled()

        if self._line is not None and not self._line.acquire(blocking=False):
            raise PoolBusyError("the limit of calls at the same time is reached", remedy="Call again in a few seconds")
        with ExitStack() as held:
            if self._line is not None:
                held.callback(self._line.release)
            while not self._places.acquire(timeout=_POLL_SECONDS):
                if gone():
                    raise CallCancelledError
            held.callback(self._places.release)
            if gone():
                raise CallCancelledError
            with self._guard:
                of_script = any(getattr(each, "__module__", "") == "__main__" for each in (function, *arguments))
                worker = self._idle.pop() if self._idle else _Worker(of_script)
            kept = False
            try:
                outcome, raised, exhausted = worker.execute((function, arguments, limits), limits.wait, gone)
                kept = not exhausted and not self._closed
            finally:
                if kept:
                    with self._guard:
                        self._idle.append(worker)
                else:
                    worker.end()
        if raised:
            raise outcome
        return outcome  # type: ignore[no-any-return]

    def close(self) -> None:
        """End every process. Calls that are running raise CallCancelledError."""
        self._closed = True
        with self._guard:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.end()


_POLL_SECONDS = 0.1
"""Seconds between two checks whether the call was cancelled."""


class _Worker:
    """A process that runs one call after another."""

    def __init__(self, of_script: bool) -> None:
        """Start the process; `of_script`: it needs definitions of the main script, and so has to run that script."""
        # Spawn: forking a process with threads (progress bars, a server, the sandbox's pool) can hang.
        context = multiprocessing.get_context("spawn")
        self._calls, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True, name="fin-agent-worker")
        with nullcontext() if of_script else _hidden_main_script():
            self._process.start()
        theirs.close()
        self._made = 0

    def execute(self, call: tuple[Any, ...], seconds: float, cancelled: Callable[[], bool]) -> tuple[Any, bool, bool]:
        """Run one call; return what it returned or raised, whether it raised, and whether it used up its memory.

        Raises WorkerEndedError, CallTimeoutError and CallCancelledError.
        """
        try:
            if not self._made:
                self._receive(cancelled, time.monotonic() + _START_SECONDS)
            self._made += 1
            self._calls.send(call)
            return self._receive(cancelled, time.monotonic() + seconds)
        except (EOFError, ConnectionError):
            self._process.join(_SHUTDOWN_SECONDS)
            raise WorkerEndedError(self._process.exitcode, self._made) from None

    def _receive(self, cancelled: Callable[[], bool], until: float) -> tuple[Any, bool, bool]:
        while not wait([self._calls, self._process.sentinel], timeout=_POLL_SECONDS):
            if cancelled():
                raise CallCancelledError
            if time.monotonic() > until:
                raise CallTimeoutError
        if not self._calls.poll():
            raise EOFError
        return self._calls.recv()  # type: ignore[no-any-return]

    def end(self) -> None:
        self._process.kill()
        self._process.join(_SHUTDOWN_SECONDS)
        self._calls.close()


@contextmanager
def _hidden_main_script() -> Iterator[None]:
    """Keep a process that is started inside from running the caller's main script again.

    Scripts then need no `if __name__ == "__main__"`.
    """
    script = vars(sys.modules["__main__"])
    told: dict[str, object] = {name: script.pop(name) for name in ("__file__", "__spec__") if name in script}
    script["__spec__"] = None
    try:
        yield
    finally:
        del script["__spec__"]
        script.update(told)


@contextmanager
def exclude_current_folder() -> Iterator[None]:
    """Keep processes that are started inside from importing modules of the working directory."""
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


_SAFE_PATH = "PYTHONSAFEPATH"
_START_SECONDS = 120.0
_SHUTDOWN_SECONDS = 5.0


def _serve(calls: Connection) -> None:
    """The loop of a worker process. It ends when its parent process ends."""
    prepare_worker()
    with suppress(EOFError):
        calls.send((None, False, False))
        while True:
            function, arguments, limits = calls.recv()
            raised = False
            outcome: object
            with memory_limit(limits):
                try:
                    outcome = function(*arguments)
                except Exception as error:
                    outcome, raised = error, True
            exhausted = isinstance(outcome, MemoryError) or _peak_memory() > limits.memory * _MEMORY_SHARE_FOR_RESTART
            try:
                calls.send((outcome, raised, exhausted))
            except (AttributeError, TypeError, ValueError) as error:  # an outcome that cannot be pickled
                calls.send((RuntimeError(f"{type(outcome).__name__}: {outcome} ({error})"), True, exhausted))
            del outcome


_MEMORY_SHARE_FOR_RESTART = 0.25
"""Share of the memory limit. A process that has used more is not reused, since memory that a library still holds would
be missing for the next file. Processes that only read ordinary filings stay below 1 GB."""


def _peak_memory() -> int:
    """Return the peak address space of this process in bytes, or 0 if the system does not report it."""
    try:
        told = re.search(r"VmPeak:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    except OSError:
        return 0
    return int(told[1]) * 1024 if told else 0


def prepare_worker() -> None:
    """Remove secrets from a worker's environment, since it reads untrusted files, and end it when its parent ends.

    On Ctrl-C the worker ends at once without a traceback; the parent reports the interruption.
    """
    clear_secret_environment()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Objects of a call live until it is done: the default thresholds spend a tenth of the time on collecting garbage.
    gc.set_threshold(200_000, 20, 20)
    end_with_parent()


def end_with_parent() -> None:
    """End this process as soon as its parent has ended, even if the parent was killed."""
    if (parent := multiprocessing.parent_process()) is not None:
        threading.Thread(target=_exit_after_parent, args=(parent,), daemon=True).start()


def _exit_after_parent(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


_INHERITED_VARIABLES = re.compile(
    r"PATH|HOME|LANG|LC_\w+|TZ|TMPDIR|TEMP|TMP|USERPROFILE|SYSTEMROOT|WINDIR|LD_LIBRARY_PATH|DYLD_\w+|OMP_NUM_THREADS"
    r"|PYTHON\w*|FIN_AGENT_(?:LEXICON|PDF_READER)",
    re.I,
)


def clear_secret_environment() -> None:
    """Remove every variable that readers do not need from this process's environment, keys of any name included."""
    libc = ctypes.CDLL(None) if os.name == "posix" else None
    for name, value in list(os.environ.items()):
        if _INHERITED_VARIABLES.fullmatch(name):
            continue
        if libc is not None:
            # Unsetting a variable leaves its value in the process's initial memory, and so in /proc.
            libc.getenv.restype = ctypes.c_void_p
            if (at := libc.getenv(os.fsencode(name))) is not None:
                ctypes.memset(at, 0, len(os.fsencode(value)))
        del os.environ[name]


@contextmanager
def memory_limit(limits: Limits) -> Iterator[None]:
    """Let the system end this process if the block exceeds its limits of time or memory.

    A PDF library that loops on a hostile file cannot be stopped from within, so this is for worker processes whose end
    the parent process notices and reports. Where the system has no such limits (Windows), nothing is limited.
    """
    try:
        import resource
    except ImportError:
        yield
        return
    memory_before = resource.getrlimit(resource.RLIMIT_AS)
    handlers = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGPROF, signal.SIGALRM)}
    with suppress(ValueError, OSError):  # a lower limit may already hold, and some systems refuse this one
        resource.setrlimit(resource.RLIMIT_AS, (limits.memory, memory_before[1]))
    signal.setitimer(signal.ITIMER_PROF, limits.seconds)
    signal.setitimer(signal.ITIMER_REAL, limits.wait)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, memory_before)
