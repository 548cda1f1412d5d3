"""Pages that would be drawn for minutes: in a process of their own, given up in time, and never in anybody's way."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.hostile.bombs import tiling
from fin_agent import ingest, prepare
from fin_agent.config import Settings
from fin_agent.filings import page_rendering
from fin_agent.filings.page_rendering import DrawingTimeoutError, FramedPage, draw_pages
from fin_agent.filings.reader import content_hash
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.tools.context import ToolContext
from fin_agent.tools.toolkit import FinAgentToolkit
from fin_agent.workspace import Workspace
from tests.serving.conftest import api_over, eventually

httpx = pytest.importorskip("httpx", reason="needs the extra `serving-tests`")
pytest.importorskip("fastapi", reason="needs the extra `serve`")


@pytest.fixture(scope="module")
def bomb(tmp_path_factory: pytest.TempPathFactory, sample_filings: Path) -> Path:
    """The folder of an index over a page that MuPDF draws for a minute, and a sound filing."""
    folder = tmp_path_factory.mktemp("bomb")
    (folder / "bomb.pdf").write_bytes(tiling())
    shutil.copy(sample_filings / "harborlight_2024_8k.pdf", folder / "sound.pdf")
    with SqliteIndex.create(folder / "index") as index:
        assert not ingest([folder], index, prepare, workers=0).failures
    return folder


@pytest.fixture(scope="module")
def context_of_bomb(bomb: Path) -> ToolContext:
    return ToolContext.of(Workspace.open(bomb / "index"), Settings())


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_rendering, "DRAW_LIMITS", replace(page_rendering.DRAW_LIMITS, seconds=1.5, wait=6))


def test_a_deadline_fires(bomb: Path, short: None) -> None:
    path = bomb / "bomb.pdf"
    begun = time.monotonic()
    with pytest.raises(DrawingTimeoutError, match="a viewer may open it"):
        draw_pages(path, content_hash(path), [FramedPage(0)], 110)
    assert time.monotonic() - begun < 10


def test_the_server_answers_while_a_page_is_drawn(context_of_bomb: ToolContext, short: None) -> None:
    with api_over(context_of_bomb) as address:
        told: list[httpx.Response] = []
        drawing = threading.Thread(target=lambda: told.append(httpx.get(f"{address}/pages/bomb/1.png", timeout=60)))
        drawing.start()
        slowest, looked = 0.0, 0
        while drawing.is_alive():
            begun = time.monotonic()
            assert httpx.get(f"{address}/health", timeout=30).status_code == 200
            slowest, looked = max(slowest, time.monotonic() - begun), looked + 1
            time.sleep(0.05)
        assert told[0].status_code == 504 and "drawing it took more than" in told[0].json()["what"]
        assert looked > 5 and slowest < 1.0
        assert httpx.get(f"{address}/pages/sound/1.png", timeout=60).status_code == 200


def test_callers_that_go_leave_nothing_behind(context_of_bomb: ToolContext) -> None:
    with api_over(context_of_bomb) as address:
        before, places = threading.active_count(), page_rendering._POOL._places._value
        for _ in range(20):
            connection = socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])))
            connection.sendall(b"GET /pages/bomb/1.png HTTP/1.1\r\nHost: localhost\r\n\r\n")
            connection.close()
        assert eventually(lambda: httpx.get(f"{address}/pages/sound/1.png", timeout=60).status_code == 200, seconds=15)
        # Threads that wait for work are kept; none of them draws.
        assert eventually(lambda: page_rendering._POOL._places._value == places, seconds=5)
        assert threading.active_count() - before < 15


def test_a_picture_over_mcp_is_given_up_in_time(context_of_bomb: ToolContext, short: None) -> None:
    pytest.importorskip("mcp", reason="needs the extra `mcp`")
    from fin_agent.serving.mcp_server import call, served_tools

    toolkit = FinAgentToolkit(workspace=context_of_bomb.workspace, settings=Settings())
    shown = call(served_tools(toolkit)["show_page"], {"doc_id": "bomb", "page": 1})
    assert shown.is_error and "drawing it took more than" in shown.content[0].text
