"""Group a sequence: into runs of items that belong together, and by keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")
K = TypeVar("K")


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


def grouped(pairs: Iterable[tuple[K, T]]) -> dict[K, list[T]]:
    """Return the items of (key, item) pairs by key, in order.

    >>> grouped((word[0], word) for word in ("sales", "cash", "costs"))
    {'s': ['sales'], 'c': ['cash', 'costs']}
    """
    groups: dict[K, list[T]] = {}
    for key, item in pairs:
        groups.setdefault(key, []).append(item)
    return groups
