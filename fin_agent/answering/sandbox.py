"""Programs are run in a pool of sandboxed workers: never in this process, and never with a way to the host."""

from __future__ import annotations

import os
import threading
import time
import weakref

from pydantic_monty import (
    Monty,
    MontyCrashedError,
    MontyError,
    MontyRuntimeError,
    MontySyntaxError,
    OSPolicy,
    ResourceLimits,
)

from fin_agent.answering.allowed_syntax import check_syntax
from fin_agent.answering.executor import ProgramExecutor, ProgramResult, ProgramScalar, ProgramValue, SandboxSettings
from fin_agent.answering.program_errors import (
    ProgramError,
    cannot_be_called,
    failed,
    one_line,
    out_of_time,
    printed_too_much,
    slept_too_long,
)
from fin_agent.answering.returned_value import LARGEST_FIGURE, LONGEST_LIST, checked_value
from fin_agent.errors import SandboxError

__all__ = [
    "LARGEST_FIGURE",
    "LONGEST_LIST",
    "MontySandbox",
    "ProgramExecutor",
    "ProgramResult",
    "ProgramScalar",
    "ProgramValue",
    "SandboxSettings",
]


class MontySandbox:
    """Runs programs in Monty workers, which have no files, network, environment, processes, clock or chance.

    Workers start with the first program and stay until `close()` or the end of the process; any number of threads may
    share a sandbox. A worker that dies is replaced. Same program, same result.

    >>> MontySandbox().run("def solution():\\n    revenue = 6489\\n    return revenue / 2").value
    3244.5
    """

    def __init__(self, settings: SandboxSettings | None = None) -> None:
        self.settings = settings or SandboxSettings()
        self._lock = threading.Lock()
        self._pool: Monty | None = None
        self._pool_process = 0
        self._closing: weakref.finalize[..., MontySandbox] | None = None

    def run(self, code: str) -> ProgramResult:
        """The value of the program's `solution()`.

        Raises SandboxError, which says why and what to change, when the program is not Python, has no `solution`,
        goes beyond a limit, reaches for something that is not there, fails, or returns something that is no answer.
        """
        check_syntax(code, self.settings)
        try:
            return self._run_once(code)
        except MontyCrashedError as crash:
            if crash.timed_out:
                raise out_of_time(self.settings) from crash
        try:  # The worker was killed from outside, or the program broke it: only the second repeats itself.
            return self._run_once(code)
        except MontyCrashedError as crash:
            raise ProgramError(
                f"the program broke the worker that ran it ({one_line(str(crash))})",
                remedy="Write it with plain arithmetic on numbers.",
            ) from crash

    def close(self) -> None:
        """Stop the workers. A later `run` starts new ones."""
        with self._lock:
            closing, self._closing, self._pool = self._closing, None, None
        if closing is not None:
            closing()

    def _run_once(self, code: str) -> ProgramResult:
        printed = _Printed(self.settings.max_printed_characters)
        pool = self._running_pool()
        started = time.perf_counter()
        try:
            with pool.checkout(
                script_name="program.py", limits=self._limits(), os_policy=_NO_CLOCK_NO_CHANCE
            ) as worker:
                value = worker.feed_run(f"{code}\n\nsolution()\n", print_callback=printed)
        except MontyCrashedError:
            raise
        except (MontyError, TimeoutError, RuntimeError, ValueError) as failure:
            if printed.full:
                raise printed_too_much(self.settings) from failure
            raise _explained(failure, self.settings) from failure
        return ProgramResult(checked_value(value, self.settings), printed.text, time.perf_counter() - started)

    def _running_pool(self) -> Monty:
        with self._lock:
            # A forked child holds its parent's pool, whose workers answer the parent: leave them alone.
            if self._pool is None or self._pool_process != os.getpid():
                self._pool = self._started_pool()
                self._pool_process = os.getpid()
                self._closing = weakref.finalize(self, _close_in_own_process, self._pool, os.getpid())
            return self._pool

    def _started_pool(self) -> Monty:
        settings = self.settings
        pool = Monty(
            min_processes=1,
            max_processes=settings.workers,
            checkout_timeout=60.0,
            request_timeout=settings.max_seconds + settings.max_sleep_seconds + _GRACE_SECONDS,
            feed_duration_limit_grace=_GRACE_SECONDS,
        )
        try:
            pool.__enter__()
        except (OSError, RuntimeError) as failure:
            raise SandboxError(
                f"the sandbox cannot be started ({one_line(str(failure))})",
                remedy="Reinstall pydantic-monty; MONTY_BIN, where set, must name its program.",
            ) from failure
        return pool

    def _limits(self) -> ResourceLimits:
        return {
            "max_feed_duration_secs": self.settings.max_seconds,
            "max_memory": self.settings.max_memory_bytes,
            "max_recursion_depth": self.settings.max_recursion_depth,
            "max_total_sleep_secs": self.settings.max_sleep_seconds,
            "max_suspensions": 100,
        }


_GRACE_SECONDS = 0.3
"""A single long operation is not interrupted from inside: after this much more its worker is killed."""

_NO_CLOCK_NO_CHANCE: OSPolicy = {"datetime": "call_host", "random_start": "call_host", "sleep": "system"}
"""Asking the host, which does not answer: a program that depends on the time or on chance has no single result."""


class _Printed:
    """Collects what a program prints, up to a limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[str] = []
        self._characters = 0
        self.full = False

    def __call__(self, stream: str, text: str) -> None:
        self._characters += len(text)
        if self._characters > self._limit:
            self.full = True
            raise MemoryError("printed too much")
        self._parts.append(text)

    @property
    def text(self) -> str:
        return "".join(self._parts)


def _close_in_own_process(pool: Monty, process: int) -> None:
    if os.getpid() == process:
        pool.__exit__(None, None, None)


def _explained(failure: Exception, settings: SandboxSettings) -> ProgramError:
    """What the sandbox reports, as a reason and a next step."""
    if not isinstance(failure, MontyRuntimeError | MontySyntaxError):
        return ProgramError(f"the sandbox failed ({one_line(str(failure))})", remedy="Run the program again.")
    frames = failure.traceback()
    line = frames[-1].line if frames else None
    kind, message = type(failure.exception()).__name__, str(failure)
    if isinstance(failure, MontySyntaxError):
        return failed("SyntaxError", _said(failure), line, settings)
    if kind == "TimeoutError":
        return slept_too_long(settings) if "sleep limit" in message else out_of_time(settings)
    if "not supported in this environment" in message:
        return failed("PermissionError", _said(failure), line, settings)
    if kind == "TypeError" and _raised_by_the_call(failure):
        return cannot_be_called(message)
    return failed(kind, _said(failure), line, settings)


def _said(failure: MontyRuntimeError | MontySyntaxError) -> str:
    """The message without the name of its class."""
    kind, _, message = failure.display("type-msg").partition(": ")
    return message or kind


def _raised_by_the_call(failure: MontyRuntimeError) -> bool:
    """Whether `solution` itself could not be called, rather than something that it does."""
    frames = failure.traceback()
    called_wrongly = "solution() missing" in str(failure)
    return called_wrongly or (len(frames) == 1 and frames[0].source_line == "solution()")
