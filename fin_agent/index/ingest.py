"""Add files to an index: several are read in parallel, each is written completely, and failures are recorded.

The manifest, the state of every file given to `ingest`, is stored in the index with the filing in one transaction.
"""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from fin_agent.errors import FilingIndexError, FinAgentError, LexiconError, ReadError
from fin_agent.filings.reader import content_hash, doc_id_of, is_doc_id, is_readable
from fin_agent.index.ingest_lock import ingest_lock
from fin_agent.index.protocol import FilingRecord
from fin_agent.index.rows import reader_fingerprint
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.index.stored_filing import Part, StoredFiling, insert_filing, update_source
from fin_agent.process_pool import CallTimeoutError, Limits, WorkerEndedError, WorkerPool
from fin_agent.vocabulary.filing import Filing, ReadWarning

READ_LIMITS = Limits()
_AHEAD = 2
"""Files read ahead per worker: enough to keep all busy, few enough to limit memory."""


# What is known of files


RETRY = "Run `fin-agent ingest --retry-failed`"
_FIND_AGAIN = (
    "The file is gone: ingest it from where it is now, or take it off this list with `fin-agent index failures"
    " --forget-gone`"
)
_ADDRESS = re.compile(r"(?:https?|ftp):/", re.I)
_FREE_MEMORY = (
    "Free memory, or read fewer files at once: `--workers 1` (`workers=1` in Python); `--workers 0` reads them without"
    " a further process"
)


class FileState(StrEnum):
    """The state of a file."""

    WAITING = "waiting"
    """Not read yet; an ingest is running or ended before reading it."""
    DONE = "done"
    FAILED = "failed"
    DAMAGED = "damaged"
    """Its filing was damaged in the index and has been removed."""


class KnownFile(NamedTuple):
    """A file as it was when it was last checked, and what became of it: a row of `ingested_files`."""

    path: str
    """Where it is, links resolved: by this the manifest knows it."""
    doc_id: str
    size: int
    modified_ns: int
    content_hash: str
    """Empty if the file could not be read."""
    reader_version: str
    reason: str = ""
    """Why its filing is missing or outdated in the index."""
    remedy: str = ""
    state: FileState = FileState.DONE

    @classmethod
    def of(cls, path: Path, content_hash: str) -> KnownFile:
        """Return the file at `path`."""
        status = path.stat()
        stamp = (status.st_size, status.st_mtime_ns, content_hash, reader_fingerprint())
        return cls(str(path.resolve()), doc_id_of(path), *stamp)

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> KnownFile:
        """Return the file from its row. Raises ValueError for an unknown state."""
        file = cls._make(row)
        return file._replace(reason=file.reason or "", remedy=file.remedy or "", state=FileState(file.state))

    @property
    def is_missing(self) -> bool:
        """Whether the file no longer exists."""
        return not Path(self.path).is_file()


class Manifest:
    """The files that an index was made from, as recorded when this object was created."""

    def __init__(self, index: SqliteIndex) -> None:
        self._index = index
        read_alike = "SELECT doc_id, content_hash FROM filings WHERE reader_version = ?"
        self.current: dict[str, str] = dict(index.read_as(tuple, read_alike, (reader_fingerprint(),)))
        """The content hash of each filing that this version has read."""
        listed = index.read_as(KnownFile.from_row, "SELECT * FROM ingested_files ORDER BY path")
        self._files = {file.path: file for file in listed}

    def known_hash(self, path: Path) -> str:
        """Return the content hash at the last ingest if size and time are unchanged, otherwise an empty text."""
        known, status = self._files.get(str(path.resolve())), path.stat()
        if known is None or (known.size, known.modified_ns) != (status.st_size, status.st_mtime_ns):
            return ""
        return known.content_hash

    def other_owner(self, file: KnownFile) -> Path | None:
        """Return another existing file with other content that has this doc_id in the index."""
        done = (each for each in self._files.values() if each.doc_id == file.doc_id and each.state is FileState.DONE)
        others = (each for each in done if each.path != file.path and each.content_hash != file.content_hash)
        return next((Path(each.path) for each in others if not each.is_missing), None)

    def unread(self) -> list[KnownFile]:
        """Return the files that failed, are waiting or lost their filing, by path, with a reason and a remedy each."""
        return [
            file._replace(
                reason=file.reason or "no reason is known",
                remedy=_FIND_AGAIN if file.is_missing else file.remedy or RETRY,
            )
            for file in self._files.values()
            if file.state is not FileState.DONE
        ]

    def add(self, file: KnownFile, stored: StoredFiling) -> None:
        """Write the filing and the file's entry in one transaction."""
        with self._index.writing() as connection:
            insert_filing(connection, stored)
            _record(connection, file)

    def record_location(self, file: KnownFile) -> None:
        """Record the current path and time of the file, so that the next run need not read it."""
        if self._files.get(file.path) != file:
            with self._index.writing() as connection:
                update_source(connection, file.doc_id, file.path)
                _record(connection, file)

    def record_unread(self, files: Iterable[KnownFile], state: FileState, reason: str, remedy: str = RETRY) -> None:
        """Record files that are waiting or failed, and why. Filings read from them earlier stay in the index."""
        with self._index.writing() as connection:
            for file in files:
                _record(connection, file._replace(state=state, reason=reason, remedy=remedy))

    def forget(self, paths: Iterable[str]) -> int:
        """Remove files that are not in the index from the manifest; return how many were removed."""
        entry = "DELETE FROM ingested_files WHERE path = ? AND state != 'done'"
        with self._index.writing() as connection:
            return sum(connection.execute(entry, (path,)).rowcount for path in paths)


