"""Verify that the embedded index is as it was written; each finding says what is wrong and what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from fin_agent.index import sqlite_file
from fin_agent.index.ingest import FileState
from fin_agent.index.ingest_lock import lock_owner
from fin_agent.index.sqlite import FILE_NAME
from fin_agent.index.sqlite_file import is_damage, reading_damaged, transaction
from fin_agent.index.stored_filing import FULL_TEXT, PART_WORDS, damaged_parts, read_vectors

REPAIR = "Run `fin-agent index repair`"


@dataclass(frozen=True, slots=True)
class IndexFinding:
    """A fault, or (`fault` False) information."""

    aspect: str
    """The part of the index that was checked: `file`, `full text`, `filings` or `manifest`."""
    subject: str
    """The filing, table or file."""
    found: str
    remedy: str = REPAIR
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


def verify(
    folder: Path | str, *, on_filing: Callable[[str], None] = lambda doc_id: None, locked: bool = False
) -> VerificationReport:
    """Check every byte of the index in `folder`, without changing anything.

    All reads see one state, while others may write. Full-text tables are skipped while an ingest runs, with a finding,
    because checking them blocks writers.

    Args:
        folder: The folder of the index.
        on_filing: Called with the doc_id of each filing.
        locked: Whether the caller holds the lock of the index, so that no other process writes to it.

    Raises:
        FilingIndexError: There is no index, its format cannot be read, or it is locked.
    """
    file, writer = Path(folder) / FILE_NAME, "" if locked else lock_owner(Path(folder))
    sqlite_file.require_file(file)
    findings: list[IndexFinding] = []
    filings = 0
    try:
        with closing(sqlite_file.connect(file)) as connection:
            sqlite_file.check_format(connection, file)
            with transaction(connection, "BEGIN"):
                findings += _file_findings(connection)
                for number, doc_id in connection.execute("SELECT id, doc_id FROM filings ORDER BY doc_id").fetchall():
                    on_filing(doc_id)
                    filings += 1
                    findings += (IndexFinding("filings", doc_id, found) for found in _damage(connection, number))
                findings += _manifest_findings(connection)
            findings += _full_text_findings(connection, writer)
    except sqlite3.Error as error:
        if not is_damage(error):
            raise sqlite_file.sqlite_error(file, error, "read") from error
        findings.append(IndexFinding("file", FILE_NAME, f"cannot be read to its end ({error})"))
    return VerificationReport(tuple(dict.fromkeys(findings)), filings)


def _file_findings(connection: sqlite3.Connection) -> Iterator[IndexFinding]:
    for (said,) in connection.execute("PRAGMA integrity_check(20)").fetchall():
        if said != "ok":
            yield IndexFinding("file", FILE_NAME, f"SQLite finds it damaged: {said}")
    with closing(sqlite3.connect(":memory:")) as fresh:
        fresh.executescript(sqlite_file.schema())
        stored, expected = (set(each.execute("SELECT name, sql FROM sqlite_master")) for each in (connection, fresh))
    for name in sorted({name for name, _ in stored ^ expected}):
        yield IndexFinding("file", FILE_NAME, f"{name} differs from what this version creates")
    for table in sorted({row[0] for row in connection.execute("PRAGMA foreign_key_check")}):
        yield IndexFinding("file", table, "rows refer to rows that do not exist")


def _damage(connection: sqlite3.Connection, filing: int) -> Iterator[str]:
    """Yield what differs in a filing from what was written."""
    with reading_damaged() as unread:
        for part in damaged_parts(connection, filing):
            yield f"{PART_WORDS[part]} differ from what was written: the checksum does not match"
        for (model, unit, *_), whole in read_vectors(connection, filing):
            if not whole:
                yield f"vectors of each {unit} by {model} differ from what was written"
    for why in unread:
        yield f"it cannot be read to its end ({why})"


def _manifest_findings(connection: sqlite3.Connection) -> Iterator[IndexFinding]:
    missing = "state = 'done' AND doc_id NOT IN (SELECT doc_id FROM filings)"
    for path, doc_id in connection.execute(f"SELECT path, doc_id FROM ingested_files WHERE {missing}"):
        found = f"it was read as {doc_id}, which is not in the index"
        yield IndexFinding("manifest", path, found, f"{REPAIR}: the file is to be read again")
    try:
        for *_, state in connection.execute("SELECT * FROM ingested_files").fetchall():
            FileState(state)
    except (sqlite3.OperationalError, ValueError):  # values that are no text, and unknown states
        yield IndexFinding("manifest", "list of files", "an entry cannot be read")
    unread = "SELECT count(*) FROM ingested_files WHERE state != 'done'"
    if files := connection.execute(unread).fetchone()[0]:
        remedy = "`fin-agent index failures` lists them, `fin-agent ingest --retry-failed` reads them again"
        yield IndexFinding("manifest", f"{files} file{'s' * (files > 1)}", "are not in the index", remedy, False)


def _full_text_findings(connection: sqlite3.Connection, writer: str) -> Iterator[IndexFinding]:
    """Check the full text by a command of SQLite that counts as a write."""
    unchecked, remedy = f"another command is writing to this index: {writer}", "Verify again when that has ended"
    try:
        for table, *_ in () if writer else FULL_TEXT.values():
            with reading_damaged() as damaged:
                connection.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)")
            if damaged:
                found = "does not match the texts: searches miss pages or find wrong ones"
                yield IndexFinding("full text", table, found, f"{REPAIR}: it is rebuilt")
    except sqlite3.OperationalError as error:
        writer, unchecked = "locked", f"the index is not writable ({error})"
        remedy = "Verify while no other command writes, as a user with write permission"
    if writer:
        found = f"were not checked, because {unchecked}"
        yield IndexFinding("full text", "full-text tables", found, remedy, False)
