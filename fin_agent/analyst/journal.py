"""What a step has to tell beside its result: fallbacks to the rules, and text in filings that speaks to the model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from fin_agent.analyst.events import Warned
from fin_agent.analyst.listening import told


class Journal:
    """Notes of one step, each once, in the order in which they were made.

    >>> with journal() as notes:
    ...     warned("the model gave no reply; rules answer")
    >>> notes.warnings
    ('the model gave no reply; rules answer',)
    """

    def __init__(self) -> None:
        self._warnings: dict[str, None] = {}
        self._flags: dict[str, None] = {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What whoever reads the answer should know: what was asked of a model and done by rules."""
        return tuple(self._warnings)

    @property
    def flags(self) -> tuple[str, ...]:
        """Signs of injection and invisible text in what models were shown."""
        return tuple(self._flags)

    def warn(self, text: str) -> None:
        """Note a fallback, and tell whoever listens."""
        line = " ".join(text.split())
        if line not in self._warnings:
            self._warnings[line] = None
            told(Warned(text=line))

    def flag(self, text: str) -> None:
        """Note a sign of injection."""
        self._flags.setdefault(" ".join(text.split()))


@contextmanager
def journal() -> Iterator[Journal]:
    """A journal for the block; what is noted inside goes to it, and to none around it."""
    notes = Journal()
    token = _CURRENT.set(notes)
    try:
        yield notes
    finally:
        _CURRENT.reset(token)


def warned(text: str) -> None:
    """Note a fallback where a journal is kept."""
    if (notes := _CURRENT.get()) is not None:
        notes.warn(text)


def flagged(text: str) -> None:
    """Note a sign of injection where a journal is kept."""
    if (notes := _CURRENT.get()) is not None:
        notes.flag(text)


_CURRENT: ContextVar[Journal | None] = ContextVar("fin_agent_journal", default=None)
