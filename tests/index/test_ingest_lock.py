"""One ingest at a time: who holds the lock is told, who is dead holds none, and nobody who reads meets it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fin_agent.errors import FilingIndexError
from fin_agent.index.ingest import PreparedFiling, ingest
from fin_agent.index.ingest_lock import LOCK_NAME, IndexInUseError, ingest_lock, lock_owner
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.vocabulary.filing import Filing

HOLD = """
import sys, time
from pathlib import Path
from fin_agent.index.ingest_lock import ingest_lock
with ingest_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def other(tmp_path: Path) -> subprocess.Popen[str]:
    """Another process that holds the lock of tmp_path."""
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    return process


def test_owner_is_told_and_a_dead_one_holds_nothing(tmp_path: Path, other: subprocess.Popen[str]) -> None:
    try:
        assert f"process {other.pid} on " in lock_owner(tmp_path)
        with pytest.raises(IndexInUseError) as raised, ingest_lock(tmp_path):
            pass
        said = str(raised.value)
        assert (
            f"process {other.pid} on {socket.gethostname()}, since " in said
            and "--wait" in said
            and str(tmp_path) in said
        )
    finally:
        other.kill()
        other.communicate()
    with ingest_lock(tmp_path):  # it never gave it back
        assert f"process {os.getpid()} on " in lock_owner(tmp_path)
    assert lock_owner(tmp_path) == ""


def test_waiting_ends_when_the_other_does(tmp_path: Path, other: subprocess.Popen[str]) -> None:
    waited_for: list[str] = []
    threading.Timer(0.4, lambda: os.kill(other.pid, signal.SIGKILL)).start()
    started = time.monotonic()
    with ingest_lock(tmp_path, wait=30, on_wait=waited_for.append):
        assert 0.2 < time.monotonic() - started < 20
    other.communicate()
    (owner,) = waited_for
    assert f"process {other.pid} on " in owner


def test_ingest_beside_another_is_refused_and_reading_goes_on(
    tmp_path: Path, make_filing: Callable[..., Filing]
) -> None:
    with SqliteIndex.create(tmp_path) as index:
        with ingest_lock(tmp_path):
            with pytest.raises(IndexInUseError, match="another command is writing"):
                ingest([tmp_path], index, never, workers=0)
            index.add(make_filing("a", "text"), ["{}"], "")  # single filings are whole by themselves
            assert len(index.filings()) == 1 and index.remove("a")
        assert ingest([tmp_path], index, never, workers=0).files == []


def never(path: Path) -> PreparedFiling:
    raise AssertionError


@pytest.mark.parametrize("left", [b"", b"{", b"[]", b'{"pid": "x"}', b"\xff" * 9000])
def test_whatever_stands_in_the_file_no_dead_lock_holds(tmp_path: Path, left: bytes) -> None:
    (tmp_path / LOCK_NAME).write_bytes(left)
    with ingest_lock(tmp_path):
        assert f"process {os.getpid()} on " in lock_owner(tmp_path)
    assert (tmp_path / LOCK_NAME).read_bytes() == b""


@pytest.mark.skipif(os.name == "nt", reason="links need leave there")
def test_a_lock_that_is_a_link_empties_nothing(tmp_path: Path) -> None:
    outside = tmp_path / "notes.txt"
    outside.write_text("mine")
    folder = tmp_path / "from somebody else"
    folder.mkdir()
    (folder / LOCK_NAME).symlink_to(outside)
    with pytest.raises(FilingIndexError, match=r"cannot be locked.*not a link elsewhere"), ingest_lock(folder):
        pass
    assert lock_owner(folder) == ""
    assert outside.read_text() == "mine"


NO_ROOM = """
import resource, sys
from pathlib import Path
from fin_agent.index.ingest_lock import ingest_lock
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
with ingest_lock(Path(sys.argv[1])):
    print("held", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="no such limit there")
def test_a_full_disk_does_not_keep_the_lock_from_being_held(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", NO_ROOM, str(tmp_path)], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "held\n", "")
