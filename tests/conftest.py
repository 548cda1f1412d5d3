"""What several tests share: the sample filings, and an index of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from fin_agent.workspace import Workspace

SAMPLE_FILINGS = Path(__file__).parents[1] / "examples" / "filings"
SAMPLE_HTML = SAMPLE_FILINGS.with_name("filings_html")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nothing-skipped", action="store_true", help="fail where a test is skipped: extras are there")


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if session.config.getoption("--nothing-skipped") and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(autouse=True)
def no_settings_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may have a file of settings and models named in the environment."""
    from fin_agent.config import VARIABLES
    from fin_agent.config_sources import FILE_VARIABLE

    for variable in VARIABLES.values():
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv(FILE_VARIABLE, os.devnull)


@pytest.fixture(scope="session")
def sample_filings() -> Path:
    """The folder of the sample filings; `expected.json` in it says what they hold."""
    return SAMPLE_FILINGS


@pytest.fixture(scope="session")
def sample_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an index of all sample filings, made once. Tests read it and leave it as it is."""
    from fin_agent.evidence.filing_preparation import prepare
    from fin_agent.index.ingest import ingest
    from fin_agent.index.sqlite import SqliteIndex

    folder = tmp_path_factory.mktemp("sample-index")
    with SqliteIndex.create(folder) as index:
        report = ingest([SAMPLE_FILINGS], index, prepare, workers=0)
    assert not report.failures, report.failures
    return folder


@pytest.fixture(scope="session")
def workspace(sample_index: Path) -> Workspace:
    """The index of the sample filings with what is derived from it."""
    from fin_agent.workspace import Workspace

    return Workspace.open(sample_index)


@pytest.fixture(scope="session")
def sample_html() -> Path:
    """The folder of the sample filings in HTML; `expected.json` in it says what they hold."""
    return SAMPLE_HTML


@pytest.fixture(scope="session")
def sample_html_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an index of the sample filings in HTML, made once. Tests read it and leave it as it is."""
    from fin_agent.evidence.filing_preparation import prepare
    from fin_agent.index.ingest import ingest
    from fin_agent.index.sqlite import SqliteIndex

    folder = tmp_path_factory.mktemp("sample-html-index")
    with SqliteIndex.create(folder) as index:
        report = ingest([SAMPLE_HTML], index, prepare, workers=0)
    assert not report.failures, report.failures
    return folder
