"""Reading an index in one state: what others write meanwhile is not seen."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, runtime_checkable

from fin_agent.index.protocol import FilingIndex


@runtime_checkable
class HoldsStill(Protocol):
    """An index that can be read in one state."""

    def one_state(self) -> AbstractContextManager[object]:
        """All that is read inside is of one state."""


def one_state(index: FilingIndex) -> AbstractContextManager[object]:
    """All that is read inside (by this thread, of an embedded index) is of one state; nobody is kept from writing.

    The log of an embedded index grows until the last reader of an old state ends; a cluster keeps an old state for as
    long as `Reaching.grace` says. An index of another kind is read as it is.
    """
    return index.one_state() if isinstance(index, HoldsStill) else nullcontext()
