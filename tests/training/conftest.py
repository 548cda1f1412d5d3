"""The sample filings, indexed."""

from __future__ import annotations

from pathlib import Path

import pytest

from fin_agent.workspace import Workspace


@pytest.fixture(scope="session")
def workspace(sample_index: Path) -> Workspace:
    """The index of the sample filings with what is derived from it."""
    return Workspace.open(sample_index)
