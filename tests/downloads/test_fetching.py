"""Filings come whole, once, under the names of their periods; what breaks off is asked for again."""

from __future__ import annotations

import gzip
import hashlib
import json
import time
from datetime import date
from pathlib import Path

import pytest

from fin_agent.downloads.connection import DownloadError, EdgarConnection
from fin_agent.downloads.fetching import Became, Edgar, FetchedFile, ListedFiling, Years, check_filing, years_in
from fin_agent.downloads.settings import EdgarSettings
from fin_agent.errors import FinAgentError
from tests.downloads.edgar_server import BLOCKED, CONTACT, LOGIN, EdgarServer, Mishap, filing

FOLDER = "/Archives/edgar/data/320193"
LATEST = f"{FOLDER}/000032019324000123/report-123.htm"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "filings"


def fetch(
    connection: EdgarConnection,
    settings: EdgarSettings,
    out: Path,
    company: str = "AAPL",
    forms: tuple[str, ...] = ("10-K",),
    years: str | None = None,
) -> list[FetchedFile]:
    edgar = Edgar(connection, settings)
    return edgar.fetch(edgar.find(company, forms, years_in(years) if years else None), out)


def test_filings_of_years(edgar: EdgarServer, connection: EdgarConnection, settings: EdgarSettings, out: Path) -> None:
    files = fetch(connection, settings, out, years="2022-2023")
    assert [file.name for file in files] == ["AAPL_2022_10K", "AAPL_2023_10K"]
    assert (out / "AAPL_2023_10K.htm").read_bytes() == edgar.files[f"{FOLDER}/000032019323000106/report-106.htm"]
    assert {each.headers["User-Agent"] for each in edgar.asked} == {CONTACT}
    assert not any("submissions-001" in path for path in edgar.paths())  # older lists hold nothing of these years
    lines = [json.loads(line) for line in (out / "fetched.jsonl").read_text().splitlines()]
    assert [(line["file"], line["form"], line["period"], line["accession"]) for line in lines] == [
        ("AAPL_2022_10K.htm", "10-K", "2022-09-24", "0000320193-22-000108"),
        ("AAPL_2023_10K.htm", "10-K", "2023-09-30", "0000320193-23-000106"),
    ]
    for line in lines:
        content = (out / line["file"]).read_bytes()
        assert line["sha256"] == hashlib.sha256(content).hexdigest() and line["bytes"] == len(content)
    assert sorted(path.name for path in out.iterdir()) == ["AAPL_2022_10K.htm", "AAPL_2023_10K.htm", "fetched.jsonl"]


def test_what_is_there_is_not_asked_for_again(
    edgar: EdgarServer, connection: EdgarConnection, settings: EdgarSettings, out: Path
) -> None:
    fetch(connection, settings, out, years="2022-2024")
    before = len(edgar.asked)
    again = fetch(connection, settings, out, years="2022-2024")
    assert [file.became for file in again] == [Became.THERE] * 3
    assert len(edgar.asked) == before  # lists are fresh, files are there
    (out / "AAPL_2023_10K.htm").write_bytes(b"spoiled")
    assert [file.became for file in fetch(connection, settings, out, years="2023")] == [Became.FETCHED]
    assert (out / "AAPL_2023_10K.htm").stat().st_size > 100_000


def test_the_newest_of_each_form(connection: EdgarConnection, settings: EdgarSettings, out: Path) -> None:
    assert [file.name for file in fetch(connection, settings, out, forms=("10-K", "10-q"))] == [
        "AAPL_2023Q3_10Q",
        "AAPL_2024_10K",
    ]


def test_older_lists(edgar: EdgarServer, connection: EdgarConnection, settings: EdgarSettings, out: Path) -> None:
    assert [file.name for file in fetch(connection, settings, out, years="2001")] == ["AAPL_2001_10K"]
    assert "/submissions/CIK0000320193-submissions-001.json" in edgar.paths()


def test_a_release_comes_with_its_exhibits(
    edgar: EdgarServer, connection: EdgarConnection, settings: EdgarSettings, out: Path
) -> None:
    edgar.files[f"{FOLDER}/000032019323000075/0000320193-23-000075.txt"] = b"<SEC-DOCUMENT>..."
    (file,) = fetch(connection, settings, out, forms=("8-K",))
    assert (file.name, file.path) == ("AAPL_2023-08-03_8K", out / "AAPL_2023-08-03_8K.htm")
    assert file.path is not None and file.path.read_bytes() == b"<SEC-DOCUMENT>..."


