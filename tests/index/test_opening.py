"""To open an index takes nothing from those who have it open."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fin_agent.index.sqlite import FILE_NAME, SqliteIndex
from fin_agent.vocabulary.filing import Filing

WRITE_AND_CLOSE = """
import sys
from pathlib import Path
from fin_agent.index.sqlite import SqliteIndex
with SqliteIndex(Path(sys.argv[1])) as index:
    index.remove("b")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="locks of other systems are not lost by closing a file")
def test_the_log_stays_while_somebody_has_the_index_open(tmp_path: Path, make_filing: Callable[..., Filing]) -> None:
    """Where a process opens and closes the file itself, POSIX takes from its connections the locks that they hold.

    Then another process that closes the index takes itself for the last one and removes the log that they read.
    """
    with SqliteIndex.create(tmp_path) as index:
        index.add(make_filing("a", "gyroscope"), ["{}"], "")
        index.add(make_filing("b", "gyroscope"), ["{}"], "")
        assert len(index.search_pages(["gyroscope"])) == 2
        SqliteIndex(tmp_path).close()
        subprocess.run([sys.executable, "-c", WRITE_AND_CLOSE, str(tmp_path)], check=True)
        assert (tmp_path / f"{FILE_NAME}-wal").exists()
        assert len(index.search_pages(["gyroscope"])) == 1
