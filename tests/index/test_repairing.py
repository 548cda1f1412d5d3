"""`repair` keeps what the checksums prove, lists the files of the rest, and says so; nothing that is whole is lost."""

from __future__ import annotations

import random
import shutil
import sqlite3
from functools import lru_cache
from pathlib import Path

import pytest

from fin_agent.errors import FilingIndexError
from fin_agent.evidence import filing_preparation
from fin_agent.index.ingest import FileState, Manifest, Outcome, ingest
from fin_agent.index.protocol import FilingVectors, VectorUnit
from fin_agent.index.repairing import repair
from fin_agent.index.sqlite import FILE_NAME, SqliteIndex
from fin_agent.index.verifying import verify

prepare = lru_cache(filing_preparation.prepare)
"""The sample filings, each read once however often it is lost."""


@pytest.fixture
def folder(sample_index: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sample_index, tmp_path / "copy"))


def change(folder: Path, *statements: str) -> None:
    connection = sqlite3.connect(folder / FILE_NAME)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def cut_off(folder: Path, part: float) -> None:
    content = (folder / FILE_NAME).read_bytes()
    (folder / FILE_NAME).write_bytes(content[: int(len(content) * (1 - part))])


def sealed(folder: Path) -> dict[str, list[str]]:
    """doc_id -> checksums of all its parts."""
    with SqliteIndex(folder) as index, index.reading() as connection:
        found: dict[str, list[str]] = {}
        for doc_id, checksum in connection.execute(
            "SELECT doc_id, value FROM filings JOIN filing_details ON filing_id = filings.id, json_each(checksums)"
            " ORDER BY key"
        ):
            found.setdefault(doc_id, []).append(checksum)
        return found


def test_a_whole_index_is_left_alone(folder: Path) -> None:
    before = (folder / FILE_NAME).read_bytes()
    repaired = repair(folder)
    assert (repaired.done, repaired.lost, repaired.kept, repaired.damaged_copy) == ([], [], 15, None)
    assert (folder / FILE_NAME).read_bytes() == before


@pytest.mark.parametrize(
    "statement",
    ["INSERT INTO pages_fts (rowid, text) VALUES (900000, 'zeppelin')", "DELETE FROM passages_fts_data WHERE id > 10"],
)
def test_full_text_is_built_again(folder: Path, statement: str) -> None:
    before = sealed(folder)
    change(folder, statement)
    assert verify(folder).faults
    repaired = repair(folder)
    assert "full text rebuilt" in repaired.done[0] and not repaired.lost
    assert verify(folder).findings == ()
    assert sealed(folder) == before
    with SqliteIndex(folder) as index:
        assert index.search_pages(["inventories"]) and not index.search_pages(["zeppelin"])


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO cards VALUES (900000, 77, '{}')",
        "DROP TABLE filings_vocabulary",
        "CREATE TRIGGER planted AFTER INSERT ON ingested_files BEGIN DELETE FROM filings; END",
        "CREATE VIEW more AS SELECT * FROM pages",
    ],
)
def test_what_is_not_of_an_index_is_left_behind(folder: Path, statement: str) -> None:
    before = sealed(folder)
    change(folder, statement)
    assert verify(folder).faults
    repaired = repair(folder)
    assert repaired.lost == [] and repaired.damaged_copy is not None
    assert verify(folder).findings == ()
    assert sealed(folder) == before


def test_a_half_filing_is_taken_out_and_its_file_read_again(folder: Path, sample_filings: Path) -> None:
    before = sealed(folder)
    with SqliteIndex(folder) as index:
        for doc_id in ("harborlight_2024_8k", "quillmark_2023_10k"):
            index.add_vectors("made up", VectorUnit.SUMMARY, FilingVectors(doc_id, (0,), 4, bytes(range(8))))
    change(folder, "DELETE FROM facts WHERE filing_id = (SELECT id FROM filings WHERE doc_id = 'quillmark_2023_10k')")
    repaired = repair(folder)
    assert [lost.doc_id for lost in repaired.lost] == ["quillmark_2023_10k"]
    assert "facts" in repaired.lost[0].why and "--retry-failed" in repaired.lost[0].remedy
    assert verify(folder).faults == []
    assert sealed(folder) == {doc_id: found for doc_id, found in before.items() if doc_id != "quillmark_2023_10k"}
    with SqliteIndex(folder) as index:
        assert [found.doc_id for found in index.vectors("made up", VectorUnit.SUMMARY)] == ["harborlight_2024_8k"]
        unread = Manifest(index).unread()
        assert [(file.doc_id, file.state) for file in unread] == [("quillmark_2023_10k", FileState.DAMAGED)]
        assert ingest([file.path for file in unread], index, prepare, workers=0).count(Outcome.ADDED) == 1
    assert sealed(folder) == before


