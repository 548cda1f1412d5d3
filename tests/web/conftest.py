"""A server as people start it, and Debian's Chromium: skipped without Playwright, a browser, or the extra `serve`."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fin_agent.index.ingest import ingest

SAMPLES = Path(__file__).parents[2] / "examples" / "filings"
INCOME = "What was Harborlight's net income in FY2023?"
MOST_MILLISECONDS = 60_000
_FLAGS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-sync"


class Server:
    """`fin-agent serve` as people start it; it can be stopped and started again at its port."""

    def __init__(self, folder: Path, *options: str, named: bool = True, **environment: str) -> None:
        """`named`: on the command line; else it is the user's own, which need not be there."""
        self.folder, self._named, self._options, self._environment = folder, named, options, environment
        self.address = ""
        self.start(0)

    def start(self, port: int) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("FIN_AGENT_", "OPENAI_"))}
        main = "from fin_agent.cli import main; main()"
        command = [sys.executable, "-c", main, "serve", "--port", str(port), *self._options]
        command += ["--index", str(self.folder)] if self._named else []
        own = {"FIN_AGENT_CONFIG": os.devnull, "FIN_AGENT_INDEX": str(self.folder), **self._environment}
        self._process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env={**kept, **own}, start_new_session=True
        )
        assert self._process.stderr is not None
        told = iter(self._process.stderr.readline, "")
        found = next(filter(None, (re.search(r"http://[^\s,]+", line) for line in told)))
        self.address = found[0]

    def restart(self) -> None:
        """At the same address."""
        self.start(int(self.address.rpartition(":")[2]))

    def stop(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)  # with its sandbox, which holds the port as well
        self._process.wait()
        assert self._process.stderr is not None
        self._process.stderr.close()


@pytest.fixture(scope="package")
def playwright() -> Any:
    pytest.importorskip("fastapi", reason="needs the extra `serve`")
    pytest.importorskip("uvicorn", reason="needs the extra `serve`")
    return pytest.importorskip("playwright.sync_api", reason="drives the browser")


@pytest.fixture(scope="package")
def browser(playwright: Any) -> Iterator[Any]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no chromium is installed (apt-get install chromium)")
    # Scoped to this folder: the driver keeps an event loop running, beside which no later test can start one.
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=_FLAGS.split())
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def server(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("index")
    ingest([SAMPLES / f"{name}.pdf" for name in ("harborlight_2023_10k", "tellurond_2023_10k")], folder, workers=0)
    server = Server(folder, "--workers", "2")  # whichever of the processes a call comes to
    yield server
    server.stop()


class Watched:
    """A context of the browser; closing it fails where a script failed, the policy was hurt, or another host asked."""

    def __init__(self, browser: Any, **options: Any) -> None:
        self.context = browser.new_context(viewport={"width": 1440, "height": 900}, **options)
        self.wrong: list[str] = []
        self.asked: list[str] = []

    def page(self, address: str) -> Any:
        """A page at the address."""
        page = self.context.new_page()
        page.set_default_timeout(MOST_MILLISECONDS)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("dialog", self._dialog)
        page.on(
            "console", lambda told: self.wrong.append(told.text) if "Content Security Policy" in told.text else None
        )
        page.on("request", lambda request: self.asked.append(request.url))
        page.goto(address)
        return page

    def _dialog(self, dialog: Any) -> None:
        if dialog.type != "beforeunload":  # that is asked by the browser, where an answer would be left
            self.wrong.append(f"dialog: {dialog.message}")
        dialog.accept()

    def close(self, *addresses: str) -> None:
        """Check what was seen; only `addresses` may have been asked."""
        self.context.close()
        assert not self.wrong
        assert all(url.startswith((*addresses, "blob:", "data:")) for url in self.asked)


@pytest.fixture
def page(browser: Any, server: Server) -> Iterator[Any]:
    watched = Watched(browser)
    yield watched.page(server.address)
    watched.close(server.address)


def ask(page: Any, question: str) -> Any:
    """The last turn, answered."""
    before = page.locator(".turn").count()
    page.fill("textarea", question)
    page.keyboard.press("Enter")
    turn = page.locator(".turn").nth(before)
    turn.locator(".answer").first.wait_for()
    return turn
