"""Runs that were recorded: the last ones, up to a number and a size."""

from __future__ import annotations

import re
import sqlite3
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from pydantic import ValidationError

from fin_agent.config import Recording
from fin_agent.runs.database import RunStoreError, connect, fault, writing
from fin_agent.runs.ids import as_typed, run_id
from fin_agent.runs.run import Run

FILE_NAME = "runs.sqlite"
LAST = "last"
_LAST = re.compile(r"last(?:~(\d{1,6}))?")
_MEGABYTE = 1_000_000
_MOST_NAMED = 5
_LONGEST_SAID = 300


class RunStore:
    """The runs in one file. Several threads and several processes may use it at once.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, RunStore(Path(folder) / "runs.sqlite") as store:
    ...     store.listed()
    []
    """

    def __init__(self, file: Path, recording: Recording | None = None) -> None:
        """Nothing is opened yet; the file is made when the first run is recorded."""
        self.file = file
        self._bounds = recording or Recording()
        self._guard = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> RunStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with self._guard:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def record(self, run: Run) -> Run:
        """Keep a run, and let the oldest go where there are too many. Gives it back under the id it is kept by.

        Raises RunStoreError where it cannot be kept.
        """
        packed = zlib.compress(run.model_dump_json().encode(), 6)
        if len(packed) > self._bounds.megabytes * _MEGABYTE:
            raise RunStoreError(
                f"the run takes {len(packed) / _MEGABYTE:.1f} MB, more than all runs together may",
                subject=str(self.file),
                remedy="Allow more with FIN_AGENT_RUNS_MEGABYTES",
            )
        with self._opened(make=True) as connection, writing(connection):
            while connection.execute("SELECT 1 FROM runs WHERE id = ?", (run.id,)).fetchone():
                run = run.model_copy(update={"id": run_id(run.started)})
            number = connection.execute(
                f"INSERT INTO runs VALUES (NULL{', ?' * 12})", (*_line(run), len(packed))
            ).lastrowid
            connection.execute("INSERT INTO contents VALUES (?, ?)", (number, packed))
            self._let_go(connection)
        return run

    def listed(self, limit: int | None = None) -> list[RunLine]:
        """The runs, the last one first."""
        with self._reading() as connection:
            if connection is None:
                return []
            found = connection.execute(
                f"SELECT {_LISTED} FROM runs ORDER BY number DESC LIMIT ?", (-1 if limit is None else limit,)
            )
            rows = found.fetchall()
            return [_read_line(row, _is_computed(connection, row)) for row in rows]

    def count(self) -> int:
        """How many runs are kept."""
        with self._reading() as connection:
            return 0 if connection is None else int(connection.execute("SELECT count(*) FROM runs").fetchone()[0])

    def run(self, name: str) -> Run:
        """The run named: by its id, the beginning of it, `last`, `last~1` for the one before, or its question's id.

        Of several runs of a question id it is the last one.

        Raises RunStoreError where there is none, where several begin so, or where it cannot be read.
        """
        with self._reading() as connection:
            number, id_ = self._named(connection, name)
            assert connection is not None
            row = connection.execute("SELECT packed FROM contents WHERE number = ?", (number,)).fetchone()
        try:
            return Run.model_validate_json(zlib.decompress(row["packed"] if row else b""))
        except (zlib.error, ValidationError) as error:
            raise RunStoreError(
                "this run is damaged, or another version of fin-agent recorded it in a form that this one cannot read",
                subject=f"run {id_} in {self.file}",
                remedy=f"Take it out with `fin-agent runs forget {id_}`",
            ) from error

    def id_of(self, name: str) -> str:
        """The whole id of the run named. Raises RunStoreError as `run` does."""
        with self._reading() as connection:
            return self._named(connection, name)[1]

    def forget(self, name: str) -> str:
        """Take one run out. Returns its id; raises RunStoreError as `run` does."""
        with self._reading() as connection:
            number, id_ = self._named(connection, name)
            assert connection is not None
            with writing(connection):
                connection.execute("DELETE FROM runs WHERE number = ?", (number,))
            _shrink(connection)
        return id_

    def forget_all(self) -> int:
        """Take out all runs. Returns how many there were."""
        with self._reading() as connection:
            if connection is None:
                return 0
            with writing(connection):
                gone = connection.execute("DELETE FROM runs").rowcount
            _shrink(connection)
        return gone

    def _named(self, connection: sqlite3.Connection | None, name: str) -> tuple[int, str]:
        """Number and id."""
        typed = as_typed(name)
        back = _LAST.fullmatch(name.strip().lower())
        if connection is None or not connection.execute("SELECT 1 FROM runs LIMIT 1").fetchone():
            raise RunStoreError(
                "no run is recorded yet", subject=str(self.file), remedy='Ask something: `fin-agent ask "QUESTION"`'
            )
        if back is not None:
            found = connection.execute(
                "SELECT number, id FROM runs ORDER BY number DESC LIMIT 1 OFFSET ?", (int(back[1] or 0),)
            ).fetchall()
        else:
            found = connection.execute(
                "SELECT number, id FROM runs WHERE id >= ? AND id < ? ORDER BY number DESC LIMIT ?",
                (typed, f"{typed}~", _MOST_NAMED + 1),
            ).fetchall()
            if len(found) != 1:
                found = _of_question(connection, name.strip()) or found
        if not found or not name.strip():
            raise RunStoreError(
                "there is no run of this name",
                subject=name or "''",
                remedy="`fin-agent runs list` lists those there are, with the ids of questions of a batch",
            )
        if len(found) > 1:
            named = ", ".join(str(row["id"]) for row in found[:_MOST_NAMED])
            more = " ..." if len(found) > _MOST_NAMED else ""
            raise RunStoreError(f"several runs begin so: {named}{more}", subject=name, remedy="Give more of the id")
        return int(found[0]["number"]), str(found[0]["id"])

    def _let_go(self, connection: sqlite3.Connection) -> None:
        """Take out the oldest runs over the bounds; the one recorded last always stays."""
        connection.execute(
            "DELETE FROM runs WHERE number <= (SELECT number FROM runs ORDER BY number DESC LIMIT 1 OFFSET ?)",
            (self._bounds.runs_kept,),
        )
        connection.execute(
            """DELETE FROM runs WHERE number IN (
                 SELECT number FROM (SELECT number, sum(bytes) OVER (ORDER BY number DESC) AS reached FROM runs)
                 WHERE reached > ?)""",
            (self._bounds.megabytes * _MEGABYTE,),
        )

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """None where nothing was ever recorded."""
        if self._connection is None and not self.file.exists():
            yield None
            return
        with self._opened(make=False) as connection:
            yield connection

    @contextmanager
    def _opened(self, *, make: bool) -> Iterator[sqlite3.Connection]:
        with self._guard:
            if self._connection is None:
                self._connection = connect(self.file, make=make)
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise fault(self.file, error) from error


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run as it is listed."""

    id: str
    started: datetime
    question: str
    question_id: str | None
    """The id it had among the questions of a batch."""
    strategy: str
    refused: bool
    value: float | None
    unit: str | None
    computed: bool
    """Whether a program computed the answer: one without a value holds several figures then."""
    said: str
    """The beginning of the answer's text."""
    rounds: int
    seconds: float
    bytes: int
    """What it takes in the file."""


