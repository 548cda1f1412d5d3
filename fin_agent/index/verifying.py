"""Verify that the embedded index is as it was written; each finding says what is wrong and what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from fin_agent.index.ingest_lock import lock_owner
from fin_agent.index.manifest import FileState
from fin_agent.index.sqlite import FILE_NAME
from fin_agent.index.sqlite_file import (
    check_format,
    connect,
    expected_schema,
    is_damage,
    require_file,
    schema_of,
    sqlite_error,
    transaction,
)
from fin_agent.index.stored_filing import FULL_TEXT, filing_damage

REPAIR = "Run `fin-agent index repair`"


class Aspect(StrEnum):
    """The part of the index that was checked."""

    FILE = "file"
    FULL_TEXT = "full text"
    FILINGS = "filings"
    MANIFEST = "manifest"


@dataclass(frozen=True, slots=True)
class IndexFinding:
    """A fault, or (`fault` False) information."""

    aspect: Aspect
    subject: str
    """The filing, table or file."""
    found: str
    remedy: str
    fault: bool = True


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """The findings of `verify`."""

    findings: tuple[IndexFinding, ...]
    filings: int
    """Number of filings compared with their checksums."""

    @property
    def faults(self) -> list[IndexFinding]:
        """The findings that are faults."""
        return [finding for finding in self.findings if finding.fault]


def verify(folder: Path | str, *, on_filing: Callable[[str], None] = lambda doc_id: None) -> VerificationReport:
    """Check every byte of the index in `folder`, without changing anything.

    All reads see one state, while others may write. Full-text tables are skipped while an ingest runs, with a finding,
    because checking them blocks writers.

    Args:
        folder: The folder of the index.
        on_filing: Called with the doc_id of each filing.

    Raises:
        FilingIndexError: There is no index, its format cannot be read, or it is locked.
    """
    folder = Path(folder)
    return verify_open_index(folder / FILE_NAME, lock_owner(folder), on_filing)


def verify_open_index(file: Path, writer: str, on_filing: Callable[[str], None]) -> VerificationReport:
    """Verify the index in `file`; see `verify`. `writer` is the process writing to it; empty for none."""
    require_file(file)
    findings: list[IndexFinding] = []
    filings = 0
    try:
        with closing(connect(file)) as connection:
            check_format(connection, file)
            with transaction(connection, "BEGIN"):
                findings += _file_findings(connection)
                for doc_id, of_filing in _filing_findings(connection):
                    on_filing(doc_id)
                    filings += 1
                    findings += of_filing
                findings += _manifest_findings(connection)
            findings += _full_text_findings(connection, writer)
    except sqlite3.Error as error:
        if not is_damage(error):
            raise sqlite_error(file, error, "read") from error
        findings.append(IndexFinding(Aspect.FILE, FILE_NAME, f"cannot be read to its end ({error})", REPAIR))
    return VerificationReport(tuple(dict.fromkeys(findings)), filings)


def _file_findings(connection: sqlite3.Connection) -> Iterator[IndexFinding]:
    for (said,) in connection.execute("PRAGMA integrity_check(20)").fetchall():
        if said != "ok":
            yield IndexFinding(Aspect.FILE, FILE_NAME, f"SQLite finds it damaged: {said}", REPAIR)
    for name in sorted({name for name, _ in schema_of(connection) ^ expected_schema()}):
        yield IndexFinding(Aspect.FILE, FILE_NAME, f"{name} differs from what this version creates", REPAIR)
    for table in sorted({row[0] for row in connection.execute("PRAGMA foreign_key_check")}):
        yield IndexFinding(Aspect.FILE, table, "rows refer to rows that do not exist", REPAIR)


def _filing_findings(connection: sqlite3.Connection) -> Iterator[tuple[str, list[IndexFinding]]]:
    for number, doc_id in connection.execute("SELECT id, doc_id FROM filings ORDER BY doc_id").fetchall():
        try:
            faults = list(filing_damage(connection, number))
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
            faults = [f"it cannot be read to its end ({error})"]
        except (TypeError, ValueError) as error:  # a damaged file yields values that were never written
            faults = [f"it cannot be read ({error})"]
        yield doc_id, [IndexFinding(Aspect.FILINGS, doc_id, said, REPAIR) for said in faults]


def _manifest_findings(connection: sqlite3.Connection) -> Iterator[IndexFinding]:
    for path, doc_id in files_without_filing(connection):
        found = f"it was read as {doc_id}, which is not in the index"
        yield IndexFinding(Aspect.MANIFEST, path, found, f"{REPAIR}: the file is to be read again")
    try:
        for *_, state in connection.execute("SELECT * FROM ingested_files").fetchall():
            FileState(state)
    except (sqlite3.OperationalError, ValueError):  # values that are no text, and unknown states
        yield IndexFinding(Aspect.MANIFEST, "list of files", "an entry cannot be read", REPAIR)
    unread = "SELECT count(*) FROM ingested_files WHERE state != 'done'"
    if files := connection.execute(unread).fetchone()[0]:
        remedy = "`fin-agent index failures` lists them, `fin-agent ingest --retry-failed` reads them again"
        yield IndexFinding(Aspect.MANIFEST, f"{files} file{'s' * (files > 1)}", "are not in the index", remedy, False)


def files_without_filing(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return (path, doc_id) of files that were read, but whose filing is not in the index."""
    missing = "state = 'done' AND doc_id NOT IN (SELECT doc_id FROM filings)"
    return list(map(tuple, connection.execute(f"SELECT path, doc_id FROM ingested_files WHERE {missing}")))


def _full_text_findings(connection: sqlite3.Connection, writer: str) -> Iterator[IndexFinding]:
    """Check the full text by a command of SQLite that counts as a write."""
    unchecked = f"another command is writing to this index: {writer}"
    remedy = "Verify again when that has ended"
    if not writer:
        try:
            for table in FULL_TEXT:
                if not _full_text_agrees(connection, table):
                    found = "does not match the texts: searches miss pages or find wrong ones"
                    yield IndexFinding(Aspect.FULL_TEXT, table, found, f"{REPAIR}: it is rebuilt")
            return
        except sqlite3.OperationalError as error:
            unchecked = f"the index is not writable ({error})"
            remedy = "Verify while no other command writes, as a user with write permission"
    found = f"were not checked, because {unchecked}"
    yield IndexFinding(Aspect.FULL_TEXT, "full-text tables", found, remedy, False)


def _full_text_agrees(connection: sqlite3.Connection, table: str) -> bool:
    """Return whether a full-text table matches its texts. Raises sqlite3.OperationalError if it cannot be checked."""
    try:
        connection.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)")
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        return False
    return True
