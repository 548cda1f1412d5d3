"""The end of a command: its exit code, its error message, and hints for the same index."""

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
    """Wrap a command so that it ends with its exit code, and prints an error in one sentence."""

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
            # The reader has closed the pipe (`| head`): write to nowhere, also when Python flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = ExitCode.FAILED
        raise typer.Exit(code)

    return run


@contextmanager
def error_boundary(index: object = None, *, debug: object = False) -> Iterator[None]:
    """Print an error of the block in one sentence and end the command; with `debug`, print its traceback as well."""
    try:
        yield
    except (typer.Exit, typer.Abort, typer.BadParameter, BrokenPipeError):
        raise
    except Exception as error:  # the last place where an error can be reported to the user
        if debug:
            sys.stderr.write(redact_secrets(traceback.format_exc()))
        with hints_for_index(index):
            _print_error(f"error: {sentence_of(error)}")
        raise typer.Exit(ExitCode.FAILED) from error


def sentence_of(error: Exception) -> str:
    """Return what happened, to what, and what to do next, without keys."""
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
    """Return whether an error, or one of its causes, reports a full disk, also in SQLite's words."""
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
    """Let hints in the block name `index`, if it is a folder that was given on the command line."""
    token = _index_in_hints.set(index if isinstance(index, Path) and _is_folder(index) else None)
    try:
        yield
    finally:
        _index_in_hints.reset(token)


def _is_folder(index: Path) -> bool:
    from fin_agent.index.opening import address_of  # `--help` does not wait for it

    return address_of(index) is None


def with_index(said: str) -> str:
    """Add `--index DIR` to the commands quoted in a sentence, if it was given and they name none."""
    folder = _index_in_hints.get()
    if folder is None:
        return said
    option = f" --index {shlex.quote(str(folder))}"
    return _HINT.sub(lambda hint: hint[0] if "--index" in hint[1] else f"`{hint[1]}{option}`", said)
