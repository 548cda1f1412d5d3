"""Says at the end how many blocks of the pages were run, and why others were not."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.docs.following import FOLLOWED


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not FOLLOWED:
        return
    ran: Counter[str] = sum((done.ran for done in FOLLOWED.values()), Counter())
    left: Counter[str] = sum((done.left for done in FOLLOWED.values()), Counter())
    terminalreporter.section("README and guides")
    terminalreporter.line(
        f"{len(FOLLOWED)} pages; run: " + ", ".join(f"{many} {what}" for what, many in sorted(ran.items()))
    )
    terminalreporter.line("not run: " + ", ".join(f"{many} ({why})" for why, many in sorted(left.items())))
