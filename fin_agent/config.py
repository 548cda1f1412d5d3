"""Settings of a run, and where its index is."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fin_agent.config_file import said_by_file, settings_file
from fin_agent.config_sources import (
    Place,
    Said,
    check_no_key,
    said_by_code,
    said_by_environment,
    settings_error,
    strongest,
    tree_of,
)
from fin_agent.config_sources import SettingsError as SettingsError
from fin_agent.downloads.settings import EdgarSettings
from fin_agent.models.settings import ModelSettings

INDEX_VARIABLE = "FIN_AGENT_INDEX"
RECORDING_VARIABLES = {
    "enabled": "FIN_AGENT_RECORD",
    "file": "FIN_AGENT_RUNS",
    "runs_kept": "FIN_AGENT_RUNS_KEPT",
    "megabytes": "FIN_AGENT_RUNS_MEGABYTES",
}
"""Setting of recording -> the environment variable it is taken from."""


class Settings(BaseModel):
    """How a run searches, how far, and with which models.

    The defaults are HiREC's: 5 documents, 20 pages, 5 passages a round, 3 rounds, 10 kept. No model is needed for the
    strategy `default`. Nothing is taken from the environment or a file: `settings_from` does that.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    documents: int = Field(default=5, ge=1, le=100, description="filings searched per round")
    pages: int = Field(default=20, ge=1, le=200, description="pages looked at per round")
    passages: int = Field(default=5, ge=1, le=50, description="passages read per round")
    listed: int = Field(default=10, ge=1, le=200, description="documents, pages and passages listed as retrieved")
    rounds: int = Field(default=3, ge=1, le=3, description="rounds of search at most")
    evidence: int = Field(default=10, ge=1, le=50, description="passages kept at most")
    strategy: str = Field(default="default", description="how filings are searched: `rerank:hybrid`")
    encoder: str = Field(default="minilm", min_length=1, description="makes vectors: `minilm`, or a model's folder")
    sparse_encoder: str | None = Field(default=None, description="weighs terms for `splade`: a model's folder")
    reranker: str | None = Field(default=None, description="cross-encoder that orders anew: a model's folder")
    chat_model: str | None = Field(default=None, description="writes for `hyde` and its like: `openai:gpt-4o-mini`")
    card_model: str | None = Field(default=None, description="makes the cards of passages to be judged; rules if none")
    judge_model: str | None = Field(default=None, description="judges cards for `tournament`; rules if none is given")
    analyst: Literal["auto", "rules", "llm"] = Field(
        default="auto", description="who reasons: `rules`, `llm`, or `llm` where a model is named (`auto`)"
    )
    models: ModelSettings = Field(default_factory=ModelSettings, description="chat models of the `llm` analyst")
    edgar: EdgarSettings = Field(
        default_factory=EdgarSettings, exclude=True, description="how filings are fetched; kept out of records of runs"
    )
    prompts: Path | None = Field(default=None, description="folder whose Markdown files replace prompts of that name")

    @property
    def by_model(self) -> bool:
        """Whether a chat model reasons."""
        return self.analyst == "llm" or (self.analyst == "auto" and self.models.given)


class Recording(BaseModel):
    """Whether runs are recorded, where, and how many are kept. None of it changes an answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = Field(default=True, description="whether `ask` and `batch` record their runs")
    file: Path | None = Field(default=None, description="file of the runs; `runs.sqlite` beside the index if not given")
    runs_kept: int = Field(default=1_000, ge=1, description="runs kept; the oldest go first")
    megabytes: int = Field(default=100, ge=1, description="MB that all runs may take; the oldest go first")


@dataclass(frozen=True, slots=True)
class Configured:
    """Settings, and who gave them."""

    settings: Settings
    file: Path | None
    """The `fin-agent.toml` that was read."""
    said: Mapping[Place, Said]
    """What holds of all that was said; a setting that nobody gave is not there."""


def configured(flags: Iterable[Said] = (), *, file: Path | None = None, **given: object) -> Configured:
    """Settings as the environment says, before which goes what a file says, then `flags`, then what is `given` here.

    Each setting for itself: a model from the environment goes with a budget from the file. The file is the one named,
    else the one that `settings_file` finds. Raises SettingsError that names who gave what cannot be used.
    """
    found = settings_file(file)
    of_file = () if found is None else tuple(said_by_file(found, Settings))
    holding = strongest((*said_by_environment(), *of_file, *flags, *said_by_code(given)))
    for each in holding.values():
        check_no_key(each)
    try:
        settings = Settings.model_validate(tree_of(holding))
    except ValidationError as failure:
        raise settings_error(failure, Settings, {place: each.by for place, each in holding.items()}) from None
    return Configured(settings, found, holding)


def settings_from(flags: Iterable[Said] = (), *, file: Path | None = None, **given: object) -> Settings:
    """Settings as the environment says, before which goes `fin-agent.toml`, then `flags`, then what is `given` here.

    `file` names another file of settings. Raises SettingsError that names who gave what cannot be used.

    >>> from fin_agent import settings_from
    >>> settings_from(models={"model": "openai:gpt-5.4"}, rounds=2).models.model
    'openai:gpt-5.4'

    `Settings` itself is exact, for a checker of types as well:

    >>> from fin_agent import ModelSettings, Settings
    >>> Settings(models=ModelSettings(model="openai:qwen3", base_url="http://localhost:11434/v1")).by_model
    True
    """
    return configured(flags, file=file, **given).settings


def recording_from_environment(**given: object) -> Recording:
    """How runs are recorded, as given or as the environment says. Raises SettingsError where that makes no sense."""
    named = {field: os.environ.get(variable) for field, variable in RECORDING_VARIABLES.items()}
    try:
        return Recording.model_validate({**{field: value for field, value in named.items() if value}, **given})
    except ValidationError as error:
        first = error.errors()[0]
        field = str(first["loc"][0])
        raise SettingsError(
            f"{first['input']!r} cannot be used: {first['msg'][:1].lower()}{first['msg'][1:]}",
            subject=RECORDING_VARIABLES.get(field, field),
            remedy="Set it to another value, or unset it",
        ) from error


def index_folder(given: Path | None = None) -> Path:
    """The index to use: the one given, else `FIN_AGENT_INDEX`, else a folder of the user's own."""
    if given is not None:
        return given
    named = os.environ.get(INDEX_VARIABLE)
    return Path(named).expanduser() if named else platformdirs.user_data_path("fin-agent") / "index"
