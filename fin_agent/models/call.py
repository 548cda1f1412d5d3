"""What a chat model is asked, and what comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel
from typing_extensions import TypeVar

from fin_agent.models.roles import Role
from fin_agent.models.usage import Usage

OutputT = TypeVar("OutputT", bound=BaseModel, default=BaseModel)

Kind = Literal["system", "user", "assistant"]
Message: TypeAlias = tuple[Kind, str]
"""Who says it, and what."""

TEMPERATURE = 0.01


class PromptIdentity(NamedTuple):
    """Which prompt the messages were made from. A new wording has a new version, and replies of its own."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Call(Generic[OutputT]):
    """One thing asked of a chat model.

    `output` is the pydantic type that the reply has to fit; None where text is wanted. `max_output_tokens` bounds the
    reply, thoughts of the model included; None leaves it to the model. `check` says what is wrong with a value that is
    of the type, in words for the model, as that a number of a passage is none of those shown; None where nothing is.
    """

    role: Role
    messages: tuple[Message, ...]
    prompt: PromptIdentity
    output: type[OutputT] | None = None
    max_output_tokens: int | None = None
    temperature: float = TEMPERATURE
    check: Callable[[OutputT], str | None] | None = None

    def __post_init__(self) -> None:
        if not any(kind == "user" for kind, _ in self.messages):
            raise ValueError("a call needs a message of the user")


class Finish(StrEnum):
    """Why a model stopped."""

    STOP = "stop"
    LENGTH = "length"
    FILTERED = "filtered"
    TOOLS = "tools"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a call came to: of all that was sent for it, a correction included."""

    text: str
    usage: Usage
    model: str
    """The model as it was named, `openai:gpt-4o-mini`."""
    finish: Finish
    from_cache: bool = False
    """Whether an earlier reply was used again; `usage` is what that one took, this one cost nothing."""
    attempts: int = 1
    """Requests sent, those that failed included."""
    seconds: float = 0.0
    """Spent on requests; not on waiting for a turn."""
    notes: tuple[str, ...] = ()
    """What did not go smoothly: a correction asked for, tokens that were only estimated."""
