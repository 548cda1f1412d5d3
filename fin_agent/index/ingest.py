"""Bring files into an index: several are read at once, each is written whole, failures are kept with their reason."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from multiprocessing.process import BaseProcess
from pathlib import Path

from fin_agent.errors import FilingIndexError, FinAgentError, LexiconError, ReadError
from fin_agent.filings.reader import content_hash, doc_id_of, is_doc_id, is_readable
from fin_agent.filings.readers.limits import limited
from fin_agent.index.ingest_lock import Owner, ingest_lock
from fin_agent.index.manifest import FileStamp, Manifest
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.vocabulary.filing import Filing

_AHEAD = 2
"""Files read ahead per worker: enough to keep all busy, few enough to keep memory flat."""


@dataclass(frozen=True, slots=True)
class PreparedFiling:
    """A filing with what the index stores beside it."""

    filing: Filing
    cards: tuple[str, ...]
    summary: str


class Outcome(StrEnum):
    """What became of a file."""

    ADDED = "added"
    UNCHANGED = "unchanged"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class IngestedFile:
    """One file and what became of it."""

    path: Path
    doc_id: str
    outcome: Outcome
    reason: str = ""
    remedy: str = ""
    pages: int = 0


@dataclass(slots=True)
class IngestReport:
    """What an ingest did."""

    files: list[IngestedFile] = field(default_factory=list)

    def count(self, outcome: Outcome) -> int:
        """How many files ended so."""
        return sum(file.outcome is outcome for file in self.files)

    @property
    def failures(self) -> list[IngestedFile]:
        """Files that could not be read, with reasons."""
        return [file for file in self.files if file.outcome is Outcome.FAILED]


Prepare = Callable[[Path], PreparedFiling]
"""Reads one file; has to be importable by name, since it runs in worker processes."""
OnFile = Callable[[IngestedFile], None]


def ingest(
    paths: Sequence[Path],
    index: SqliteIndex,
    prepare: Prepare,
    *,
    workers: int | None = None,
    on_file: OnFile = lambda file: None,
    wait: float = 0.0,
    on_wait: Callable[[Owner | None], None] = lambda owner: None,
) -> IngestReport:
    """Bring the files of `paths` (files, or folders taken with all below) into `index`.

    A file that was read before by this version and has not changed is left alone. A file that cannot be read is
    reported and the rest goes on. `workers` processes read (default: one per core; 0 reads in this process). Raises
    IndexInUseError where another ingest goes on and does not end within `wait` seconds; `on_wait` is told whose it is.
    """
    report = IngestReport()

    def done(file: IngestedFile) -> None:
        report.files.append(file)
        on_file(file)

    with ingest_lock(index.folder, wait=wait, on_wait=on_wait):
        manifest = Manifest(index)
        waiting = list(_to_read(files_below(paths), manifest, done))
        if waiting:
            manifest.waiting(waiting)
        reader = _read_here if workers == 0 else _read_in_workers
        for stamp, outcome in reader(waiting, prepare, workers or os.cpu_count() or 1):
            done(_store(stamp, outcome, manifest))
    return report


def files_below(paths: Iterable[Path]) -> list[Path]:
    """The files named, and every readable file below the folders named, sorted; each once, however it is named.

    What is there by its name and cannot be read (a link to nowhere, a folder that may not be entered) is among them, so
    that it is reported. Folders that are links are not entered.
    """
    found: dict[str, Path] = {}
    for path in paths:
        for file in sorted(_below(path)) if path.is_dir() else [path]:
            found.setdefault(os.path.realpath(file), file)
    return list(found.values())


def _below(folder: Path) -> Iterator[Path]:
    closed: list[Path] = []
    for inside, _, names in os.walk(folder, onerror=lambda error: closed.append(Path(error.filename))):
        yield from (Path(inside, name) for name in names if is_readable(Path(name)))
    yield from closed


def _to_read(files: Iterable[Path], manifest: Manifest, done: OnFile) -> Iterator[FileStamp]:
    first: dict[str, FileStamp] = {}
    for path in files:
        try:
            stamp = _stamp(path, manifest)
        except ReadError as error:
            if path.is_file():
                with suppress(OSError, UnicodeError):  # a path that is no text cannot be kept
                    manifest.failed(FileStamp.of(path, ""), error.what, error.remedy)
            done(_failed(path, error.what, error.remedy))
            continue
        except OSError as error:
            reason, remedy = error.strerror or str(error), "Check the file and its permissions"
            with suppress(OSError):
                manifest.failed(FileStamp.of(path, ""), reason, remedy)
            done(_failed(path, reason, remedy))
            continue
        same_name = first.setdefault(stamp.doc_id, stamp)
        other = same_name.path if same_name.content_hash != stamp.content_hash else manifest.other_owner(stamp)
        if other is not None:
            reason = f"its doc_id {stamp.doc_id!r} is that of another file, {other}"
            remedy = "Rename one of the two and ingest it again"
            manifest.failed(stamp, reason, remedy)
            done(_failed(path, reason, remedy))
        elif same_name is not stamp:
            reason = f"the same file as {same_name.path}"
            done(IngestedFile(path, stamp.doc_id, Outcome.UNCHANGED, reason))
        elif manifest.is_done(stamp):
            manifest.seen(stamp)
            done(IngestedFile(path, stamp.doc_id, Outcome.UNCHANGED))
        else:
            yield stamp


def _stamp(path: Path, manifest: Manifest) -> FileStamp:
    try:
        os.path.realpath(path).encode()
    except UnicodeEncodeError as error:
        raise ReadError("its path holds bytes that are no text", subject=path.name, remedy=_RENAME) from error
    if is_readable(path) and not is_doc_id(doc_id_of(path)):
        raise ReadError(
            "its name is empty before its ending, or holds what cannot be seen", subject=path.name, remedy=_RENAME
        )
    if _ADDRESS.match(str(path)):
        raise ReadError(
            "addresses are not fetched", subject=str(path), remedy="Download the filing and give the file's path"
        )
    if path.is_dir():
        raise ReadError(
            "the folder cannot be entered", subject=str(path), remedy="Check its permissions, and ingest it again"
        )
    if not path.is_file():
        there = path.is_symlink() or path.exists()
        what = "it is no file, or a link to none" if there else "there is no such file"
        raise ReadError(what, subject=str(path), remedy="Check where it leads" if there else "Check the path")
    return FileStamp.of(path, manifest.hash_of(path) if manifest.unchanged(path) else content_hash(path))


_RENAME = "Rename the file (or its folder)"
_ADDRESS = re.compile(r"(?:https?|ftp):/", re.I)


def _failed(path: Path, reason: str, remedy: str) -> IngestedFile:
    shown = Path(str(path).encode(errors="backslashreplace").decode())
    return IngestedFile(shown, doc_id_of(shown), Outcome.FAILED, reason, remedy)


def _store(stamp: FileStamp, outcome: PreparedFiling | FinAgentError, manifest: Manifest) -> IngestedFile:
    if isinstance(outcome, PreparedFiling):
        try:
            manifest.add(stamp, outcome.filing, outcome.cards, outcome.summary)
        except (ValueError, OverflowError) as error:  # what SQLite cannot hold: half a character, too large a number
            outcome = _reader_failed(stamp.path, error)
        else:
            return IngestedFile(stamp.path, stamp.doc_id, Outcome.ADDED, pages=len(outcome.filing.pages))
    manifest.failed(stamp, outcome.what, outcome.remedy)
    return _failed(stamp.path, outcome.what, outcome.remedy)


def _read_here(
    stamps: Sequence[FileStamp], prepare: Prepare, workers: int
) -> Iterator[tuple[FileStamp, PreparedFiling | FinAgentError]]:
    for stamp in stamps:
        yield stamp, _attempt(prepare, stamp.path)


def _read_in_workers(
    stamps: Sequence[FileStamp], prepare: Prepare, workers: int
) -> Iterator[tuple[FileStamp, PreparedFiling | FinAgentError]]:
    """Read in processes of their own: a file that brings the PDF library down costs that file, not the run."""
    waiting = list(reversed(stamps))
    suspects: list[FileStamp] = []
    started = False
    while waiting:
        with _pool(min(workers, len(waiting))) as pool:
            started = started or _starts(pool)
            running: dict[Future[PreparedFiling | FinAgentError], FileStamp] = {}
            try:
                while waiting or running:
                    while waiting and len(running) < workers * _AHEAD:
                        running[pool.submit(_attempt_within_limits, prepare, waiting[-1].path)] = waiting[-1]
                        waiting.pop()
                    finished, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in sorted(finished, key=lambda future: str(running[future].path)):
                        outcome = future.result()
                        yield running.pop(future), outcome
            except BrokenProcessPool:
                suspects += running.values()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    for stamp in suspects:
        yield stamp, _alone(prepare, stamp.path)


def _starts(pool: ProcessPoolExecutor) -> bool:
    """True once a worker answers. Raises FinAgentError where none can start: no file is to blame for that."""
    try:
        pool.submit(os.getpid).result()
    except BrokenProcessPool as error:
        raise FinAgentError(
            "the processes that read files cannot start",
            remedy="In a script, call `ingest` below `if __name__ == '__main__':`, or pass `workers=0`",
        ) from error
    return True


def _alone(prepare: Prepare, path: Path) -> PreparedFiling | FinAgentError:
    with _pool(1) as pool:
        try:
            return pool.submit(_attempt_within_limits, prepare, path).result()
        except BrokenProcessPool:
            return _brought_down(path)


def _attempt_within_limits(prepare: Prepare, path: Path) -> PreparedFiling | FinAgentError:
    with limited():
        return _attempt(prepare, path)


def _attempt(prepare: Prepare, path: Path) -> PreparedFiling | FinAgentError:
    try:
        return prepare(path)
    except ReadError as error:
        return ReadError(error.what, subject=error.subject, remedy=error.remedy)
    except (FilingIndexError, LexiconError):
        raise  # no file is to blame
    except MemoryError:
        return _brought_down(path)
    except Exception as error:  # a file that breaks the reader must not end the run; its name and reason are kept
        return _reader_failed(path, error)


def _brought_down(path: Path) -> ReadError:
    return ReadError(
        "reading it brought the reader down (it crashed, or took more time or memory than any filing needs)",
        subject=path.name,
        remedy="Download the filing again; where a viewer or a browser opens it, print it to a new PDF and ingest that",
    )


def _reader_failed(path: Path, error: Exception) -> ReadError:
    return ReadError(
        f"the reader failed on it ({type(error).__name__}: {error})",
        subject=path.name,
        remedy="Please report this file; the others are not affected",
    )


def _pool(workers: int) -> ProcessPoolExecutor:
    # A fresh interpreter per worker: forking a process with threads (progress bars, the sandbox's pool) can hang.
    return ProcessPoolExecutor(
        workers, mp_context=multiprocessing.get_context("spawn"), initializer=end_with_the_ingest
    )


def end_with_the_ingest() -> None:
    """In a worker: nothing of it outlasts the process that started it.

    Stopped from the keyboard, it ends at once and without a traceback: that process says what was stopped. Where that
    one is killed, it would wait for the next file for ever.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if (parent := multiprocessing.parent_process()) is not None:
        threading.Thread(target=_exit_after, args=(parent,), daemon=True).start()


def _exit_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