@pytest.mark.parametrize("given", ["320193", "CIK0000320193", "aapl", " AAPL "])
def test_companies_by_ticker_and_cik(connection: EdgarConnection, settings: EdgarSettings, given: str) -> None:
    found = Edgar(connection, settings).find(given, ("10-K",), Years(2023, 2023))
    assert (found.company.cik, found.company.handle, found.company.name) == (320193, "AAPL", "Apple Inc.")


def test_a_filing_under_a_name_that_is_taken(
    edgar: EdgarServer, connection: EdgarConnection, settings: EdgarSettings, out: Path
) -> None:
    both = [filing(9, "10-K", "2023-12-31", "2024-02-01"), filing(8, "10-K", "2023-12-31", "2024-01-31")]
    edgar.put_company(77, "TWIN", "Twin Corp", both, fiscalYearEnd="1231")
    names = [file.name for file in fetch(connection, settings, out, "TWIN", years="2023")]
    assert names == ["TWIN_2023_10K", "TWIN_2023_10K_0000320193-24-000009"]


def test_one_filing_that_cannot_be_fetched_costs_that_filing(
    edgar: EdgarServer, connection: EdgarConnection, settings: EdgarSettings, out: Path
) -> None:
    del edgar.files[f"{FOLDER}/000032019323000106/report-106.htm"]
    edgar.put_older(320193, [filing(1, "10-K", "1999-09-25", "1999-12-22", "a.txt")], until="2000-01-01")
    edgar.files["/submissions/CIK0000320193-submissions-001.json"] = edgar.files.pop(
        "/submissions/CIK0000320193-submissions-001.json"
    )
    files = fetch(connection, settings, out, years="1999-2024")
    became = {file.name: file for file in files}
    assert became["AAPL_2024_10K"].became is Became.FETCHED
    assert "404" in became["AAPL_2023_10K"].reason and "withdrawn" in became["AAPL_2023_10K"].remedy
    assert "filed as a.txt" in became["AAPL_1999_10K"].reason and "PDF" in became["AAPL_1999_10K"].remedy


@pytest.mark.parametrize("packs", [True, False])
def test_a_download_that_breaks_off_is_asked_for_again(
    edgar: EdgarServer, connection: EdgarConnection, settings: EdgarSettings, out: Path, packs: bool, naps: list[float]
) -> None:
    edgar.packs = packs
    edgar.mishaps["report-123.htm"] = [Mishap(cut_at=50_000), Mishap(cut_at=20_000)]
    fetch(connection, settings, out)
    assert (out / "AAPL_2024_10K.htm").read_bytes() == edgar.files[LATEST]
    assert len(naps) == 2 and naps[1] > naps[0]
    assert sorted(path.name for path in out.iterdir()) == ["AAPL_2024_10K.htm", "fetched.jsonl"]


def test_a_download_that_was_given_up_comes_in_the_next_run(
    edgar: EdgarServer, connection: EdgarConnection, settings: EdgarSettings, out: Path
) -> None:
    edgar.mishaps["report-123.htm"] = [Mishap(cut_at=30_000), *[Mishap(cut_at=0) for _ in range(3)]]
    with pytest.raises(DownloadError, match="cannot be reached"):
        fetch(connection, settings, out)
    assert not out.exists()  # never half a filing under its name
    fetch(connection, settings, out)
    assert (out / "AAPL_2024_10K.htm").read_bytes() == edgar.files[LATEST]