_LISTED = "number, id, started, question, question_id, strategy, refused, value, unit, said, rounds, seconds, bytes"


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
        answer.answer.text[:_LONGEST_SAID],
        answer.rounds,
        answer.seconds,
    )


def _of_question(connection: sqlite3.Connection, question_id: str) -> list[sqlite3.Row]:
    """The last run of the question of this id; nothing where there is none."""
    return connection.execute(
        "SELECT number, id FROM runs WHERE question_id = ? ORDER BY number DESC LIMIT 1", (question_id,)
    ).fetchall()


def _is_computed(connection: sqlite3.Connection, row: sqlite3.Row) -> bool:
    """Only an answer without a value has to be looked into for its program."""
    if row["refused"] or row["value"] is not None:
        return not row["refused"]
    found = connection.execute("SELECT packed FROM contents WHERE number = ?", (row["number"],)).fetchone()
    try:
        return Run.model_validate_json(zlib.decompress(found["packed"] if found else b"")).answer.program is not None
    except (zlib.error, ValidationError):
        return False  # a run that cannot be read is still listed; `run` says what is wrong with it


def _read_line(row: sqlite3.Row, computed: bool) -> RunLine:
    return RunLine(
        id=row["id"],
        started=datetime.fromisoformat(row["started"]),
        question=row["question"],
        question_id=row["question_id"],
        strategy=row["strategy"],
        refused=bool(row["refused"]),
        value=row["value"],
        unit=row["unit"],
        computed=computed,
        said=row["said"],
        rounds=row["rounds"],
        seconds=row["seconds"],
        bytes=row["bytes"],
    )


def _shrink(connection: sqlite3.Connection) -> None:
    """Give the room back to the disk, as far as nobody else is at work."""
    connection.executescript("PRAGMA incremental_vacuum")  # `execute` takes one step, which is one page
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
