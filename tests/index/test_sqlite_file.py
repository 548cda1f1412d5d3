"""The file under the index: whole or not there, and what is said of one that cannot be used."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from fin_agent.cli.exit_codes import sentence_of
from fin_agent.errors import FilingIndexError
from fin_agent.index import sqlite_file
from fin_agent.index.ingest import ingest
from fin_agent.index.repairing import repair
from fin_agent.index.sqlite import FILE_NAME, SqliteIndex
from fin_agent.index.verifying import verify
from fin_agent.vocabulary.filing import Filing
from tests.cli.running import Ran

MakeFiling = Callable[..., Filing]


@pytest.fixture
def whole(tmp_path: Path, make_filing: MakeFiling) -> bytes:
    """The bytes of an index with one filing."""
    with SqliteIndex.create(tmp_path / "whole") as index:
        index.add(make_filing("a", *["revenue"] * 40), ["{}"] * 40, "a")
    return (tmp_path / "whole" / FILE_NAME).read_bytes()


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(FilingIndexError, match=r"no index here.*fin-agent ingest"):
        SqliteIndex(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_other_format_version(tmp_path: Path) -> None:
    with SqliteIndex.create(tmp_path) as index, index.writing() as connection:
        connection.execute("UPDATE meta SET value = '99' WHERE key = 'format'")
    for opening in (SqliteIndex, SqliteIndex.create):
        with pytest.raises(FilingIndexError, match=r"format 99; this version reads format 7.*ingest --again") as raised:
            opening(tmp_path)
        assert raised.value.subject.endswith(FILE_NAME)


def test_an_index_of_another_version_is_read_again_in_one_command(sample_html: Path, tmp_path: Path) -> None:
    folder = tmp_path / "index"
    ingest(sample_html, folder, workers=0)
    with SqliteIndex(folder) as index, index.writing() as connection:
        names = [entry.doc_id for entry in index.entries()]
        connection.execute("UPDATE meta SET value = '3' WHERE key = 'format'")
    with pytest.raises(FilingIndexError, match=r"`fin-agent ingest --again` reads the 3 files again that it knows"):
        SqliteIndex(folder)
    assert Ran("ingest", "--again", "--workers", "0", "--index", folder).code == 0
    with SqliteIndex(folder) as index:
        assert [entry.doc_id for entry in index.entries()] == names
    assert (folder / f"{FILE_NAME}.before-1").exists()


@pytest.mark.parametrize("kept", [0, 1, 60, 4096, 20_000, -4096, -1])
def test_cut_off(tmp_path: Path, whole: bytes, kept: int) -> None:
    (tmp_path / FILE_NAME).write_bytes(whole[:kept])
    with pytest.raises(FilingIndexError, match=r"damaged or incomplete.*fin-agent index repair") as raised:
        SqliteIndex(tmp_path)
    assert raised.value.subject == str(tmp_path / FILE_NAME)


@pytest.mark.parametrize("content", [b"not a database at all" * 500, bytes(8192)])
def test_no_database(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    with pytest.raises(FilingIndexError, match=r"damaged or incomplete.*fin-agent index repair"):
        SqliteIndex.create(tmp_path)
    assert (tmp_path / FILE_NAME).read_bytes() == content


def test_someone_elses_database(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / FILE_NAME)
    other.execute("CREATE TABLE wine (name)")
    other.close()
    with pytest.raises(FilingIndexError, match="no such table: meta"):
        SqliteIndex(tmp_path)


def test_damage_inside_is_told_when_it_is_met(tmp_path: Path, whole: bytes) -> None:
    size = 4096
    (tmp_path / FILE_NAME).write_bytes(whole[: size * 3] + b"\xa5" * (len(whole) - size * 3))
    with pytest.raises(FilingIndexError, match="damaged or incomplete"), SqliteIndex(tmp_path) as index:
        index.filings()
        index.search_pages(["revenue"])
        index.outline(["a"])


def test_busy_is_not_called_damaged(tmp_path: Path, make_filing: MakeFiling, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "_BUSY_MILLISECONDS", 50)
    with SqliteIndex.create(tmp_path) as index, SqliteIndex(tmp_path) as other, index.writing():
        with pytest.raises(FilingIndexError, match=r"could not be written .*locked.*no other ingest") as raised:
            other.add(make_filing("a", "text"), ["{}"], "")
        assert "repair" not in str(raised.value)
        assert other.filings() == ()  # reading goes on


def test_index_deleted_under_an_open_one_is_not_made_anew(tmp_path: Path) -> None:
    with SqliteIndex.create(tmp_path / "index") as index:
        for file in (tmp_path / "index").iterdir():
            file.unlink()
        told: list[str] = []

        def read() -> None:
            try:
                index.page_count()
            except FilingIndexError as error:
                told.append(str(error))

        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
        assert told and "could not be read" in told[0] and "repair" not in told[0]
        assert not (tmp_path / "index" / FILE_NAME).exists()


def test_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(FilingIndexError, match=r"no index can be made here.*--index"):
        SqliteIndex.create(tmp_path / "file")
    with pytest.raises(FilingIndexError, match="no index can be made here"):
        SqliteIndex.create(tmp_path / "file" / "below")


def test_folder_with_odd_characters(tmp_path: Path, make_filing: MakeFiling) -> None:
    folder = tmp_path / "50% of #1?mode=ro & “quotes”"
    with SqliteIndex.create(folder) as index:
        index.add(make_filing("a", "text"), ["{}"], "")
    with SqliteIndex(folder) as index:
        assert index.page_count() == 1


def test_making_leaves_only_the_index(tmp_path: Path) -> None:
    SqliteIndex.create(tmp_path).close()
    assert [file.name for file in tmp_path.iterdir()] == [FILE_NAME]


def test_made_by_many_at_once_nothing_is_lost(tmp_path: Path, make_filing: MakeFiling) -> None:
    """Whoever comes second must not put an empty index in the place of one that is written already."""
    gate = threading.Barrier(8)
    faults: list[BaseException] = []

    def make(number: int) -> None:
        try:
            gate.wait()
            with SqliteIndex.create(tmp_path) as index:
                index.add(make_filing(f"f{number}", "text"), ["{}"], "")
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=make, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    with SqliteIndex(tmp_path) as index:
        assert len(index.filings()) == 8
    assert [file.name for file in tmp_path.iterdir() if ".new" in file.name] == []


def test_a_disk_without_any_room_is_told_as_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What readers share finds no room, and SQLite speaks of an I/O error."""
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR
    assert "may be written to" in sqlite_file.sqlite_error(tmp_path / FILE_NAME, error, "read").remedy
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(total=10**9, used=10**9, free=4096))
    told = sqlite_file.sqlite_error(tmp_path / FILE_NAME, error, "read")
    told.__cause__ = error
    assert "the disk is full (the index could not be read" in sentence_of(told)
    assert "Make room" in told.remedy


def test_a_schema_that_is_no_text_is_damage(tmp_path: Path, whole: bytes) -> None:
    """SQLite quotes it in its message, which Python cannot read then."""
    at = whole.index(b"CREATE TABLE passages")
    (tmp_path / FILE_NAME).write_bytes(whole[:at] + b"CREATE TABLE passages \x95" + whole[at + 23 :])
    with pytest.raises(FilingIndexError, match=r"damaged or incomplete.*fin-agent index repair"):
        SqliteIndex(tmp_path)
    assert verify(tmp_path).faults
    repair(tmp_path)
    assert verify(tmp_path).faults == []
