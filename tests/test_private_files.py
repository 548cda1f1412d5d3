"""Files of runs, threads and replies are their owner's alone, also those that an earlier version made."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fin_agent.atomic_write import create_private_file
from fin_agent.models.caller import ResponseCache
from fin_agent.runs.store import connect

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no modes of files")


@pytest.mark.parametrize("there_before", [False, True])
def test_what_was_asked_and_answered_is_for_its_owner_alone(tmp_path: Path, there_before: bool) -> None:
    runs, replies, other = (tmp_path / name for name in ("runs.sqlite", "replies.sqlite", "other"))
    if there_before:
        for file in (runs, replies, other):
            file.touch(mode=0o644)
    connection = connect(runs, make=True)
    assert ResponseCache(replies).get("none") is None
    create_private_file(other)
    assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}
    connection.close()
