"""The real `langgraph dev` server over langgraph.json, on a free port, stopped whatever happens."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from langgraph_sdk.client import SyncLangGraphClient

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload")
SECONDS_TO_START = 60


@dataclass(frozen=True)
class Server:
    """A server that answers."""

    client: SyncLangGraphClient
    log: Path


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Of somebody who has just cloned the project: no index, no settings, no key."""
    pytest.importorskip("langgraph_api", reason="needs the extra `studio`")
    with serving(tmp_path_factory.mktemp("studio")) as server:
        yield server


@pytest.fixture
def served() -> Callable[[Path], AbstractContextManager[Server]]:
    """Starts a server of its own, which keeps what it keeps in a folder."""
    pytest.importorskip("langgraph_api", reason="needs the extra `studio`")
    return serving


@contextmanager
def serving(home: Path) -> Iterator[Server]:
    """A server while the block lasts."""
    from langgraph_sdk import get_sync_client

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = home / "server.log"
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*COMMAND, "--config", str(ROOT / "langgraph.json"), "--host", "127.0.0.1", "--port", str(port)],
            cwd=home,
            env=_environment(home),
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            client = get_sync_client(url=f"http://127.0.0.1:{port}", api_key=None)
            _wait_for(client, process, log)
            yield Server(client, log)
        finally:
            _stop(process)


def _environment(home: Path) -> dict[str, str]:
    ours = ("FIN_AGENT_", "LANGSMITH_", "LANGCHAIN_", "LANGGRAPH_", "OPENAI_")
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(ours)}
    folders = {
        name: str(home / name.lower()) for name in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")
    }
    return {
        **kept,
        **folders,
        "FIN_AGENT_CONFIG": os.devnull,
        "LANGSMITH_TRACING": "false",
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
    }


def _wait_for(client: SyncLangGraphClient, process: subprocess.Popen[bytes], log: Path) -> None:
    import httpx

    until = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < until and process.poll() is None:
        try:
            if len(client.assistants.search()) >= 4:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.2)
    pytest.fail(f"the server does not answer:\n{log.read_text(encoding='utf-8', errors='replace')[-4000:]}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    """The server and whatever it started."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
        except ProcessLookupError:
            break
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            continue
    process.wait(timeout=10)