def test_a_filing_whose_entry_names_another_file_is_read_from_where_it_was(folder: Path) -> None:
    """The list of files has no checksums: a bit of a path may have changed as well."""
    before = sealed(folder)
    change(folder, "DELETE FROM facts WHERE filing_id = (SELECT id FROM filings WHERE doc_id = 'quillmark_2023_10k')")
    change(folder, "UPDATE ingested_files SET path = replace(path, '/q', '@q') WHERE doc_id = 'quillmark_2023_10k'")
    repair(folder)
    with SqliteIndex(folder) as index:
        report = ingest([file.path for file in Manifest(index).unread()], index, prepare, workers=0)
    assert (report.count(Outcome.ADDED), len(report.failures)) == (1, 1)
    assert sealed(folder) == before


def test_vectors_that_are_damaged_are_left_out(folder: Path) -> None:
    before = sealed(folder)
    with SqliteIndex(folder) as index:
        index.add_vectors("m", VectorUnit.SUMMARY, FilingVectors("harborlight_2024_8k", (0,), 4, bytes(range(8))))
    change(folder, "UPDATE vectors SET numbers = x'0102030405060709'")
    assert repair(folder).lost == []
    assert sealed(folder) == before
    with SqliteIndex(folder) as index:
        assert index.vector_models() == ()


@pytest.mark.parametrize("at", [30, 300, 700])
def test_what_is_whole_in_a_damaged_database_is_saved(folder: Path, sample_filings: Path, at: int) -> None:
    """Sixteen pages of the file are overwritten; among the first ones are the roots of tables, and little is left."""
    before = sealed(folder)
    file = folder / FILE_NAME
    content = bytearray(file.read_bytes())
    assert len(content) > (at + 16) * 4096
    content[at * 4096 : (at + 16) * 4096] = b"\xa5" * (16 * 4096)
    file.write_bytes(content)
    repaired = repair(folder)
    assert repaired.damaged_copy is not None and repaired.damaged_copy.read_bytes() == bytes(content)
    assert verify(folder).faults == []
    after = sealed(folder)
    assert len(after) == repaired.kept and (at == 30 or after)
    assert all(before[doc_id] == found for doc_id, found in after.items())
    lost = {each.doc_id for each in repaired.lost if each.named}
    assert lost == set(before) - set(after) or repaired.has_unnamed_losses
    with SqliteIndex(folder) as index:
        assert {file.doc_id for file in Manifest(index).unread()} == lost


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"SQLite format 3\0" + bytes(34),
        b"not a database at all" * 500,
        b"%PDF-1.7\n1 0 obj << /Type /Catalog >> endobj" * 300,
    ],
)
def test_a_file_that_is_no_database_is_kept_aside(folder: Path, content: bytes) -> None:
    (folder / FILE_NAME).write_bytes(content)
    repaired = repair(folder)
    assert repaired.kept == 0 and repaired.damaged_copy is not None
    assert repaired.damaged_copy.read_bytes() == content
    assert [lost.doc_id for lost in repaired.lost] == ["all filings"] and repaired.has_unnamed_losses
    assert (
        "cannot be read to its end" in repaired.lost[0].why and "Ingest your folders again" in repaired.lost[0].remedy
    )
    assert verify(folder).findings == ()


@pytest.mark.parametrize(("cut", "fewest"), [(0.0005, 15), (0.01, 15), (0.05, 14), (0.09, 12), (0.3, 7), (0.5, 0)])
def test_of_a_file_that_is_cut_the_filings_in_front_are_saved_and_the_others_named(
    folder: Path, cut: float, fewest: int
) -> None:
    """Full text is built again; filings whose rows are in the part cut off are read again from their files."""
    before = sealed(folder)
    cut_off(folder, cut)
    repaired = repair(folder)
    assert verify(folder).faults == []
    after = sealed(folder)
    assert all(before[doc_id] == found for doc_id, found in after.items())
    assert repaired.kept == len(after) >= fewest
    named = [each.doc_id for each in repaired.lost if each.named]
    assert len(named) == len(set(named)) == repaired.removed
    assert set(named) == set(before) - set(after) or repaired.has_unnamed_losses


def test_a_cut_costs_no_more_where_filings_were_added(folder: Path, sample_html: Path) -> None:
    """With small pages, the one that led to all rows of a table was written last: nothing was saved at 1%."""
    with SqliteIndex(folder) as index:
        assert ingest([sample_html], index, prepare, workers=0).count(Outcome.ADDED) == 3
    whole = (folder / FILE_NAME).read_bytes()
    for cut, fewest in ((0.01, 18), (0.05, 16), (0.1, 14), (0.3, 8)):
        (folder / FILE_NAME).write_bytes(whole)
        cut_off(folder, cut)
        assert repair(folder).kept >= fewest


