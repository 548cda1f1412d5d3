"""The controls of a run in Studio and over the server's API; contexts are opened once and shared by later runs."""

from __future__ import annotations

import os
import threading
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field

from fin_agent.config import INDEX_VARIABLE, Settings, index_folder, settings_from
from fin_agent.config_sources import SettingValue
from fin_agent.distribution import installed_version
from fin_agent.errors import FilingIndexError
from fin_agent.evidence.filing_preparation import prepare
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.chat.state import ChatContext, ChatLimits
from fin_agent.index.ingest import ingest
from fin_agent.index.sqlite import FILE_NAME
from fin_agent.index.sqlite_file import FORMAT_VERSION
from fin_agent.models.settings import ModelSettings, Preset
from fin_agent.workspace import Workspace

ON_SAMPLES = (
    "no index is named and you have none of your own: the sample filings of made-up companies were searched. Bring in"
    " yours with `fin-agent ingest PATH...`"
)
SAMPLES = Path(__file__).resolve().parents[2] / "examples" / "filings"
"""Exists in a checkout of the project, not in a wheel."""
_MAX_KEPT = 8
_one_at_a_time = threading.Lock()


def _setting(name: str, of: type[BaseModel] = Settings) -> Any:
    return of.model_fields[name]


class SearchControls(BaseModel):
    """Where and how to search. Values that are not given come from fin-agent.toml and the environment."""

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

    def settings_values(self) -> list[SettingValue]:
        """Return the given values as settings."""
        return [
            SettingValue(_PLACES.get(name, (name,)), value, f"`{name}` of the context")
            for name, value in self
            if name in self.model_fields_set and value is not None and name in (*_PLACES, *Settings.model_fields)
        ]


class _AnsweringControls(SearchControls):
    rounds: int = _setting("rounds")
    evidence: int = _setting("evidence")
    analyst: Literal["auto", "rules", "llm"] = _setting("analyst")
    model: str | None = _setting("model", ModelSettings)
    small_model: str | None = _setting("small", ModelSettings)
    preset: Preset = _setting("preset", ModelSettings)


class Controls(_AnsweringControls):
    """How a question is answered: the search, the models, and where the run pauses."""

    stop_before: tuple[Literal["round", "program"], ...] = Field(
        default=(),
        description="where the run stops and shows what it is about to do: before each `round` of search, before a"
        " `program` is run",
    )


class RerankControls(SearchControls):
    """How passages are ranked: their source, their number, the judge."""

    strategy: str = Field(default="default", description="how passages are found, where none are given: `hybrid`")
    candidates: int = Field(default=60, ge=1, le=200, description="passages found, where none are given")
    kept: int = Field(default=10, ge=1, le=200, description="passages returned")
    judge_model: str | None = _setting("judge_model")
    tournament_rounds: int = Field(default=5, ge=1, le=50, description="rounds of ranking the finalists at most")
    seed: int = Field(default=0, ge=0, description="of all shuffling")


class ChatControls(_AnsweringControls):
    """How a conversation is held: the search, the model, the limits of a turn."""

    model: str | None = Field(
        default=None, description="talks and calls the tools: `openai:gpt-5.4`; rules talk if none is given"
    )
    doc_ids: tuple[str, ...] = Field(default=(), description="the only filings that may be read; all if none is given")
    model_calls: int = Field(default=12, ge=1, le=100, description="calls of the model that talks, per message at most")
    tool_calls: int = Field(default=24, ge=1, le=200, description="calls of tools per message at most")


_PLACES = {"model": ("models", "model"), "small_model": ("models", "small"), "preset": ("models", "preset")}
"""Control -> its place in the settings, where that has another name."""


def open_context(controls: SearchControls) -> AnswerContext:
    """Open the context that the controls describe. Reads files: do not call it on an event loop.

    Raises FilingIndexError and FinAgentError.
    """
    with _one_at_a_time:
        folder = _folder(controls.index)
        return _context(folder, _settings(controls))


def open_chat_context(controls: ChatControls) -> ChatContext:
    """Open the context of a conversation, with an assistant if the settings name a model.

    Raises FilingIndexError, ModelSetupError and FinAgentError.
    """
    limits = ChatLimits(model_calls=controls.model_calls, tool_calls=controls.tool_calls)
    with _one_at_a_time:
        folder = _folder(controls.index)
        return _chat_context(folder, _settings(controls), limits, controls.doc_ids)


def _settings(controls: SearchControls) -> str:
    """Return the settings as JSON, which can be a cache key."""
    return settings_from(controls.settings_values()).model_dump_json()


@lru_cache(_MAX_KEPT)
def _workspace(folder: Path) -> Workspace:
    return Workspace.open(folder)


@lru_cache(_MAX_KEPT)
def _context(folder: Path, settings: str) -> AnswerContext:
    return AnswerContext.from_settings(_workspace(folder), Settings.model_validate_json(settings))


@lru_cache(_MAX_KEPT)
def _chat_context(folder: Path, settings: str, limits: ChatLimits, doc_ids: tuple[str, ...]) -> ChatContext:
    return ChatContext.over(_context(folder, settings), doc_ids=doc_ids or None, limits=limits)


def on_samples(named: str | None) -> bool:
    """Return whether the sample filings are searched: no index is named, and the user has none."""
    return not (named or os.environ.get(INDEX_VARIABLE) or (index_folder() / FILE_NAME).exists())


def _folder(named: str | None) -> Path:
    """Return the folder of the index. Raises FilingIndexError if there is none to fall back on."""
    folder = index_folder(Path(named).expanduser() if named and named.strip() else None)
    if not on_samples(named):
        return folder
    if not SAMPLES.is_dir():
        raise FilingIndexError(
            "there is no index yet",
            subject=str(folder),
            remedy="Make one with `fin-agent ingest PATH...`, or name one: FIN_AGENT_INDEX, or `index` of the context",
        )
    samples = platformdirs.user_cache_path("fin-agent") / f"sample-filings-{installed_version()}-{FORMAT_VERSION}"
    _index_samples(samples)
    return samples


@lru_cache
def _index_samples(folder: Path) -> None:
    """Index the samples, which takes seconds; those that are indexed already are left alone."""
    report = ingest([SAMPLES], folder, prepare, workers=0, wait=60)
    if report.failures:
        failed = report.failures[0]
        raise FilingIndexError(
            f"the sample filings cannot be indexed: {failed.reason}",
            subject=str(failed.path),
            remedy="Name an index of your own: FIN_AGENT_INDEX, or `index` of the context",
        )
