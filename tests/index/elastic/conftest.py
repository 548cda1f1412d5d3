"""A server for each test that makes it fail, and an index on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from fin_agent.index.elastic.index import ElasticIndex
    from tests.index.elastic_server.server import ElasticServer

MakeIndex = Callable[..., "ElasticIndex"]


@pytest.fixture
def server() -> Iterator[ElasticServer]:
    """A server of one's own. What is asked of it has to be as Elastic's specification says, where that is named."""
    from tests.index.elastic_server.conformity import Specification
    from tests.index.elastic_server.server import ElasticServer

    with ElasticServer(Specification.named()) as made:
        yield made
    assert made.violations == []


@pytest.fixture
def pauses() -> list[float]:
    """Every pause that was made between tries."""
    return []


@pytest.fixture
def make_index(server: ElasticServer, pauses: list[float], monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeIndex]:
    """make_index(prefix, create=True, **reaching): an index on the server that never really waits."""
    from fin_agent.index.elastic.index import ElasticIndex
    from fin_agent.index.opening import ConnectionSettings

    monkeypatch.setattr("fin_agent.index.elastic.index.sleep", pauses.append)
    made: list[ElasticIndex] = []

    def make(prefix: str = "test", *, create: bool = True, **reaching: Any) -> ElasticIndex:
        said = ConnectionSettings(**{"checked_every": 0.0, "patience": 5.0, **reaching})
        made.append(ElasticIndex(f"{server.url}/{prefix}", said, create=create))
        return made[-1]

    yield make
    for index in made:
        index.close()


@pytest.fixture
def index(make_index: MakeIndex) -> ElasticIndex:
    """An empty index."""
    return make_index()