def test_an_index_with_small_pages_keeps_them(folder: Path) -> None:
    """As versions before this one made it; SQLite replaces a database only by one with pages of the same size."""
    file = folder / FILE_NAME
    change(folder, "PRAGMA journal_mode = DELETE", "PRAGMA page_size = 4096", "VACUUM", "PRAGMA journal_mode = WAL")
    assert file.read_bytes()[16:18] == (4096).to_bytes(2, "big")
    before = sealed(folder)
    with SqliteIndex(folder) as reader:
        change(folder, "UPDATE pages SET text = 'changed' WHERE id = 7")
        assert len(repair(folder).lost) == 1
        assert len(reader.filings()) == 14
    assert sealed(folder).items() < before.items()


def test_after_twenty_random_bytes_only_what_is_proven_is_left_and_the_rest_comes_back(folder: Path) -> None:
    before = sealed(folder)
    file = folder / FILE_NAME
    whole = file.read_bytes()
    chance = random.Random(5)
    for _ in range(8):
        content = bytearray(whole)
        for at in chance.sample(range(len(content)), 20):
            content[at] = chance.randrange(256)
        file.write_bytes(content)
        repaired = repair(folder)
        after = sealed(folder)
        assert verify(folder).faults == []
        assert all(before[doc_id] == found for doc_id, found in after.items())
        with SqliteIndex(folder) as index:
            unread = [file.path for file in Manifest(index).unread()]
            if not repaired.has_unnamed_losses:
                ingest(unread, index, prepare, workers=0)
        assert sealed(folder) == before or repaired.has_unnamed_losses
        for left in (*folder.glob(f"{FILE_NAME}-*"), *folder.glob("*.damaged*")):
            left.unlink()


@pytest.mark.parametrize("value", ["content_hash = CAST(x'30EF35' AS TEXT)", "state = 'dane'"])
def test_entries_of_files_that_cannot_be_read_are_mended_or_taken_off(folder: Path, value: str) -> None:
    """They kept every ingest from beginning, and no fault was found."""
    change(folder, f"UPDATE ingested_files SET {value} WHERE doc_id = 'quillmark_2023_10k'")
    assert [fault.aspect for fault in verify(folder).faults] == ["manifest"]
    repaired = repair(folder)
    assert repaired.lost == []
    assert any("entries of the list of files" in done for done in repaired.done) is ("state" in value)
    assert verify(folder).findings == ()
    with SqliteIndex(folder) as index:
        assert Manifest(index).unread() == []


def test_a_disk_that_fails_during_the_repair_costs_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = folder / FILE_NAME
    content = bytearray(file.read_bytes())
    content[300 * 4096 : 316 * 4096] = b"\xa5" * (16 * 4096)
    file.write_bytes(content)
    before = {each.name for each in folder.iterdir()}

    def failing(connection: sqlite3.Connection, stored: object) -> int:
        connection.execute("ROLLBACK")  # as SQLite does by itself
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patched:
        patched.setattr("fin_agent.index.repairing.insert_filing", failing)
        with pytest.raises(FilingIndexError, match="could not be repaired"):
            repair(folder)
    assert file.read_bytes() == bytes(content)
    left = {each.name for each in folder.iterdir()} - before
    assert left <= {f"{FILE_NAME}-wal", f"{FILE_NAME}-shm", "ingest.lock"}
    assert repair(folder).kept > 0


def test_readers_of_a_database_that_is_replaced_see_the_new_one(folder: Path) -> None:
    file = folder / FILE_NAME
    with SqliteIndex(folder) as reader:
        assert len(reader.filings()) == 15
        change(folder, "UPDATE pages SET text = 'changed' WHERE id = 7")
        assert len(repair(folder).lost) == 1
        assert len(reader.filings()) == 14
    assert file.is_file()


def test_other_databases_are_left_alone(tmp_path: Path, folder: Path) -> None:
    change(folder, "UPDATE meta SET value = '99'")
    with pytest.raises(FilingIndexError, match="format 99"):
        repair(folder)
    other = sqlite3.connect(tmp_path / FILE_NAME)
    other.execute("CREATE TABLE wine (name)")
    other.close()
    before = (tmp_path / FILE_NAME).read_bytes()
    with pytest.raises(FilingIndexError, match="not an index of fin-agent; it is left as it is"):
        repair(tmp_path)
    assert (tmp_path / FILE_NAME).read_bytes() == before
    assert not list(tmp_path.glob("*.damaged*"))