def _record(connection: sqlite3.Connection, file: KnownFile) -> None:
    entry = "(?, ?, ?, ?, ?, ?, nullif(?, ''), nullif(?, ''), ?)"
    connection.execute(f"INSERT OR REPLACE INTO ingested_files VALUES {entry}", file)


# Ingest


@dataclass(frozen=True, slots=True)
class PreparedFiling:
    """A filing with its cards and summary, which the index stores with it."""

    filing: Filing
    cards: tuple[str, ...]
    summary: str


class Outcome(StrEnum):
    """The result for a file."""

    ADDED = "added"
    UNCHANGED = "unchanged"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class IngestedFile:
    """One file and its result."""

    path: Path
    doc_id: str
    outcome: Outcome
    reason: str = ""
    remedy: str = ""
    pages: int = 0
    warnings: tuple[ReadWarning, ...] = ()
    """Defects of a file that was added."""
    kept: bool = False
    """Whether the index lists a file that failed among those to be read again."""


@dataclass(slots=True)
class IngestReport:
    """The results of an ingest."""

    files: list[IngestedFile] = field(default_factory=list)

    def count(self, outcome: Outcome) -> int:
        """Return how many files ended with an outcome.

        Args:
            outcome: The outcome to count.

        Returns:
            The number of files.
        """
        return sum(file.outcome is outcome for file in self.files)

    @property
    def failures(self) -> list[IngestedFile]:
        """The files that could not be read, with reasons."""
        return [file for file in self.files if file.outcome is Outcome.FAILED]


Prepare = Callable[[Path], PreparedFiling]
"""Reads one file; must be importable by name, because it runs in worker processes."""
OnFile = Callable[[IngestedFile], None]


def ingest(
    paths: Path | str | Sequence[Path | str],
    index: SqliteIndex | Path | str,
    prepare: Prepare | None = None,
    *,
    workers: int | None = None,
    on_file: OnFile = lambda file: None,
    wait: float = 0.0,
    on_wait: Callable[[str], None] = lambda owner: None,
) -> IngestReport:
    """Add files to an index. Unchanged files that this version has read before are skipped.

    Args:
        paths: Files, or folders that are read recursively.
        index: An open index, or its folder, where an index is created if there is none.
        prepare: Reads a file; `fin_agent.prepare` where None.
        workers: Number of processes that read; one per core where None, 0 to read in this process.
        on_file: Called with each file and its outcome.
        wait: Seconds to wait for another ingest to end.
        on_wait: Called with the process that is waited for, in words.

    Returns:
        The result for each file. A file that cannot be read is reported there, and the others are added.

    Raises:
        IndexInUseError: Another ingest did not end within `wait` seconds.
        FilingIndexError: The index cannot be opened or written.

    >>> import fin_agent
    >>> report = fin_agent.ingest("examples/filings_html", "html-index", workers=0)
    >>> [(file.doc_id, file.outcome.value) for file in report.files][0]
    ('harborlight_2025_10k', 'added')
    """
    if not isinstance(index, SqliteIndex):
        with SqliteIndex.create(index) as created:
            return ingest(paths, created, prepare, workers=workers, on_file=on_file, wait=wait, on_wait=on_wait)
    named = [paths] if isinstance(paths, Path | str) else list(paths)
    reading = prepare or usual_reader()
    report = IngestReport()

    def done(file: IngestedFile) -> None:
        report.files.append(file)
        on_file(file)

    with ingest_lock(index.folder, wait=wait, on_wait=on_wait):
        manifest = Manifest(index)
        waiting = _to_read(files_below(map(Path, named)), manifest, done)
        if waiting:
            manifest.record_unread(waiting.values(), FileState.WAITING, "the ingest ended before it was read")
        here = ((path, read_here(path, reading)) for path in waiting)
        outcomes = here if workers == 0 else read_in_workers(list(waiting), reading, workers or os.cpu_count() or 1)
        for path, outcome in outcomes:
            done(_store(path, waiting[path], outcome, manifest))
        index.merge_full_text(report.count(Outcome.ADDED))
    return report


