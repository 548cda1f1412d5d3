"""Calls of a chat model: roles, messages, prompts, usage and replies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, Field
from typing_extensions import TypeVar

from fin_agent.lexicon.words import load_yaml

OutputT = TypeVar("OutputT", bound=BaseModel, default=BaseModel)

Kind = Literal["system", "user", "assistant"]
Message: TypeAlias = tuple[Kind, str]
"""Sender and text."""

TEMPERATURE = 0.01


class Role(StrEnum):
    """A task of a chat model. Each role has its own prompt, may have its own model, and is accounted for by its name.

    Short names and the names of prompt files are accepted as well.

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
    VERIFICATION = "verification"
    TEXT_JUDGE = "text-judge"
    PASSAGES_JUDGE = "passages-judge"
    HYDE = "hypothetical-passage"
    MULTI_HYDE = "hypothetical-passages"
    THOUGHT = "next-thought"
    SUB_QUESTIONS = "sub-questions"
    ASSISTANT = "assistant"

    @classmethod
    def _missing_(cls, value: object) -> Role | None:
        plain = str(value).strip().lower().replace("_", "-")
        named = load_yaml("roles", __package__).get(plain, plain)
        return next((role for role in cls if role.value == named), None)


class Usage(BaseModel, frozen=True, extra="forbid"):
    """Tokens of one call, or the sum of several.

    >>> (Usage(input=100, output=5) + Usage(input=20, output=1, approximate=True)).total
    126
    """

    input: int = Field(default=0, ge=0)
    """Tokens of the messages, including `cached_input`."""
    cached_input: int = Field(default=0, ge=0)
    """Input tokens that the provider read from its own cache, at a lower price."""
    output: int = Field(default=0, ge=0)
    """Tokens of the reply, including `reasoning`."""
    reasoning: int = Field(default=0, ge=0)
    """Output tokens of the model's reasoning, which is not part of the reply."""
    approximate: bool = False
    """Whether some counts are estimates, because the server reported none."""

    @property
    def total(self) -> int:
        """Tokens in and out."""
        return self.input + self.output

    def __add__(self, other: Usage) -> Usage:
        counts = {name: getattr(self, name) + getattr(other, name) for name in type(self).model_fields}
        return Usage(**counts | {"approximate": self.approximate or other.approximate})


NO_USAGE = Usage()


class PromptIdentity(NamedTuple):
    """Name and version of the prompt that made the messages. A new wording has a new version."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Call(Generic[OutputT]):
    """One call of a chat model.

    Args:
        role: The role.
        messages: Sender and text of each message; at least one from the user.
        prompt: The prompt that made the messages.
        output: The pydantic type of the reply; None for text.
        max_output_tokens: Limit of the reply, including reasoning; None for the model's own limit.
        temperature: The sampling temperature.
        check: Returns what is wrong with a value of the right type, worded for the model, or None if it is right.
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
    """The reason why a model stopped."""

    STOP = "stop"
    LENGTH = "length"
    FILTERED = "filtered"
    UNKNOWN = "unknown"


class Reply(BaseModel, frozen=True, extra="forbid"):
    """The result of a call, with the usage of every request that was sent for it, corrections included."""

    text: str
    usage: Usage
    model: str
    """The model by name, `openai:gpt-4o-mini`."""
    finish: Finish
    from_cache: bool = False
    """Whether this is a cached reply; `usage` is then that of the original call, and this call cost nothing."""
