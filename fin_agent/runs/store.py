"""The file of recorded runs: the latest ones, up to a number and a size."""

from __future__ import annotations

import re
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from fin_agent.answering.answer import Answer
from fin_agent.atomic_write import create_private_file
from fin_agent.config import Recording, Settings
from fin_agent.distribution import installed_version
from fin_agent.errors import FinAgentError
from fin_agent.index.protocol import FilingEntry, FilingIndex
from fin_agent.index.sqlite_file import is_damage, transaction
from fin_agent.runs.run import MODEL, RULES, IndexState, Run, StepTime, index_state, run_id


class Recorder(AbstractContextManager["Recorder"]):
    """Record runs over one index. If recording fails, it warns once and stops recording; answering goes on."""

    def __init__(
        self,
        index: FilingIndex,
        folder: Path,
        settings: Settings,
        recording: Recording,
        *,
        notify: Callable[[str], None],
    ) -> None:
        """Open the store of runs of the index in `folder`.

        `notify` is called with the reason if runs cannot be recorded.
        """
        self._index = index
        self._folder = folder
        self._settings = settings
        self._store = RunStore(store_file(folder, recording), recording) if recording.enabled else None
        self._notify = notify
        self._known: tuple[Sequence[FilingEntry], IndexState] | None = None

    def __exit__(self, *error: object) -> None:
        if self._store is not None:
            self._store.close()

    def record(
        self, answer: Answer, *, started: datetime, doc_ids: Sequence[str] = (), steps: Sequence[StepTime] = ()
    ) -> str:
        """Record the run that gave `answer`, and return its id; empty if it is not recorded.

        `doc_ids` are the filings that the search was restricted to, `steps` the times of the steps of the trace.
        """
        if self._store is None:
            return ""
        try:
            run = Run(
                id=run_id(started),
                started=started,
                question=answer.question,
                settings=self._settings,
                analyst=MODEL if self._settings.by_model else RULES,
                version=installed_version(),
                index=self._state(),
                doc_ids=tuple(doc_ids),
                answer=answer,
                steps=tuple(steps),
            )
            return self._store.record(run).id
        except (FinAgentError, OSError, sqlite3.Error, ValueError) as error:
            # ValueError: a question with a lone surrogate cannot be written as JSON.
            self._store.close()
            self._store = None
            self._notify(f"runs are not recorded: {error}")
            return ""

    def _state(self) -> IndexState:
        """Return the state of the index, computed anew only when its list of filings has changed."""
        entries = self._index.entries()
        if self._known is None or self._known[0] is not entries:
            self._known = entries, index_state(self._index, self._folder)
        return self._known[1]


def store_file(folder: Path, recording: Recording) -> Path:
    """Return the file of the runs over the index in `folder`: next to the index, unless `recording` names a file."""
    return recording.file.expanduser() if recording.file is not None else folder / FILE_NAME


FILE_NAME = "runs.sqlite"
_LAST = re.compile(r"last(?:~(\d{1,6}))?")
_MEGABYTE = 1_000_000
_MAX_NAMED = 5
_MAX_SAID_LENGTH = 300


