"""The workspace in a real Chromium: what people do with it (`make test-browser`).

Skipped without Playwright or a browser.
"""

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

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
playwright = pytest.importorskip("playwright.sync_api", reason="drives the browser")
pytest.importorskip("fastapi", reason="needs the extra `serve`")
pytest.importorskip("uvicorn", reason="needs the extra `serve`")
pymupdf = pytest.importorskip("pymupdf")
if CHROMIUM is None:
    pytest.skip("no chromium is installed (apt-get install chromium)", allow_module_level=True)

SAMPLES = Path(__file__).parents[2] / "examples" / "filings"
INCOME = "What was Harborlight's net income in FY2023?"
SECONDS = 60_000
FLAGS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-sync"


class Server:
    """`fin-agent serve` as people start it; it can be stopped and started again at its port."""

    def __init__(self, folder: Path, *, named: bool = True) -> None:
        """`named`: on the command line; else it is the user's own, which need not be there."""
        self._folder, self._named = folder, named
        self.address = ""
        self.start(0)

    def start(self, port: int) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("FIN_AGENT_", "OPENAI_"))}
        main = "from fin_agent.cli import main; main()"
        command = [sys.executable, "-c", main, "serve", "--port", str(port)]
        command += ["--index", str(self._folder)] if self._named else []
        environment = {**kept, "FIN_AGENT_CONFIG": os.devnull, "FIN_AGENT_INDEX": str(self._folder)}
        self._process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
        )
        assert self._process.stderr is not None
        told = iter(self._process.stderr.readline, "")
        found = next(filter(None, (re.search(r"http://[^\s,]+", line) for line in told)))
        self.address = found[0]

    def stop(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)  # with its sandbox, which holds the port as well
        self._process.wait()
        assert self._process.stderr is not None
        self._process.stderr.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("index")
    ingest([SAMPLES / f"{name}.pdf" for name in ("harborlight_2023_10k", "tellurond_2023_10k")], folder, workers=0)
    server = Server(folder)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any, server: Server) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(SECONDS)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda told: wrong.append(told.text) if "Content Security Policy" in told.text else None)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(server.address)
    yield page
    context.close()
    assert not wrong
    assert all(url.startswith((server.address, "blob:", "data:")) for url in asked)


def ask(page: Any, question: str) -> Any:
    """The last turn, answered."""
    before = page.locator(".turn").count()
    page.fill("textarea", question)
    page.keyboard.press("Enter")
    turn = page.locator(".turn").nth(before)
    turn.locator(".answer").first.wait_for()
    return turn


def test_a_figure_leads_to_its_frame_on_the_page(page: Any) -> None:
    turn = ask(page, INCOME)
    assert "$544 million" in turn.locator(".sentence").inner_text()
    turn.locator("a.figure").first.click()
    page.locator("#proof img").wait_for()
    assert page.locator("#proof .row-column").inner_text().split("\n")[1] == "Net income"
    assert "printed as 8" in page.locator("#proof").inner_text()
    # The red frame in pixels against the text layer of the file.
    frame = page.evaluate(
        """async () => {
          const image = document.querySelector("#proof img");
          await image.decode();
          const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
          const drawing = canvas.getContext("2d");
          drawing.drawImage(image, 0, 0);
          const { data } = drawing.getImageData(0, 0, canvas.width, canvas.height);
          let [left, top, right, bottom] = [1e9, 1e9, -1, -1];
          for (let at = 0; at < data.length; at += 4) {
            if (data[at] < 190 || data[at + 1] > 90 || data[at + 2] > 100) continue;
            const x = (at / 4) % canvas.width, y = Math.floor(at / 4 / canvas.width);
            [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
          }
          return [left, top, right, bottom].map((side) => side / canvas.width);
        }"""
    )
    with pymupdf.open(SAMPLES / "harborlight_2023_10k.pdf") as document:
        sheet = document[8]
        word = next(each for each in sheet.get_text("words") if each[4] == "544")
        x0, y0, x1, y1 = (side * sheet.rect.width for side in frame)
    middle = ((word[0] + word[2]) / 2, (word[1] + word[3]) / 2)
    assert x0 < middle[0] < x1 and y0 < middle[1] < y1
    assert x0 <= word[0] and word[2] <= x1 + 1
    assert y1 - y0 < 20  # one line


def test_the_reading_is_edited_and_asked_again(page: Any) -> None:
    turn = ask(page, INCOME)
    turn.locator(".reading summary").click()
    turn.locator(".chip.period input").fill("FY2022")
    turn.get_by_text("Ask it so").click()
    again = page.locator(".turn").nth(1)
    again.locator(".answer").wait_for()
    assert "$474 million" in again.inner_text()


def test_a_word_that_is_not_understood_is_refused_by_name(page: Any) -> None:
    turn = ask(page, "What was Harborlight's wobbly frobnication ratio in FY2023?")
    assert "Not answered" in turn.inner_text() and "frobnication" in turn.locator(".missing").inner_text()


def test_a_conversation_of_five_turns_survives_a_reload(page: Any) -> None:
    for message in (INCOME, "and in 2022?", "as a percentage of revenue?", "where is that?", "thanks"):
        turn = ask(page, message)
    assert "You are welcome" in turn.inner_text()
    page.reload()
    page.locator(".turn").nth(4).wait_for()
    assert "14.2%" in page.locator(".turn").nth(2).inner_text()


def test_filings_are_added_broken_ones_with_a_remedy(page: Any, tmp_path: Path) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7 nothing of it")
    page.click("nav >> text=Filings")
    page.set_input_files("#files", [str(broken), str(SAMPLES / "quillmark_2023_10k.pdf")])
    page.locator(".queue .failed").wait_for()
    page.locator(".queue .done").wait_for()
    assert "Not read" in page.locator(".queue .failed").inner_text()
    page.locator("table.filings >> text=Quillmark").first.wait_for()
    page.click(".queue .done a >> nth=0")
    page.locator(".printed a.figure").first.click()
    page.locator("#proof img").wait_for()


