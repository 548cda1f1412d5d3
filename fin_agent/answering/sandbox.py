"""Programs are run in a pool of sandboxed workers: never in this process, and never with a way to the host."""

from __future__ import annotations

import math
import os
import threading
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field
from pydantic_monty import (
    Monty,
    MontyCrashedError,
    MontyError,
    MontyRuntimeError,
    MontySyntaxError,
    OSPolicy,
    ResourceLimits,
)

from fin_agent.errors import SandboxError

ProgramScalar = float | int | str | bool
ProgramValue = ProgramScalar | list[ProgramScalar]

LARGEST_FIGURE = 10**18
"""No figure of a filing comes near a quintillion; beyond it floats and JSON readers lose digits without a word."""
LONGEST_LIST = 1_000


class ProgramExecutor(Protocol):
    """Whatever can run a program that defines `solution()`."""

    def run(self, code: str) -> ProgramResult:
        """The value of `solution()`; SandboxError when there is none."""
        ...


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """What a program returned and printed. Two runs of one program are equal, however long each took."""

    value: ProgramValue
    printed: str
    seconds: float = field(compare=False)


class SandboxSettings(BaseModel):
    """What a program may use up before it is stopped."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_seconds: float = Field(default=1.0, gt=0, le=60)
    """Time at work, sleeping not counted."""
    max_sleep_seconds: float = Field(default=0.2, ge=0, le=60)
    """All sleeps together; a sleep that would go beyond it is refused before it begins."""
    max_memory_bytes: int = Field(default=64 * 2**20, ge=2**20)
    max_recursion_depth: int = Field(default=200, ge=10, le=1_000)
    max_code_characters: int = Field(default=20_000, ge=1)
    max_printed_characters: int = Field(default=16_384, ge=0)
    max_text_characters: int = Field(default=16_384, ge=1)
    """Of a returned text, or of all texts of a returned list."""
    workers: int = Field(default=2, ge=1)
    """Programs that can run at the same time; more wait for a free worker."""


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
        _check_code(code, self.settings)
        try:
            return self._run_once(code)
        except MontyCrashedError as crash:
            if crash.timed_out:
                raise _out_of_time(self.settings) from crash
        try:  # The worker was killed from outside, or the program broke it: only the second repeats itself.
            return self._run_once(code)
        except MontyCrashedError as crash:
            raise SandboxError(
                f"the program broke the worker that ran it ({_one_line(str(crash))})",
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
                raise _printed_too_much(self.settings) from failure
            raise _explained(failure, self.settings) from failure
        return ProgramResult(_checked(value, self.settings), printed.text, time.perf_counter() - started)

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
                f"the sandbox cannot be started ({_one_line(str(failure))})",
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


def _check_code(code: str, settings: SandboxSettings) -> None:
    if not code.strip():
        raise SandboxError("the program is empty", remedy=_DEFINE_SOLUTION)
    if len(code) > settings.max_code_characters:
        raise SandboxError(
            f"the program has {len(code):,} characters, more than {settings.max_code_characters:,}",
            remedy="Shorten it: one assignment per figure and the formula.",
        )


_DEFINE_SOLUTION = "Define `def solution():` without parameters, and return the answer."
_PLAIN_ARITHMETIC = "Use the figures given, plain arithmetic and the modules math, decimal, datetime and re."


def _explained(failure: Exception, settings: SandboxSettings) -> SandboxError:
    """What the sandbox reports, as a reason and a next step."""
    if isinstance(failure, MontySyntaxError):
        return SandboxError(f"the program is not valid Python: {_located(failure)}", remedy="Correct the syntax.")
    if not isinstance(failure, MontyRuntimeError):
        return SandboxError(f"the sandbox failed ({_one_line(str(failure))})", remedy="Run the program again.")
    kind, message = type(failure.exception()).__name__, str(failure)
    if kind == "TimeoutError":
        return _slept_too_long(settings) if "sleep limit" in message else _out_of_time(settings)
    if kind == "MemoryError":
        megabytes = settings.max_memory_bytes / 2**20
        return SandboxError(
            f"the program needs more memory than {megabytes:,.0f} MB",
            remedy="Keep numbers and lists small.",
        )
    if kind == "RecursionError":
        return SandboxError(
            f"the program calls itself more than {settings.max_recursion_depth:,} times deep (recursion)",
            remedy="Write it without recursion.",
        )
    if kind in ("ImportError", "ModuleNotFoundError"):
        return SandboxError(f"the program's import is not available: {_located(failure)}", remedy=_PLAIN_ARITHMETIC)
    if kind == "PermissionError" or "not supported in this environment" in message:
        return SandboxError(
            f"the program reaches for files, the clock, chance or the environment, which are not available: "
            f"{_located(failure)}",
            remedy=_PLAIN_ARITHMETIC,
        )
    if kind == "NameError" and "'solution'" in message:
        return SandboxError("the program does not define `solution`", remedy=_DEFINE_SOLUTION)
    if kind == "TypeError" and _raised_by_the_call(failure):
        return SandboxError(f"`solution` cannot be called: {_one_line(message)}", remedy=_DEFINE_SOLUTION)
    if kind == "ZeroDivisionError":
        return SandboxError(
            f"the program divides by zero: {_located(failure)}", remedy="Check the figure it divides by."
        )
    if kind == "NotImplementedError":
        return SandboxError(
            f"the program uses Python that is not available: {_located(failure)}", remedy=_PLAIN_ARITHMETIC
        )
    return SandboxError(f"the program failed: {_located(failure)}", remedy="Correct that line.")


def _located(failure: MontyRuntimeError | MontySyntaxError) -> str:
    """`line 3: NameError: name 'foo' is not defined`; the line is the innermost of the program's own."""
    frames = failure.traceback()
    said = _one_line(failure.display("type-msg"))
    return f"line {frames[-1].line}: {said}" if frames else said


