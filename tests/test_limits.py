"""A process that reads is ended by the system where a file costs more than allowed."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from fin_agent.process_pool import Limits, memory_limit

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the system sets no such limits")
START = "from fin_agent.process_pool import Limits, memory_limit\n"


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", START + program], capture_output=True, text=True, check=False)


def test_endless_reading_is_ended() -> None:
    ended = run("import re\nwith memory_limit(Limits(seconds=0.2)): re.match('(a*)*b', 'a' * 99)")
    assert ended.returncode == -signal.SIGPROF


def test_time_in_the_system_counts() -> None:
    work = "with memory_limit(Limits(seconds=0.2)), open('/dev/zero', 'rb', buffering=0) as z:\n"
    work += " while True: z.read(2**24)"
    assert run(work).returncode == -signal.SIGPROF


def test_endless_waiting_is_ended() -> None:
    ended = run("import threading\nwith memory_limit(Limits(wait=0.2)): threading.Event().wait()")
    assert ended.returncode == -signal.SIGALRM


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS does not hold processes to their address space")
def test_memory_is_refused() -> None:
    ended = run("with memory_limit(Limits(memory=2 * 2**30)): bytearray(4 * 2**30)")
    assert ended.returncode == 1 and "MemoryError" in ended.stderr


def test_what_follows_is_not_limited() -> None:
    ended = run("with memory_limit(Limits(seconds=0.1, wait=0.1)): pass\nsum(range(20_000_000))")
    assert ended.returncode == 0, ended.stderr


def test_errors_pass_through() -> None:
    with pytest.raises(ValueError, match="as raised"), memory_limit(Limits()):
        raise ValueError("as raised")
