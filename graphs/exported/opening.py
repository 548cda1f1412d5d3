"""From what a person set to what the nodes work with; opened once and shared by the runs that follow."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from fin_agent.config import INDEX_VARIABLE, Settings, index_folder, settings_from
from fin_agent.errors import FilingIndexError
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.exported.controls import SearchControls
from fin_agent.graphs.exported.sample_index import sample_index
from fin_agent.index.sqlite import FILE_NAME
from fin_agent.workspace import Workspace

ON_SAMPLES = (
    "no index is named and you have none of your own: the sample filings of made-up companies were searched. Bring in"
    " yours with `fin-agent ingest PATH...`"
)
_MOST_KEPT = 8


@dataclass(frozen=True, slots=True)
class Opened:
    """What a run works with, and what whoever reads its answer should know of that."""

    context: AnswerContext
    warnings: tuple[str, ...] = ()


def opened(controls: SearchControls) -> Opened:
    """The context that the controls name. Reads files: never to be called on an event loop.

    Raises FilingIndexError where there is no such index, and what `configured` and `AnswerContext.from_settings` raise.
    """
    settings = settings_from(controls.said())
    folder, warnings = _folder(controls.index)
    with _guard:
        return Opened(_context(folder, settings), warnings)


def _folder(named: str | None) -> tuple[Path, tuple[str, ...]]:
    folder = index_folder(Path(named).expanduser() if named and named.strip() else None)
    if named or os.environ.get(INDEX_VARIABLE) or (folder / FILE_NAME).exists():
        return folder, ()
    samples = sample_index()
    if samples is None:
        raise FilingIndexError(
            "there is no index yet",
            subject=str(folder),
            remedy="Make one with `fin-agent ingest PATH...`, or name one: FIN_AGENT_INDEX, or `index` of the context",
        )
    return samples, (ON_SAMPLES,)


def _context(folder: Path, settings: Settings) -> AnswerContext:
    file = folder / FILE_NAME
    # An index that was made anew under the same name is another one.
    edition = file.stat().st_ino if file.exists() else 0
    workspace = _workspaces.get((folder, edition))
    if workspace is None:
        workspace = _kept(_workspaces, (folder, edition), Workspace.open(folder))
    key = (folder, edition, settings.model_dump_json())
    context = _contexts.get(key)
    return context or _kept(_contexts, key, AnswerContext.from_settings(workspace, settings))


Key = TypeVar("Key")
Value = TypeVar("Value")


def _kept(values: OrderedDict[Key, Value], key: Key, value: Value) -> Value:
    values[key] = value
    if len(values) > _MOST_KEPT:
        values.popitem(last=False)
    return value


_guard = threading.Lock()
_workspaces: OrderedDict[tuple[Path, int], Workspace] = OrderedDict()
_contexts: OrderedDict[tuple[Path, int, str], AnswerContext] = OrderedDict()