def _raised_by_the_call(failure: MontyRuntimeError) -> bool:
    """Whether `solution` itself could not be called, rather than something that it does."""
    frames = failure.traceback()
    called_wrongly = "solution() missing" in str(failure)
    return called_wrongly or (len(frames) == 1 and frames[0].source_line == "solution()")


def _one_line(text: str) -> str:
    """An exception's text is the program's, so it is kept short and on one line."""
    flat = " ".join(text.split())
    return flat if len(flat) <= 200 else f"{flat[:199]}…"


def _out_of_time(settings: SandboxSettings) -> SandboxError:
    return SandboxError(
        f"the program ran longer than its time limit of {settings.max_seconds:g} s",
        remedy="Remove endless loops and very large numbers.",
    )


def _slept_too_long(settings: SandboxSettings) -> SandboxError:
    return SandboxError(
        f"the program sleeps longer than {settings.max_sleep_seconds:g} s", remedy="A program need not wait: remove it."
    )


def _printed_too_much(settings: SandboxSettings) -> SandboxError:
    return SandboxError(
        f"the program printed more than {settings.max_printed_characters:,} characters",
        remedy="Return the answer instead of printing it.",
    )


def _checked(value: object, settings: SandboxSettings) -> ProgramValue:
    """A returned value as an answer, or SandboxError."""
    if value is None:
        raise SandboxError("`solution` returned None", remedy="Return the answer on every path.")
    if not isinstance(value, list | tuple):
        return _checked_scalar(value, settings.max_text_characters)
    members: Sequence[object] = value
    if len(members) > LONGEST_LIST:
        raise SandboxError(
            f"`solution` returned {len(members):,} values, more than {LONGEST_LIST:,}", remedy="Return the answer only."
        )
    room = settings.max_text_characters
    scalars: list[ProgramScalar] = []
    for member in members:
        scalar = _checked_scalar(member, room)
        room -= len(scalar) if isinstance(scalar, str) else 0
        scalars.append(scalar)
    return scalars


def _checked_scalar(value: object, room: int) -> ProgramScalar:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        if value.startswith("<coroutine object"):
            raise SandboxError("`solution` is asynchronous", remedy=_DEFINE_SOLUTION)
        if len(value) > room:
            raise SandboxError("`solution` returned a text that is too long", remedy="Return the answer only.")
        return value
    if isinstance(value, int):
        _check_size(value)
        return value
    if isinstance(value, float | Decimal):
        # Checked before any conversion: a Decimal can hold what a float cannot.
        if not (value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)):
            raise SandboxError(f"`solution` returned {value}, which is no figure", remedy="Check what it divides by.")
        _check_size(value)
        return float(value)
    raise SandboxError(
        f"`solution` returned {_named(value)}", remedy="Return a number, a text, True or False, or a list of those."
    )


def _check_size(value: int | float | Decimal) -> None:
    if not -LARGEST_FIGURE <= value <= LARGEST_FIGURE:
        raise SandboxError(
            f"`solution` returned a number beyond {LARGEST_FIGURE:.0e}, too large for any filing",
            remedy="Check the units of its figures.",
        )


def _named(value: object) -> str:
    kind = type(value).__name__
    return {"dict": "a dict", "list": "a list within a list"}.get(kind, f"a value of type {kind}")
