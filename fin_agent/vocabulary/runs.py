"""Group a sequence into runs of items that belong together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def runs_of(items: Iterable[T], apart: Callable[[list[T], T], bool]) -> list[list[T]]:
    """Return the items in runs; one begins where `apart` says so of the run before and the next item.

    >>> runs_of([2, 3, 4, 8], lambda run, page: page - run[-1] > 1)
    [[2, 3, 4], [8]]
    """
    runs: list[list[T]] = []
    for item in items:
        if not runs or apart(runs[-1], item):
            runs.append([])
        runs[-1].append(item)
    return runs
