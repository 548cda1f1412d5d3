"""Where a cluster is, and how it is reached."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("elasticsearch")

from fin_agent.errors import FilingIndexError
from fin_agent.index.opening import ClusterAddress, ConnectionSettings, address_of, create_index, open_index


def test_an_address_survives_being_a_path() -> None:
    assert address_of(Path("https://search.example.org:9200/filings")) == "https://search.example.org:9200/filings"
    assert address_of(Path("/home/me/https/filings")) is None
    assert address_of(Path("filings")) is None


@pytest.mark.parametrize(
    ("text", "host", "prefix"),
    [
        ("https://localhost:9200/filings", "localhost:9200", "filings"),
        ("http://[::1]:9200/a-b_2.c/", "[::1]:9200", "a-b_2.c"),
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


@pytest.mark.parametrize(
    "address",
    ["https://me:sesame@localhost:9200/x", "https://me:ses/sesame@localhost:9200/x", "https://me:#sesame@host/x",
     "https://localhost:9200/x?api_key=sesame", "ftp://me:sesame@host/x", "me:sesame@localhost:9200/x"],
)  # fmt: skip
def test_what_is_secret_in_an_address_is_shown_by_nobody(address: str) -> None:
    from fin_agent.cli.options import IndexOptions

    for refuse in (ClusterAddress.of, open_index, create_index, lambda text: IndexOptions(index=Path(text)).chosen):
        if address.startswith("ftp") and refuse is not ClusterAddress.of:
            continue
        with pytest.raises(FilingIndexError) as caught:
            refuse(address)
        assert "sesame" not in str(caught.value) and "host" in str(caught.value)


@pytest.mark.parametrize("text", ["127.0.0.1:9200/filings", "search.example.org:9200", "[::1]:9200/filings"])
def test_a_host_with_its_port_is_no_folder_unless_there_is_one(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for make in (address_of, create_index):
        with pytest.raises(FilingIndexError, match="a folder on this machine or a cluster") as caught:
            make(Path(text))
        assert f"https://{text}" in caught.value.remedy and str(tmp_path / text) in caught.value.remedy
    assert list(tmp_path.iterdir()) == []
    (tmp_path / text).mkdir(parents=True)
    assert address_of(Path(text)) is None and address_of(tmp_path / text) is None


SECRET = "sesame-open-0123"
AS_TEXT = ("FIN_AGENT_ES_USERNAME", "FIN_AGENT_ES_PASSWORD")
SECRETS = ("FIN_AGENT_ES_API_KEY", *AS_TEXT)


@pytest.mark.parametrize("variable", SECRETS)
def test_a_secret_may_come_from_a_file_with_the_end_of_its_line(variable: str) -> None:
    said = {"FIN_AGENT_ES_USERNAME": "me", "FIN_AGENT_ES_PASSWORD": "p"} if variable in AS_TEXT else {}
    reaching = ConnectionSettings.from_environment({**said, variable: f"\ufeff{SECRET}\r\n"})
    assert SECRET in (reaching.api_key, reaching.password, reaching.username)


@pytest.mark.parametrize("variable", SECRETS)
@pytest.mark.parametrize("value", [f"{SECRET}\nX: 1", f"{SECRET}\x07{SECRET}", f"{SECRET}\udcff", f"{SECRET}\u2026"])
def test_a_secret_that_cannot_be_sent_is_named_by_its_variable(variable: str, value: str) -> None:
    said = {"FIN_AGENT_ES_USERNAME": "me", "FIN_AGENT_ES_PASSWORD": "p"} if variable in AS_TEXT else {}
    if value.endswith("\u2026") and variable in AS_TEXT:
        assert ConnectionSettings.from_environment({**said, variable: value})  # sent as UTF-8
        return
    with pytest.raises(FilingIndexError, match=f"{variable}: it cannot be sent: it contains") as caught:
        ConnectionSettings.from_environment({**said, variable: value})
    assert SECRET not in str(caught.value)


def test_settings_come_from_the_environment_and_keep_their_secrets(tmp_path: Path) -> None:
    authority = tmp_path / "ca.pem"
    authority.write_text("-")
    said = ConnectionSettings.from_environment(
        {"FIN_AGENT_ES_API_KEY": "sesame", "FIN_AGENT_ES_CA": str(authority), "FIN_AGENT_ES_TIMEOUT": "5",
         "FIN_AGENT_ES_SHARDS": "12", "FIN_AGENT_ES_USERNAME": ""}
    )  # fmt: skip
    assert (said.api_key, said.certificates, said.timeout, said.shards) == ("sesame", str(authority), 5.0, 12)
    assert said.username is None
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
        ConnectionSettings.from_environment(environment)


def test_no_password_goes_over_plain_http_to_another_machine() -> None:
    pytest.importorskip("elasticsearch", reason="needs the extra `elasticsearch`")
    from fin_agent.index.elastic.index import client_of

    address = ClusterAddress.of("http://cluster.example.com:9200/filings")
    with pytest.raises(FilingIndexError, match="over plain HTTP"):
        client_of(address, ConnectionSettings(api_key="sesame-open-4711"))
    client_of(ClusterAddress.of("http://localhost:9200/filings"), ConnectionSettings(api_key="sesame-open-4711"))
    client_of(address, ConnectionSettings())
