"""What happens while a question is answered, told to whoever listens; warnings of a step are kept as well."""

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
    """A node is at work."""

    kind: Literal["step_begun"] = "step_begun"
    node: str
    round: int


class StepEnded(_EventModel):
    """A node has done its work."""

    kind: Literal["step_ended"] = "step_ended"
    node: str
    round: int
    summary: str
    """One line for people, as in the trace."""


class CallBegun(_EventModel):
    """A chat model is asked."""

    kind: Literal["call_begun"] = "call_begun"
    role: str
    model: str


class CallEnded(_EventModel):
    """What came of a call; one that a kept reply serves ends without having begun."""

    kind: Literal["call_ended"] = "call_ended"
    role: str
    model: str
    input_tokens: int
    output_tokens: int
    dollars: float | None
    """None where the price is not known."""
    from_cache: bool = False
    """Whether an earlier reply was used again, which cost nothing: the tokens are those of that one."""
    approximate: bool = False
    """Whether the tokens are our own count."""
    note: str = ""
    """What did not go smoothly: why it failed, why another was asked for."""


class Warned(_EventModel):
    """What whoever reads the answer should know; it stands among the answer's warnings as well."""

    kind: Literal["warned"] = "warned"
    text: str


class Draft(_EventModel):
    """A piece of an answer while a model writes it. Nothing of it is checked: it is never to be shown as the answer."""

    kind: Literal["draft"] = "draft"
    text: str
    """What follows the pieces before; the first after a withdrawal begins anew."""


class DraftWithdrawn(_EventModel):
    """All pieces of the draft are void: it was found wrong, broke off, or is written anew."""

    kind: Literal["draft_withdrawn"] = "draft_withdrawn"
    why: str


class AnswerPiece(_EventModel):
    """A sentence of the answer, or of the refusal, after it was verified. It takes the place of any draft."""

    kind: Literal["answer_piece"] = "answer_piece"
    text: str
    """Put together, the pieces are the text of the answer, letter by letter."""


class Answered(_EventModel):
    """The answer with all that shows where it comes from; the last event of a question. In a chat its turn follows."""

    kind: Literal["answered"] = "answered"
    answer: Answer


Event: TypeAlias = Annotated[
    StepBegun | StepEnded | CallBegun | CallEnded | Warned | Draft | DraftWithdrawn | AnswerPiece | Answered,
    Field(discriminator="kind"),
]
"""Any of them. `pydantic.TypeAdapter(Event)` reads one back from JSON."""


Listener: TypeAlias = Callable[[Event], None]
"""May be called by several threads at once."""


class Journal:
    """Notes of one step, each once, in the order in which they were made.

    >>> with journal() as notes:
    ...     record_warning("the model gave no reply; rules answer")
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
            emit(Warned(text=line))

    def flag(self, text: str) -> None:
        """Note a sign of injection."""
        self._flags.setdefault(" ".join(text.split()))


@dataclass(frozen=True, slots=True)
class EventListener:
    """Who listens to what happens, and where notes of the step under way are kept."""

    listener: Listener | None = None
    drafts: bool = True
    """Whether drafts are of use: answers are streamed for them."""
    notes: Journal | None = None


@contextmanager
def event_listener(listener: Listener | None, *, drafts: bool = True) -> Iterator[None]:
    """The block's events go to the listener, and to none around it. Threads begun inside need a copy of the context.

    >>> from fin_agent.analyst.events import Warned
    >>> heard = []
    >>> with listening(heard.append):
    ...     emit(Warned(text="rules answer"))
    >>> heard
    [Warned(kind='warned', text='rules answer')]
    """
    token = _CURRENT.set(replace(_CURRENT.get(), listener=listener, drafts=drafts))
    try:
        yield
    finally:
        _CURRENT.reset(token)


@contextmanager
def journal() -> Iterator[Journal]:
    """A journal for the block; what is noted inside goes to it, and to none around it."""
    notes = Journal()
    token = _CURRENT.set(replace(_CURRENT.get(), notes=notes))
    try:
        yield notes
    finally:
        _CURRENT.reset(token)


def current_listener() -> EventListener:
    """Who listens to the block that this code runs in."""
    return _CURRENT.get()


def emit(event: Event) -> None:
    """Tell whoever listens; nobody, where nobody does."""
    if (listener := _CURRENT.get().listener) is not None:
        listener(event)


def record_warning(text: str) -> None:
    """Note a fallback where a journal is kept."""
    if (notes := _CURRENT.get().notes) is not None:
        notes.warn(text)


def record_injection_sign(text: str) -> None:
    """Note a sign of injection where a journal is kept."""
    if (notes := _CURRENT.get().notes) is not None:
        notes.flag(text)


_CURRENT: ContextVar[EventListener] = ContextVar("fin_agent_events", default=EventListener())  # noqa: B039 (frozen)
