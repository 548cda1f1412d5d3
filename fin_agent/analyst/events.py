"""Events of a question in progress, delivered to a listener, and the journal of a step's warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from fin_agent.answering.answer import Answer


class _EventModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StepBegun(_EventModel):
    """A node started."""

    kind: Literal["step_begun"] = "step_begun"
    node: str
    round: int


class StepEnded(_EventModel):
    """A node finished."""

    kind: Literal["step_ended"] = "step_ended"
    node: str
    round: int
    summary: str
    """One line for people, as in the trace."""


class CallBegun(_EventModel):
    """A call of a chat model started."""

    kind: Literal["call_begun"] = "call_begun"
    role: str
    model: str


class CallEnded(_EventModel):
    """A call ended; a call served from a cached reply has no start event."""

    kind: Literal["call_ended"] = "call_ended"
    role: str
    model: str
    input_tokens: int
    output_tokens: int
    dollars: float | None
    """None if the price is unknown."""
    from_cache: bool = False
    """Whether a cached reply was used, which cost nothing; the tokens are those of the original call."""
    approximate: bool = False
    """Whether the tokens are estimated."""
    note: str = ""
    """Irregularities: why the call failed, why another model was called."""


class Warned(_EventModel):
    """A warning for the reader of the answer; it is among the answer's warnings as well."""

    kind: Literal["warned"] = "warned"
    text: str


class Draft(_EventModel):
    """A piece of an answer while a model writes it. It is unchecked: never show it as the answer."""

    kind: Literal["draft"] = "draft"
    text: str
    """The text that follows the earlier pieces; the first one after a withdrawal starts over."""


class DraftWithdrawn(_EventModel):
    """All pieces of the draft are void: it was wrong, broke off, or is rewritten."""

    kind: Literal["draft_withdrawn"] = "draft_withdrawn"
    why: str


class AnswerPiece(_EventModel):
    """A sentence of the answer or refusal after verification. It replaces any draft."""

    kind: Literal["answer_piece"] = "answer_piece"
    text: str
    """The concatenated pieces are exactly the text of the answer."""


class Answered(_EventModel):
    """The answer with its sources; the last event of a question. In a chat its turn follows."""

    kind: Literal["answered"] = "answered"
    answer: Answer


Event: TypeAlias = Annotated[
    StepBegun | StepEnded | CallBegun | CallEnded | Warned | Draft | DraftWithdrawn | AnswerPiece | Answered,
    Field(discriminator="kind"),
]
"""Any event. `pydantic.TypeAdapter(Event)` reads one from JSON."""


Listener: TypeAlias = Callable[[Event], None]
"""May be called by several threads at once."""


@dataclass(slots=True)
class Journal:
    """The notes of one step, without duplicates, in order.

    >>> with journal() as notes:
    ...     record_warning("the model gave no reply; rules answer")
    >>> notes.warnings
    ('the model gave no reply; rules answer',)
    """

    warnings: tuple[str, ...] = ()
    """Warnings for the reader of the answer: requests to a model that rules handled."""
    flags: tuple[str, ...] = ()
    """Signs of injection and invisible text in the models' input."""


@dataclass(frozen=True, slots=True)
class EventListener:
    """The current listener, and the journal of the current step."""

    listener: Listener | None = None
    drafts: bool = True
    """Whether drafts are wanted; answers are then streamed."""
    notes: Journal | None = None


@contextmanager
def event_listener(listener: Listener | None, *, drafts: bool = True) -> Iterator[None]:
    """Deliver the block's events to the listener only. Threads started inside need a copy of the context.

    >>> from fin_agent.analyst.events import Warned
    >>> events = []
    >>> with event_listener(events.append):
    ...     emit(Warned(text="rules answer"))
    >>> events
    [Warned(kind='warned', text='rules answer')]
    """
    token = _CURRENT.set(replace(_CURRENT.get(), listener=listener, drafts=drafts))
    try:
        yield
    finally:
        _CURRENT.reset(token)


@contextmanager
def journal() -> Iterator[Journal]:
    """Open a journal for the block; notes made inside go to it only."""
    notes = Journal()
    token = _CURRENT.set(replace(_CURRENT.get(), notes=notes))
    try:
        yield notes
    finally:
        _CURRENT.reset(token)


def current_listener() -> EventListener:
    """Return the listener of the current context."""
    return _CURRENT.get()


def emit(event: Event) -> None:
    """Deliver an event to the current listener, if there is one."""
    if (listener := _CURRENT.get().listener) is not None:
        listener(event)


def record_warning(text: str) -> None:
    """Record a fallback in the current journal, if there is one, and emit it as an event."""
    notes, line = _CURRENT.get().notes, " ".join(text.split())
    if notes is not None and line not in notes.warnings:
        notes.warnings += (line,)
        emit(Warned(text=line))


def record_injection_sign(text: str) -> None:
    """Record a sign of injection in the current journal, if there is one."""
    if (notes := _CURRENT.get().notes) is not None:
        notes.flags = tuple(dict.fromkeys((*notes.flags, " ".join(text.split()))))


_CURRENT: ContextVar[EventListener] = ContextVar("fin_agent_events", default=EventListener())  # noqa: B039 (frozen)
