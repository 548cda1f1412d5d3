"""Writing files for the user: atomically, and with errors that name the path and a remedy."""

from __future__ import annotations

import errno
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fin_agent.errors import FinAgentError


class WriteError(FinAgentError):
    """A file cannot be written: the disk is full, permission is missing, or the path is not a file."""


@contextmanager
def reporting_write_errors(file: Path) -> Iterator[None]:
    """Turn an OSError raised in the block into a WriteError about `file`."""
    try:
        yield
    except OSError as error:
        reason, remedy = f" ({error.strerror or error})", "Name a file in an existing folder with write permission"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            reason = ": the disk is full"
            remedy = "Make room, or name a file elsewhere, and run the same command again"
        raise WriteError(f"it could not be written{reason}", subject=str(file), remedy=remedy) from error


def atomic_write(file: Path, content: bytes) -> None:
    """Write `file` completely or not at all; create its folder if needed.

    Raises:
        WriteError: The file cannot be written.
    """
    require_writable_path(file)
    unfinished = file.with_name(f".{file.name}.{uuid.uuid4().hex}.new")
    with reporting_write_errors(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            unfinished.write_bytes(content)
            unfinished.replace(file)
        finally:
            unfinished.unlink(missing_ok=True)


def escape_spreadsheet_formula(value: object) -> object:
    """Return the cell of a CSV file, with a quote before text that spreadsheets would run as a formula.

    >>> escape_spreadsheet_formula("=1+1"), escape_spreadsheet_formula("-"), escape_spreadsheet_formula(-5)
    ("'=1+1", '-', -5)
    """
    if not isinstance(value, str):
        return value
    text = " ".join(value.split())
    return f"'{text}" if _RUN_AS_FORMULA.match(text) else text


_RUN_AS_FORMULA = re.compile(r"[=+@＝＋－＠]|-(?![;\s]|$)")


def create_private_file(file: Path) -> None:
    """Create `file` empty if it does not exist, and restrict its mode to its owner. Raises OSError.

    Questions and answers are private. SQLite gives its write-ahead log the mode of the database.
    """
    file.touch(mode=0o600)
    if file.stat().st_mode & 0o077:
        file.chmod(0o600)


def require_writable_path(file: Path) -> None:
    """Check that `file` is a regular file or does not exist yet.

    Raises:
        WriteError: `file` is a folder, a device or a pipe.
    """
    if file.is_dir():
        raise WriteError("this is a folder", subject=str(file), remedy=f"Name a file in it: {file / 'NAME'}")
    if file.exists() and not file.is_file():
        raise WriteError("this is a device or a pipe, not a file", subject=str(file), remedy="Name a file")