class RunStore(AbstractContextManager["RunStore"]):
    """The runs in one file. Several threads and several processes may use it at once.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, RunStore(Path(folder) / "runs.sqlite") as store:
    ...     store.listed()
    []
    """

    def __init__(self, file: Path, recording: Recording | None = None) -> None:
        """Set the file without opening it; it is created when the first run is recorded."""
        self.file = file
        self._bounds = recording or Recording()
        self._guard = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with self._guard:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def record(self, run: Run) -> Run:
        """Store a run, and delete the oldest ones beyond the limits.

        Returns the run as stored: with a new id if its own was already used. Raises RunStoreError if it is too large.
        """
        packed = zlib.compress(run.model_dump_json().encode(), 6)
        if len(packed) > self._bounds.megabytes * _MEGABYTE:
            raise RunStoreError(
                f"the run takes {len(packed) / _MEGABYTE:.1f} MB, more than the limit for all runs together",
                subject=str(self.file),
                remedy="Allow more with FIN_AGENT_RUNS_MEGABYTES",
            )
        with self._opened(make=True) as connection, transaction(connection):
            while connection.execute("SELECT 1 FROM runs WHERE id = ?", (run.id,)).fetchone():
                run = run.model_copy(update={"id": run_id(run.started)})
            row = (*_line(run), len(packed))
            number = connection.execute(f"INSERT INTO runs VALUES (NULL{', ?' * 12})", row).lastrowid
            connection.execute("INSERT INTO contents VALUES (?, ?)", (number, packed))
            # The oldest runs beyond the limits are deleted; the latest one always stays.
            connection.execute(
                """DELETE FROM runs WHERE number IN (SELECT number FROM (
                     SELECT number, row_number() OVER w AS place, sum(bytes) OVER w AS reached FROM runs
                     WINDOW w AS (ORDER BY number DESC)
                   ) WHERE place > ? OR reached > ?)""",
                (self._bounds.runs_kept, self._bounds.megabytes * _MEGABYTE),
            )
        return run

    def listed(self, limit: int | None = None) -> list[RunLine]:
        """Return the latest runs, newest first; all of them if `limit` is None."""
        rows = self._read("SELECT * FROM runs ORDER BY number DESC LIMIT ?", -1 if limit is None else limit)
        return [RunLine.model_validate(dict(row)) for row in rows]

    def count(self) -> int:
        """Return the number of stored runs."""
        return sum(int(row[0]) for row in self._read("SELECT count(*) FROM runs"))

    def run(self, name: str) -> Run:
        """Return the run of a name. Raises RunStoreError if there is none, or it cannot be read.

        A name is an id, its beginning, `last`, `last~1` for the run before the last, or the id of a question in a
        batch, which names the latest run of that question.
        """
        number, id_ = self._named(name)
        (row,) = self._read("SELECT packed FROM contents WHERE number = ?", number) or [{"packed": b""}]
        try:
            return Run.model_validate_json(zlib.decompress(row["packed"]))
        except (zlib.error, ValidationError) as error:
            raise RunStoreError(
                "this run is damaged, or another version of fin-agent recorded it in a form that this one cannot read",
                subject=f"run {id_} in {self.file}",
                remedy=f"Delete it with `fin-agent runs forget {id_}`",
            ) from error

    def forget(self, names: Iterable[str] | None = None) -> int:
        """Delete the named runs, or all of them, and return their number. Raises RunStoreError as `run` does."""
        # All names are resolved first: `last` names another run once one is deleted.
        numbers = None if names is None else {self._named(name)[0] for name in names}
        if not self.file.exists():
            return 0
        with self._opened(make=False) as connection:
            with transaction(connection):
                if numbers is None:
                    numbers = {row["number"] for row in connection.execute("SELECT number FROM runs")}
                connection.executemany("DELETE FROM runs WHERE number = ?", [(number,) for number in numbers])
            connection.execute("VACUUM")  # deleted runs are removed from the disk as well
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return len(numbers)

    def _named(self, name: str) -> tuple[int, str]:
        """Return number and id of the run with this name."""
        typed = name.strip().lower()
        newest = "SELECT number, id FROM runs {} ORDER BY number DESC LIMIT 1 OFFSET ?"
        if (back := _LAST.fullmatch(typed)) is not None:
            found = self._read(newest.format(""), int(back[1] or 0))
        else:
            begins = "SELECT number, id FROM runs WHERE id >= ? AND id < ? ORDER BY number DESC LIMIT ?"
            found = self._read(begins, typed, f"{typed}~", _MAX_NAMED) if typed else []
            if len(found) != 1:
                found = self._read(newest.format("WHERE question_id = ?"), name.strip(), 0) or found
        if not found and not self.count():
            remedy = 'Ask something: `fin-agent ask "QUESTION"`'
            raise UnknownRunError("no run is recorded yet", subject=str(self.file), remedy=remedy)
        if not found:
            remedy = "`fin-agent runs list` lists all runs, with the ids of questions of a batch"
            raise UnknownRunError("there is no run of this name", subject=name or "''", remedy=remedy)
        if len(found) > 1:
            named = ", ".join(str(row["id"]) for row in found)
            raise UnknownRunError(f"several ids begin with this: {named}", subject=name, remedy="Give more of the id")
        return int(found[0]["number"]), str(found[0]["id"])

    def _read(self, statement: str, *values: object) -> list[Any]:
        """Return the rows of a query; none if nothing was ever recorded."""
        if self._connection is None and not self.file.exists():
            return []
        with self._opened(make=False) as connection:
            return connection.execute(statement, values).fetchall()

    @contextmanager
    def _opened(self, *, make: bool) -> Iterator[sqlite3.Connection]:
        with self._guard:
            if self._connection is None:
                self._connection = connect(self.file, make=make)
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise _fault(self.file, error) from error


