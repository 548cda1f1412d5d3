"""Said at the end of a run of tests: how many requests were held against Elastic's specification, or why none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.index.elastic_server.conformity import Specification

requests = 0
"""Requests that the server for the contract answered."""
specification: Specification | None = None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say it where it cannot be overlooked."""
    if not requests:
        return
    terminalreporter.section("requests to the cluster")
    if specification is None:
        terminalreporter.line(
            f"{requests:,} requests; NONE was held against Elastic's specification: FIN_AGENT_ES_SPEC names no file"
        )
        return
    held = specification.checked
    terminalreporter.line(f"{held.total():,} requests of {len(held)} kinds were held against Elastic's specification")
    for kind, count in sorted(held.items()):
        terminalreporter.line(f"{count:>8,}  {kind}")
