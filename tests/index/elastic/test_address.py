"""Where a cluster is, and how it is reached."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("elasticsearch")

from fin_agent.errors import FilingIndexError
from fin_agent.index.elastic.address import ClusterAddress, Reaching
from fin_agent.index.opening import address_of, create_index, open_index


def test_an_address_survives_being_a_path() -> None:
    assert address_of(Path("https://search.example.org:9200/filings")) == "https://search.example.org:9200/filings"
    assert address_of(Path("cloud://filings")) == "cloud://filings"
    assert address_of(Path("/home/me/https/filings")) is None
    assert address_of(Path("filings")) is None


@pytest.mark.parametrize(
    ("text", "host", "prefix"),
    [
        ("https://localhost:9200/filings", "localhost:9200", "filings"),
        ("http://[::1]:9200/a-b_2.c/", "[::1]:9200", "a-b_2.c"),
        ("cloud://filings", "", "filings"),
    ],
)
def test_parts_of_an_address(text: str, host: str, prefix: str) -> None:
    address = ClusterAddress.of(text)
    assert (address.host, address.prefix) == (host, prefix)
    assert ClusterAddress.of(str(address)) == address


@pytest.mark.parametrize(
    "text",
    ["https://localhost:9200", "https://localhost:9200/", "https://host:99999999/x", "https:///x", "https://host/a/b",
     "https://host/UPPER", "https://host/_x", "https://host/*", "https://host/a,b", "ftp://host/x", "cloud://"],
)  # fmt: skip
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(FilingIndexError, match="https://host:9200/prefix"):
        ClusterAddress.of(text)


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(FilingIndexError, match="FIN_AGENT_ES_API_KEY") as caught:
        open_index("https://elastic:sesame@localhost:9200/filings")
    assert "sesame" not in str(caught.value)


def test_settings_come_from_the_environment_and_keep_their_secrets(tmp_path: Path) -> None:
    authority = tmp_path / "ca.pem"
    authority.write_text("-")
    said = Reaching.from_environment(
        {"FIN_AGENT_ES_API_KEY": "sesame", "FIN_AGENT_ES_CA": str(authority), "FIN_AGENT_ES_TIMEOUT": "5",
         "FIN_AGENT_ES_SHARDS": "12", "FIN_AGENT_ES_CLOUD_ID": ""}
    )  # fmt: skip
    assert (said.api_key, said.certificates, said.timeout, said.shards) == ("sesame", str(authority), 5.0, 12)
    assert said.cloud_id is None
    assert "sesame" not in repr(said)


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"FIN_AGENT_ES_TIMEOUT": "soon"}, "FIN_AGENT_ES_TIMEOUT"),
        ({"FIN_AGENT_ES_SHARDS": "0"}, "FIN_AGENT_ES_SHARDS"),
        ({"FIN_AGENT_ES_CA": "/nowhere.pem"}, "/nowhere.pem"),
        ({"FIN_AGENT_ES_USERNAME": "me"}, "FIN_AGENT_ES_PASSWORD"),
        ({"FIN_AGENT_ES_API_KEY": "k", "FIN_AGENT_ES_PASSWORD": "p", "FIN_AGENT_ES_USERNAME": "u"}, "both"),
    ],
)
def test_settings_that_cannot_be_used_are_named(environment: dict[str, str], named: str) -> None:
    with pytest.raises(FilingIndexError, match=named):
        Reaching.from_environment(environment)


def test_a_cloud_deployment_has_to_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIN_AGENT_ES_CLOUD_ID", raising=False)
    with pytest.raises(FilingIndexError, match="FIN_AGENT_ES_CLOUD_ID"):
        create_index("cloud://filings")
