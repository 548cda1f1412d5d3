"""An EDGAR on this machine, and a connection to it that does not wait long."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fin_agent.downloads.connection import EdgarConnection, Patience, RequestPacer
from fin_agent.downloads.settings import EdgarSettings
from tests.downloads.edgar_server import CONTACT, EdgarServer, filing, running
from tests.loopback import no_other_host

__all__ = ["no_other_host"]


@pytest.fixture
def edgar() -> Iterator[EdgarServer]:
    """Apple's lists: three annual reports, quarterly ones, a release; older ones in a further list."""
    with running() as server:
        server.put_company(
            320193,
            "AAPL",
            "Apple Inc.",
            [
                filing(123, "10-K", "2024-09-28", "2024-11-01"),
                filing(106, "10-K", "2023-09-30", "2023-11-03"),
                filing(77, "10-Q", "2023-07-01", "2023-08-04"),
                filing(75, "8-K", "2023-08-03", "2023-08-03"),
                filing(64, "10-Q", "2023-04-01", "2023-05-05"),
                filing(108, "10-K", "2022-09-24", "2022-10-28"),
            ],
        )
        server.put_older(320193, [filing(5, "10-K", "2001-09-29", "2001-12-21")], until="2002-12-31")
        server.put_company(1067983, "BRK-B", "BERKSHIRE HATHAWAY INC", [], fiscalYearEnd="1231")
        yield server


@pytest.fixture
def settings(edgar: EdgarServer, tmp_path: Path) -> EdgarSettings:
    return EdgarSettings(contact=CONTACT, url=edgar.url, cache=tmp_path / "cache")


@pytest.fixture
def naps() -> list[float]:
    """Seconds that were waited between attempts."""
    return []


@pytest.fixture
def connection(settings: EdgarSettings, naps: list[float]) -> Iterator[EdgarConnection]:
    pace = RequestPacer(settings.cache_folder / "pace.sqlite", per_second=1_000, sleep=lambda seconds: None)
    with EdgarConnection(settings, pace=pace, patience=Patience(attempts=4, sleep=naps.append)) as made:
        yield made
