"""Draw the views of the workspace at 1440 and 390 pixels, light and dark: `python docs/draw_workspace.py INDEX FOLDER`.

Needs Debian's chromium and PyPI's playwright; writes FOLDER/VIEW-WIDTH-COLOURS.png. docs/workspace.png is one of them.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

INCOME = "What was Harborlight's gross margin in FY2023%3F"
VIEWS = {
    "answer": f"ask?q={INCOME}",
    "filings": "filings",
    "filing": "filing/harborlight_2023_10k",
    "checks": "filing/harborlight_2023_10k?tab=checks",
    "search": "search?q=Harborlight suppliers",
    "chart": "chart?phrase=net income&company=Harborlight&company=Tellurond",
    "runs": "runs",
    "settings": "settings",
}
WAITED_FOR = {
    "answer": ".answer",
    "chart": "svg.chart",
    "search": ".found",
    "filing": "table.printed",
    "checks": ".checks",
}


def main(index: str, folder: Path) -> None:
    """Serve the index, draw every view, stop the server."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "fin_agent", "serve", "--index", index, "--port", "0"]
    command[1:3] = ["-c", "from fin_agent.cli import main; main()"]
    with (
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server,
        sync_playwright() as driver,
    ):
        assert server.stderr is not None
        found = re.search(r"http://[^\s,]+", server.stderr.readline())
        assert found is not None
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for width, height in ((1440, 900), (390, 844)):
            for colours in ("light", "dark"):
                page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=colours)
                for name, view in VIEWS.items():
                    page.goto("about:blank")
                    page.goto(f"{found[0]}/#/{view}")
                    page.wait_for_selector(WAITED_FOR.get(name, "main h1"))
                    if name == "answer" and width > 1000:
                        page.wait_for_selector("#proof img")
                    page.wait_for_load_state("networkidle")
                    page.wait_for_timeout(600)
                    page.screenshot(path=folder / f"{name}-{width}-{colours}.png")
                page.close()
        browser.close()
        server.terminate()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
