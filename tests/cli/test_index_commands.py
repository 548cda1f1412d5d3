"""`fin-agent index ...` and `ingest --retry-failed`: what they print, and how they end."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from fin_agent.index.ingest_lock import ingest_lock
from fin_agent.index.sqlite import FILE_NAME
from fin_agent.runs.store import FILE_NAME as RUNS
from tests.cli.running import LOOKUP, Ran

FILING = "quillmark_2024_8k"


@pytest.fixture
def index(sample_index: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sample_index, tmp_path / "index"))


def change(index: Path, statement: str) -> None:
    connection = sqlite3.connect(index / FILE_NAME)
    connection.execute(statement)
    connection.commit()
    connection.close()


def words(text: str) -> str:
    return " ".join(text.split())


def test_verify_then_repair_then_read_again(index: Path) -> None:
    ran = Ran("index", "verify", "--index", index)
    assert (ran.code, ran.err) == (0, "")
    assert words(ran.out).startswith("No fault found in the index in ") and "15 filings verified" in words(ran.out)
    of_filing = f"(SELECT id FROM filings WHERE doc_id = '{FILING}')"
    change(index, f"UPDATE pages SET text = 'nothing' WHERE filing_id = {of_filing}")
    ran = Ran("index", "verify", "--index", index)
    assert ran.code == 3
    said = words(ran.out)
    assert f"fault filings: {FILING}: pages differ from what was written" in said
    assert f"→ Run `fin-agent index repair --index {index}`" in said and "faults found in the index" in said
    document = Ran("index", "verify", "--index", index, "--json").document
    assert document["whole"] is False and document["filings"] == 15
    assert {"aspect": "filings", "subject": FILING, "fault": True}.items() <= document["findings"][0].items()
    ran = Ran("index", "repair", "--index", index)
    assert ran.code == 3  # one had to be taken out
    assert f"lost {FILING}: its content differs from what was written (pages)" in words(ran.out)
    assert "The rest of the index is sound: it contains 14 filings; 1 was lost." in words(ran.out)
    ran = Ran("index", "failures", "--index", index)
    assert ran.code == 0 and "damaged" in ran.out and f"{FILING}.pdf" in ran.out.replace("\n", "")
    assert f"→ Run `fin-agent ingest --retry-failed --index {index}`" in words(ran.out)
    assert Ran("ingest", "--retry-failed", "--workers", 0, "--index", index, "--json").document["added"] == 1
    assert Ran("index", "failures", "--index", index).out == "No file is left unread.\n"
    ran = Ran("index", "repair", "--index", index, "--json")
    assert ran.code == 0 and ran.document["whole"] and ran.document["lost"] == [] and ran.document["filings"] == 15


def test_a_file_that_is_no_index_is_not_called_whole(index: Path, sample_filings: Path) -> None:
    shutil.copy(sample_filings / f"{FILING}.pdf", index / FILE_NAME)
    ran = Ran("index", "repair", "--index", index)
    assert ran.code == 3 and "is repaired" not in ran.out
    assert "the list of filings cannot be read to its end" in words(ran.out)
    assert f"{FILE_NAME}.damaged-" in "".join(ran.out.split())  # a long path may be broken over two lines
    assert "Nothing could be saved: the index is now empty." in words(ran.out)
    (index / FILE_NAME).write_bytes(b"")
    ran = Ran("index", "repair", "--index", index, "--json")
    assert ran.code == 3 and not ran.document["whole"] and ran.document["lost"][0]["doc_id"] is None


def test_hints_name_the_index_that_was_given(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spaced = Path(shutil.copytree(index, tmp_path / "my index"))
    (spaced / FILE_NAME).write_bytes((spaced / FILE_NAME).read_bytes()[:40_000])
    assert f"`fin-agent index repair --index '{spaced}'`" in Ran("filings", "--index", spaced).err
    monkeypatch.setenv("FIN_AGENT_INDEX", str(spaced))  # what chose it chooses it again
    assert "`fin-agent index repair`" in Ran("filings").err


def test_files_that_a_running_ingest_has_still_to_read_are_not_called_left(index: Path) -> None:
    change(
        index, f"UPDATE ingested_files SET state = 'waiting', failure = 'it was not read yet' WHERE doc_id = '{FILING}'"
    )
    with ingest_lock(index):
        [file] = Ran("index", "failures", "--index", index, "--json").document["files"]
    assert (
        "another command is writing to this index, process " in file["reason"]
        and "Wait until it ends" in file["remedy"]
    )
    [file] = Ran("index", "failures", "--index", index, "--json").document["files"]
    assert file["reason"] == "it was not read yet"


def test_an_index_without_a_name_is_wrong_usage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = Ran("ingest", tmp_path, "--index", "")
    assert ran.code == 2 and "it is empty" in words(ran.err)
    assert not list(tmp_path.iterdir())


def test_every_line_of_the_failure_list_says_what_to_do(tmp_path: Path, sample_filings: Path) -> None:
    """Broken ones among whole ones: right counts, a list with reasons, and what was mended is read on the next try."""
    folder, index = tmp_path / "filings", tmp_path / "index"
    folder.mkdir()
    for name in ("harborlight_2024_8k", "quillmark_2024_8k", "tellurond_2024_8k"):
        shutil.copy(sample_filings / f"{name}.pdf", folder)
    whole = (folder / "quillmark_2024_8k.pdf").read_bytes()
    (folder / "cut.pdf").write_bytes(whole[: len(whole) // 2])
    (folder / "empty.pdf").write_bytes(b"")
    (folder / "page.pdf").write_bytes(b"<html><body>not a PDF</body></html>")
    (folder / "again").mkdir()
    (folder / "again" / "tellurond_2024_8k.pdf").write_bytes(whole)  # another file of the same name
    ran = Ran("ingest", folder, "--workers", 0, "--index", index, "--json")
    assert ran.code == 3
    counts = {name: ran.document[name] for name in ("filings", "added", "unchanged", "failed")}
    assert counts == {"filings": 3, "added": 3, "unchanged": 0, "failed": 4}
    assert f"`fin-agent index failures --index {index}` lists them" in ran.err
    files = Ran("index", "failures", "--index", index, "--json").document["files"]
    assert {Path(file["path"]).name for file in files} >= {"cut.pdf", "empty.pdf", "page.pdf"} and len(files) == 4
    assert all(file["reason"] and file["remedy"] and file["state"] == "failed" for file in files)
    listed = Ran("index", "failures", "--index", index).out
    assert listed.count("→") == 4 and listed.endswith("4 files\n")
    (folder / "cut.pdf").write_bytes(whole)
    (folder / "empty.pdf").unlink()
    ran = Ran("ingest", "--retry-failed", "--workers", 0, "--index", index, "--json")
    assert (ran.code, ran.document["added"], ran.document["failed"]) == (3, 1, 3)
    gone = next(file for file in ran.document["files"] if file["path"].endswith("empty.pdf"))
    assert gone["reason"].startswith("it is gone") and "--forget-gone" in gone["remedy"]
    assert Ran("index", "failures", "--forget-gone", "--index", index, "--json").document["forgotten"] == 1
    assert len(Ran("index", "failures", "--index", index, "--json").document["files"]) == 2


def test_ingest_beside_another_is_told_whose_it_is(index: Path, sample_filings: Path) -> None:
    with ingest_lock(index):
        ran = Ran("ingest", sample_filings, "--index", index)
    assert ran.code == 1 and ran.out == ""
    assert "another command is writing to this index: process " in ran.err and "`--wait`" in ran.err
    assert (
        Ran("ingest", sample_filings, "--wait", "--workers", 0, "--index", index, "--json").document["unchanged"] == 15
    )


@pytest.mark.parametrize("command", ["verify", "repair", "failures"])
def test_without_an_index(command: str, tmp_path: Path) -> None:
    ran = Ran("index", command, "--index", tmp_path / "none")
    assert ran.code == 1 and "there is no index here" in ran.err
    assert not (tmp_path / "none").exists()


def test_nothing_to_ingest_is_wrong_usage(tmp_path: Path) -> None:
    ran = Ran("ingest", "--index", tmp_path)
    assert ran.code == 2 and "--retry-failed" in ran.err


def test_runs_of_a_filing_that_was_taken_out_can_still_be_read(index: Path) -> None:
    assert Ran("ask", LOOKUP, "--index", index).code == 0
    assert (index / RUNS).exists()
    assert Ran("remove", "harborlight_2023_10k", "harborlight_2024_10k", "--index", index).code == 0
    shown = Ran("runs", "show", "last", "--index", index)
    assert shown.code == 0 and "harborlight_202" in shown.out
    assert Ran("runs", "list", "--index", index).code == 0
    assert Ran("runs", "replay", "last", "--index", index).code == 3  # it says what differs
