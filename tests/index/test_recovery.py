"""Kill it at any instant: nothing is lost, doubled or half there, and the same command brings it to its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fin_agent.index.ingest import Outcome, ingest
from fin_agent.index.sqlite import FILE_NAME, SqliteIndex

Check = Callable[[SqliteIndex], None]

FILES = 24
INGEST = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from quick_readers import many_pages
from fin_agent.index.ingest import ingest
from fin_agent.index.sqlite import SqliteIndex
if __name__ == "__main__":
    print("ready", flush=True)
    with SqliteIndex.create(Path(sys.argv[2])) as index:
        told = lambda file: print(file.doc_id, flush=True)
        report = ingest([Path(sys.argv[3])], index, many_pages, workers=0, on_file=told, wait=60)
    print(len(report.failures), len(report.files), flush=True)
"""


@pytest.fixture
def command(tmp_path: Path, quick_readers: str) -> list[str]:
    """An ingest of many filings into tmp_path/"index", as a process of its own."""
    folder = tmp_path / "filings"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"f{number:02d}.pdf").write_text(f"gyroscope number{number} " * 20, encoding="utf-8")
    script = tmp_path / "run.py"
    script.write_text(textwrap.dedent(INGEST), encoding="utf-8")
    return [sys.executable, str(script), str(tmp_path / "modules"), str(tmp_path / "index"), str(folder)]


def start(command: list[str]) -> subprocess.Popen[str]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
@pytest.mark.parametrize(("stored", "delay"), [(0, 0.0), (0, 0.004), (1, 0.0), (5, 0.002), (9, 0.005), (20, 0.0)])
def test_killed_ingest_is_resumed(
    command: list[str], tmp_path: Path, check_consistent: Check, stored: int, delay: float
) -> None:
    process = start(command)
    assert process.stdout is not None
    for _ in range(stored):
        process.stdout.readline()
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    if (tmp_path / "index" / FILE_NAME).exists():
        with SqliteIndex(tmp_path / "index") as index:
            check_consistent(index)
            there = {record.doc_id for record in index.filings()}
    else:
        there = set()
    assert stored <= len(there) < FILES
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == f"0 {FILES}"
    with SqliteIndex(tmp_path / "index") as index:
        assert len(index.filings()) == FILES
        assert there <= {record.doc_id for record in index.filings()}
        assert len(index.search_pages(["gyroscope"], limit=10_000)) == FILES * 150
        check_consistent(index)
        from quick_readers import many_pages  # type: ignore[import-not-found]

        assert ingest([tmp_path / "filings"], index, many_pages, workers=0).count(Outcome.UNCHANGED) == FILES


def test_two_ingests_at_once(command: list[str], tmp_path: Path, check_consistent: Check) -> None:
    """From nothing, of the same files: both end well and every filing is there once."""
    processes = [start(command) for _ in range(2)]
    for process in processes:
        said, _ = process.communicate(timeout=60)
        assert (process.returncode, said.splitlines()[-1]) == (0, f"0 {FILES}")
    with SqliteIndex(tmp_path / "index") as index:
        assert len(index.filings()) == FILES
        assert index.page_count() == FILES * 150
        check_consistent(index)
