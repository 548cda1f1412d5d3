"""Which index a command works on, and the index opened."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from fin_agent.cli.streams import say, warn
from fin_agent.config import INDEX_VARIABLE, index_folder
from fin_agent.errors import FilingIndexError
from fin_agent.index.elastic.address import ClusterAddress
from fin_agent.index.ingest_lock import Owner
from fin_agent.index.opening import address_of, open_index
from fin_agent.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ChosenIndex:
    """A folder, or a cluster's address, and why it is the one in use."""

    folder: Path
    """On this machine: of the embedded index, or of what is kept beside one on a cluster (runs, replies of models)."""
    chosen_by: str
    """`--index`, `FIN_AGENT_INDEX` or `default`."""
    address: str | None = None
    """Of an index on a cluster."""

    @property
    def place(self) -> Path | str:
        """Where the index is."""
        return self.folder if self.address is None else self.address


def chosen_index(given: Path | None) -> ChosenIndex:
    """The folder given, else the one the environment names, else the user's own.

    Raises FilingIndexError for an address that is none, or holds a password: no command ever shows it.
    """
    by_environment = INDEX_VARIABLE if os.environ.get(INDEX_VARIABLE) else "default"
    place, chosen_by = index_folder(given), "--index" if given is not None else by_environment
    address = address_of(place)
    if address is None:
        return ChosenIndex(place, chosen_by)
    ClusterAddress.of(address)
    beside = platformdirs.user_data_path("fin-agent") / "clusters" / re.sub(r"[^\w.-]+", "_", address)
    return ChosenIndex(beside, chosen_by, address)


def embedded_folder(given: Path | None) -> Path:
    """The folder of the index in use, for what is done to indexes on this machine only.

    Raises FilingIndexError where it is on a cluster.
    """
    chosen = chosen_index(given)
    if chosen.address is not None:
        raise FilingIndexError(
            "this works on an index on this machine only",
            subject=chosen.address,
            remedy="Bring files into a folder (`fin-agent ingest PATH... --index DIR`) and from there to the cluster:"
            f" `fin-agent index copy --index DIR --to {chosen.address}`",
        )
    return chosen.folder


@contextmanager
def opened(given: Path | None) -> Iterator[Workspace]:
    """The workspace over an index that exists; warns where it is empty. Raises FilingIndexError where there is none."""
    chosen = chosen_index(given)
    with open_index(chosen.place) as index:
        if not index.entries():
            how = "ingest PATH...`" if chosen.address is None else f"index copy --index DIR --to {chosen.address}`"
            warn(f"the index in {chosen.place} is empty: bring filings in with `fin-agent {how}")
        yield Workspace(index)


def waiting_time(wait: bool) -> float:
    """Seconds that `--wait` means."""
    return math.inf if wait else 0.0


def say_waiting(owner: Owner | None) -> None:
    """Tell for whom a command waits."""
    say(f"waiting for another command that writes to this index: {owner or 'one that has just begun'}")
