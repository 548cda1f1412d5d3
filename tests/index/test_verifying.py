"""`verify` finds every byte that is not as it was written, and says what to do."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from fin_agent.errors import FilingIndexError
from fin_agent.index import stored_filing
from fin_agent.index.ingest_lock import ingest_lock
from fin_agent.index.protocol import FilingVectors, VectorUnit
from fin_agent.index.sqlite import FILE_NAME, SqliteIndex
from fin_agent.index.sqlite_file import PAGE_BYTES
from fin_agent.index.verifying import verify


@pytest.fixture
def folder(sample_index: Path, tmp_path: Path) -> Path:
    """A copy of the sample filings' index, with vectors of one of them."""
    copy = Path(shutil.copytree(sample_index, tmp_path / "copy"))
    with SqliteIndex(copy) as index:
        vectors = FilingVectors("harborlight_2024_8k", (0,), 4, bytes(range(8)))
        index.add_vectors("made up", VectorUnit.SUMMARY, vectors)
    return copy


def change(folder: Path, statement: str) -> None:
    connection = sqlite3.connect(folder / FILE_NAME)
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_what_was_written_is_whole(folder: Path, sample_html_index: Path) -> None:
    """PDFs, HTML with tags, vectors."""
    looked_at: list[str] = []
    assert verify(folder, on_filing=looked_at.append).findings == ()
    assert len([doc_id for doc_id in looked_at if doc_id]) == 15
    assert verify(sample_html_index).findings == ()


@pytest.mark.parametrize(
    ("statement", "subject", "found"),
    [
        ("UPDATE pages SET text = replace(text, '3', '8') WHERE id = 7", None, "pages differ from what was written"),
        ("UPDATE facts SET amount = amount || '0' WHERE id = 40", None, "figures differ from what was written"),
        ("UPDATE cards SET card = '{}' WHERE passage_id = 3", None, "cards differ from what was written"),
        (
            "UPDATE filings SET company = 'Acme' WHERE doc_id = 'quillmark_2024_8k'",
            "quillmark_2024_8k",
            "identity fields",
        ),
        ("UPDATE filing_details SET notes = '[]' WHERE filing_id = 2", None, "its outline and summary"),
        ("UPDATE page_tables SET tables = zeroblob(20)", None, "tables differ from what was written"),
        ("DELETE FROM facts WHERE id = 40", None, "figures differ from what was written"),
        ("DELETE FROM cards WHERE passage_id = 3", None, "cards differ from what was written"),
        ("UPDATE vectors SET numbers = x'00'", "harborlight_2024_8k", "vectors of each summary by made up"),
        ("UPDATE vectors SET numbers = x'0102030405060709'", "harborlight_2024_8k", "vectors of each summary"),
        (
            "UPDATE filing_details SET checksums = json_remove(checksums, '$.tags')",
            None,
            "tags differ from what was written",
        ),
        ("UPDATE filing_details SET checksums = 'x'", None, "pages differ from what was written"),
        ("INSERT INTO pages_fts (rowid, text) VALUES (900000, 'zeppelin')", "pages_fts", "does not match the texts"),
        ("DELETE FROM filings_fts_docsize WHERE id = 2", "filings_fts", "does not match the texts"),
        ("INSERT INTO cards VALUES (900000, 77, '{}')", "cards", "refer to rows that do not exist"),
        ("UPDATE ingested_files SET doc_id = 'nowhere' WHERE doc_id = 'quillmark_2024_8k'", None, "not in the index"),
    ],
)
def test_each_change_is_found(folder: Path, statement: str, subject: str | None, found: str) -> None:
    change(folder, statement)
    faults = verify(folder).faults
    assert any(found in fault.found and subject in (None, fault.subject) for fault in faults), faults
    assert all("fin-agent index repair" in fault.remedy for fault in faults)


def test_a_flipped_byte_anywhere_in_a_text_is_found(folder: Path) -> None:
    """SQLite itself does not see it: only the checksum does."""
    file = folder / FILE_NAME
    content = bytearray(file.read_bytes())
    at = content.index(b"Harborlight")
    content[at + 3] ^= 0x01
    file.write_bytes(content)
    assert verify(folder).faults


def test_damaged_structure_is_found_and_does_not_end_it_with_a_traceback(folder: Path) -> None:
    file = folder / FILE_NAME
    content = bytearray(file.read_bytes())
    content[PAGE_BYTES * 40 : PAGE_BYTES * 41] = b"\xa5" * PAGE_BYTES
    file.write_bytes(content)
    assert any(fault.aspect == "file" for fault in verify(folder).faults)
    file.write_bytes(content[:5000])
    assert [fault.aspect for fault in verify(folder).faults] == ["file"]


def test_nothing_is_changed(folder: Path) -> None:
    before = (folder / FILE_NAME).read_bytes()
    verify(folder)
    assert (folder / FILE_NAME).read_bytes() == before


def test_beside_an_ingest_full_text_is_left_out_and_that_is_said(folder: Path) -> None:
    with ingest_lock(folder):
        verified = verify(folder)
    assert verified.faults == []
    assert [finding.subject for finding in verified.findings] == ["full-text tables"]
    assert "when that has ended" in verified.findings[0].remedy


def test_no_index(tmp_path: Path) -> None:
    with pytest.raises(FilingIndexError, match="no index here"):
        verify(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_sqlite_itself_proves_what_answers_stand_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are not read into Python for it: that took three times as long. What SQLite cannot prove, Python does."""
    with SqliteIndex(folder) as index:
        monkeypatch.setattr(stored_filing, "read_part", None)
        for entry in index.entries():
            index.check_rows([entry.doc_id], words=True)
            index.check_rows([entry.doc_id], words=False)


def test_json_of_sqlite_is_that_of_python() -> None:
    """Else every answer would pay for both."""
    texts = [*map(chr, range(1, 256)), "\u2028", "\U0001f600", 'say "a\\b"', ""]
    numbers = [0, -1, 2**53, None, 1.5, -0.25]
    with closing(sqlite3.connect(":memory:")) as connection:
        for value in (*texts, *numbers):
            ((written,),) = connection.execute("SELECT json_group_array(json_array(?))", (value,))
            assert written == json.dumps([[value]], ensure_ascii=False, separators=(",", ":")), repr(value)