def usual_reader() -> Prepare:
    """Return the reader that prepares a filing for questions."""
    from fin_agent.evidence.filing_preparation import prepare  # a higher layer, imported only when needed

    return prepare


def _to_read(files: Iterable[Path], manifest: Manifest, done: OnFile) -> dict[Path, KnownFile]:
    """Return the files to be read; tell `done` the outcome of the others."""
    waiting: dict[Path, KnownFile] = {}
    first: dict[str, tuple[Path, str]] = {}
    for path in files:
        try:
            file = _checked(path, manifest)
            same_name, content = first.setdefault(file.doc_id, (path, file.content_hash))
            other = same_name if content != file.content_hash else manifest.other_owner(file)
            if other is not None:
                reason = f"its doc_id {file.doc_id!r} is already used by another file, {other}"
                raise ReadError(reason, remedy="Rename one of the two and ingest it again")
        except ReadError as error:
            done(failed_file(path, error, manifest))
            continue
        if manifest.current.get(file.doc_id) == file.content_hash:  # from whatever path
            manifest.record_location(file)
            done(IngestedFile(path, file.doc_id, Outcome.UNCHANGED))
        else:
            waiting[path] = file
    return waiting


def _checked(path: Path, manifest: Manifest) -> KnownFile:
    """Return a file as it is now. Raises ReadError for what is no file that can be read."""
    what, remedy = "", "Rename the file (or its folder)"
    try:
        os.path.realpath(path).encode()
        if is_readable(path) and not is_doc_id(doc_id_of(path)):
            what = "its name has nothing before the ending, or has invisible characters"
        elif _ADDRESS.match(str(path)):
            what, remedy = "`ingest` does not download", "Download the filing and give the file's path"
        elif path.is_dir():
            what, remedy = "the folder cannot be entered", "Check its permissions, and ingest it again"
        elif not path.is_symlink() and not path.exists():
            what, remedy = "there is no such file", "Check the path"
        elif not path.is_file():
            what, remedy = "it is not a file, or a link to nothing", "Check where it leads"
        else:
            return KnownFile.of(path, manifest.known_hash(path) or content_hash(path))
    except UnicodeEncodeError:
        what = "its path is not valid text"
    except OSError as error:
        what, remedy = error.strerror or str(error), "Check the file and its permissions"
    raise ReadError(what, subject=path.name, remedy=remedy)


def failed_file(
    path: Path, error: FinAgentError, manifest: Manifest | None, file: KnownFile | None = None
) -> IngestedFile:
    """Return the result for a file that failed, and record it as far as it is there and its path is valid text."""
    kept = False
    with suppress(OSError, UnicodeError):
        if manifest is not None:
            manifest.record_unread([file or KnownFile.of(path, "")], FileState.FAILED, error.what, error.remedy)
            kept = True
    shown = Path(str(path).encode(errors="backslashreplace").decode())
    return IngestedFile(shown, doc_id_of(shown), Outcome.FAILED, error.what, error.remedy, kept=kept)


def _store(path: Path, file: KnownFile, outcome: StoredFiling | FinAgentError, manifest: Manifest) -> IngestedFile:
    if isinstance(outcome, StoredFiling):
        try:
            manifest.add(file, outcome)
            return added_file(path, outcome)
        except (ValueError, OverflowError) as error:  # values SQLite cannot store: lone surrogates, huge numbers
            outcome = reader_failure(path, error)
    return failed_file(path, outcome, manifest, file)


def added_file(path: Path, stored: StoredFiling) -> IngestedFile:
    """Return the result for a file whose filing was added."""
    added = FilingRecord.of([*stored.parts[Part.FILING][0], *stored.parts[Part.DETAILS][0]])
    return IngestedFile(path, added.doc_id, Outcome.ADDED, pages=added.page_count, warnings=added.warnings)


def files_below(paths: Iterable[Path]) -> list[Path]:
    """Return the named files and every readable file below the named folders, sorted, each once.

    Named paths that cannot be read (a dangling link, a folder without permission) are included, so that they are
    reported. Linked folders are entered like others, but each real folder once, so that cyclic links end.
    """
    found: dict[str, Path] = {}
    entered: set[str] = set()
    for path in paths:
        for file in sorted(_below(path, entered)) if path.is_dir() else [path]:
            found.setdefault(os.path.realpath(file), file)
    return list(found.values())


