"""Settings of chat models: names by role, servers, and limits."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, Field, field_validator

from fin_agent.models.call import Role
from fin_agent.models.metering import Budget


class OutputMode(StrEnum):
    """How replies are made to match their type."""

    AUTO = "auto"
    """By a schema that the server enforces if it can, else by a description in the prompt."""
    SCHEMA = "schema"
    JSON = "json"


class Preset(StrEnum):
    """How much work chat models do."""

    FAST = "fast"
    """Only what rules cannot do: answers in words, and figures that rules do not find."""
    DEFAULT = "default"
    """Questions that rules are unsure of, curation if rules miss something, answers in words."""
    THOROUGH = "thorough"
    """Every question and every round: queries worded by the model, pages ranked by cards, passages judged in separate
    calls."""


class ModelSettings(BaseModel, frozen=True, extra="forbid"):
    """Models by role, their server and their limits. API keys are not settings: they stay in the environment.

    A role uses the model that `roles` names for it; else `small` if it makes many small calls; else `model`.
    """

    model: str | None = Field(default=None, description="answers: `openai:gpt-5.4`; rules answer if none is given")
    small: str | None = Field(
        default=None, description="curates and reads questions; the small one of the same family if none is given"
    )
    roles: dict[Role, str] = Field(default_factory=dict, description="a model for one role: `{curation: openai:x}`")
    base_url: str | None = Field(default=None, description="a server that speaks OpenAI's protocol")
    key_variable: str | None = Field(default=None, description="environment variable that contains the key")
    output: OutputMode = Field(default=OutputMode.AUTO, description="how replies are made to match their type")
    preset: Preset = Field(default=Preset.DEFAULT, description="fast, default or thorough")
    budget: Budget = Field(default_factory=Budget, description="limits of one question")
    batch_budget: Budget = Field(default_factory=Budget, description="limits of a batch as a whole")
    at_once: int = Field(default=8, ge=1, le=256, description="concurrent calls to one server at most")
    timeout: float = Field(default=120.0, gt=0, le=3600, description="seconds until a request is abandoned")
    attempts: int = Field(default=4, ge=1, le=20, description="requests of one call at most, if they fail")
    cache: Path | None = Field(default=None, description="file that caches replies; no cache if not given")
    prices: Path | None = Field(default=None, description="file of prices that override the published ones")

    @field_validator("model", "small", "base_url", "key_variable", mode="before")
    @classmethod
    def _named(cls, given: object) -> object:
        return given.strip() or None if isinstance(given, str) else given
