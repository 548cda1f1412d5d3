"""Which files are meant by the files and folders that somebody names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from fin_agent.filings.reader import is_readable


def files_below(paths: Iterable[Path]) -> list[Path]:
    """The files named, and every readable file below the folders named, sorted; each once, however it is named.

    What is there by its name and cannot be read (a link to nowhere, a folder that may not be entered) is among them, so
    that it is reported. Folders that are links are entered like others, each real folder once: links in a circle end.
    """
    found: dict[str, Path] = {}
    entered: set[str] = set()
    for path in paths:
        for file in sorted(_below(path, entered)) if path.is_dir() else [path]:
            found.setdefault(os.path.realpath(file), file)
    return list(found.values())


def _below(folder: Path, entered: set[str]) -> Iterator[Path]:
    """`entered` holds the real paths of folders that were looked through, and gets those of this one and below."""
    entered.add(os.path.realpath(folder))
    closed: list[Path] = []
    for inside, folders, names in os.walk(
        folder, followlinks=True, onerror=lambda error: closed.append(Path(error.filename))
    ):
        yield from (Path(inside, name) for name in names if is_readable(Path(name)))
        new = {os.path.realpath(Path(inside, name)): name for name in sorted(folders, reverse=True)}
        folders[:] = sorted(name for real, name in new.items() if real not in entered)
        entered.update(new)
    yield from closed