def _below(folder: Path, entered: set[str]) -> Iterator[Path]:
    """Yield the readable files below `folder`; `entered` collects the real paths of folders already visited."""
    entered.add(os.path.realpath(folder))
    closed: list[Path] = []
    for inside, folders, names in os.walk(
        folder, followlinks=True, onerror=lambda error: closed.append(Path(error.filename))
    ):
        yield from (Path(inside, name) for name in names if is_readable(Path(name)))
        new = {os.path.realpath(Path(inside, name)): name for name in sorted(folders, reverse=True)}
        folders[:] = sorted(name for real, name in new.items() if real not in entered)
        entered.update(new)
    yield from closed


# Readers


def read_in_workers(
    paths: Sequence[Path], read: Prepare, workers: int
) -> Iterator[tuple[Path, StoredFiling | FinAgentError]]:
    """Yield each path with its filing, or with the error of `read`, in order of completion.

    Rows are made in the worker, because they pass between processes in an eighth of the time of a Filing. A file is
    only blamed for the end of a process that had read nothing else. Raises FinAgentError where no worker can start.
    """
    waiting = list(reversed(paths))
    pool = WorkerPool(workers)
    with ThreadPoolExecutor(min(workers, len(waiting)) or 1) as threads:
        running: dict[Future[StoredFiling | FinAgentError], Path] = {}
        try:
            while waiting or running:
                while waiting and len(running) < workers * _AHEAD:
                    path = waiting.pop()
                    running[threads.submit(_read_in_process, pool, read, path)] = path
                finished, _ = wait_for(running, return_when=FIRST_COMPLETED)
                for future in sorted(finished, key=lambda future: str(running[future])):
                    outcome = future.result()
                    yield running.pop(future), outcome
        finally:
            pool.close()
            threads.shutdown(wait=False, cancel_futures=True)


def read_here(path: Path, read: Prepare) -> StoredFiling | FinAgentError:
    """Return the filing of a file, or why there is none, read in this process.

    The limit of processor time applies where this is the main thread and the system has alarms; it cannot interrupt a
    PDF library before that returns.
    """
    try:
        with _interrupted(READ_LIMITS):
            return _read(read, path)
    except (_InterruptedError, MemoryError):
        return _crash_error(path)


def reader_failure(path: Path, error: Exception) -> ReadError:
    """Return the error for an exception of a reader, or of what uses its result, on the file at `path`."""
    return ReadError(
        f"the reader failed ({type(error).__name__}: {error})",
        subject=path.name,
        remedy="Report this file; the others are not affected",
    )


def _read_in_process(pool: WorkerPool, read: Prepare, path: Path) -> StoredFiling | FinAgentError:
    while True:
        try:
            return pool.call(_read, read, path, limits=READ_LIMITS)
        except (MemoryError, CallTimeoutError):
            return _crash_error(path)
        except WorkerEndedError as end:
            if end.calls == 0:
                what = "a process ended before it could read a file, probably because memory ran out"
                raise FinAgentError(what, remedy=_FREE_MEMORY) from end
            if end.calls == 1 and end.killed_by_system:
                what = "the operating system ended the process that read the file, probably because memory ran out"
                return ReadError(what, subject=path.name, remedy=_FREE_MEMORY)
            if end.calls == 1:
                return _crash_error(path)


def _read(read: Prepare, path: Path) -> StoredFiling | FinAgentError:
    """Read one file, or return why it cannot be read. Raises MemoryError, and errors that are not due to the file."""
    try:
        prepared = read(path)
        return StoredFiling.of(prepared.filing, prepared.cards, prepared.summary)
    except (FilingIndexError, LexiconError, MemoryError):
        raise
    except ReadError as error:
        return ReadError(error.what, subject=error.subject, remedy=error.remedy)
    except Exception as error:  # a file that breaks the reader must not end the run; it is reported
        return reader_failure(path, error)


class _InterruptedError(BaseException):
    """The time limit is exceeded. A reader that catches every Exception does not catch this."""


@contextmanager
def _interrupted(limits: Limits) -> Iterator[None]:
    """Raise _InterruptedError in this thread when the code inside exceeds its limit of processor time."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def raised(number: int, frame: FrameType | None) -> None:
        raise _InterruptedError

    handler = signal.signal(signal.SIGPROF, raised)
    signal.setitimer(signal.ITIMER_PROF, limits.seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handler)


def _crash_error(path: Path) -> ReadError:
    return ReadError(
        "the reader crashed, or took more time or memory than any filing needs",
        subject=path.name,
        remedy="Download the filing again; where a viewer or a browser opens it, print it to a new PDF and ingest that",
    )
