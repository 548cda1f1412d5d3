"""A cluster behind TLS, whose certificate only its own authority vouches for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("elasticsearch")

from fin_agent.errors import FilingIndexError
from fin_agent.index.elastic.index import ElasticIndex
from fin_agent.index.opening import ConnectionSettings
from tests.index.contract.samples import EVERYTHING
from tests.index.elastic_server.server import ElasticServer

HERE = Path(__file__).parent / "tls"
"""A certificate for 127.0.0.1 that vouches for itself, made for this test and good for a hundred years."""


@pytest.fixture
def server() -> Iterator[ElasticServer]:
    """A server that speaks TLS."""
    with ElasticServer(certificate=HERE / "server.pem") as made:
        yield made


def test_it_is_trusted_by_its_authority(server: ElasticServer) -> None:
    reaching = ConnectionSettings(certificates=str(HERE / "authority.pem"))
    with ElasticIndex(f"{server.url}/safe", reaching, create=True) as index:
        index.add(EVERYTHING, ["{}"] * 2, "")
        assert len(index.search_pages(["assets"])) == 1


def test_it_is_not_trusted_otherwise(server: ElasticServer) -> None:
    with pytest.raises(FilingIndexError, match="certificate is not trusted") as caught:
        ElasticIndex(f"{server.url}/safe", ConnectionSettings(patience=0.01))
    assert "FIN_AGENT_ES_CA" in caught.value.remedy
    assert server.requests == []
