"""A cluster behind TLS, whose certificate only its own authority, or its fingerprint, vouches for."""

from __future__ import annotations

import hashlib
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("elasticsearch")

from fin_agent.errors import FilingIndexError
from fin_agent.index.elastic.address import Reaching
from fin_agent.index.elastic.index import ElasticIndex
from tests.index.contract.samples import EVERYTHING
from tests.index.elastic_server.server import ElasticServer

HERE = Path(__file__).parent / "tls"
"""A certificate for 127.0.0.1 that vouches for itself, made for this test and good for a hundred years."""


@pytest.fixture
def server() -> Iterator[ElasticServer]:
    """A server that speaks TLS."""
    with ElasticServer(certificate=HERE / "server.pem") as made:
        yield made


def fingerprint() -> str:
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert((HERE / "authority.pem").read_text(encoding="ascii"))).hexdigest()


@pytest.mark.parametrize(
    "reaching", [Reaching(certificates=str(HERE / "authority.pem")), Reaching(fingerprint=fingerprint())]
)
@pytest.mark.filterwarnings("ignore::Warning")  # the client tells that it looks at the fingerprint alone
def test_it_is_trusted_by_authority_or_fingerprint(server: ElasticServer, reaching: Reaching) -> None:
    with ElasticIndex.create(f"{server.url}/safe", reaching) as index:
        index.add(EVERYTHING, ["{}"] * 2, "")
        assert len(index.search_pages(["assets"])) == 1


@pytest.mark.parametrize("reaching", [Reaching(patience=0.01), Reaching(fingerprint="00" * 32, patience=0.01)])
@pytest.mark.filterwarnings("ignore::Warning")
def test_it_is_not_trusted_otherwise(server: ElasticServer, reaching: Reaching) -> None:
    with pytest.raises(FilingIndexError, match="certificate is not trusted") as caught:
        ElasticIndex(f"{server.url}/safe", reaching)
    assert "FIN_AGENT_ES_CA" in caught.value.remedy
    assert server.requests == []