def test_a_bomb_is_not_unpacked(
    edgar: EdgarServer, connection: EdgarConnection, settings: EdgarSettings, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fin_agent.downloads.connection.EdgarConnection.get.__kwdefaults__", {"most": 1_000_000})
    edgar.files[LATEST] = b" " * 50_000_000
    (file,) = fetch(connection, settings, out)
    assert file.became is Became.FAILED and "larger than" in file.reason
    assert "`fin-agent ingest` has the same limit" in file.remedy
    assert len(gzip.compress(edgar.files[LATEST])) < 100_000
    assert not out.exists()


@pytest.mark.parametrize(
    "document",
    ["../../../../etc/passwd", "..", "/etc/passwd", "http://127.0.0.1/x.htm", "a/b.htm", "x\0.htm", ".x.htm"],
)
def test_names_that_lead_elsewhere_are_not_asked_for(
    edgar: EdgarServer, connection: EdgarConnection, settings: EdgarSettings, out: Path, document: str
) -> None:
    edgar.put_company(66, "EVIL", "Evil Corp", [filing(1, "10-K", "2023-09-30", "2023-11-01", document)])
    (file,) = fetch(connection, settings, out, "EVIL")
    assert file.became is Became.FAILED and file.path is None
    assert [path for path in edgar.paths() if "Archives" in path] == []


@pytest.mark.parametrize("ticker", ["../../x", "a/b", "..", "CON\\x", "x\0y", "A" * 300])
def test_a_ticker_never_leads_out_of_the_folder(
    edgar: EdgarServer, connection: EdgarConnection, settings: EdgarSettings, out: Path, ticker: str
) -> None:
    edgar.put_company(66, ticker, "Evil Corp", [filing(1, "10-K/../..", "2023-09-30", "2023-11-01")])
    (file,) = fetch(connection, settings, out, "66", forms=("10-K/../..",))
    assert file.path == out / "CIK0000000066_2023-09-30_10K.htm" or file.path == out / "CIK0000000066_2023_10K.htm"


def test_a_manifest_that_leads_elsewhere_is_not_believed(
    connection: EdgarConnection, settings: EdgarSettings, out: Path, tmp_path: Path
) -> None:
    fetch(connection, settings, out)
    line = json.loads((out / "fetched.jsonl").read_text())
    outside = tmp_path / "outside.htm"
    outside.write_bytes(b"x" * line["bytes"])
    (out / "AAPL_2024_10K.htm").unlink()
    for file in ("../outside.htm", str(outside)):
        (out / "fetched.jsonl").write_text(json.dumps({**line, "file": file}) + '\n{"file": "cut o\n')
        (found,) = fetch(connection, settings, out)
        assert (found.became, found.path) == (Became.FETCHED, out / "AAPL_2024_10K.htm")
        (out / "AAPL_2024_10K.htm").unlink()


@pytest.mark.parametrize("years", ["", "22", "2024-2022", "2022,2023", "1980", "2022-", "all"])
def test_years_that_are_none(years: str) -> None:
    with pytest.raises(FinAgentError, match=r"names no years\. Give a year or a span"):
        years_in(years)


def test_a_company_that_is_not_listed(connection: EdgarConnection, settings: EdgarSettings) -> None:
    edgar = Edgar(connection, settings)
    with pytest.raises(DownloadError, match=r"AAPLE: EDGAR lists no company.*Did you mean AAPL \(Apple Inc\.\)"):
        edgar.find("AAPLE", ("10-K",), None)
    with pytest.raises(DownloadError, match=r"Did you mean AAPL \(Apple Inc\.\)"):
        edgar.find("apple", ("10-K",), None)


def test_a_cik_that_nobody_has(connection: EdgarConnection, settings: EdgarSettings) -> None:
    with pytest.raises(DownloadError, match="4711: EDGAR lists no company under this ticker or CIK"):
        Edgar(connection, settings).find("4711", ("10-K",), None)


def test_no_such_filings_says_which_there_are(connection: EdgarConnection, settings: EdgarSettings) -> None:
    edgar = Edgar(connection, settings)
    with pytest.raises(DownloadError, match=r"AAPL \(Apple Inc\.\): EDGAR has no 10-K of 2010 to 2011"):
        edgar.find("AAPL", ("10-K",), Years(2010, 2011))
    with pytest.raises(
        DownloadError, match=r"no 10-K of 2025\. Give other --years: there are filings of 2022, 2023, 2024"
    ) as raised:
        edgar.find("AAPL", ("10-K",), Years(2025, 2025))
    assert raised.value.remedy
    with pytest.raises(DownloadError, match=r"no 40-F\. Give another --form: its newest filings are 10-K, 10-Q, 8-K"):
        edgar.find("AAPL", ("40-F",), None)
    with pytest.raises(DownloadError, match=r"BRK-B.*It has filed nothing"):
        edgar.find("BRK.B", ("10-K",), None)


@pytest.mark.parametrize("packs", [True, False])
def test_a_page_that_refuses_is_no_filing_and_not_kept(
    edgar: EdgarServer, connection: EdgarConnection, settings: EdgarSettings, out: Path, packs: bool
) -> None:
    edgar.packs = packs
    right, edgar.files[LATEST] = edgar.files[LATEST], BLOCKED
    with pytest.raises(DownloadError, match=r"report-123.*a page that refuses requests.*Wait 10 minutes") as raised:
        fetch(connection, settings, out)
    assert raised.value.ends_all and not out.exists()
    edgar.files[LATEST] = right
    assert [file.became for file in fetch(connection, settings, out)] == [Became.FETCHED]


def test_a_page_that_refuses_in_place_of_a_list(
    edgar: EdgarServer, connection: EdgarConnection, settings: EdgarSettings, out: Path
) -> None:
    edgar.files["/files/company_tickers.json"] = BLOCKED
    with pytest.raises(DownloadError, match="a page that refuses requests"):
        fetch(connection, settings, out)


def test_a_login_page_is_no_filing_and_costs_that_filing(
    edgar: EdgarServer, connection: EdgarConnection, settings: EdgarSettings, out: Path
) -> None:
    edgar.files[LATEST] = LOGIN
    files = {file.name: file for file in fetch(connection, settings, out, years="2023-2024")}
    assert files["AAPL_2023_10K"].became is Became.FETCHED
    failed = files["AAPL_2024_10K"]
    assert failed.became is Became.FAILED and failed.path is None
    assert "is not the 10-K that EDGAR lists" in failed.reason and "log in there" in failed.remedy
    assert not [path for path in out.iterdir() if "2024" in path.name]


def test_a_submission_is_as_large_as_the_list_says(
    edgar: EdgarServer, connection: EdgarConnection, settings: EdgarSettings, out: Path
) -> None:
    row = {**filing(1, "8-K", "2023-08-03", "2023-08-03"), "size": "10000"}
    edgar.put_company(55, "SIZE", "Size Corp", [row])
    path = "/Archives/edgar/data/55/000032019323000001/0000320193-23-000001.txt"
    edgar.files[path] = b"<SEC-DOCUMENT>".ljust(4_000)
    (file,) = fetch(connection, settings, out, "SIZE", forms=("8-K",))
    assert file.became is Became.FAILED and "4,000 bytes, and the list gives 10,000" in file.reason
    edgar.files[path] = b"<SEC-DOCUMENT>".ljust(9_800)
    assert [each.became for each in fetch(connection, settings, out, "SIZE", forms=("8-K",))] == [Became.FETCHED]


@pytest.mark.parametrize(
    ("form", "content"),
    [
        ("10-K", b"<p>Form <b>10</b>&#8209;<b>K</b></p>"),
        ("10-K/A", b"<p>AMENDMENT NO. 1 TO FORM 10&nbsp;<br>K</p>"),
        ("8-K", b"<SEC-DOCUMENT>0000.txt"),
        ("S-3", b"<p>SEC<span>URITIES AND EXCHANGE</span> COMMISSION</p>"),
        ("10-Q", b"x" * 2**21),
    ],
)
def test_filings_are_known_by_few_words(form: str, content: bytes) -> None:
    check_filing(
        content, ListedFiling("0000320193-23-000106", form, date(2023, 1, 1), None, "a.htm"), "https://x/a.htm"
    )


def test_no_page_takes_long_to_look_at() -> None:
    listed = ListedFiling("0000320193-23-000106", "10-K", date(2023, 1, 1), None, "a.htm")
    began = time.perf_counter()
    for content in (b"<" * 2**20, b"<!--" * 2**18, b"<script" * 2**17, b" " * 2**20, b"1" * 2**20):
        with pytest.raises(DownloadError):
            check_filing(content, listed, "https://x/a.htm")
    assert time.perf_counter() - began < 10


def test_what_was_asked_for_and_not_filed_is_named(connection: EdgarConnection, settings: EdgarSettings) -> None:
    edgar = Edgar(connection, settings)
    found = edgar.find("AAPL", ("10-K", "10-Q", "20-F"), Years(2020, 2026))
    assert [str(each) for each in found.not_filed] == [
        "10-K of 2020 to 2021, 2025 to 2026",
        "10-Q of 2020 to 2022, 2024 to 2026",
        "20-F of 2020 to 2026",
    ]
    assert [each.at_all for each in found.not_filed] == [False, False, True]
    assert [str(each) for each in edgar.find("AAPL", ("10-K", "20-F"), None).not_filed] == ["20-F"]
    assert edgar.find("AAPL", ("10-K",), Years(2022, 2024)).not_filed == ()
