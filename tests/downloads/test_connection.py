"""Requests: who asks, how often after a refusal, and that no redirect is followed."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from fin_agent.downloads.connection import DownloadError, EdgarConnection, Patience, RequestPacer, user_agent
from fin_agent.downloads.fetching import Lists
from fin_agent.downloads.settings import EdgarSettings
from tests.downloads.edgar_server import CONTACT, EdgarServer, Mishap

LIST = "/files/company_tickers.json"


def get(connection: EdgarConnection, edgar: EdgarServer, path: str = LIST) -> bytes:
    return connection.get(edgar.url + path)


@pytest.mark.parametrize("missing", [None, "", "  "])
def test_without_a_contact_nothing_is_asked(settings: EdgarSettings, edgar: EdgarServer, missing: str | None) -> None:
    with pytest.raises(
        DownloadError, match=r"requires a contact.*fair access.*--contact.*FIN_AGENT_CONTACT.*\[edgar\]"
    ):
        EdgarConnection(settings.model_copy(update={"contact": missing}))
    assert edgar.asked == []


@pytest.mark.parametrize(
    "contact",
    ["Jane Doe", "jane@", "@example.com", "jane@example.com\r\nX-Evil: 1", "Jäne jane@example.com", "a" * 300],
)
def test_contacts_that_cannot_be_used(contact: str) -> None:
    with pytest.raises(DownloadError, match=r"cannot be used as a contact.*e-mail"):
        user_agent(contact)
    assert user_agent(f" {CONTACT} ") == CONTACT
    assert user_agent("Example Corp (jane.doe+sec@mail.example.co.uk)")


@pytest.mark.parametrize(
    "url", ["ftp://www.sec.gov", "www.sec.gov", "https://u:p@www.sec.gov", "http://x:99999999", ""]
)
def test_addresses_that_are_none(settings: EdgarSettings, url: str) -> None:
    with pytest.raises(DownloadError, match="cannot be an address of EDGAR") as raised:
        EdgarConnection(settings.model_copy(update={"url": url}))
    assert "u:p" not in str(raised.value)


@pytest.mark.parametrize("proxy", ["ftp://me:sesame@proxy:1", "http://me:ses\name@proxy:1", "http://me:sesame@proxy:x"])
def test_a_proxy_that_is_none_is_told_without_its_password(
    settings: EdgarSettings, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    with pytest.raises(DownloadError, match=r"HTTPS_PROXY.*cannot be used") as raised:
        EdgarConnection(settings)
    assert "sesame" not in str(raised.value) and "ses\name" not in str(raised.value)


@pytest.mark.parametrize("status", [403, 429, 500, 503])
def test_refusals_are_tried_again_after_a_pause(
    edgar: EdgarServer, connection: EdgarConnection, naps: list[float], status: int
) -> None:
    edgar.mishaps[LIST] = [Mishap(status), Mishap(status)]
    assert get(connection, edgar) == edgar.files[LIST]
    assert len(naps) == 2 and 0.75 <= naps[0] <= 1.25 and 1.5 <= naps[1] <= 2.5
    assert len(edgar.asked) == 3


def test_the_server_says_how_long(edgar: EdgarServer, connection: EdgarConnection, naps: list[float]) -> None:
    edgar.mishaps[LIST] = [Mishap(429, {"Retry-After": "17"}), Mishap(503, {"Retry-After": "40"})]
    get(connection, edgar)
    assert naps == [17, 40]


def test_a_pause_longer_than_anybody_waits_is_told(
    edgar: EdgarServer, connection: EdgarConnection, naps: list[float]
) -> None:
    edgar.mishaps[LIST] = [Mishap(429, {"Retry-After": "1800"})]
    with pytest.raises(DownloadError, match=r"HTTP 429.*Wait 30 minutes, check that the contact is yours") as raised:
        get(connection, edgar)
    assert raised.value.ends_all and naps == [] and len(edgar.asked) == 1


def test_refusals_without_end_are_told(edgar: EdgarServer, connection: EdgarConnection) -> None:
    edgar.mishaps[LIST] = [Mishap(403)] * 9
    with pytest.raises(DownloadError, match=r"HTTP 403.*some ten minutes.*Wait 10 minutes"):
        get(connection, edgar)
    assert len(edgar.asked) == 4
    edgar.mishaps[LIST] = [Mishap(500)] * 9
    with pytest.raises(DownloadError, match=r"HTTP 500.*later"):
        get(connection, edgar)


def test_a_refusal_holds_back_other_processes_as_well(edgar: EdgarServer, settings: EdgarSettings) -> None:
    now = [1_000.0]
    pace = RequestPacer(settings.cache_folder / "pace.sqlite", clock=lambda: now[0], sleep=lambda seconds: None)
    with EdgarConnection(settings, pace=pace, patience=Patience(attempts=2, sleep=lambda seconds: None)) as connection:
        edgar.mishaps[LIST] = [Mishap(429, {"Retry-After": "25"})]
        get(connection, edgar)
    other = RequestPacer(settings.cache_folder / "pace.sqlite", clock=lambda: now[0], sleep=lambda seconds: None)
    assert 25 <= other.wait(edgar.url.removeprefix("http://")) <= 26
    assert other.wait("another.example") < 1


@pytest.mark.parametrize("status", [429, 503])
def test_a_long_pause_that_was_asked_for_is_kept_by_the_next_run(
    edgar: EdgarServer, settings: EdgarSettings, status: int
) -> None:
    now, told, slept = [1_000.0], list[float](), list[float]()

    def run() -> bytes:
        pace = RequestPacer(
            settings.cache_folder / "pace.sqlite", clock=lambda: now[0], sleep=slept.append, told=told.append
        )
        with EdgarConnection(settings, pace=pace, patience=Patience(sleep=slept.append)) as connection:
            return get(connection, edgar)

    edgar.mishaps[LIST] = [Mishap(status, {"Retry-After": "7200"})]
    with pytest.raises(DownloadError, match=f"HTTP {status}"):
        run()
    now[0] += 600
    with pytest.raises(DownloadError, match=r"asked for a pause, of which 110 minutes are left.*in 110 min") as raised:
        run()
    assert raised.value.ends_all and len(edgar.asked) == 1 and told == slept == []
    now[0] += 6_590
    assert run() == edgar.files[LIST]
    assert told == [10.0] and 10.0 in slept
    now[0] -= 500_000  # the clock was set back: nobody waits for days
    assert run() == edgar.files[LIST] and told == [10.0]


def test_a_pause_of_years_is_kept_for_a_day(edgar: EdgarServer, settings: EdgarSettings) -> None:
    now = [1_000.0]
    pace = RequestPacer(settings.cache_folder / "pace.sqlite", clock=lambda: now[0], sleep=lambda seconds: None)
    pace.pause(1e9, "x")
    with pytest.raises(DownloadError, match=r"1,440 minutes"):
        pace.wait("x")
    now[0] += 86_401
    assert pace.wait("x") < 1


def test_a_pace_of_an_earlier_version_goes_on(settings: EdgarSettings) -> None:
    file = settings.cache_folder / "pace.sqlite"
    file.parent.mkdir(parents=True)
    with closing(sqlite3.connect(file)) as made, made:
        made.execute("CREATE TABLE pace (turn REAL NOT NULL)")
        made.execute("INSERT INTO pace VALUES (1000.05)")
    assert 0.04 < RequestPacer(file, clock=lambda: 1_000.0, sleep=lambda seconds: None).wait("x") < 0.06


def test_an_error_that_waiting_does_not_mend(edgar: EdgarServer, connection: EdgarConnection) -> None:
    with pytest.raises(DownloadError, match=r"HTTP 404.*withdrawn"):
        get(connection, edgar, "/nowhere")
    assert len(edgar.asked) == 1


def test_offline(settings: EdgarSettings, naps: list[float]) -> None:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}"
    offline = settings.model_copy(update={"url": nobody})
    with (
        EdgarConnection(offline, patience=Patience(attempts=3, sleep=naps.append)) as connection,
        pytest.raises(DownloadError, match=r"127\.0\.0\.1:\d+: EDGAR cannot be reached .*Check the network.*resumes"),
    ):
        connection.get(f"{nobody}{LIST}")
    assert len(naps) == 2


@pytest.mark.parametrize("target", ["http://192.0.2.1/login", "file:///etc/passwd", LIST])
def test_redirects_are_not_followed(edgar: EdgarServer, connection: EdgarConnection, target: str) -> None:
    edgar.mishaps["/old.json"] = [Mishap(302, {"Location": target})]
    with pytest.raises(DownloadError, match=r"redirects to another address \(HTTP 302\), which is not followed"):
        get(connection, edgar, "/old.json")
    assert len(edgar.asked) == 1


def test_lists_are_kept_for_a_time(edgar: EdgarServer, connection: EdgarConnection, tmp_path: Path) -> None:
    now = [time.time()]
    lists = Lists(connection, tmp_path / "lists", clock=lambda: now[0])
    first = lists.get(edgar.url + LIST, 600)
    assert lists.get(edgar.url + LIST, 600) == first and len(edgar.asked) == 1
    now[0] += 601
    assert Lists(connection, tmp_path / "lists", clock=lambda: now[0]).get(edgar.url + LIST, 600) == first
    assert len(edgar.asked) == 2
    (kept,) = (tmp_path / "lists").iterdir()
    kept.write_bytes(b'{"url": "cut o')
    assert lists.get(edgar.url + LIST, 600) == first and len(edgar.asked) == 3


@pytest.mark.parametrize("content", [b"<html>busy</html>", b"[]", b"{", b"[" * 100_000, b"\xff\xfe"])
def test_a_list_that_is_none(edgar: EdgarServer, connection: EdgarConnection, tmp_path: Path, content: bytes) -> None:
    edgar.files["/list.json"] = content
    with pytest.raises(DownloadError, match=r"cannot be read.*it is not JSON|cannot be read.*it is not a JSON object"):
        Lists(connection, tmp_path).get(f"{edgar.url}/list.json", 600)
    assert list(tmp_path.glob("*.json")) == []
