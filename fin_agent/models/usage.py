"""Tokens that calls took."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


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
