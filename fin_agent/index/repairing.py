"""Repair an index: copy what its checksums confirm to a new one, and list the files of the rest to be read again."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fin_agent.errors import FilingIndexError
from fin_agent.index import sqlite_file
from fin_agent.index.ingest import RETRY, FileState
from fin_agent.index.ingest_lock import ingest_lock
from fin_agent.index.sqlite import FILE_NAME
from fin_agent.index.sqlite_file import connect, reading_damaged, transaction
from fin_agent.index.stored_filing import Part, StoredFiling, damaged_parts, insert_filing, read_part, read_vectors
from fin_agent.index.verifying import verify


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
        return self.removed < len(self.lost)


def repair(folder: Path | str, *, wait: float = 0.0) -> RepairReport:
    """Repair the index in `folder`; an intact index is left unchanged.

    If anything differs from what was written, the database is kept under another name, and every filing that its
    checksums confirm is copied to a new one, which replaces it. Files of the other filings are listed to be read again.

    Raises:
        FilingIndexError: There is no index; it is in use, of another program or of another format; or the disk is full.
    """
    file = Path(folder) / FILE_NAME
    sqlite_file.require_file(file)
    with ingest_lock(Path(folder), wait=wait):
        _check_ours(file)
        verified = verify(folder, locked=True)
        if not verified.faults:
            return RepairReport(kept=verified.filings)
        try:
            return _rebuilt(file)
        except (OSError, sqlite3.Error) as error:
            raise FilingIndexError(
                f"the index could not be repaired ({error}); the damaged one is unchanged",
                subject=str(file),
                remedy="Make room, or check the disk, and run the same command again",
            ) from error


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


def _rebuilt(file: Path) -> RepairReport:
    """Replace the damaged database by a new one with all intact filings. Raises OSError, sqlite3.Error."""
    copy = file.with_name(f"{file.name}.damaged-{datetime.now(UTC).strftime('%Y%m%d-%H%M%S')}")
    new = file.with_name(f".{file.name}.new")
    try:
        for ending in ("", "-wal"):
            if (part := file.with_name(file.name + ending)).exists():
                shutil.copy2(part, copy.with_name(copy.name + ending))
        sqlite_file.delete_database(new)  # of a repair that was killed
        with _readable(file) as source:
            page_bytes = source.execute("PRAGMA page_size").fetchone()[0]  # SQLite's backup cannot change it
            sqlite_file.write_empty_index(new, page_bytes)
            with closing(connect(new)) as target:
                with transaction(target):
                    repaired = _copy_intact(source, target)
                target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                source.close()
                _replace_database(target, new, file)
    except BaseException:
        sqlite_file.delete_database(copy)
        raise
    finally:
        sqlite_file.delete_database(new)
    repaired.damaged_copy = copy
    filings = f"{repaired.kept} intact filing{'s are' if repaired.kept != 1 else ' is'}"
    repaired.done.append(f"{filings} in a new database, its full text rebuilt")
    return repaired


@contextmanager
def _readable(file: Path) -> Iterator[sqlite3.Connection]:
    """Open the damaged database as far as SQLite can read it; an empty one where it cannot be opened."""
    with reading_damaged() as unread:
        source = connect(file, damaged=True)
    if unread:
        source = sqlite3.connect(":memory:", isolation_level=None)
    source.text_factory = lambda text: text.decode(errors="replace")  # a wrong byte must not end a list
    with closing(source):
        yield source


def _copy_intact(source: sqlite3.Connection, target: sqlite3.Connection) -> RepairReport:
    """Copy intact filings and the list of files; the files of filings that are lost are to be read again."""
    listed: dict[int, tuple[str, str]] = {}
    all_named = False
    for selection in ("id, doc_id, source FROM filings NOT INDEXED", "id, doc_id, '' FROM filings ORDER BY doc_id"):
        found, ended = _rows_until_damage(source, f"SELECT {selection}")
        all_named = all_named or ended
        for number, doc_id, path in found:
            listed.setdefault(number, (doc_id, path))
    kept: set[str] = set()
    lost: dict[str, LostFiling] = {}
    for number, (doc_id, path) in sorted(listed.items()):
        stored = _intact_filing(source, number)
        if isinstance(stored, StoredFiling):
            insert_filing(target, stored)
            kept.add(doc_id)
        else:
            lost[doc_id] = LostFiling(doc_id, path, stored)
    repaired = RepairReport(kept=len(kept))
    files, all_read = _rows_until_damage(source, "SELECT * FROM ingested_files NOT INDEXED")
    listing = "INSERT OR IGNORE INTO ingested_files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    damaged = "its filing was damaged in the index and has been removed: "
    for path, doc_id, *stamp, state in files:
        if state == FileState.DONE and doc_id not in kept:  # its own name may be lost everywhere else
            before = lost.get(doc_id, LostFiling(doc_id, path, "none of it can be read"))
            lost[doc_id] = LostFiling(doc_id, before.source or path, before.why)
            stamp[-2:], state = (damaged + before.why, RETRY), FileState.DAMAGED
        try:
            target.execute(listing, (path, doc_id, *stamp, FileState(state)))
        except (ValueError, sqlite3.IntegrityError):  # an unknown state, or a value of a type that the column rejects
            all_read = False
    entries = {doc_id for (doc_id,) in target.execute("SELECT doc_id FROM ingested_files WHERE state = 'damaged'")}
    for each in lost.values():
        # The path of an entry is proved by nothing: that of the filing is listed as well.
        if each.source and (each.doc_id not in entries or Path(each.source).is_file()):
            unread = (0, 0, "", "", damaged + each.why, RETRY, FileState.DAMAGED)
            target.execute(listing, (each.source, each.doc_id, *unread))
    if all_named and not all_read:
        what = "entries of the list of files that cannot be read are removed"
        repaired.done.append(f"{what}. Ingest your folders again: what is unchanged is left alone")
    repaired.lost = list(lost.values())
    if not all_named:
        why = "the list of filings cannot be read to its end"
        repaired.lost.append(LostFiling("further filings" if listed else "all filings", "", why, named=False))
    return repaired


def _rows_until_damage(source: sqlite3.Connection, selection: str) -> tuple[list[tuple[Any, ...]], bool]:
    """Return the rows up to the first that cannot be read, and whether these are all."""
    found: list[tuple[Any, ...]] = []
    with reading_damaged() as unread:
        found.extend(source.execute(selection))
    return found, not unread


def _intact_filing(source: sqlite3.Connection, number: int) -> StoredFiling | str:
    """Return an intact filing, without damaged vectors, or the reason why it is lost."""
    with reading_damaged() as unread:
        changed = damaged_parts(source, number)
        stored = StoredFiling({part: read_part(source, number, part) for part in Part})
    if unread:
        return f"it cannot be read ({unread[0]})"
    if changed:
        return f"its content differs from what was written ({', '.join(changed)})"
    with suppress(sqlite3.DatabaseError):
        stored.vectors.extend(row for row, whole in read_vectors(source, number) if whole)
    return stored


def _replace_database(target: sqlite3.Connection, new: Path, file: Path) -> None:
    """Replace the damaged database by the new one, in one transaction where SQLite can still open it.

    Readers that have it open continue with the new content.
    """
    with reading_damaged(), closing(connect(file)) as damaged:
        sqlite_file.check_length(damaged, file)
        target.backup(damaged)
        damaged.execute("PRAGMA busy_timeout = 2000")
        damaged.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return
    target.close()
    # The log of a file that SQLite cannot open is useless and must not be applied to the new one.
    for ending in ("-wal", "-shm"):
        file.with_name(file.name + ending).unlink(missing_ok=True)
    new.replace(file)
