"""Room on a disk, asked for before it is needed."""

from __future__ import annotations

import shutil
from pathlib import Path

from fin_agent.errors import FilingIndexError


def check_space(folder: Path, wanted: int, why: str) -> None:
    """Raises FilingIndexError where fewer than `wanted` bytes are free in `folder`."""
    free = shutil.disk_usage(folder).free
    if free < wanted:
        raise FilingIndexError(
            f"there is not enough room: {wanted / 1e6:,.1f} MB are needed {why}, {free / 1e6:,.1f} MB are free",
            subject=str(folder),
            remedy="Make room there and run the same command again",
        )
