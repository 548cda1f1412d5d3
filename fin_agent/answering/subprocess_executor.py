"""The second executor: a Python process per program, with limits that the kernel keeps. Only where asked for."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from decimal import Decimal
from pathlib import Path

from fin_agent.answering.allowed_syntax import check_syntax
from fin_agent.answering.executor import ProgramResult, SandboxSettings
from fin_agent.answering.program_errors import (
    ProgramError,
    cannot_be_called,
    failed,
    needs_memory,
    out_of_time,
    printed_too_much,
    slept_too_long,
)
from fin_agent.answering.returned_value import LARGEST_FIGURE, LONGEST_LIST, checked_value, named
from fin_agent.errors import SandboxError


class SubprocessSandbox:
    """Runs each program in a Python process of its own, for machines where Monty's worker cannot be installed.

    The process is isolated (`python -I -S`), has an empty environment, an empty folder that is removed behind it, a
    session of its own, stdin for the program and stdout for the result. Before the program runs it gives up opening
    files (and with them sockets), starting processes (not where it runs as root), memory beyond `max_memory_bytes`,
    and time beyond `max_seconds`; what it may import is a copy of a few modules with their public names alone.
    `check_syntax` stands in front.

    What it does NOT protect from: a fault in CPython itself. The interpreter is the host's, runs as the user who
    started it, and shares the host's kernel, file system and network; no namespace, no seccomp filter and no other
    user stand between. A program that got around the checks of its syntax, and then raised its own limits as root can,
    would read files and reach the network as that user. Run it as an unprivileged user, or in a container without
    network. For programs that a stranger wrote, use `MontySandbox`, which has no such way out.

    Linux; on macOS the memory limit is not kept by the kernel; on Windows there is no such executor.

    >>> SubprocessSandbox().run("def solution():\\n    revenue = 6489\\n    return revenue / 2").value
    3244.5
    """

    def __init__(self, settings: SandboxSettings | None = None) -> None:
        self.settings = settings or SandboxSettings()

    def run(self, code: str) -> ProgramResult:
        """The value of the program's `solution()`.

        Raises ProgramError, as `MontySandbox.run` does, and SandboxError where no process can be started.
        """
        settings = self.settings
        tree = check_syntax(code, settings)
        if os.name != "posix":
            raise SandboxError(
                "programs cannot be run in a process with limits on this system", remedy="Use the executor `monty`."
            )
        started = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="fin-agent-") as folder, tempfile.TemporaryFile() as answer:
            request = json.dumps(
                {
                    **settings.model_dump(),
                    "code": code,
                    "modules": sorted(_imported(tree)),
                    "max_output_bytes": _MOST_OUTPUT,
                }
            )
            try:
                child = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-B", str(_CHILD)],
                    stdin=subprocess.PIPE,
                    stdout=answer,
                    stderr=subprocess.DEVNULL,
                    cwd=folder,
                    env={},
                    close_fds=True,
                    start_new_session=True,
                )
            except OSError as failure:
                raise SandboxError(
                    f"no process can be started for the program ({failure})", remedy="Use the executor `monty`."
                ) from failure
            status = _ended(child, request.encode(errors="surrogatepass"), settings)
            answer.seek(0)
            written = answer.read(_MOST_OUTPUT)
        return _result(written, status, settings, time.perf_counter() - started)


_CHILD = Path(__file__).with_name("subprocess_child.py")
_MOST_OUTPUT = 1_000_000
_SECONDS_TO_START = 0.3
"""Beyond the limits that the process keeps itself."""


def _imported(tree: ast.Module) -> set[str]:
    names = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    return (names | modules) - {"__future__"}


def _ended(child: subprocess.Popen[bytes], request: bytes, settings: SandboxSettings) -> int:
    """The exit status; its whole session is killed behind it, at the latest when its time is over."""
    try:
        child.communicate(request, timeout=settings.max_seconds + settings.max_sleep_seconds + _SECONDS_TO_START)
    except subprocess.TimeoutExpired as late:
        raise out_of_time(settings) from late
    finally:
        if child.poll() is None:
            _kill_session(child.pid)
        child.wait()
    return child.returncode


def _kill_session(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return


def _result(written: bytes, status: int, settings: SandboxSettings, seconds: float) -> ProgramResult:
    if status in (-signal.SIGPROF, -signal.SIGALRM, -signal.SIGXCPU):
        raise out_of_time(settings)
    try:
        outcome = json.loads(written)
    except ValueError as failure:
        if status in (0, 1, 120):  # Python itself gave up, and could not even write so.
            raise needs_memory(settings) from failure
        raise ProgramError(
            f"the program broke the process that ran it (signal {-status})",
            remedy="Write it with plain arithmetic on numbers.",
        ) from failure
    if outcome["printed_too_much"]:
        raise printed_too_much(settings)
    if "uncallable" in outcome:
        raise cannot_be_called(outcome["uncallable"])
    if "failed" in outcome:
        kind, message = outcome["failed"], outcome["message"]
        if kind == "TimeoutError" and message == "sleep limit":
            raise slept_too_long(settings)
        raise failed(kind, message, outcome["line"], settings)
    return ProgramResult(checked_value(_received(outcome["value"]), settings), outcome["printed"], seconds)


def _received(sent: list[object]) -> object:
    """What the process sent, as the value it was."""
    match sent:
        case ["plain", value]:
            return value
        case ["int", str(text)]:
            return int(text)
        case ["huge", _]:
            return 10 * LARGEST_FIGURE
        case ["float", str(text)]:
            return float(text)
        case ["decimal", str(text)]:
            return Decimal(text)
        case ["long", int(length)]:
            raise ProgramError(
                f"`solution` returned {length:,} values, more than {LONGEST_LIST:,}", remedy="Return the answer only."
            )
        case ["list", list(members)]:
            return [_received(member) for member in members if isinstance(member, list)]
        case _:
            raise ProgramError(
                f"`solution` returned {named(str(sent[-1]))}",
                remedy="Return a number, a text, True or False, or a list of those.",
            )
