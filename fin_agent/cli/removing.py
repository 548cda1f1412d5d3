"""`fin-agent remove`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import chosen_index, opened
from fin_agent.cli.streams import say, show, show_json
from fin_agent.presentation.plain import counted


def remove_filings(doc_ids: Sequence[str], given: Path | None, *, as_json: bool) -> ExitCode:
    """Take these filings out, with what the index knows of their files; SOME_FAILED where one is not in the index."""
    removed: list[str] = []
    unknown: list[str] = []
    with opened(given) as workspace:
        for doc_id in dict.fromkeys(doc_ids):
            (removed if workspace.index.remove(doc_id) else unknown).append(doc_id)
        left = len(workspace.index.entries())
    folder = chosen_index(given).place
    for doc_id in unknown:
        say(f"error: {doc_id}: this filing is not in the index in {folder}. `fin-agent filings` lists those that are")
    if as_json:
        show_json({"removed": removed, "unknown": unknown, "filings": left})
    else:
        show(f"{len(removed)} removed, {len(unknown)} unknown. The index in {folder} holds {counted(left, 'filing')}.")
    return ExitCode.SOME_FAILED if unknown else ExitCode.DONE
