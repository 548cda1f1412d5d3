"""Recording while questions are answered: an answer never fails because it cannot be recorded."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType

from fin_agent.answering.answer import Answer, PagePlace
from fin_agent.config import Recording, Settings
from fin_agent.errors import FinAgentError
from fin_agent.index.protocol import FilingEntry, FilingIndex
from fin_agent.runs.fingerprint import index_state
from fin_agent.runs.run import IndexState, Run, StepTime
from fin_agent.runs.store import FILE_NAME, RunStore


class Recorder:
    """Records runs over one index. What keeps it from that is told once, and it goes on without."""

    def __init__(
        self,
        index: FilingIndex,
        folder: Path,
        settings: Settings,
        recording: Recording,
        *,
        notify: Callable[[str], None],
    ) -> None:
        """`folder` is that of the index; `notify` is told why nothing is recorded."""
        self._index = index
        self._folder = folder
        self._settings = settings
        self._store = RunStore(store_file(folder, recording), recording) if recording.enabled else None
        self._notify = notify
        self._known: tuple[Sequence[FilingEntry], IndexState] | None = None

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._store is not None:
            self._store.close()

    def record(
        self,
        answer: Answer,
        *,
        started: datetime,
        doc_ids: Sequence[str] = (),
        pages: Sequence[PagePlace] = (),
        steps: Sequence[StepTime] = (),
    ) -> str:
        """Record the run that gave `answer`. Returns its id, or nothing where it is not recorded."""
        if self._store is None:
            return ""
        try:
            run = Run.of(
                answer,
                started=started,
                settings=self._settings,
                index=self._state(),
                doc_ids=doc_ids,
                pages=pages,
                steps=steps,
            )
            return self._store.record(run).id
        except (FinAgentError, OSError, sqlite3.Error, ValueError) as error:
            # ValueError: a question that is no text (half a character) has no JSON.
            self._store.close()
            self._store = None
            self._notify(f"runs are not recorded: {error}")
            return ""

    def _state(self) -> IndexState:
        """Worked out again only where the list of filings is another."""
        entries = self._index.entries()
        if self._known is None or self._known[0] is not entries:
            self._known = entries, index_state(self._index, self._folder)
        return self._known[1]


def store_file(folder: Path, recording: Recording) -> Path:
    """Where the runs over the index in `folder` are kept: beside it, unless the environment names a file."""
    return recording.file.expanduser() if recording.file is not None else folder / FILE_NAME
