"""A full disk is told as one, whatever was at work and however SQLite words it."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

import pytest

from fin_agent.cli.exit_codes import sentence_of
from fin_agent.graphs.chat.threads import ThreadStoreError
from fin_agent.runs.store import RunStoreError


def raised_from(error: Exception, cause: Exception) -> Exception:
    try:
        raise error from cause
    except type(error) as made:
        return made


@pytest.mark.parametrize("kind", [RunStoreError, ThreadStoreError])
def test_errors_that_come_of_a_full_disk_say_so(kind: type[RunStoreError], tmp_path: Path) -> None:
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    store = kind("cannot be read or written", subject=str(tmp_path / "kept.sqlite"), remedy="Move the file away")
    for cause in (full, OSError(errno.ENOSPC, "No space left on device")):
        told = sentence_of(raised_from(store, cause))
        assert "the disk is full" in told and "Make room" in told and "Move the file away" not in told
    assert "the disk is full" in sentence_of(full) and "unexpected" not in sentence_of(full)


def test_other_errors_keep_their_remedy(tmp_path: Path) -> None:
    store = RunStoreError("cannot be read", subject=str(tmp_path / "kept.sqlite"), remedy="Move the file away")
    locked = sqlite3.OperationalError("database is locked")
    assert sentence_of(raised_from(store, locked)).endswith("Move the file away")
