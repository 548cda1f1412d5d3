"""At most ten requests in any second, over all processes; a clock that jumps holds nobody up."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from fin_agent.atomic_write import WriteError
from fin_agent.downloads.connection import PER_SECOND, DownloadError, RequestPacer
from tests.downloads.edgar_server import CONTACT, EdgarServer

ASKING = """
    import sys
    from pathlib import Path
    from fin_agent.downloads.connection import EdgarConnection
    from fin_agent.downloads.settings import EdgarSettings
    with EdgarConnection(EdgarSettings(contact={contact!r}, url={url!r}, cache=Path({cache!r}))) as connection:
        for _ in range(12):
            connection.get({url!r} + "/files/company_tickers.json")
"""


def test_two_processes_share_the_pace(edgar: EdgarServer, tmp_path: Path) -> None:
    script = textwrap.dedent(ASKING.format(contact=CONTACT, url=edgar.url, cache=str(tmp_path)))
    asking = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(2)]
    assert [process.wait(timeout=60) for process in asking] == [0, 0]
    times = sorted(each.at for each in edgar.asked)
    assert len(times) == 24
    most = max(sum(start <= other < start + 1 for other in times) for start in times)
    assert most <= 10
    assert times[-1] - times[0] > 23 / PER_SECOND * 0.9


def test_turns_are_as_far_apart_as_they_should(tmp_path: Path) -> None:
    now = [100.0]
    slept: list[float] = []
    pace = RequestPacer(tmp_path / "pace.sqlite", per_second=4, clock=lambda: now[0], sleep=slept.append)
    waited = [pace.wait() for _ in range(4)]
    assert waited == [0.0, 0.25, 0.5, 0.75] and slept == [0.25, 0.5, 0.75]
    now[0] += 10
    assert pace.wait() == 0.0  # turns not taken are not saved up
    assert pace.wait() == 0.25


def test_those_who_waited_for_the_end_of_a_pause_do_not_ask_at_once(tmp_path: Path) -> None:
    RequestPacer(tmp_path / "pace.sqlite", 20).pause(0.3, "host")
    asked: list[float] = []

    def ask() -> None:
        pace = RequestPacer(tmp_path / "pace.sqlite", 20)
        for _ in range(2):
            pace.wait("host")
            asked.append(time.time())

    begun = time.time()
    others = [threading.Thread(target=ask) for _ in range(5)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert min(asked) - begun > 0.2
    assert max(asked) - min(asked) > 9 / 20 - 0.05  # ten turns, a twentieth of a second apart


def test_a_clock_that_was_set_back_holds_nobody_up(tmp_path: Path) -> None:
    now = [1_000_000.0]
    pace = RequestPacer(tmp_path / "pace.sqlite", clock=lambda: now[0], sleep=lambda seconds: None)
    pace.wait()
    now[0] -= 86_400
    assert pace.wait() == 0.0


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(WriteError):
        RequestPacer(tmp_path / "file" / "pace.sqlite")
    (tmp_path / "pace.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(DownloadError, match=r"pace\.sqlite: it cannot be written") as raised:
        RequestPacer(tmp_path / "pace.sqlite")
    assert isinstance(raised.value.__cause__, sqlite3.Error)
