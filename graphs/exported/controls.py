"""What can be set for a run in Studio, and over the server's API: plain values, each with its default."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from fin_agent.config import Settings
from fin_agent.config_sources import Said
from fin_agent.models.settings import ModelSettings, Preset

Stop = Literal["round", "program"]


def _setting(name: str, of: type[BaseModel] = Settings) -> Any:
    return of.model_fields[name]


class SearchControls(BaseModel):
    """Where to search, how, and how far. What is not given holds as fin-agent.toml and the environment say."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    index: str | None = Field(
        default=None,
        description="folder of the index; if none is given that of FIN_AGENT_INDEX, else your own, else sample filings",
    )
    strategy: str = _setting("strategy")
    documents: int = _setting("documents")
    pages: int = _setting("pages")
    passages: int = _setting("passages")
    listed: int = _setting("listed")

    def said(self) -> list[Said]:
        """What was given, as settings."""
        return [
            Said(_PLACES.get(name, (name,)), getattr(self, name), f"`{name}` of the context")
            for name in sorted(self.model_fields_set - _NO_SETTINGS)
            if getattr(self, name) is not None
        ]


class Controls(SearchControls):
    """How a question is answered: where and how far to search, who reasons, where to stop on the way."""

    rounds: int = _setting("rounds")
    evidence: int = _setting("evidence")
    analyst: Literal["auto", "rules", "llm"] = _setting("analyst")
    model: str | None = _setting("model", ModelSettings)
    small_model: str | None = _setting("small", ModelSettings)
    preset: Preset = _setting("preset", ModelSettings)
    stop_before: tuple[Stop, ...] = Field(
        default=(),
        description="where the run stops and shows what it is about to do: before each `round` of search, before a"
        " `program` is run",
    )


class RerankControls(SearchControls):
    """How passages are put into order: where they come from, how many, who judges."""

    strategy: str = Field(default="default", description="how passages are found, where none are given: `hybrid`")
    candidates: int = Field(default=60, ge=1, le=200, description="passages found, where none are given")
    kept: int = Field(default=10, ge=1, le=200, description="passages returned")
    judge_model: str | None = _setting("judge_model")
    tournament_rounds: int = Field(default=5, ge=1, le=50, description="rounds of ranking the finalists at most")
    seed: int = Field(default=0, ge=0, description="of all shuffling")


class ChatControls(SearchControls):
    """How a conversation is held: where and how far to search, who talks, how far a turn may go."""

    rounds: int = _setting("rounds")
    evidence: int = _setting("evidence")
    analyst: Literal["auto", "rules", "llm"] = _setting("analyst")
    model: str | None = Field(
        default=None, description="talks and calls the tools: `openai:gpt-5.4`; rules talk if none is given"
    )
    small_model: str | None = _setting("small", ModelSettings)
    preset: Preset = _setting("preset", ModelSettings)
    doc_ids: tuple[str, ...] = Field(default=(), description="the only filings that may be read; all if none is given")
    model_calls: int = Field(default=12, ge=1, le=100, description="calls of the model that talks, per message at most")
    tool_calls: int = Field(default=24, ge=1, le=200, description="calls of tools per message at most")


_NO_SETTINGS = frozenset(
    {"index", "doc_ids", "model_calls", "tool_calls", "stop_before", "candidates", "kept", "tournament_rounds", "seed"}
)
_PLACES = {
    "model": ("models", "model"),
    "small_model": ("models", "small"),
    "preset": ("models", "preset"),
}
