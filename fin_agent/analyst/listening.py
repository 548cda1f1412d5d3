"""Telling whoever listens what happens, while it happens. Those who tell know nothing of who that is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias

from fin_agent.analyst.events import Event

Listener: TypeAlias = Callable[[Event], None]
"""May be called by several threads at once."""


@dataclass(frozen=True, slots=True)
class Hearing:
    """Who listens, and to what."""

    listener: Listener | None = None
    drafts: bool = True
    """Whether drafts are of use: answers are streamed for them."""


@contextmanager
def listening(listener: Listener | None, *, drafts: bool = True) -> Iterator[None]:
    """The block's events go to the listener, and to none around it. Threads begun inside need a copy of the context.

    >>> from fin_agent.analyst.events import Warned
    >>> heard = []
    >>> with listening(heard.append):
    ...     told(Warned(text="rules answer"))
    >>> heard
    [Warned(kind='warned', text='rules answer')]
    """
    token = _CURRENT.set(Hearing(listener, drafts))
    try:
        yield
    finally:
        _CURRENT.reset(token)


def told(event: Event) -> None:
    """Tell whoever listens; nobody, where nobody does."""
    if (listener := _CURRENT.get().listener) is not None:
        listener(event)


def current_hearing() -> Hearing:
    """Who listens to the block that this code runs in."""
    return _CURRENT.get()


_CURRENT: ContextVar[Hearing] = ContextVar("fin_agent_hearing", default=Hearing())  # noqa: B039 (frozen)
