"""A plain terminal and an empty index for every test of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)  # reports are written there
    for variable in ("FIN_AGENT_INDEX", "COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def empty_index(tmp_path: Path) -> Path:
    from fin_agent.index.sqlite import SqliteIndex

    SqliteIndex.create(tmp_path / "empty").close()
    return tmp_path / "empty"
