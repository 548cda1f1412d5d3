"""Verify that the embedded index is as it was written; each finding says what is wrong and what to do."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from fin_agent.index.ingest_lock import Owner, lock_owner
from fin_agent.index.manifest import FileState
from fin_agent.index.rows import reader_fingerprint
from fin_agent.index.sqlite import FILE_NAME
from fin_agent.index.sqlite_file import (
    check_format,
    connect,
    expected_tables,
    is_damage,
    require_file,
    sqlite_error,
    tables_of,
    transaction,
)
from fin_agent.index.stored_filing import FULL_TEXT, filing_damage

REPAIR = "Run `fin-agent index repair`"
_HASH = re.compile("(?:[0-9a-f]{64})?")


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


def verify_open_index(file: Path, writer: Owner | None, on_filing: Callable[[str], None]) -> VerificationReport:
    """Verify the index in `file`; see `verify`. `writer` is the process writing to it, if any."""
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
                findings += _outdated_filings(connection)
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
    found = tables_of(connection)
    for name in sorted(found.keys() | expected_tables().keys()):
        if found.get(name) != expected_tables().get(name):
            yield IndexFinding(Aspect.FILE, FILE_NAME, f"{name} differs from what this version creates", REPAIR)
    pointing = Counter(row[0] for row in connection.execute("PRAGMA foreign_key_check"))
    for table, rows in sorted(pointing.items()):
        yield IndexFinding(Aspect.FILE, table, f"{rows} rows refer to rows that do not exist", REPAIR)


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


def _outdated_filings(connection: sqlite3.Connection) -> Iterator[IndexFinding]:
    filings = connection.execute(
        "SELECT count(*) FROM filings WHERE reader_version != ?", (reader_fingerprint(),)
    ).fetchone()[0]
    if filings:
        subject = "1 filing" if filings == 1 else f"{filings:,} filings"
        said = f"{'was' if filings == 1 else 'were'} read by another version of the reader, or with another lexicon"
        remedy = "Run `fin-agent ingest` over their files to read them again"
        yield IndexFinding(Aspect.FILE, subject, said, remedy, False)


def _manifest_findings(connection: sqlite3.Connection) -> Iterator[IndexFinding]:
    for number in unreadable_entries(connection):
        found = "the entry of a file cannot be read"
        yield IndexFinding(Aspect.MANIFEST, f"entry {number}", found, f"{REPAIR}: it removes the entry")
    missing = connection.execute(
        "SELECT path, doc_id FROM ingested_files WHERE state = 'done' AND doc_id NOT IN (SELECT doc_id FROM filings)"
        " ORDER BY path"
    ).fetchall()
    for path, doc_id in missing:
        found = f"it was read as {doc_id}, which is not in the index"
        yield IndexFinding(Aspect.MANIFEST, path, found, f"{REPAIR}: it marks the file to be read again")
    states = dict(connection.execute("SELECT state, count(*) FROM ingested_files GROUP BY state"))
    for state, said in (
        (FileState.WAITING, "were not read: an ingest was ended before, or is running"),
        (FileState.FAILED, "could not be read"),
        (FileState.DAMAGED, "had a filing that was damaged here and removed"),
    ):
        if files := states.pop(state, 0):
            remedy = "`fin-agent index failures` lists them, `fin-agent ingest --retry-failed` reads them again"
            yield IndexFinding(Aspect.MANIFEST, f"{files} file{'s' * (files > 1)}", said, remedy, False)
    states.pop(FileState.DONE, 0)
    for state, files in sorted(states.items()):
        yield IndexFinding(Aspect.MANIFEST, f"{files} files", f"are in an unknown state, {state!r}", REPAIR)


def unreadable_entries(connection: sqlite3.Connection) -> list[int]:
    """Return row numbers of files whose entries have invalid text or hashes. Raises sqlite3.Error."""
    unreadable = []
    for (number,) in connection.execute("SELECT rowid FROM ingested_files ORDER BY rowid").fetchall():
        try:
            entry = connection.execute("SELECT * FROM ingested_files WHERE rowid = ?", (number,)).fetchone()
        except sqlite3.OperationalError as error:
            if "decode to UTF-8" not in str(error):
                raise
            entry = None
        if entry is None or not _HASH.fullmatch(entry["content_hash"]):
            unreadable.append(number)
    return unreadable


def _full_text_findings(connection: sqlite3.Connection, writer: Owner | None) -> Iterator[IndexFinding]:
    if writer is not None:
        found = f"were not checked, because another command is writing to this index: {writer}"
        yield IndexFinding(Aspect.FULL_TEXT, "full-text tables", found, "Verify again when that has ended", False)
        return
    try:
        for table in FULL_TEXT:
            if not _full_text_agrees(connection, table):
                found = "does not match the texts: searches miss pages or find wrong ones"
                yield IndexFinding(Aspect.FULL_TEXT, table, found, f"{REPAIR}: it is rebuilt")
    except sqlite3.OperationalError as error:
        # SQLite checks them with a command that counts as a write.
        found = f"could not be checked, because the index is not writable ({error})"
        yield IndexFinding(
            Aspect.FULL_TEXT,
            "full-text tables",
            found,
            "Verify while no other command writes, as a user with write permission",
            False,
        )


def _full_text_agrees(connection: sqlite3.Connection, table: str) -> bool:
    """Return whether a full-text table matches its texts. Raises sqlite3.OperationalError if it cannot be checked."""
    try:
        connection.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)")
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        return False
    return True
