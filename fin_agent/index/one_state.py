"""Reading an index in one state: what others write meanwhile is not seen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fin_agent.index.protocol import FilingIndex
from fin_agent.index.sqlite import SqliteIndex


@contextmanager
def one_state(index: FilingIndex) -> Iterator[None]:
    """All that this thread reads inside is of one state, where the index is embedded; others are as they are.

    Nobody is kept from writing; the index's log grows until the last reader of an old state ends.
    """
    if isinstance(index, SqliteIndex):
        with index.snapshot():
            yield
    else:
        yield
