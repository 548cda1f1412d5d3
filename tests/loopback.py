"""A fixture that keeps tests on this machine. A conftest that imports it by name has it around each of its tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fin_agent.testing.network_guards import Attempts, loopback_only


@pytest.fixture(autouse=True)
def no_other_host() -> Iterator[Attempts]:
    """Fails a test that connects to another host, or looks one up, even where the code under test caught that."""
    with loopback_only() as attempts:
        yield attempts