def test_a_row_becomes_a_chart_whose_points_lead_to_pages(page: Any) -> None:
    page.goto(page.url.split("#")[0] + "#/filing/harborlight_2023_10k")
    page.click("a.row-label >> text=/^Net income$/")
    page.locator("svg.chart .point").first.wait_for()
    assert page.locator("svg.chart g.point").count() >= 3
    with page.expect_download() as kept:
        page.click(".take >> text=SVG")
    assert "<svg" in Path(kept.value.path()).read_text()
    page.locator("svg.chart g.point").first.click()
    page.locator("#proof img").wait_for()


def test_runs_are_compared(page: Any) -> None:
    ask(page, INCOME)
    ask(page, "What was Harborlight's net income in FY2022?")
    page.click("nav >> text=Runs")
    for number in (0, 1):
        page.locator("table.runs input").nth(number).check()
    page.click("text=Compare two")
    page.locator(".difference").first.wait_for()
    assert "$544 million" in page.inner_text("main") and "$474 million" in page.inner_text("main")


@pytest.mark.parametrize(("name", "begins"), [("CSV", b"\xef\xbb\xbfquestion"), ("Report", b"<!doctype html>")])
def test_an_answer_is_taken_away(page: Any, name: str, begins: bytes) -> None:
    turn = ask(page, INCOME)
    with page.expect_download() as kept:
        turn.locator(f"footer >> text={name}").click()
    assert Path(kept.value.path()).read_bytes().startswith(begins)


def test_a_run_is_stopped(page: Any) -> None:
    page.route("**/chat", lambda route: None)  # never answered
    page.fill("textarea", INCOME)
    page.keyboard.press("Enter")
    page.click(".composer button.stop")
    page.locator("text=Stopped. Nothing of it is kept.").wait_for()
    page.unroute("**/chat")
    page.click("text=Ask again")
    page.locator(".turn .answer").wait_for()


def test_a_reload_in_mid_answer_says_so_and_asks_again(page: Any) -> None:
    page.route("**/chat", lambda route: None)
    page.fill("textarea", INCOME)
    page.keyboard.press("Enter")
    page.locator(".working").wait_for()
    page.reload()
    page.locator("text=This got no answer").wait_for()
    page.unroute("**/chat")
    page.click("text=Ask it again")
    page.locator(".turn .answer").wait_for()


def test_from_nothing_to_a_proven_answer(browser: Any, tmp_path: Path) -> None:
    server = Server(tmp_path / "index", named=False)
    try:
        page = browser.new_page()
        page.set_default_timeout(SECONDS)
        page.goto(server.address)
        page.click("text=Add filings")
        page.set_input_files("#files", str(SAMPLES / "harborlight_2023_10k.pdf"))
        page.click(".queue .done >> text=Ask about it")
        ask(page, INCOME).locator("a.figure").first.click()
        page.locator("#proof img").wait_for()
        page.close()
    finally:
        server.stop()


def test_two_tabs_do_not_disturb_each_other(page: Any, server: Server) -> None:
    other = page.context.new_page()
    other.goto(server.address)
    other.locator(".welcome").wait_for()
    ask(page, INCOME)
    assert "$474 million" in ask(other, "What was Harborlight's net income in FY2022?").inner_text()
    assert "$544 million" in page.inner_text(".turns") and "$474 million" not in page.inner_text(".sentence")


def test_a_server_that_went_and_came_back(page: Any, server: Server) -> None:
    ask(page, INCOME)
    port = int(server.address.rpartition(":")[2])
    server.stop()
    page.fill("textarea", "and in 2022?")
    page.keyboard.press("Enter")
    page.locator("text=/cannot be reached/").wait_for()
    server.start(port)
    page.click("text=Try again")
    page.locator(".turn").nth(1).locator(".answer").wait_for()
    assert "$474 million" in page.locator(".turn").nth(1).inner_text()


def test_keys_alone_lead_to_a_page_and_back(page: Any) -> None:
    ask(page, INCOME)
    page.locator("a.figure").first.focus()
    page.keyboard.press("Enter")
    page.locator("#proof img").wait_for()
    page.locator("#proof .sheet").focus()
    page.keyboard.press("]")
    page.locator("#proof >> text=Page 10 of 17").wait_for()
    page.keyboard.press("Escape")
    assert page.locator("#proof").is_hidden()
    assert page.evaluate("document.activeElement.className").startswith("figure")


VIEWS = (
    "ask",
    "filings",
    "filing/harborlight_2023_10k",
    "search?q=net income",
    "chart?phrase=net+income&company=Harborlight",
    "runs",
    "settings",
    f"ask?q={INCOME[:-1]}%3F",
)


@pytest.mark.parametrize("width", [1440, 390])
def test_no_view_has_a_serious_fault(browser: Any, server: Server, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="looks for barriers").Axe()
    for colours in ("light", "dark"):
        context = browser.new_context(
            viewport={"width": width, "height": 844}, color_scheme=colours, bypass_csp=True, reduced_motion="reduce"
        )
        page = context.new_page()
        for view in VIEWS:
            page.goto(f"{server.address}/#/{view}")
            page.wait_for_load_state("networkidle")
            if "q=What" in view:
                page.locator(".answer").wait_for()
            found = [each for each in axe.run(page).response["violations"] if each["impact"] in ("serious", "critical")]
            assert not found, (view, colours, [(each["id"], each["nodes"][0]["html"][:200]) for each in found])
            assert page.evaluate("document.documentElement.scrollWidth") <= width, view
        context.close()
