"""Run programs in a pool of sandboxed workers, never in this process and without access to the host."""

from __future__ import annotations

import math
import os
import threading
import time
import weakref
from dataclasses import dataclass, field
from typing import Protocol

from pydantic_monty import (
    Monty,
    MontyCrashedError,
    MontyError,
    MontyRuntimeError,
    MontySyntaxError,
    OSPolicy,
    ResourceLimits,
)

from fin_agent.answering.program_syntax import ProgramError, program_tree
from fin_agent.errors import SandboxError

ProgramScalar = float | int | str | bool
ProgramValue = ProgramScalar | list[ProgramScalar]


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The value that a program returned. Results compare equal regardless of their duration."""

    value: ProgramValue
    seconds: float = field(compare=False)


class ProgramExecutor(Protocol):
    """Runs programs that define `solution()`."""

    def run(self, code: str) -> ProgramResult:
        """Return the value of `solution()`. Raises SandboxError if there is none."""
        ...


class MontySandbox:
    r"""Runs programs in Monty workers without files, network, environment, processes, clock or randomness.

    Workers start with the first program and stay until `close()` or the end of the process. Threads may share a
    sandbox, dead workers are replaced, and equal programs give equal results.

    >>> MontySandbox().run("def solution():\n    revenue = 6489\n    return revenue / 2").value
    3244.5
    """

    def __init__(self, max_seconds: float = 1.0, max_memory_bytes: int = 64 * 2**20) -> None:
        """Set the limits of a program."""
        self._max_seconds, self._max_memory_bytes = max_seconds, max_memory_bytes
        self._lock = threading.Lock()
        self._pool: Monty | None = None
        self._pool_process = 0
        self._closing: weakref.finalize[..., MontySandbox] | None = None

    def run(self, code: str) -> ProgramResult:
        """Run a program and return the value of its `solution()`.

        Raises:
            SandboxError: The program uses syntax that is not allowed, exceeds a limit, fails, or returns no valid
                answer; the message has the reason and the remedy.
        """
        program_tree(code)
        try:
            return self._run_once(code)
        except MontyCrashedError as crash:
            if crash.timed_out:
                raise self._timeout_error() from crash
        try:  # Retry: the worker may have been killed from outside.
            return self._run_once(code)
        except MontyCrashedError as crash:
            what = f"the program broke the worker that ran it ({one_line(str(crash))})"
            raise ProgramError(what, remedy="Write it with plain arithmetic on numbers") from crash

    def close(self) -> None:
        """Stop the workers. A later `run` starts new ones."""
        with self._lock:
            closing, self._closing, self._pool = self._closing, None, None
        if closing is not None:
            closing()

    def _run_once(self, code: str) -> ProgramResult:
        pool = self._running_pool()
        limits: ResourceLimits = {
            "max_feed_duration_secs": self._max_seconds,
            "max_memory": self._max_memory_bytes,
            "max_recursion_depth": 200,
            "max_total_sleep_secs": 0.0,
            "max_suspensions": 100,
        }
        started = time.perf_counter()
        try:
            with pool.checkout(script_name="program.py", limits=limits, os_policy=_DETERMINISTIC_POLICY) as worker:
                value = worker.feed_run(f"{code}\n\nsolution()\n", print_callback=_print_nothing)
        except MontyCrashedError:
            raise
        except (MontyError, TimeoutError, RuntimeError, ValueError) as failure:
            raise self._explain_failure(failure) from failure
        seconds = time.perf_counter() - started
        if value is None:
            raise ProgramError("`solution` returned None", remedy="Return the answer on every path")
        valid = list(map(_checked_scalar, value)) if isinstance(value, list | tuple) else _checked_scalar(value)
        return ProgramResult(valid, seconds)

    def _running_pool(self) -> Monty:
        with self._lock:
            # A forked child inherits its parent's pool, whose workers answer the parent: do not use them.
            if self._pool is not None and self._pool_process == os.getpid():
                return self._pool
            pool = Monty(
                min_processes=1,
                max_processes=_MAX_WORKERS,
                checkout_timeout=60.0,
                request_timeout=self._max_seconds + _GRACE_SECONDS,
                feed_duration_limit_grace=_GRACE_SECONDS,
            )
            try:
                pool.__enter__()
            except (OSError, RuntimeError) as failure:
                remedy = "Reinstall pydantic-monty; MONTY_BIN, where set, must name its program"
                raise SandboxError(
                    f"the sandbox cannot be started ({one_line(str(failure))})", remedy=remedy
                ) from failure
            self._pool, self._pool_process = pool, os.getpid()
            self._closing = weakref.finalize(self, _close_in_own_process, pool, os.getpid())
            return pool

    def _explain_failure(self, failure: Exception) -> ProgramError:
        """Convert a failure of the sandbox to an error with a reason and a next step."""
        if not isinstance(failure, MontyRuntimeError | MontySyntaxError):
            return ProgramError(f"the sandbox failed ({one_line(str(failure))})", remedy="Run the program again")
        kind = type(failure.exception()).__name__
        if kind == "TimeoutError":
            return self._timeout_error()
        if kind == "MemoryError":
            what = f"the program needs more memory than {self._max_memory_bytes / 2**20:,.0f} MB"
            return ProgramError(what, remedy="Keep its numbers small")
        frames = failure.traceback()
        line = frames[-1].line if frames else None
        said = f"{f'line {line}: ' if line else ''}{one_line(failure.display('type-msg'))}"
        if kind == "ZeroDivisionError":
            what = f"the program divides by zero: {said}"
            return ProgramError(what, remedy="Check the figure it divides by", line=line)
        return ProgramError(f"the program failed: {said}", remedy="Correct that line", line=line)

    def _timeout_error(self) -> ProgramError:
        what = f"the program ran longer than its time limit of {self._max_seconds:g} s"
        return ProgramError(what, remedy="Remove very large numbers")


_MAX_WORKERS = 2
"""Programs that can run at the same time; others wait for a free worker."""
_GRACE_SECONDS = 0.3
"""A single long operation cannot be interrupted from inside: its worker is killed after this additional time."""

_DETERMINISTIC_POLICY: OSPolicy = {"datetime": "call_host", "random_start": "call_host", "sleep": "system"}
"""Requests to the host stay unanswered: a program that depends on time or randomness has no single result."""


def _print_nothing(stream: str, text: str) -> None:
    raise MemoryError("printing is disabled")


def _close_in_own_process(pool: Monty, process: int) -> None:
    if os.getpid() == process:
        pool.__exit__(None, None, None)


def one_line(text: str) -> str:
    """Return text on one line of at most 200 characters; an exception's text is controlled by the program."""
    flat = " ".join(text.split())
    return flat if len(flat) <= 200 else f"{flat[:199]}…"


LARGEST_FIGURE = 10**18
"""No figure of a filing is near a quintillion; beyond it, floats and JSON readers silently lose digits."""


def _checked_scalar(value: object) -> ProgramScalar:
    if not isinstance(value, bool | str | int | float):
        what = f"a value of type {type(value).__name__}"
        remedy = "Return a number, a text, True or False, or a list of those"
    elif isinstance(value, float) and not math.isfinite(value):
        what, remedy = f"{value}, which is not a figure", "Check what it divides by"
    elif not isinstance(value, str) and abs(value) > LARGEST_FIGURE:
        what = f"a number beyond {LARGEST_FIGURE:.0e}, too large for any filing"
        remedy = "Check the units of its figures"
    else:
        return value
    raise ProgramError(f"`solution` returned {what}", remedy=remedy)
