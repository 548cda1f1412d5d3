"""What happens while a question is answered, as it is told to whoever listens: typed, told apart by `kind`.

In the order of a run: steps begin and end; within them calls of chat models begin and end, and warnings are given;
while a model writes an answer in words, drafts of it; within the last step the answer that was verified, in pieces; at
the end the answer as a whole.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from fin_agent.answering.answer import Answer


class _Told(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StepBegun(_Told):
    """A node is at work."""

    kind: Literal["step_begun"] = "step_begun"
    node: str
    round: int


class StepEnded(_Told):
    """A node has done its work."""

    kind: Literal["step_ended"] = "step_ended"
    node: str
    round: int
    summary: str
    """One line for people, as in the trace."""


class CallBegun(_Told):
    """A chat model is asked."""

    kind: Literal["call_begun"] = "call_begun"
    role: str
    model: str


class CallEnded(_Told):
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


class Warned(_Told):
    """What whoever reads the answer should know; it stands among the answer's warnings as well."""

    kind: Literal["warned"] = "warned"
    text: str


class Draft(_Told):
    """A piece of an answer while a model writes it. Nothing of it is checked: it is never to be shown as the answer."""

    kind: Literal["draft"] = "draft"
    text: str
    """What follows the pieces before; the first after a withdrawal begins anew."""


class DraftWithdrawn(_Told):
    """All pieces of the draft are void: it was found wrong, broke off, or is written anew."""

    kind: Literal["draft_withdrawn"] = "draft_withdrawn"
    why: str


class AnswerPiece(_Told):
    """A sentence of the answer, or of the refusal, after it was verified. It takes the place of any draft."""

    kind: Literal["answer_piece"] = "answer_piece"
    text: str
    """Put together, the pieces are the text of the answer, letter by letter."""


class Answered(_Told):
    """The answer with all that shows where it comes from; the last event."""

    kind: Literal["answered"] = "answered"
    answer: Answer


Event: TypeAlias = Annotated[
    StepBegun | StepEnded | CallBegun | CallEnded | Warned | Draft | DraftWithdrawn | AnswerPiece | Answered,
    Field(discriminator="kind"),
]
"""Any of them. `pydantic.TypeAdapter(Event)` reads one back from JSON."""
