"""Processes that this one has started and that are still there."""

from __future__ import annotations

import contextlib
from pathlib import Path


def workers() -> set[int]:
    """Process ids of this process's live children."""
    children: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread may end while it is looked at
            children |= {int(child) for child in (task / "children").read_text().split()}
    return children
