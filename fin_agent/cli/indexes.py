"""Which index a command works on, and the index opened."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fin_agent.cli.streams import say, warn
from fin_agent.config import INDEX_VARIABLE, index_folder
from fin_agent.index.ingest_lock import Owner
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ChosenIndex:
    """A folder and why it is the one in use."""

    folder: Path
    chosen_by: str
    """`--index`, `FIN_AGENT_INDEX` or `default`."""


def chosen_index(given: Path | None) -> ChosenIndex:
    """The folder given, else the one the environment names, else the user's own."""
    by_environment = INDEX_VARIABLE if os.environ.get(INDEX_VARIABLE) else "default"
    return ChosenIndex(index_folder(given), "--index" if given is not None else by_environment)


@contextmanager
def opened(given: Path | None) -> Iterator[Workspace]:
    """The workspace over an index that exists; warns where it is empty. Raises FilingIndexError where there is none."""
    folder = chosen_index(given).folder
    with SqliteIndex(folder) as index:
        if not index.filings():
            warn(f"the index in {folder} is empty: bring filings in with `fin-agent ingest PATH...`")
        yield Workspace(index)


def waiting_time(wait: bool) -> float:
    """Seconds that `--wait` means."""
    return math.inf if wait else 0.0


def say_waiting(owner: Owner | None) -> None:
    """Tell for whom a command waits."""
    say(f"waiting for another command that writes to this index: {owner or 'one that has just begun'}")
