"""How a command ends: its exit code, what is said where it fails, and what to run next on the same index."""

from __future__ import annotations

import errno
import functools
import os
import re
import shlex
import sqlite3
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import IntEnum
from pathlib import Path
from typing import ParamSpec

import typer

from fin_agent.errors import FinAgentError
from fin_agent.redaction import redact_secrets

P = ParamSpec("P")


class ExitCode(IntEnum):
    """Exit codes of every command."""

    DONE = 0
    FAILED = 1
    WRONG_USAGE = 2
    SOME_FAILED = 3
    REFUSED = 4
    STOPPED = 130


MEANINGS: dict[int, str] = {
    ExitCode.DONE: "done",
    ExitCode.FAILED: "failed",
    ExitCode.WRONG_USAGE: "wrong usage",
    ExitCode.SOME_FAILED: "some files, questions or checks failed and the rest is done, or a replay differs",
    ExitCode.REFUSED: "the question was refused (ask only)",
    ExitCode.STOPPED: "stopped from the keyboard",
}


def run_command(command: Callable[P, ExitCode]) -> Callable[P, None]:
    """`command`, ending in its exit code; an error is told in a sentence, with its traceback under `--debug`."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        index = kwargs.get("index")
        try:
            with error_boundary(index, debug=kwargs.get("debug")), hints_for_index(index):
                code = command(*args, **kwargs)
                sys.stdout.flush()
        except KeyboardInterrupt:
            _print_error("stopped")
            code = ExitCode.STOPPED
        except BrokenPipeError:
            # Whoever read has seen enough (`| head`): there is nobody left to tell, here or when Python ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = ExitCode.FAILED
        raise typer.Exit(code)

    return run


@contextmanager
def error_boundary(index: object = None, *, debug: object = False) -> Iterator[None]:
    """An error inside is told in a sentence and ends the command, with its traceback under `debug`."""
    try:
        yield
    except (typer.Exit, typer.Abort, typer.BadParameter, BrokenPipeError):
        raise
    except Exception as error:  # the last place an error can be told to a person
        if debug:
            sys.stderr.write(redact_secrets(traceback.format_exc()))
        with hints_for_index(index):
            _print_error(f"error: {sentence_of(error)}")
        raise typer.Exit(ExitCode.FAILED) from error


def sentence_of(error: Exception) -> str:
    """What happened, to what, and what to do next; no key, whatever the error says."""
    return redact_secrets(_report_error(error))


def _report_error(error: Exception) -> str:
    if isinstance(error, FinAgentError):
        if "the disk is full" not in error.what and _of_full_disk(error):
            told = FinAgentError(f"the disk is full ({error.what})", subject=error.subject, remedy=_MAKE_ROOM)
            return str(told)
        return str(error)
    if not isinstance(error, OSError) and _of_full_disk(error):
        return f"the disk is full ({error}). {_MAKE_ROOM}"
    if isinstance(error, OSError) and error.strerror:
        remedy = f". {_MAKE_ROOM}" if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
        return f"{error.filename}: {error.strerror}{remedy}" if error.filename else f"{error.strerror}{remedy}"
    return f"unexpected {type(error).__name__}: {error}. Run it again with --debug and report what that prints"


_MAKE_ROOM = "Make room and run the same command again"


def _of_full_disk(error: Exception) -> bool:
    """Whether an error, or one that it came of, says that there is no room: also as SQLite does, in other words."""
    from fin_agent.index.sqlite_file import is_full

    subject = Path(getattr(error, "subject", "") or ".")
    each: BaseException | None = error
    while each is not None:
        if isinstance(each, OSError | sqlite3.Error) and is_full(each, subject):
            return True
        each = each.__cause__ or each.__context__
    return False


def _print_error(line: str) -> None:
    from fin_agent.cli.streams import say

    say(line)


_HINT = re.compile(r"`(fin-agent (?:index (?:verify|repair|failures)|ingest|embed|trees|filings|remove)\b[^`]*)`")
_index_in_hints: ContextVar[Path | None] = ContextVar("named", default=None)


@contextmanager
def hints_for_index(index: object) -> Iterator[None]:
    """Hints inside name `index`, where it is a folder that was given; what chose it otherwise chooses it again."""
    token = _index_in_hints.set(index if isinstance(index, Path) and _is_folder(index) else None)
    try:
        yield
    finally:
        _index_in_hints.reset(token)


def _is_folder(index: Path) -> bool:
    from fin_agent.index.opening import address_of  # `--help` does not wait for it

    return address_of(index) is None


def with_index(said: str) -> str:
    """The commands quoted in a sentence with `--index DIR`, where one was given and they name none."""
    folder = _index_in_hints.get()
    if folder is None:
        return said
    option = f" --index {shlex.quote(str(folder))}"
    return _HINT.sub(lambda hint: hint[0] if "--index" in hint[1] else f"`{hint[1]}{option}`", said)
