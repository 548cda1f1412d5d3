"""What a chat model is asked, for which role, and what comes back."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypeVar

OutputT = TypeVar("OutputT", bound=BaseModel, default=BaseModel)

Kind = Literal["system", "user", "assistant"]
Message: TypeAlias = tuple[Kind, str]
"""Who says it, and what."""

TEMPERATURE = 0.01


class Role(StrEnum):
    """A role has a prompt of its own, may have a model of its own, and is accounted for by its name.

    Short names, and those of the prompts' files, are read as well.

    >>> Role("curation"), Role("cover_summary"), Role("card")
    (<Role.CURATION: 'curation'>, <Role.SUMMARY: 'cover-summary'>, <Role.CARD: 'card-abstraction'>)
    """

    SUMMARY = "cover-summary"
    TREE_NODE = "tree-node"
    QUERY = "query-rewrite"
    CARD = "card-abstraction"
    INTENT = "intent"
    CURATION = "curation"
    GROUP = "group-selection"
    LISTWISE = "listwise-ranking"
    REASONING = "reasoning"
    TEXT_JUDGE = "text-judge"
    PASSAGES_JUDGE = "passages-judge"
    HYDE = "hypothetical-passage"
    MULTI_HYDE = "hypothetical-passages"
    THOUGHT = "next-thought"
    SUB_QUESTIONS = "sub-questions"
    ASSISTANT = "assistant"

    @classmethod
    def _missing_(cls, value: object) -> Role | None:
        if not isinstance(value, str):
            return None
        plain = value.strip().lower().replace("_", "-")
        if plain in _FORMER:
            warnings.warn(f"the role {plain} is called {_FORMER[plain]} now", FutureWarning, stacklevel=2)
        plain = _FORMER.get(plain, plain)
        return next((role for role in cls if plain in (role.value, _SHORT.get(role))), None)


_SHORT = {
    Role.SUMMARY: "summary",
    Role.QUERY: "query",
    Role.CARD: "card",
    Role.GROUP: "group",
    Role.LISTWISE: "judge",
    Role.HYDE: "hyde",
    Role.MULTI_HYDE: "multi-hyde",
    Role.THOUGHT: "ircot",
}
_FORMER = {"program": "reasoning", "program-repair": "reasoning", "repair": "reasoning"}
"""Roles of earlier versions -> what has their work now."""


class Usage(BaseModel):
    """Tokens of one call, or of several together.

    >>> (Usage(input=100, output=5) + Usage(input=20, output=1, approximate=True)).total
    126
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: int = Field(default=0, ge=0)
    """Of the messages, those in `cached_input` included."""
    cached_input: int = Field(default=0, ge=0)
    """Of these, what the provider had in its own cache and sells for less."""
    output: int = Field(default=0, ge=0)
    """Of the reply, those in `reasoning` included."""
    reasoning: int = Field(default=0, ge=0)
    """Of these, what the model thought and did not say."""
    approximate: bool = False
    """Whether some of it is our own count, because the server told none."""

    @property
    def total(self) -> int:
        """Tokens in and out."""
        return self.input + self.output

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input=self.input + other.input,
            cached_input=self.cached_input + other.cached_input,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
            approximate=self.approximate or other.approximate,
        )


NO_USAGE = Usage()


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
            raise ValueError("a call needs a user message")


class Finish(StrEnum):
    """Why a model stopped."""

    STOP = "stop"
    LENGTH = "length"
    FILTERED = "filtered"
    TOOLS = "tools"
    UNKNOWN = "unknown"


class Reply(BaseModel):
    """What a call came to: of all that was sent for it, a correction included."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    usage: Usage
    model: str
    """The model as it was named, `openai:gpt-4o-mini`."""
    finish: Finish
    from_cache: bool = False
    """Whether an earlier reply was used again; `usage` is what that one took, this one cost nothing."""
    seconds: float = 0.0
    """Spent on requests; not on waiting for a turn."""
    notes: tuple[str, ...] = ()
    """What did not go smoothly: a correction asked for, tokens that were only estimated."""
