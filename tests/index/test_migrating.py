"""An index of the format before: opened as it is, complete, and brought to this format once."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from fin_agent.errors import FilingIndexError
from fin_agent.evidence.preparing import prepare
from fin_agent.index.ingest import Outcome, ingest
from fin_agent.index.migrating import migrate
from fin_agent.index.repairing import repair
from fin_agent.index.sqlite import FILE_NAME, SqliteIndex
from fin_agent.index.verifying import verify

FORMAT_4 = Path(__file__).with_name("formats") / "format_4.sql"
TABLES = ("filings", "filing_details", "pages", "passages", "cards", "page_tables", "tags", "facts", "ingested_files")


@pytest.fixture
def earlier(sample_html_index: Path, tmp_path: Path) -> Path:
    """The sample filings as format 4 had them: its own schema, the columns it knew."""
    folder = tmp_path / "earlier"
    folder.mkdir()
    connection = sqlite3.connect(folder / FILE_NAME)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(FORMAT_4.read_text(encoding="utf-8"))
    connection.execute("INSERT INTO meta VALUES ('format', '4')")
    connection.execute("ATTACH ? AS now", (str(sample_html_index / FILE_NAME),))
    for table in TABLES:
        columns = ", ".join(row[1] for row in connection.execute(f"PRAGMA main.table_info({table})"))
        connection.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM now.{table}")
    connection.execute("UPDATE ingested_files SET failure = 'broken' WHERE doc_id = 'ottermere_2025q2_8k'")
    for table in ("pages_fts", "passages_fts", "filings_fts"):
        connection.execute(f"INSERT INTO main.{table} ({table}) VALUES ('rebuild')")
    connection.commit()
    connection.close()
    return folder


def test_opened_it_is_of_this_format_and_complete(earlier: Path, sample_html_index: Path, sample_html: Path) -> None:
    with SqliteIndex(earlier) as index, SqliteIndex(sample_html_index) as expected:
        assert index.filings() == expected.filings()
        assert index.search_pages(["net sales"]) == expected.search_pages(["net sales"])
        with index.reading() as connection:
            assert connection.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()[0] == "6"
            states = dict(connection.execute("SELECT doc_id, state FROM ingested_files"))
        assert states.pop("ottermere_2025q2_8k") == "failed" and set(states.values()) == {"done"}
        assert ingest([sample_html], index, prepare, workers=0).count(Outcome.UNCHANGED) == 3
    verified = verify(earlier)
    assert verified.faults == []
    assert ["have no checksums" in finding.found for finding in verified.findings] == [True]
    assert not repair(earlier).lost
    assert verify(earlier).findings == ()


def test_tables_are_those_of_a_new_index(earlier: Path, tmp_path: Path) -> None:
    SqliteIndex(earlier).close()
    SqliteIndex.create(tmp_path / "new").close()
    assert columns_of(earlier) == columns_of(tmp_path / "new")


def columns_of(folder: Path) -> dict[str, list[tuple[object, ...]]]:
    connection = sqlite3.connect(folder / FILE_NAME)
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = {table: connection.execute(f"PRAGMA table_info({table})").fetchall() for table in sorted(tables)}
    connection.close()
    return found


def test_damaged_before_it_was_migrated(earlier: Path, sample_html: Path) -> None:
    """Whole filings come through without the checksums that they never had."""
    file = earlier / FILE_NAME
    connection = sqlite3.connect(file)
    connection.execute("DELETE FROM facts WHERE filing_id = 1")
    connection.commit()
    connection.close()
    repaired = repair(earlier)
    assert len(repaired.lost) == 1 and repaired.kept == 2
    assert verify(earlier).faults == []


def test_a_full_disk_is_told_as_one(earlier: Path) -> None:
    """SQLite takes the transaction back by itself then; that there is none left is not what went wrong."""

    class Full(sqlite3.Connection):
        def execute(self, statement: str, *values: object) -> sqlite3.Cursor:
            if statement.startswith("CREATE TABLE checksums"):
                super().execute("ROLLBACK")
                raise sqlite3.OperationalError("database or disk is full")
            return super().execute(statement, *values)

    connection = sqlite3.connect(earlier / FILE_NAME, isolation_level=None, factory=Full)
    with pytest.raises(sqlite3.OperationalError, match="disk is full"):
        migrate(connection)
    connection.close()
    assert verify(earlier).faults == []


@pytest.mark.parametrize("found", ["3", "7", "wine"])
def test_no_way_from_other_formats(sample_html_index: Path, tmp_path: Path, found: str) -> None:
    folder = Path(shutil.copytree(sample_html_index, tmp_path / "copy"))
    connection = sqlite3.connect(folder / FILE_NAME)
    connection.execute("UPDATE meta SET value = ? WHERE key = 'format'", (found,))
    connection.commit()
    connection.close()
    with pytest.raises(FilingIndexError, match=f"format {found}; this version reads format 6"):
        SqliteIndex(folder)
