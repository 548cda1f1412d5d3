"""A new index made of what is whole in a damaged one; what is not is named, or it is said that names are lost too."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from fin_agent.errors import FilingIndexError
from fin_agent.index.database import (
    check_length,
    connect,
    full_disk,
    is_damage,
    is_full,
    remove_database,
    unfinished_name,
    write_empty,
)
from fin_agent.index.file_header import is_database, is_header_sound, mend_header
from fin_agent.index.kept_files import copy_entries, mark_damaged
from fin_agent.index.loose_rows import copy_loose_rows
from fin_agent.index.repaired import LostFiling, Repaired
from fin_agent.index.space import check_space
from fin_agent.index.stored_rows import insert_rows
from fin_agent.index.whole_filings import filing_names, filing_numbers, names_readable, source_of, whole_filing
from fin_agent.index.write_ahead_log import log_of

_ROOM = 5
"""Times its size: the copy that is kept, one to read from, its loose rows, the new database, and its way through the
log."""


def salvage(file: Path, repaired: Repaired, *, log_whole: bool) -> Repaired:
    """Put a new index where the damaged one is, which is kept under another name.

    Read are the tables, and where they do not give everything, each page by itself; where that does not either, and
    there is a log, both again without it: the state with more whole filings is taken. Raises FilingIndexError where it
    cannot be done; the damaged index is as it was then.
    """
    log = log_of(file)
    size = file.stat().st_size + (log.stat().st_size if log.exists() else 0)
    check_space(file.parent, _ROOM * size, "to keep the damaged index and make a new one")
    copy = repaired.damaged_copy = _kept_aside(file)
    states: list[_State] = []
    try:
        for with_log in (True, False) if log.exists() else (True,):
            states.append(_State(unfinished_name(file), with_log))
            states[-1].fill(copy)
            if log_whole and states[-1].nothing_lost:
                break
        best = max(states, key=lambda state: len(state.saved))
        # A log that is whole says what was removed since: nothing of the state before it is missing then.
        known = states[:1] if log_whole and best.with_log else states
        _name_lost(best, known, copy, log_whole)
        with closing(connect(best.file)) as target:
            target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            _take_place(target, file, best.file)
    except (OSError, sqlite3.Error) as error:
        raise _not_done(file, error) from error
    finally:
        for state in states:
            remove_database(state.file)
    repaired.kept = len(best.saved)
    repaired.lost += best.lost.values()
    repaired.done += best.done
    if not best.with_log:
        repaired.done.append("the log beside it (-wal) is left out: without it more filings are whole")
    repaired.done.append(f"{repaired.kept} whole filing{'s are' if repaired.kept != 1 else ' is'} in a new database")
    return repaired


def _kept_aside(file: Path) -> Path:
    copy = file.with_name(f"{file.name}.damaged-{datetime.now(UTC).strftime('%Y%m%d-%H%M%S')}")
    try:
        shutil.copy2(file, copy)
        if log_of(file).exists():
            shutil.copy2(log_of(file), log_of(copy))
    except OSError as error:
        for left in (copy, log_of(copy)):
            left.unlink(missing_ok=True)
        raise _not_done(file, error) from error
    return copy


def _not_done(file: Path, error: OSError | sqlite3.Error) -> FilingIndexError:
    if is_full(error, file):
        return full_disk(file, "the index could not be repaired")
    return FilingIndexError(
        f"the index could not be repaired ({error}); the damaged one is as it was",
        subject=str(file),
        remedy="Make room, or check the disk, and run the same command again",
    )


@dataclass(slots=True)
class _State:
    """What can be saved of the database with its log, or without."""

    file: Path
    """The new database."""
    with_log: bool
    saved: set[str] = field(default_factory=set)
    lost: dict[str, LostFiling] = field(default_factory=dict)
    """doc_id -> why it is not saved."""
    names: dict[int, str] = field(default_factory=dict)
    numbers: set[int] = field(default_factory=set)
    """Of all filings that left a trace."""
    all_named: bool = False
    done: list[str] = field(default_factory=list)

    @property
    def nothing_lost(self) -> bool:
        return self.all_named and not self.lost

    def fill(self, copy: Path) -> None:
        """Save from `copy` what is whole. Raises OSError, sqlite3.Error."""
        write_empty(self.file)
        with closing(connect(self.file)) as target:
            for by_tables in (True, False):
                with _readable_copy(copy, self.file, self.with_log, by_tables=by_tables) as source:
                    target.execute("BEGIN")
                    self._save(source, target, by_tables)
                    target.execute("COMMIT")
                if self.nothing_lost:
                    return

    def _save(self, source: sqlite3.Connection, target: sqlite3.Connection, by_tables: bool) -> None:
        said = copy_entries(source, target)
        self.done = self.done or said
        self.names |= {number: name for number, name in filing_names(source).items() if number not in self.names}
        self.all_named = self.all_named or (by_tables and names_readable(source))
        numbers = filing_numbers(source)
        self.numbers |= set(numbers)
        for number in numbers:
            if self.names.get(number) in self.saved:
                continue
            found = whole_filing(source, number, proven=not by_tables)
            if not isinstance(found, str):
                if found.doc_id not in self.saved:
                    self.saved.add(found.doc_id)
                    self.names[number] = found.doc_id
                    self.lost.pop(found.doc_id, None)
                    insert_rows(target, found)
            elif (name := self.names.get(number)) is not None and name not in self.saved:
                self.lost.setdefault(name, LostFiling(name, source_of(source, number), found))


@contextmanager
def _readable_copy(copy: Path, file: Path, with_log: bool, *, by_tables: bool) -> Iterator[sqlite3.Connection]:
    """The damaged database under another name, its header in order; or an index of the rows that its pages hold.

    Empty where SQLite cannot open it.
    """
    working, loose = unfinished_name(file), unfinished_name(file)
    try:
        shutil.copyfile(copy, working)
        if with_log and log_of(copy).exists():
            shutil.copyfile(log_of(copy), log_of(working))
        mend_header(working)
        if by_tables:
            with _opened(working) as source:
                yield source
            return
        with suppress(sqlite3.DatabaseError), closing(connect(working, damaged=True)) as logged:
            logged.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        write_empty(loose)
        with closing(connect(loose)) as source:
            copy_loose_rows(working, source)
            yield source
    finally:
        remove_database(working)
        remove_database(loose)


@contextmanager
def _opened(working: Path) -> Iterator[sqlite3.Connection]:
    with ExitStack() as closed:
        try:
            source = closed.enter_context(closing(connect(working, damaged=True)))
            source.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            source = closed.enter_context(closing(sqlite3.connect(":memory:")))
        yield source


def _name_lost(best: _State, known: list[_State], copy: Path, log_whole: bool) -> None:
    """Name what is not in `best`, and have its files read again. Raises sqlite3.Error."""
    for state in known:
        for lost in state.lost.values():
            if lost.doc_id not in best.saved:
                best.lost.setdefault(lost.doc_id, lost)
        for name in state.saved - best.saved:
            best.lost.setdefault(name, LostFiling(name, "", "it was whole only without, or with, the log"))
    with closing(connect(best.file)) as target:
        target.execute("BEGIN")
        entries = target.execute("SELECT doc_id, path FROM ingested_files WHERE state = 'done'").fetchall()
        # Where a filing is lost with its name, its file may still be known.
        by_file = {doc_id: path for doc_id, path in entries if doc_id not in best.saved and doc_id not in best.lost}
        for doc_id, path in by_file.items():
            best.lost[doc_id] = LostFiling(doc_id, path, "nothing of it can be read")
        for doc_id, path in entries:
            if (nowhere := best.lost.get(doc_id)) is not None and not nowhere.source:
                best.lost[doc_id] = LostFiling(doc_id, path, nowhere.why)
        for lost in best.lost.values():
            mark_damaged(target, lost)
        target.execute("COMMIT")
    if not known[0].all_named or not log_whole:
        nameless = len(best.numbers - best.names.keys()) - len(by_file)
        best.lost[""] = _unnamed(best, nameless, copy, log_whole)


def _unnamed(best: _State, nameless: int, copy: Path, log_whole: bool) -> LostFiling:
    if not best.saved and not best.lost:
        why = "nothing of the index can be read, not even which filings it held"
        if not copy.stat().st_size:
            why = "the file is empty, nothing of an index is in it"
        elif not is_database(copy):
            why = "the file does not begin as a database does, and nothing of an index is found in it"
        return LostFiling("all filings", "", why, named=False)
    if not log_whole:
        why = "the log beside the index (-wal) is damaged: what was written last may be lost"
    elif nameless > 0:
        traces = f"{nameless} filings left traces" if nameless > 1 else "1 filing left traces"
        why = f"{traces}, and there may be more: the list of filings cannot be read to its end"
    else:
        why = "there may have been more: the list of filings cannot be read to its end"
    return LostFiling("further filings", "", why, named=False)


def _take_place(target: sqlite3.Connection, file: Path, new: Path) -> None:
    """Put the new database where the damaged one is: as one transaction of it where SQLite still opens it."""
    if is_header_sound(file):
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
    # The log of a file that SQLite cannot open is of no use, and must not be taken for the new one's.
    for ending in ("-wal", "-shm"):
        file.with_name(file.name + ending).unlink(missing_ok=True)
    new.replace(file)
