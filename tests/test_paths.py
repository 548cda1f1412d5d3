"""No name leads out of its folder: names of files, filings, runs and prompts, and places that an index states."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_core.documents import Document

from fin_agent import SqliteIndex, ingest, prepare
from fin_agent.integrations.document_ingest import ingest_documents
from tests.cli.running import Ran

HOSTILE = (
    "../../outside",
    "../" * 30 + "etc/passwd",
    "/etc/passwd",
    "..",
    ".",
    "",
    "a\0b",
    "x" * 5_000,
    "..\\..\\outside",
    "%2e%2e%2foutside",
    "\uff0e\uff0e\uff0foutside",
    "..\u2215outside",
    "acme\u202efdp",
    "file:///etc/passwd",
    "~/outside",
    "$HOME",
    "`id`",
    "'; DROP TABLE filings; --",
    "con",
    "-rf",
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder two below the root of what is watched, as working directory and home; only `index` in it may change."""
    here = tmp_path / "user" / "work"
    here.mkdir(parents=True)
    (tmp_path / "outside").write_text("untouched")
    (tmp_path / "outside.pdf").write_text("untouched")
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(here))
    before = files_of(tmp_path)
    yield here
    after = {name: content for name, content in files_of(tmp_path).items() if not name.startswith("user/work/index/")}
    assert after == before
    ours = ("filings.sqlite", "ingest.lock", "runs.sqlite")
    assert all(name.startswith(ours) for name in files_of(here / "index"))


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def index(place: Path, sample_index: Path) -> Path:
    return Path(shutil.copytree(sample_index, place / "index"))


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("command", ["show", "remove", "check", "search", "ask"])
def test_names_of_filings(place: Path, index: Path, command: str, name: str) -> None:
    question = ("What were net sales?", "--doc", name)
    arguments = question if command in ("search", "ask") else ("--", name)
    options = ("--no-record",) if command == "ask" else ()
    ran = Ran(command, "--index", index, *options, *arguments)
    assert ran.code in (1, 2, 3, 4), ran.out
    assert "unexpected" not in ran.err and "Traceback" not in ran.err, ran.err
    with SqliteIndex(index) as opened:
        assert len(opened.filings()) == 15


@pytest.mark.parametrize("name", [name for name in HOSTILE if name])
def test_names_of_runs_and_prompts(place: Path, index: Path, name: str) -> None:
    for command in (("runs", "show"), ("runs", "replay"), ("prompts", "show")):
        options = ("--index", index) if command[0] == "runs" else ()
        ran = Ran(*command, *options, "--", name)
        assert ran.code in (1, 2) and "unexpected" not in ran.err, (command, ran.err)
        assert "untouched" not in ran.out


@pytest.mark.parametrize("name", ["a\u202eb.pdf", "a\nb\x1b[31m.pdf", ".pdf"])
def test_names_of_files_that_cannot_be_seen(
    place: Path, sample_filings: Path, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Nobody could name such a filing."""
    folder = tmp_path_factory.mktemp("given")
    shutil.copy(sample_filings / "quillmark_2024_8k.pdf", folder / name)
    ran = Ran("ingest", folder, "--index", place / "index", "--workers", "0")
    assert ran.code == 3 and "Rename the file" in ran.err
    assert "\x1b" not in ran.err + ran.out
    listed = Ran("index", "failures", "--index", place / "index")
    assert "Rename the file" in listed.out and "\x1b" not in listed.out


@pytest.mark.parametrize("name", ["..pdf", "-rf.pdf", "..\\..\\outside.pdf", "a\u00a0b.pdf", "x" * 251 + ".pdf"])
def test_names_of_files(place: Path, sample_filings: Path, name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A file's name is its filing's name, and stays a name."""
    folder = tmp_path_factory.mktemp("given")
    shutil.copy(sample_filings / "quillmark_2024_8k.pdf", folder / name)
    ran = Ran("ingest", folder, "--index", place / "index", "--workers", "0")
    assert ran.code == 0, ran.err
    assert "\x1b" not in ran.err + ran.out
    with SqliteIndex(place / "index") as opened:
        assert [record.doc_id for record in opened.filings()] == [name.removesuffix(".pdf")]
    listed = Ran("filings", "--index", place / "index")
    assert listed.code == 0 and "\x1b" not in listed.out


@pytest.mark.parametrize("source", [name for name in HOSTILE if name])
def test_sources_of_loaded_documents(place: Path, source: str) -> None:
    page = Document("FORM 10-K of Acme Corp for fiscal 2023. " * 20, metadata={"source": source, "page": 0})
    with SqliteIndex.create(place / "index") as opened:
        report = ingest_documents([page], opened)
        for record in opened.filings():
            assert "untouched" not in opened.pages([key.key for key in opened.outline([record.doc_id])])[0].page.text
    assert len(report.files) == 1


def test_an_index_that_names_another_file_as_its_source(place: Path, index: Path) -> None:
    """An index may come from somebody else: a picture is drawn of the file that was read, and of no other."""
    secret = place.parent.parent / "outside.pdf"
    with sqlite3.connect(index / "filings.sqlite") as connection:
        connection.execute("UPDATE filings SET source = ? WHERE doc_id = 'quillmark_2024_8k'", (str(secret),))
    picture = index / "runs.sqlite.png"
    ran = Ran("show", "quillmark_2024_8k", "--page", 1, "--image", picture, "--index", index)
    assert ran.code == 1 and not picture.exists()
    assert "outside.pdf" in ran.err and "unexpected" not in ran.err


def test_a_link_in_a_folder_of_filings_is_read_as_what_it_is(
    place: Path, sample_filings: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("given")
    (folder / "link.pdf").symlink_to("/etc/passwd")
    (folder / "circle.pdf").symlink_to(folder / "circle.pdf")
    (folder / "good.pdf").symlink_to(sample_filings / "quillmark_2024_8k.pdf")
    with SqliteIndex.create(place / "index") as opened:
        report = ingest([folder], opened, prepare, workers=0)
        assert [record.doc_id for record in opened.filings()] == ["good"]
    assert {file.doc_id: file.reason for file in report.failures} == {
        "link": "the file is named as a PDF but is not one",
        "circle": "it is not a file, or a link to nothing",
    }