class RunLine(BaseModel):
    """A run as lists show it."""

    model_config = ConfigDict(frozen=True)

    id: str
    started: datetime
    question: str
    question_id: str | None
    """The id of the question in its batch."""
    strategy: str
    refused: bool
    value: float | None
    unit: str | None
    said: str
    """The beginning of the answer's text."""
    rounds: int
    seconds: float
    bytes: int
    """Its size in the file."""


def _line(run: Run) -> tuple[str | int | float | None, ...]:
    answer = run.answer
    return (
        run.id,
        run.started.astimezone(UTC).isoformat(),
        run.question,
        answer.id,
        run.settings.strategy,
        int(answer.refused),
        answer.answer.value,
        answer.answer.unit,
        answer.answer.text[:_MAX_SAID_LENGTH],
        answer.rounds,
        answer.seconds,
    )


FORMAT_VERSION = 1
_APPLICATION = 0x46415255
"""The application id that marks the file as a store of runs (SQLite file format, 1.3.14)."""
_BUSY_MILLISECONDS = 5_000


class RunStoreError(FinAgentError):
    """The recorded runs cannot be read or written, or no run has the given name."""


class UnknownRunError(RunStoreError):
    """No run has this name, or several ids begin with it."""


def connect(file: Path, *, make: bool) -> sqlite3.Connection:
    """Open the runs in `file`, or `make` it. Raises RunStoreError if it cannot be opened or is another database."""
    try:
        if make:
            file.parent.mkdir(parents=True, exist_ok=True)
            create_private_file(file)
        address = f"{file.absolute().as_uri()}?mode={'rwc' if make else 'rw'}"
        connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
    except (OSError, sqlite3.Error) as error:
        raise _fault(file, error) from error
    try:
        connection.row_factory = sqlite3.Row
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")  # a deleted run is overwritten on the disk
        _check(connection, file)
    except (sqlite3.Error, RunStoreError) as error:
        connection.close()
        raise (error if isinstance(error, RunStoreError) else _fault(file, error)) from error
    return connection


def _fault(file: Path, error: OSError | sqlite3.Error) -> RunStoreError:
    """Return the RunStoreError for an error of the file or of SQLite, with its remedy."""
    if isinstance(error, sqlite3.Error) and is_damage(error):
        what = f"this file is damaged, or it is not a file of recorded runs ({error})"
        remedy = "Move it away: the next question creates a new one. Answers and the index do not depend on it"
    else:
        reason = getattr(error, "strerror", None) or str(error)
        what = f"the recorded runs cannot be opened or written ({reason})"
        remedy = "Name a file that can be written with FIN_AGENT_RUNS, or record nothing with FIN_AGENT_RECORD=0"
    return RunStoreError(what, subject=str(file), remedy=remedy)


def _check(connection: sqlite3.Connection, file: Path) -> None:
    """Create the tables in an empty file. Raises RunStoreError if it is another database or has another version."""
    if _is_empty(connection):
        with transaction(connection):
            if _is_empty(connection):
                for statement in resources.files(__package__).joinpath("schema.sql").read_text("utf-8").split(";\n"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
        # With WAL, readers and a writer do not block each other. A file in use now is switched the next time.
        with suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode = WAL")
    if _number(connection, "application_id") != _APPLICATION:
        remedy = "Name another file with FIN_AGENT_RUNS, or move this one away"
        raise RunStoreError("this database contains no recorded runs", subject=str(file), remedy=remedy)
    if (found := _number(connection, "user_version")) != FORMAT_VERSION:
        what = f"these runs were recorded in format {found}; this version reads format {FORMAT_VERSION}"
        remedy = "Move the file away, or read it with the version that wrote it"
        raise RunStoreError(what, subject=str(file), remedy=remedy)


def _is_empty(connection: sqlite3.Connection) -> bool:
    return not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])
