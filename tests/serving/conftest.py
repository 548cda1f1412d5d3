"""Real servers on free ports of this machine, real clients, and models that wait until they are let go on."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from fin_agent.config import Settings
from fin_agent.models import Callers, ModelSettings
from fin_agent.serving.http_server import Access
from fin_agent.testing import ModelCall, ScriptedChatModel
from fin_agent.tools.context import ToolContext
from fin_agent.tools.toolkit import FinAgentToolkit
from fin_agent.workspace import Workspace
from tests.graphs.told_by_model import sound
from tests.loopback import no_other_host as no_other_host

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from fin_agent.serving.http_api import Limits

MAIN = ("-c", "from fin_agent.cli import main; main()")
NO_SETTINGS = {"FIN_AGENT_CONFIG": os.devnull}
FILING = "harborlight_2023_10k"
TOKEN = "a-token-of-more-than-sixteen-characters"


def environment() -> dict[str, str]:
    """Of a server that is started: no settings of one's own, no key, no index."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FIN_AGENT_", "OPENAI_"))}
    return {**kept, **NO_SETTINGS}


class HeldModel:
    """Answers soundly, but only once it is let go on; says when it was asked, and how often."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.go_on = threading.Event()
        self.calls = 0

    def __call__(self, call: ModelCall) -> dict[str, object]:
        self.calls += 1
        self.asked.set()
        assert self.go_on.wait(60)
        return sound(call)

    def callers(self, models: ModelSettings) -> Callers:
        return Callers.with_model(ScriptedChatModel(self), models, name="openai:gpt-4o-mini")


@pytest.fixture
def held() -> Iterator[HeldModel]:
    model = HeldModel()
    yield model
    model.go_on.set()


@pytest.fixture(scope="session")
def context(workspace: Workspace) -> ToolContext:
    """All sample filings, by rules."""
    return ToolContext.of(workspace, Settings())


@pytest.fixture
def held_toolkit(workspace: Workspace, held: HeldModel) -> FinAgentToolkit:
    """All sample filings, by the model that is held."""
    models = ModelSettings(base_url="http://held/v1")
    return FinAgentToolkit(workspace=workspace, settings=Settings(models=models), callers=held.callers(models))


@contextmanager
def running(app: ASGIApp) -> Iterator[str]:
    """The address of an application that uvicorn serves while the block lasts."""
    import uvicorn

    from fin_agent.serving.http_server import listening_socket, server_config

    listening = listening_socket("127.0.0.1", 0)
    server = uvicorn.Server(server_config(app, log_level="error", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
        listening.close()


@contextmanager
def api_over(context: ToolContext, access: Access | None = None, limits: Limits | None = None) -> Iterator[str]:
    """The address of the HTTP API over a context."""
    from fin_agent.serving.http_api import Limits, http_api

    with running(http_api(context, access or Access(), limits or Limits())) as address:
        yield address


@pytest.fixture(scope="session")
def api(context: ToolContext) -> Iterator[str]:
    """The address of the HTTP API over all sample filings."""
    pytest.importorskip("fastapi", reason="needs the extra `serve`")
    with api_over(context) as address:
        yield address


def events_in(text: str) -> list[tuple[str, dict[str, Any]]]:
    """(name, data) of server-sent events; comments are left out."""
    blocks = [block for block in text.split("\n\n") if block and not block.startswith(":")]
    found = []
    for block in blocks:
        name, data = block.split("\n")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def eventually(holds: Callable[[], bool], seconds: float = 20) -> bool:
    """Whether it holds within that time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.05)
    return False
