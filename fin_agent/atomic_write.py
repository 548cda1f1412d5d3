"""Files that a command writes for its user: what keeps one from being written is told with its path and a remedy."""

from __future__ import annotations

import errno
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fin_agent.errors import FinAgentError


class WriteError(FinAgentError):
    """A file cannot be written: no room, no permission, or something else stands there."""


@contextmanager
def reporting_write_errors(file: Path) -> Iterator[None]:
    """Where what is done inside to write `file` raises OSError, it becomes a WriteError."""
    try:
        yield
    except OSError as error:
        raise _write_error(file, error) from error


def atomic_write(file: Path, content: bytes) -> None:
    """Write `file`, its folder too, whole or not at all. Raises WriteError."""
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
    """A cell of a CSV file: what spreadsheets would run as a formula gets a quote before it, and stays a text.

    >>> harmless("=1+1"), harmless("-"), harmless(-5)
    ("'=1+1", '-', -5)
    """
    if not isinstance(value, str):
        return value
    text = " ".join(value.split())
    return f"'{text}" if _RUN_AS_FORMULA.match(text) else text


_RUN_AS_FORMULA = re.compile(r"[=+@＝＋－＠]|-(?![;\s]|$)")


def create_private_file(file: Path) -> None:
    """Make `file`, empty, where it is not there; for its owner alone in any case. Raises OSError.

    What was asked and answered is nobody else's business; SQLite gives its log the modes of the file beside it.
    """
    file.touch(mode=0o600)
    if file.stat().st_mode & 0o077:
        file.chmod(0o600)


def require_writable_path(file: Path) -> None:
    """Raises WriteError where a folder, or no file at all (a device, a pipe), stands at `file`."""
    if file.is_dir():
        raise WriteError("this is a folder", subject=str(file), remedy=f"Name a file in it: {file / 'NAME'}")
    if file.exists() and not file.is_file():
        raise WriteError("this is a device or a pipe, and no file", subject=str(file), remedy="Name a file")


def _write_error(file: Path, error: OSError) -> WriteError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        remedy = (
            f"{free_space_message(file.parent)} Make room, or name a file elsewhere, and run the same command again"
        )
        return WriteError("it could not be written: the disk is full", subject=str(file), remedy=remedy.strip())
    return WriteError(
        f"it could not be written ({error.strerror or error})",
        subject=str(file),
        remedy="Name a file in a folder that is there and may be written to",
    )


def free_space_message(folder: Path) -> str:
    """`12 MB are free there.`; empty where that cannot be told."""
    try:
        return f"{shutil.disk_usage(folder).free / 1e6:,.0f} MB are free there."
    except OSError:
        return ""
