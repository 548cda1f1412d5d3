"""Worker processes: limits that fire, neighbours that are not harmed, callers that go, and no keys."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fin_agent.errors import ReadError
from fin_agent.process_pool import (
    CallCancelledError,
    CallTimeoutError,
    Limits,
    PoolBusyError,
    WorkerEndedError,
    WorkerPool,
)

LIMITS = Limits(seconds=20, wait=20, memory=2 * 2**30)
only_where_limits_hold = pytest.mark.skipif(sys.platform != "linux", reason="the system sets no such limits")
HOARD: list[bytearray] = []


def stuck_in_c() -> None:
    re.match("(a*)*b", "a" * 99)


def hoarded(megabytes: int) -> int:
    """Memory that the process keeps, as a library does that was brought to its limit."""
    HOARD.append(bytearray(megabytes * 2**20))
    return os.getpid()


def taken(megabytes: int) -> int:
    try:
        bytearray(megabytes * 2**20)
    except MemoryError:
        raise ReadError("cannot allocate memory (Errno 12)", subject="neighbour.pdf") from None
    return os.getpid()


def surroundings() -> tuple[dict[str, str], bytes]:
    there = Path("/proc/self/environ")
    return dict(os.environ), there.read_bytes() if there.exists() else b""


@pytest.fixture(scope="module")
def shared() -> Iterator[WorkerPool]:
    pool = WorkerPool(2)
    yield pool
    pool.close()


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    pool = WorkerPool(1, waiting=1)
    yield pool
    pool.close()


def test_what_is_raised_comes_back_whole(shared: WorkerPool) -> None:
    with pytest.raises(ReadError) as raised:
        shared.call(taken, 4_000, limits=LIMITS)
    assert (raised.value.subject, raised.value.what) == ("neighbour.pdf", "cannot allocate memory (Errno 12)")


@only_where_limits_hold
def test_what_is_caught_in_a_library_is_ended(shared: WorkerPool) -> None:
    with pytest.raises(WorkerEndedError):
        shared.call(stuck_in_c, limits=Limits(seconds=0.2))
    assert shared.call(os.getpid, limits=LIMITS)


def test_a_deadline_fires(shared: WorkerPool) -> None:
    begun = time.monotonic()
    with pytest.raises((CallTimeoutError, WorkerEndedError)):
        shared.call(time.sleep, 30, limits=Limits(wait=0.3))
    assert time.monotonic() - begun < 10


@only_where_limits_hold
def test_a_process_whose_memory_is_gone_is_replaced(pool: WorkerPool) -> None:
    """A hostile file leaves its process without memory: the file after it pays with `Errno 12` in the same process."""
    first = pool.call(hoarded, 1_100, limits=LIMITS)
    assert pool.call(taken, 1_100, limits=LIMITS) != first


def test_a_call_that_nobody_waits_for_is_ended(pool: WorkerPool) -> None:
    pool.call(os.getpid, limits=LIMITS)
    gone, begun = threading.Event(), time.monotonic()
    threading.Timer(0.2, gone.set).start()
    with pytest.raises(CallCancelledError):
        pool.call(time.sleep, 30, limits=LIMITS, cancelled=gone.is_set)
    assert time.monotonic() - begun < 5
    assert pool.call(os.getpid, limits=LIMITS)


def test_the_line_is_bounded_and_who_goes_leaves_it(pool: WorkerPool) -> None:
    gone, ended = threading.Event(), []

    def called() -> None:
        try:
            pool.call(time.sleep, 30, limits=LIMITS, cancelled=gone.is_set)
        except CallCancelledError:
            ended.append("left")

    callers = [threading.Thread(target=called) for _ in range(2)]
    for caller in callers:
        caller.start()
        time.sleep(0.1)
    with pytest.raises(PoolBusyError):
        pool.call(os.getpid, limits=LIMITS)
    gone.set()
    for caller in callers:
        caller.join(10)
    assert ended == ["left", "left"]
    assert pool.call(os.getpid, limits=LIMITS)


def test_no_key_reaches_a_process_that_reads_files(pool: WorkerPool, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "FIN_AGENT_TOKEN", "FIN_AGENT_ES_PASSWORD", "MY_OWN_CREDENTIAL")
    for name in names:
        monkeypatch.setenv(name, "sesame-open-4711")
    monkeypatch.setenv("FIN_AGENT_PDF_READER", "mupdf")
    environment, as_started = pool.call(surroundings, limits=LIMITS)
    assert not set(names) & environment.keys()
    assert b"sesame-open" not in as_started
    assert environment["FIN_AGENT_PDF_READER"] == "mupdf" and "PATH" in environment


def test_an_outcome_that_cannot_be_sent_is_an_error(shared: WorkerPool) -> None:
    with pytest.raises(RuntimeError, match="function"):
        shared.call(closure, limits=LIMITS)


def closure() -> Callable[[], None]:
    return lambda: None
