"""Processes that this one has started and that are still there."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def workers() -> set[int]:
    """Process ids of this process's live children.

    By the parent that each process names: the kernel's lists by thread (`children` in `/proc`) miss children whose
    thread ends while it is read.
    """
    children: set[int] = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a process may end while it is looked at
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            if int(parent) == os.getpid() and state != "Z":
                children.add(int(stat.parent.name))
    return children
