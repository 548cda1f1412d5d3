"""The same tests for every kind of index: the embedded one, and the one on a cluster.

Without a cluster, a small server of our own stands for it, asked over HTTP by the real client. Every request is held
against Elastic's specification where FIN_AGENT_ES_SPEC names its file. FIN_AGENT_TEST_ES_URL names a real server
instead, on which everything that begins with `fin-agent-test-` is ours.
"""

from __future__ import annotations

import importlib.util
import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fin_agent.index.protocol import FilingIndex
from fin_agent.index.sqlite import SqliteIndex
from tests.index.contract import said_at_the_end

if TYPE_CHECKING:
    from tests.index.elastic_server.server import ElasticServer

REAL_SERVER = "FIN_AGENT_TEST_ES_URL"
HAS_CLIENT = importlib.util.find_spec("elasticsearch") is not None

pytest_terminal_summary = said_at_the_end.pytest_terminal_summary


@dataclass
class Backend:
    """Where a test's indexes are made, by name, and opened again as another process would."""

    kind: str
    make: Callable[[str], FilingIndex]
    open: Callable[[str], FilingIndex]
    opened: list[FilingIndex] = field(default_factory=list)

    def made(self, name: str = "one") -> FilingIndex:
        """A new index."""
        self.opened.append(self.make(name))
        return self.opened[-1]

    def again(self, name: str = "one") -> FilingIndex:
        """Another hold on one that was made."""
        self.opened.append(self.open(name))
        return self.opened[-1]


@pytest.fixture(scope="session")
def elastic_server() -> Iterator[ElasticServer]:
    """A server for all tests; each has a prefix of its own."""
    pytest.importorskip("elasticsearch")
    from tests.index.elastic_server.conformity import Specification
    from tests.index.elastic_server.server import ElasticServer

    specification = Specification.named()
    with ElasticServer(specification) as server:
        yield server
    said_at_the_end.requests = len(server.requests)
    said_at_the_end.specification = specification


@pytest.fixture(
    params=["embedded", pytest.param("cluster", marks=pytest.mark.skipif(not HAS_CLIENT, reason="no elasticsearch"))]
)
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    """Each kind of index in turn."""
    if request.param == "embedded":
        made = Backend(
            "embedded", lambda name: SqliteIndex.create(tmp_path / name), lambda n: SqliteIndex(tmp_path / n)
        )
    else:
        made = request.getfixturevalue("cluster_backend")
    yield made
    for index in made.opened:
        index.close()


@pytest.fixture
def cluster_backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """Indexes on a cluster; whatever was asked of it has to be as the specification says."""
    from fin_agent.index.elastic.index import ElasticIndex
    from fin_agent.index.opening import ConnectionSettings

    prefix = f"fin-agent-test-{secrets.token_hex(4)}"
    real = os.environ.get(REAL_SERVER)
    server: ElasticServer | None = None if real else request.getfixturevalue("elastic_server")
    url = real.rstrip("/") if real else server.url if server else ""
    said = ConnectionSettings.from_environment() if real else ConnectionSettings()
    reaching = ConnectionSettings(
        api_key=said.api_key,
        username=said.username,
        password=said.password,
        certificates=said.certificates,
        patience=10.0,
        checked_every=0.0,
    )
    made: list[str] = []

    def place(name: str) -> str:
        made.append(name)
        return f"{url}/{prefix}-{name}"

    yield Backend(
        "cluster",
        lambda name: ElasticIndex(place(name), reaching, create=True),
        lambda name: ElasticIndex(place(name), reaching),
    )
    if server is not None:
        violations, server.violations[:] = list(server.violations), []
        assert violations == []
    elif made:
        with ElasticIndex(place(made[0]), reaching) as index:
            index.client.options(ignore_status=404).indices.delete(
                index=",".join(
                    index.client.indices.get(index=f"{prefix}-*").body.keys()  # each by its name
                )
            )


@pytest.fixture
def index(backend: Backend) -> FilingIndex:
    """An empty index."""
    return backend.made()
