"""Draw the views of the workspace at 1440 and 390 pixels, light and dark, and measure its first view.

`python docs/draw_workspace.py docs/workspace` (`make pictures`). Needs Debian's chromium, PyPI's playwright and pillow.
The sample filings are indexed, some questions asked, and FOLDER/VIEW-WIDTH-COLOURS.webp written. What a first view
sends and how long its largest part takes (medians of five) goes to standard output.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from fin_agent.index.ingest import ingest

SAMPLES = Path(__file__).parents[1] / "examples"
MARGIN = "What was Harborlight's gross margin in FY2023?"
TURNOVER = "Which company had the higher average inventory turnover over FY2022 - FY2024, Harborlight or Tellurond?"
WIDTHS = ((1440, 900), (390, 844))
COLOURS = ("light", "dark")
MOST_COLOURS = 200
"""Of a picture: words and lines, and the page's greys."""
TIMES = 5


def ask(page: Any, at: str, question: str = MARGIN) -> None:
    page.goto(f"{at}/#/ask?q={question.replace('?', '%3F')}")
    page.locator(".answer").wait_for()
    if page.viewport_size["width"] > 1000:
        page.locator("#proof img").wait_for()


def reading(page: Any, at: str) -> None:
    ask(page, at, TURNOVER)
    page.locator(".reading summary").click()
    page.locator(".chips").wait_for()
    page.evaluate("document.querySelector('.reading').scrollIntoView({ block: 'center' })")


def compared(page: Any, at: str) -> None:
    page.goto(f"{at}/#/runs")
    boxes = page.locator("table.runs input")
    for number in (0, 1):
        boxes.nth(number).check()


def shown(view: str, part: str) -> Callable[[Any, str], None]:
    def opened(page: Any, at: str) -> None:
        page.goto(f"{at}/#/{view}")
        page.locator(part).first.wait_for()

    return opened


def search(page: Any, at: str) -> None:
    shown("search?q=Harborlight suppliers", ".found")(page, at)
    page.locator(".made-of summary").nth(1).click()


VIEWS: dict[str, Callable[[Any, str], None]] = {
    "answer": ask,
    "reading": reading,
    "filings": shown("filings", "table.filings"),
    "filing": shown("filing/harborlight_2023_10k", "table.printed"),
    "search": search,
    "chart": shown("chart?phrase=net income&company=Harborlight&company=Tellurond&company=Quillmark", "svg.chart"),
    "runs": compared,
    "settings": shown("settings", "table.settings"),
}


def main(folder: Path) -> None:
    """Draw, then measure."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made, sync_playwright() as driver:
        index = Path(made) / "sample-filings"
        ingest([SAMPLES / "filings"], index, workers=0)
        ingest([SAMPLES / "filings_html"], Path(made) / "as-html", workers=0)
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        with serving(index, "--offer-index", str(Path(made) / "as-html"), "--offer-model", "openai:gpt-5.4") as at:
            page = browser.new_page()
            for question in ("What was Harborlight's gross margin in FY2022?", MARGIN, TURNOVER):
                ask(page, at, question)
            page.close()
            for width, height in WIDTHS:
                for colours in COLOURS:
                    page = browser.new_page(
                        viewport={"width": width, "height": height}, color_scheme=colours, reduced_motion="reduce"
                    )
                    for name, opened in VIEWS.items():
                        page.goto("about:blank")
                        opened(page, at)
                        page.wait_for_load_state("networkidle")
                        page.wait_for_timeout(300)
                        keep(page.screenshot(), folder / f"{name}-{width}-{colours}.webp")
                    page.close()
            sent, took = zip(*(first_view(browser, at) for _ in range(TIMES)), strict=True)
            print(f"first view: {median(sent) / 1000:.0f} kB sent, largest contentful paint {median(took):.0f} ms")
        browser.close()


def keep(png: bytes, file: Path) -> None:
    """Write the picture with few colours: a seventh of its size, and the same to the eye."""
    whole = Image.open(io.BytesIO(png)).convert("RGB")
    few = whole.quantize(MOST_COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.convert("RGB").save(file, "WEBP", lossless=True, quality=100, method=4)


def first_view(browser: Any, at: str) -> tuple[int, float]:
    """(bytes that were sent, milliseconds to the largest contentful paint) of a first visit."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    wire = context.new_cdp_session(page)
    wire.send("Network.enable")
    sent: list[int] = []
    wire.on("Network.loadingFinished", lambda told: sent.append(told["encodedDataLength"]))
    page.goto(at)
    page.locator(".welcome").wait_for()
    page.wait_for_load_state("networkidle")
    took = page.evaluate(
        """() => new Promise((resolve) => new PerformanceObserver((seen) => resolve(seen.getEntries().at(-1).startTime))
          .observe({ type: "largest-contentful-paint", buffered: true }))"""
    )
    context.close()
    return sum(sent), took


@contextmanager
def serving(index: Path, *options: str) -> Iterator[str]:
    """The address of `fin-agent serve` while the block lasts."""
    command = [sys.executable, "-c", "from fin_agent.cli import main; main()", "serve", "--port", "0"]
    environment = {**os.environ, "FIN_AGENT_CONFIG": os.devnull}
    with subprocess.Popen(
        [*command, "--index", str(index), *options], stderr=subprocess.PIPE, text=True, env=environment
    ) as server:
        assert server.stderr is not None
        yield next(found[0] for line in server.stderr if (found := re.search(r"http://[^\s,]+", line)))
        server.terminate()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
