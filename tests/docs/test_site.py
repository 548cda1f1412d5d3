"""The documentation site is built without a warning, and its search finds what people look for."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.docs.blocks import ROOT

pytest.importorskip("material", reason="needs the extra `docs`")
pytest.importorskip("playwright", reason="needs the extra `docs`")

from mkdocs.commands.build import build
from mkdocs.config import load_config
from playwright.sync_api import Page, sync_playwright

WANTED = {
    "restatement": "Concepts",
    "budget": "Concepts",
    "segment": "Search, and compare ways to search",
    "Ollama": "Chat models",
}
"""Word typed into the search -> a page that has to be among the first five found."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True))
    return folder


@pytest.fixture(scope="module")
def browser_page(site: Path) -> Iterator[Page]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs Chromium")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=site)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        with sync_playwright() as driver, driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"]) as it:
            page = it.new_page(viewport={"width": 1300, "height": 900})
            page.goto(f"http://127.0.0.1:{server.server_port}/")
            yield page
        server.shutdown()


def test_every_page_outside_of_docs_is_part_of_it(site: Path) -> None:
    for name in ("contributing", "changelog", "security", "examples", "decisions"):
        assert (site / name / "index.html").is_file(), name
    assert "Three ways to start" in (site / "index.html").read_text(encoding="utf-8")


def test_every_decision_is_listed(site: Path) -> None:
    listed = (site / "decisions" / "index.html").read_text(encoding="utf-8")
    decisions = [file.stem for file in (ROOT / "docs" / "decisions").glob("[0-9]*.md")]
    assert decisions and [name for name in decisions if name not in listed] == []


@pytest.mark.parametrize(("word", "title"), WANTED.items())
def test_the_search_finds(browser_page: Page, word: str, title: str) -> None:
    browser_page.reload()
    browser_page.fill("input.md-search__input", word)
    browser_page.wait_for_selector(".md-search-result__item")
    found = browser_page.locator(".md-search-result__item article h1").all_inner_texts()
    assert title in found[:5]
