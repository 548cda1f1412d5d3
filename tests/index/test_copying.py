"""Filings are carried from folder to folder: whole, with their vectors, and not at all where they are damaged."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from fin_agent.index.copying import CopyOutcome, copy_filings
from fin_agent.index.protocol import FilingVectors, VectorUnit
from fin_agent.index.sqlite import FILE_NAME, SqliteIndex
from fin_agent.index.verifying import verify


def test_a_folder_is_carried_with_its_vectors(sample_index: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(sample_index, tmp_path / "index"))
    with SqliteIndex(folder) as source, SqliteIndex.create(tmp_path / "other") as target:
        source.add_vectors("m", VectorUnit.SUMMARY, FilingVectors("quillmark_2024_8k", (0,), 4, bytes(range(8))))
        for entry in source.entries()[4:]:
            source.remove(entry.doc_id)
        assert copy_filings(source, target).count(CopyOutcome.COPIED) == 4
        assert target.filings() == source.filings()
        assert copy_filings(source, target).count(CopyOutcome.UNCHANGED) == 4
    assert verify(tmp_path / "other").findings == ()
    # Closed, it is one file, without the room of what was removed: as small as SQLite itself makes it.
    assert [file.name for file in (tmp_path / "other").iterdir() if file.name != "ingest.lock"] == [FILE_NAME]
    with closing(sqlite3.connect(folder / FILE_NAME)) as original:
        original.execute("VACUUM INTO ?", (str(tmp_path / "compact.sqlite"),))
    sizes = [
        path.stat().st_size
        for path in (tmp_path / "other" / FILE_NAME, tmp_path / "compact.sqlite", folder / FILE_NAME)
    ]
    assert sizes[0] < sizes[1] * 1.1 < sizes[2] * 0.7


def test_a_damaged_filing_is_not_carried(sample_index: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(sample_index, tmp_path / "index"))
    with SqliteIndex(folder) as source, SqliteIndex.create(tmp_path / "other") as target:
        with source.writing() as connection:
            connection.execute("UPDATE pages SET text = 'nothing' WHERE id = 7")
        report = copy_filings(source, target)
    assert (report.count(CopyOutcome.COPIED), report.count(CopyOutcome.FAILED)) == (14, 1)
    assert "damaged" in next(filing.reason for filing in report.filings if filing.outcome is CopyOutcome.FAILED)
