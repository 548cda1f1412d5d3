"""Repair an index: keep what its checksums confirm, and mark the rest to be read again from its files."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from fin_agent.errors import FilingIndexError
from fin_agent.index.ingest_lock import ingest_lock
from fin_agent.index.manifest import RETRY, FileState
from fin_agent.index.rows import StoredRow
from fin_agent.index.sqlite import FILE_NAME
from fin_agent.index.sqlite_file import (
    check_length,
    connect,
    disk_full_error,
    is_damage,
    is_full,
    remove_leftovers,
    require_file,
    require_space,
    transaction,
    unfinished_database,
)
from fin_agent.index.stored_filing import (
    Part,
    StoredFiling,
    insert_filing,
    read_checksums,
    read_part,
    read_vectors,
)
from fin_agent.index.verifying import Aspect, unreadable_entries, verify_open_index

INGEST_AGAIN = "Ingest your folders again: what is unchanged is left alone"
_ROOM = 3
"""Multiple of its size that a repair needs: the copy that is kept, the new database, and its log."""


@dataclass(frozen=True, slots=True)
class LostFiling:
    """A filing that was removed because part of it differs from what was written."""

    doc_id: str
    source: str
    why: str
    named: bool = True
    """False where `doc_id` describes filings whose names cannot be read."""

    @property
    def remedy(self) -> str:
        """How to restore it."""
        if self.source and Path(self.source).is_file():
            return RETRY
        if not self.source:
            return "Ingest your folders again (what is unchanged is left alone), or copy them from another index"
        return f"Get its file again and ingest it: it was {self.source}"


@dataclass(slots=True)
class RepairReport:
    """The results of a repair."""

    done: list[str] = field(default_factory=list)
    """Actions, as sentences."""
    lost: list[LostFiling] = field(default_factory=list)
    kept: int = 0
    """Number of filings in the index after the repair."""
    damaged_copy: Path | None = None
    """The damaged database, if it was replaced by a new one."""

    @property
    def removed(self) -> int:
        """Number of filings known by name that are no longer in the index."""
        return sum(lost.named for lost in self.lost)

    @property
    def has_unnamed_losses(self) -> bool:
        """Whether there may be losses that are not named."""
        return not all(lost.named for lost in self.lost)


def repair(folder: Path | str, *, wait: float = 0.0) -> RepairReport:
    """Repair the index in `folder`; an intact index is left unchanged.

    Full text and the list of files are repaired in place. If anything else differs from what was written, the database
    is kept under another name, and every filing that its checksums confirm is copied to a new one, which replaces it
    atomically. Files of the other filings are listed to be read again.

    Raises:
        FilingIndexError: There is no index; it is in use, of another program or of another format; or the disk is full.
    """
    folder = Path(folder)
    file = folder / FILE_NAME
    require_file(file)
    with ingest_lock(folder, wait=wait):
        repaired = RepairReport()
        if left := remove_leftovers(file):
            repaired.done.append(f"{len(left)} unfinished files of writers that were killed are removed")
        _check_ours(file)
        verified = verify_open_index(file, None, lambda doc_id: None)
        repaired.kept = verified.filings
        aspects = {finding.aspect for finding in verified.faults}
        try:
            if aspects - {Aspect.FULL_TEXT, Aspect.MANIFEST}:
                _rebuild(file, repaired)
            elif aspects:
                stale = [finding.subject for finding in verified.faults if finding.aspect is Aspect.FULL_TEXT]
                with closing(connect(file)) as connection, transaction(connection):
                    repaired.done += _repair_manifest(connection)
                    for table in stale:
                        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('rebuild')")
                if stale:
                    repaired.done.append(f"full text of {', '.join(stale)} is rebuilt")
        except (OSError, sqlite3.Error) as error:
            raise _failure(file, error) from error
        return repaired


def _check_ours(file: Path) -> None:
    """Raise FilingIndexError for the database of another program."""
    with suppress(sqlite3.Error), closing(connect(file)) as connection:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and not {"meta", "filings", "pages"} & tables:
            raise FilingIndexError(
                "this database is not an index of fin-agent; it is left as it is",
                subject=str(file),
                remedy="Name another folder with `--index`",
            )


def _rebuild(file: Path, repaired: RepairReport) -> None:
    """Replace the damaged database by a new one with all intact filings. Raises OSError, sqlite3.Error."""
    log = file.with_name(f"{file.name}-wal")
    size = sum(each.stat().st_size for each in (file, log) if each.exists())
    require_space(file.parent, _ROOM * size, "to keep the damaged index and make a new one")
    copy = file.with_name(f"{file.name}.damaged-{datetime.now(UTC).strftime('%Y%m%d-%H%M%S')}")
    copies = {each: copy.with_name(each.name.replace(file.name, copy.name, 1)) for each in (file, log) if each.exists()}
    try:
        for each, its_copy in copies.items():
            shutil.copy2(each, its_copy)
        with _readable(file) as source:
            page_bytes = source.execute("PRAGMA page_size").fetchone()[0]  # SQLite's backup cannot change it
        with unfinished_database(file, page_bytes) as new, closing(connect(new)) as target:
            with _readable(file) as source, transaction(target):
                found = _Salvage(source, target, repaired)
                found.save_filings()
                found.save_manifest()
            repaired.lost = [*found.lost.values(), *_unnamed_losses(found, size)]
            repaired.kept = target.execute("SELECT count(*) FROM filings").fetchone()[0]
            target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            _replace_database(target, new, file)
    except (OSError, sqlite3.Error):
        for its_copy in copies.values():
            its_copy.unlink(missing_ok=True)
        raise
    repaired.damaged_copy = copy
    filings = f"{repaired.kept} intact filing{'s are' if repaired.kept != 1 else ' is'}"
    repaired.done.append(f"{filings} in a new database, its full text rebuilt")


@contextmanager
def _readable(file: Path) -> Iterator[sqlite3.Connection]:
    """Open the damaged database as far as SQLite can read it; an empty one where it cannot be opened."""
    try:
        source = connect(file, damaged=True)
        try:
            source.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.Error:
            source.close()
            raise
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        source = sqlite3.connect(":memory:", isolation_level=None)
        source.row_factory = sqlite3.Row
    with closing(source):
        yield source


class _Salvage:
    """Copies intact content of a damaged database to a new one."""

    def __init__(self, source: sqlite3.Connection, target: sqlite3.Connection, repaired: RepairReport) -> None:
        self._source = source
        self._target = target
        self._repaired = repaired
        self._saved: set[str] = set()
        self.lost: dict[str, LostFiling] = {}
        self.all_named = False
        """Whether the list of filings could be read to its end."""

    def save_filings(self) -> None:
        """Copy every filing that its checksums confirm; record why the others are lost."""
        for number, (doc_id, source) in sorted(self._listed().items()):
            stored = self._verified_filing(number)
            if isinstance(stored, StoredFiling):
                insert_filing(self._target, stored)
                self._saved.add(stored.doc_id)
            else:
                self.lost[doc_id] = LostFiling(doc_id, source, stored)

    def save_manifest(self) -> None:
        """Copy the list of files as far as it can be read; files of lost filings are marked to be read again."""
        refused = 0
        for row in self._readable("SELECT * FROM ingested_files NOT INDEXED"):
            try:
                marks = ", ".join("?" * len(row))
                self._target.execute(f"INSERT OR IGNORE INTO ingested_files VALUES ({marks})", tuple(row))
            except sqlite3.Error:  # a value of a type that the column rejects
                refused += 1
        if self.all_named and (refused or not self._ends("SELECT * FROM ingested_files NOT INDEXED")):
            self._repaired.done.append(f"the list of files could not be read to its end. {INGEST_AGAIN}")
        done = "SELECT doc_id, path FROM ingested_files WHERE state = 'done'"
        for doc_id, path in self._target.execute(done).fetchall():
            if doc_id not in self._saved:  # its name may be lost everywhere else
                before = self.lost.get(doc_id, LostFiling(doc_id, "", "none of it can be read"))
                self.lost[doc_id] = LostFiling(doc_id, before.source or path, before.why)
        for lost in self.lost.values():
            _mark_damaged(self._target, lost)
        self._repaired.done += _repair_manifest(self._target)

    def _listed(self) -> dict[int, tuple[str, str]]:
        """Return (doc_id, path of its file) by number, for all filings whose names any query can read."""
        found: dict[int, tuple[str, str]] = {}
        for selection in (
            "SELECT id, doc_id, source FROM filings NOT INDEXED ORDER BY id",
            "SELECT id, doc_id, source FROM filings NOT INDEXED ORDER BY id DESC",
            "SELECT id, doc_id, '' FROM filings ORDER BY doc_id",
            "SELECT id, doc_id, '' FROM filings ORDER BY content_hash, doc_id",
        ):
            for number, doc_id, source in self._readable(selection):
                if isinstance(number, int) and isinstance(doc_id, str):
                    found.setdefault(number, (doc_id, str(source)))
            self.all_named = self.all_named or self._ends(selection)
        return found

    def _verified_filing(self, number: int) -> StoredFiling | str:
        """Return an intact filing, without damaged vectors, or the reason why it is lost."""
        lost = ""
        for by_range in (False, True):  # rows that one query cannot reach may be reached by the other
            try:
                sealed = read_checksums(self._source, number)
                stored = StoredFiling({part: self._rows(number, part, by_range=by_range) for part in Part})
                changed = [part for part, checksum in stored.checksums().items() if sealed.get(part) != checksum]
            except (sqlite3.Error, TypeError, ValueError) as error:
                lost = lost or f"it cannot be read ({error})"
                continue
            if not changed:
                with suppress(sqlite3.Error):
                    stored.vectors.extend(row for row, whole in read_vectors(self._source, number) if whole)
                return stored
            lost = lost or f"its content differs from what was written ({', '.join(changed)})"
        return lost

    def _rows(self, number: int, part: Part, *, by_range: bool) -> list[StoredRow]:
        """Return the rows of a part; empty where they cannot be read, which the checksum will reveal."""
        try:
            return read_part(self._source, number, part, by_range=by_range)
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            return []

    def _readable(self, selection: str) -> Iterator[sqlite3.Row]:
        """Yield rows up to the first that cannot be read."""
        with suppress(sqlite3.Error):
            yield from self._source.execute(selection)

    def _ends(self, selection: str) -> bool:
        """Return whether all rows can be read."""
        try:
            for _ in self._source.execute(selection):
                pass
        except sqlite3.Error:
            return False
        return True


def _unnamed_losses(found: _Salvage, size: int) -> Iterator[LostFiling]:
    """Yield losses whose names are unknown."""
    if found.all_named:
        return
    if found.lost:
        why = "there may have been more: the list of filings cannot be read to its end"
        yield LostFiling("further filings", "", why, named=False)
        return
    why = "nothing in the index can be read, not even the list of filings"
    yield LostFiling("all filings", "", why if size else "the file is empty", named=False)


def _mark_damaged(connection: sqlite3.Connection, lost: LostFiling) -> None:
    """Mark the files of a removed filing to be read again."""
    failure = f"its filing was damaged in the index and has been removed: {lost.why}"
    marked = connection.execute(
        "UPDATE ingested_files SET state = ?, failure = ?, remedy = ? WHERE doc_id = ? AND state = 'done'",
        (FileState.DAMAGED.value, failure, RETRY, lost.doc_id),
    ).rowcount
    if lost.source and (not marked or Path(lost.source).is_file()):  # an entry's own path is proved by nothing
        connection.execute(
            "INSERT OR IGNORE INTO ingested_files VALUES (?, ?, 0, 0, '', '', ?, ?, ?)",
            (lost.source, lost.doc_id, failure, RETRY, FileState.DAMAGED.value),
        )


def _repair_manifest(connection: sqlite3.Connection) -> list[str]:
    """Remove unreadable entries, mark files without a filing to be read again, and return these actions."""
    done: list[str] = []
    unreadable = unreadable_entries(connection)
    for number in unreadable:
        connection.execute("DELETE FROM ingested_files WHERE rowid = ?", (number,))
    if unreadable:
        entries = f"{len(unreadable)} entr{'y' if len(unreadable) == 1 else 'ies'} of the list of files"
        done.append(f"{entries} that cannot be read are removed. {INGEST_AGAIN}")
    known = ", ".join(f"'{state.value}'" for state in FileState)
    missing = connection.execute(
        "UPDATE ingested_files SET state = 'waiting', failure = ?, remedy = ? WHERE state NOT IN"
        f" ({known}) OR (state = 'done' AND doc_id NOT IN (SELECT doc_id FROM filings))",
        ("its filing is not in the index", RETRY),
    ).rowcount
    if missing:
        done.append(f"{missing} files without a filing are to be read again: {RETRY}")
    return done


def _replace_database(target: sqlite3.Connection, new: Path, file: Path) -> None:
    """Replace the damaged database by the new one, in one transaction where SQLite can still open it.

    Readers that have it open continue with the new content.
    """
    try:
        with closing(connect(file)) as damaged:
            check_length(damaged, file)
            target.backup(damaged)
            damaged.execute("PRAGMA busy_timeout = 2000")
            damaged.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
    target.close()
    # The log of a file that SQLite cannot open is useless and must not be applied to the new one.
    for ending in ("-wal", "-shm"):
        file.with_name(file.name + ending).unlink(missing_ok=True)
    new.replace(file)


def _failure(file: Path, error: OSError | sqlite3.Error) -> FilingIndexError:
    if is_full(error, file):
        return disk_full_error(file, "the index could not be repaired")
    return FilingIndexError(
        f"the index could not be repaired ({error}); the damaged one is unchanged",
        subject=str(file),
        remedy="Make room, or check the disk, and run the same command again",
    )
