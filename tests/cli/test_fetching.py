"""`fin-agent fetch`: from EDGAR's list to an index, what it says, and what it says where it cannot."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fin_agent.config import settings_from
from fin_agent.downloads.connection import RequestPacer
from tests.cli.running import Ran
from tests.downloads.edgar_server import CONTACT, EdgarServer, Mishap, filing, running
from tests.loopback import no_other_host

__all__ = ["no_other_host"]

PACE = dict(RequestPacer.__init__.__kwdefaults__ or {})


@pytest.fixture
def edgar(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sample_html: Path) -> Iterator[EdgarServer]:
    with running() as server:
        rows = [filing(7, "10-Q", "2025-08-02", "2025-08-29"), filing(3, "10-K", "2025-02-01", "2025-03-20")]
        server.put_company(9907153, "QLMK", "Quillmark Stores, Inc.", rows, fiscalYearEnd="0131")
        path = "/Archives/edgar/data/9907153/000032019325000007/report-7.htm"
        server.files[path] = (sample_html / "quillmark_2025q2_10q.htm").read_bytes()
        monkeypatch.setenv("FIN_AGENT_EDGAR_URL", server.url)
        monkeypatch.setenv("FIN_AGENT_EDGAR_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("FIN_AGENT_CONTACT", CONTACT)
        yield server


def test_fetched_and_ingested(edgar: EdgarServer, tmp_path: Path) -> None:
    out, index = tmp_path / "filings", tmp_path / "index"
    ran = Ran("fetch", "qlmk", "--form", "10-Q", "--years", "2024-2026", "--ingest", "--out", out, "--index", index)
    assert ran.code == 0, ran.err
    assert "[1/1] QLMK_2026Q2_10Q: fetched, 0.1 MB" in ran.err
    assert ran.out.startswith("1 fetched, 0 there, 0 failed.") and "1 added" in ran.out
    listed = Ran("filings", "--index", index, "--json").document
    (found,) = listed["filings"]
    assert (found["doc_id"], found["fiscal_year"], found["quarter"]) == ("QLMK_2026Q2_10Q", 2025, 2)
    again = Ran("fetch", "QLMK", "--form", "10-Q", "--out", out, "--json").document
    assert (again["fetched"], again["there"], again["failed"]) == (0, 1, 0)
    assert again["files"][0]["path"] == str(out / "QLMK_2026Q2_10Q.htm")


def test_without_a_contact(edgar: EdgarServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("FIN_AGENT_CONTACT")
    ran = Ran("fetch", "QLMK", "--out", tmp_path)
    assert ran.code == 1 and ran.out == "" and edgar.asked == []
    assert "EDGAR requires a contact" in ran.err and "FIN_AGENT_CONTACT" in ran.err
    assert Ran("fetch", "QLMK", "--out", tmp_path, "--contact", "me").err.count("cannot be used as a contact") == 1
    assert Ran("fetch", "QLMK", "--out", tmp_path, "--contact", "Me me@example.com").code == 0
    assert {each.headers["User-Agent"] for each in edgar.asked} == {"Me me@example.com"}


def test_the_contact_of_a_file_of_settings_is_kept_out_of_records(tmp_path: Path) -> None:
    file = tmp_path / "fin-agent.toml"
    file.write_text(f'[edgar]\ncontact = "{CONTACT}"\ncache = "kept"\n', encoding="utf-8")
    settings = settings_from(file=file)
    assert (settings.edgar.contact, settings.edgar.cache) == (CONTACT, tmp_path / "kept")
    assert settings.edgar.lists_url == "https://data.sec.gov"
    assert "jane" not in settings.model_dump_json()


def without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits are told and not sat through."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    without = {**PACE, "sleep": lambda seconds: None}
    monkeypatch.setattr("fin_agent.downloads.connection.RequestPacer.__init__.__kwdefaults__", without)


def test_waiting_is_told(edgar: EdgarServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_waiting(monkeypatch)
    edgar.mishaps["company_tickers.json"] = [Mishap(429, {"Retry-After": "9"})]
    ran = Ran("fetch", "QLMK", "--out", tmp_path / "out")
    assert ran.code == 0 and "the next attempt follows in 9 s" in ran.err


def test_a_pause_that_an_earlier_run_was_asked_for_is_told(edgar: EdgarServer, tmp_path: Path) -> None:
    edgar.mishaps["company_tickers.json"] = [Mishap(429, {"Retry-After": "7200"})]
    assert "Wait 120 minutes" in Ran("fetch", "QLMK", "--out", tmp_path / "out").err
    again = Ran("fetch", "QLMK", "--out", tmp_path / "out")
    assert again.code == 1 and "120 minutes are left; no request was sent" in again.err
    assert len(edgar.asked) == 1


def test_a_short_pause_that_an_earlier_run_was_asked_for_is_waited_and_told(
    edgar: EdgarServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(
        "fin_agent.downloads.connection.RequestPacer.__init__.__kwdefaults__", {**PACE, "sleep": lambda seconds: None}
    )
    RequestPacer(tmp_path / "cache" / "pace.sqlite").pause(30, edgar.url.removeprefix("http://"))
    ran = Ran("fetch", "QLMK", "--out", tmp_path / "out")
    assert ran.code == 0 and re.search(r"EDGAR asked for a pause; the next request follows in (?:29|30) s", ran.err)


def test_what_was_not_filed_is_named(edgar: EdgarServer, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "out")
    ran = Ran("fetch", "QLMK", "--form", "10-K", "--form", "8-K", "--years", "2023-2026", *out)
    assert ran.code == 3 and ran.out.startswith("1 fetched")
    assert "QLMK: EDGAR has no 10-K of 2023 to 2024, 2026\nQLMK: EDGAR has no 8-K of 2023 to 2026" in ran.err
    ran = Ran("fetch", "QLMK", "--years", "2024-2025", "--json", *out)
    assert ran.code == 0  # a span of years may well be wider than what there is
    assert ran.document["not_filed"] == [{"company": "QLMK", "form": "10-K", "years": [[2024, 2024]]}]
    assert Ran("fetch", "QLMK", "--form", "10-K", "--form", "8-K", *out).code == 3


def test_one_of_several_companies_that_is_not_listed(edgar: EdgarServer, tmp_path: Path) -> None:
    ran = Ran("fetch", "QLMK", "NOPE", "--out", tmp_path / "out", "--json")
    assert ran.code == 3
    assert ran.document["fetched"] == 1
    assert [failed["company"] for failed in ran.document["companies_failed"]] == ["NOPE"]
    assert "error: NOPE: EDGAR lists no company" in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("NOPE",), "EDGAR lists no company under this ticker or CIK. Give the ticker"),
        (("QLMK", "--form", "20-F"), "EDGAR has no 20-F. Give another --form: its newest filings are 10-K, 10-Q"),
        (("QLMK", "--years", "2019"), "EDGAR has no 10-K of 2019. Give other --years: there are filings of 2025"),
        (("QLMK", "--years", "last"), "'last' names no years. Give a year or a span such as 2022-2024"),
    ],
)
def test_what_cannot_be_fetched_is_told(
    edgar: EdgarServer, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    ran = Ran("fetch", *arguments, "--out", tmp_path / "out")
    assert ran.code == 1 and ran.out == ""
    assert said in ran.err
    assert not (tmp_path / "out").exists()
