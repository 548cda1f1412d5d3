"""Calls carried out in processes of their own, under limits: one that ends takes its own call with it, and no other."""

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
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TypeVar

from fin_agent.errors import FinAgentError

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one call may take. Where the system has no such limits (Windows), only `wait` holds."""

    seconds: float = 60.0
    """Of the processor; the longest filings take three."""
    wait: float = 600.0
    """By the clock: a reader that waits for something takes no processor time."""
    memory: int = 6 * 2**30
    """Bytes of address space of the process."""


class WorkerEndedError(Exception):
    """The process ended before the call was done."""

    def __init__(self, exit_code: int | None, calls: int) -> None:
        super().__init__(f"exit code {exit_code} in call {calls}")
        self.exit_code = exit_code
        self.calls = calls
        """Of the process until then, this one included."""

    @property
    def killed_by_system(self) -> bool:
        """Whether the system ended it, as one short of memory does (SIGKILL, SIGTERM), and not its own limits."""
        return self.exit_code in (-9, -15)


class CallCancelledError(Exception):
    """Nobody waits for the call any more; its process has been ended."""


class CallTimeoutError(Exception):
    """The call took longer than it may; its process has been ended."""


class PoolBusyError(FinAgentError):
    """As many calls are at work and waiting as may be."""


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """What a call came to, and in what state its process was left."""

    outcome: object
    raised: bool
    exhausted: bool
    """Whether the process had taken so much memory that it carries out no further call."""


class WorkerPool:
    """Up to `most` processes, started when they are first needed and kept for the calls after; safe between threads.

    A process that ended, or that a call has left with much of its memory taken, is replaced: no call pays for the one
    before it.
    """

    def __init__(self, most: int, waiting: int | None = None) -> None:
        """`waiting` calls may stand in line for a process; any number where it is None."""
        self._places = threading.Semaphore(most)
        self._line = None if waiting is None else threading.Semaphore(most + waiting)
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._guard = threading.Lock()
        self._closed = False

    def call(
        self,
        function: Callable[..., Result],
        *arguments: object,
        limits: Limits,
        left: Callable[[], bool] = lambda: False,
    ) -> Result:
        """What `function`, which has to be importable by name, gives; what it raises is raised here.

        Raises WorkerEndedError, OutOfTimeError, PoolBusyError, and CallLeftError soon after `left` says that nobody
        waits any more.
        """
        if self._line is not None and not self._line.acquire(blocking=False):
            raise PoolBusyError("the limit of calls at the same time is reached", remedy="Call again in a few seconds")
        try:
            while not self._places.acquire(timeout=_POLL_SECONDS):
                self._raise_if_cancelled(left)
            try:
                done = self._execute(function, arguments, limits, left)
            finally:
                self._places.release()
        finally:
            if self._line is not None:
                self._line.release()
        if done.raised:
            assert isinstance(done.outcome, BaseException)
            raise done.outcome
        return done.outcome  # type: ignore[return-value]

    def _execute(
        self, function: Callable[..., object], arguments: tuple[object, ...], limits: Limits, left: Callable[[], bool]
    ) -> CallOutcome:
        self._raise_if_cancelled(left)
        with self._guard:
            of_script = any(getattr(each, "__module__", "") == "__main__" for each in (function, *arguments))
            worker = self._idle.pop() if self._idle else _Worker(of_script)
            self._busy.add(worker)
        kept = False
        try:
            done = worker.execute(function, arguments, limits, lambda: self._closed or left())
            kept = not done.exhausted and not self._closed
            return done
        finally:
            with self._guard:
                self._busy.discard(worker)
                if kept:
                    self._idle.append(worker)
            if not kept:
                worker.end()

    def _raise_if_cancelled(self, left: Callable[[], bool]) -> None:
        if self._closed or left():
            raise CallCancelledError

    def close(self) -> None:
        """End every process, also those at work; their calls raise CallLeftError."""
        self._closed = True
        with self._guard:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.end()


_POLL_SECONDS = 0.1
"""Seconds between two looks at whether anybody still waits."""


class _Worker:
    """A process that carries out one call after another."""

    def __init__(self, of_script: bool) -> None:
        """`of_script`: it needs what the script that calls defines, and so has to run it."""
        # A fresh interpreter: forking a process with threads (progress bars, a server, the sandbox's pool) can hang.
        context = multiprocessing.get_context("spawn")
        self._calls, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True, name="fin-agent-worker")
        with nullcontext() if of_script else _hidden_main_script():
            self._process.start()
        theirs.close()
        self._made = 0

    def execute(
        self, function: Callable[..., object], arguments: tuple[object, ...], limits: Limits, left: Callable[[], bool]
    ) -> CallOutcome:
        """Raises WorkerEndedError, OutOfTimeError, CallLeftError."""
        try:
            if not self._made:
                self._receive(left, time.monotonic() + _START_SECONDS)
            self._made += 1
            self._calls.send((function, arguments, limits))
            outcome, raised, exhausted = self._receive(left, time.monotonic() + limits.wait)
        except (EOFError, ConnectionError):
            self._process.join(_SHUTDOWN_SECONDS)
            raise WorkerEndedError(self._process.exitcode, self._made) from None
        return CallOutcome(outcome, raised, exhausted)

    def _receive(self, left: Callable[[], bool], until: float) -> tuple[object, bool, bool]:
        while not wait([self._calls, self._process.sentinel], timeout=_POLL_SECONDS):
            if left():
                raise CallCancelledError
            if time.monotonic() > until:
                raise CallTimeoutError
        if not self._calls.poll():
            raise EOFError
        received: tuple[object, bool, bool] = self._calls.recv()
        return received

    def end(self) -> None:
        self._process.kill()
        self._process.join(_SHUTDOWN_SECONDS)
        self._calls.close()


@contextmanager
def _hidden_main_script() -> Iterator[None]:
    """A process that starts inside does not run the script of whoever calls anew: it needs no `if __name__ ...`."""
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
    """No module of the folder the user happens to stand in takes the place of one that a process started here needs."""
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
    """The loop of a worker process. It ends with the process that started it."""
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
            except (AttributeError, TypeError, ValueError) as error:  # an outcome that cannot be sent
                calls.send((RuntimeError(f"{type(outcome).__name__}: {outcome} ({error})"), True, exhausted))
            del outcome


_MEMORY_SHARE_FOR_RESTART = 0.25
"""Of the memory that a call may take. A process that had more is not used again: what a library keeps of it would be
missing for the next file. Filings stay below 1 GB, one after the other."""


def _peak_memory() -> int:
    """The most address space that this process ever had, in bytes; 0 where the system does not tell."""
    try:
        told = re.search(r"VmPeak:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    except OSError:
        return 0
    return int(told[1]) * 1024 if told else 0


def prepare_worker() -> None:
    """In a worker: what it reads may be hostile, so it has no keys; nothing of it outlasts the process that started it.

    Stopped from the keyboard, it ends at once and without a traceback: that process says what was stopped.
    """
    clear_secret_environment()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # What a call makes is kept until it is done: looking through it for garbage meanwhile takes a tenth of the time.
    gc.set_threshold(200_000, 20, 20)
    end_with_parent()


def end_with_parent() -> None:
    """Let this process end as soon as the one that started it has, even where that was killed."""
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
    """Take every variable out of this process's environment that readers do not need, keys of any name among them."""
    libc = ctypes.CDLL(None) if os.name == "posix" else None
    for name, value in list(os.environ.items()):
        if _INHERITED_VARIABLES.fullmatch(name):
            continue
        if libc is not None:
            # To unset it leaves what the process was started with in its memory, and so in /proc.
            libc.getenv.restype = ctypes.c_void_p
            if (at := libc.getenv(os.fsencode(name))) is not None:
                ctypes.memset(at, 0, len(os.fsencode(value)))
        del os.environ[name]


@contextmanager
def memory_limit(limits: Limits) -> Iterator[None]:
    """Let the system end this process where what runs inside takes more time or memory than allowed.

    A PDF library that is caught in a hostile file cannot be stopped from within. So this is for worker processes
    whose end the parent process notices and reports. Where the system has no such limits (Windows), nothing is limited.
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
