"""The end of a command: its exit code, its error message, and hints for the same index."""

from __future__ import annotations

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
from typing import NoReturn

import typer

from fin_agent.errors import FinAgentError
from fin_agent.redaction import redact_secrets


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


def run_command(command: Callable[[], ExitCode], index: Path | None, *, debug: bool) -> NoReturn:
    """Run a command and end with its exit code; an error is printed in one sentence.

    The commands that messages suggest get the option `--index` if `index` is a folder.
    """
    of_cluster = str(index).startswith(("http:", "https:"))
    token = _index_in_hints.set(None if of_cluster else index)
    try:
        with error_boundary(debug=debug):
            code = command()
            sys.stdout.flush()
    except KeyboardInterrupt:
        _print_error("stopped")
        code = ExitCode.STOPPED
    except BrokenPipeError:
        # The reader has closed the pipe (`| head`): write to nowhere, also when Python flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = ExitCode.FAILED
    finally:
        _index_in_hints.reset(token)
    raise typer.Exit(code)


@contextmanager
def error_boundary(*, debug: bool = False) -> Iterator[None]:
    """Print an error of the block in one sentence and end the command; with `debug`, print its traceback as well."""
    try:
        yield
    except (typer.Exit, typer.Abort, typer.BadParameter, BrokenPipeError):
        raise
    except Exception as error:  # the last place where an error can be reported to the user
        if debug:
            sys.stderr.write(redact_secrets(traceback.format_exc()))
        _print_error(f"error: {sentence_of(error)}")
        raise typer.Exit(ExitCode.FAILED) from error


def sentence_of(error: Exception) -> str:
    """Return what happened, to what, and what to do next, without keys."""
    subject = getattr(error, "subject", "") or getattr(error, "filename", None) or ""
    what = getattr(error, "what", "") or getattr(error, "strerror", None) or str(error)
    if _of_full_disk(error) and "the disk is full" not in what:
        remedy = "Make room and run the same command again"
        error = FinAgentError(f"the disk is full ({what})", subject=str(subject), remedy=remedy)
    if isinstance(error, FinAgentError):
        return redact_secrets(str(error))
    if isinstance(error, OSError) and error.strerror:
        return redact_secrets(f"{subject}: {what}" if subject else what)
    report = "Run it again with --debug and report what that prints"
    return redact_secrets(f"unexpected {type(error).__name__}: {error}. {report}")


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


def with_index(said: str) -> str:
    """Add `--index DIR` to the commands quoted in a sentence, if it was given and they name none."""
    folder = _index_in_hints.get()
    if folder is None:
        return said
    option = f" --index {shlex.quote(str(folder))}"
    return _HINT.sub(lambda hint: hint[0] if "--index" in hint[1] else f"`{hint[1]}{option}`", said)
