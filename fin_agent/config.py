"""Settings of a run, and the location of its index."""

from __future__ import annotations

import difflib
import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field

from fin_agent.config_sources import (
    Place,
    SettingValue,
    environment_values,
    file_values,
    is_trusted,
    keyword_values,
    settings_file,
    types_of,
    validated,
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
"""Setting of recording -> the environment variable that sets it."""


class Settings(BaseModel):
    """How a question is answered: how filings are searched, how far, and with which models.

    The defaults are those of HiREC: 5 documents, 20 pages and 5 passages per round, 3 rounds, 10 passages of evidence.
    The strategy `default` needs no model. This class reads neither the environment nor a file; `settings_from` does.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    documents: int = Field(default=5, ge=1, le=100, description="filings searched per round")
    pages: int = Field(default=20, ge=1, le=200, description="pages looked at per round")
    passages: int = Field(default=5, ge=1, le=100, description="passages read per round")
    listed: int = Field(default=10, ge=1, le=200, description="documents, pages and passages listed as retrieved")
    rounds: int = Field(default=3, ge=1, le=3, description="rounds of search at most")
    evidence: int = Field(default=10, ge=1, le=50, description="passages kept at most")
    strategy: str = Field(default="default", description="how filings are searched: `rerank:hybrid`")
    encoder: str = Field(default="minilm", min_length=1, description="makes vectors: `minilm`, or a model's folder")
    sparse_encoder: str | None = Field(default=None, description="weighs terms for `splade`: a model's folder")
    reranker: str | None = Field(default=None, description="cross-encoder that orders anew: a model's folder")
    rerank_candidates: int = Field(default=50, ge=2, le=500, description="passages that `rerank` orders anew")
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
    trees: Path | None = Field(
        default=None, description="folder of FinGEAR's trees; `trees` beside the index if not given"
    )
    tree_chunks: str = Field(default="512:0", description="tokens of a tree's leaves and their overlap: `2000:100`")
    prompts: Path | None = Field(default=None, description="folder whose Markdown files replace prompts of that name")

    @property
    def by_model(self) -> bool:
        """Whether a chat model answers, in place of the rules alone."""
        return self.analyst == "llm" or (self.analyst == "auto" and self.models.model is not None)


_VARIABLE_INFIXES = {
    "": "",
    "models": "",
    "models.budget": "MAX_",
    "models.batch_budget": "BATCH_MAX_",
    "edgar": "EDGAR_",
}
"""Section of the settings -> the part of its environment variables between `FIN_AGENT_` and the name of the setting."""
_IRREGULAR_VARIABLES = {"models.small": "FIN_AGENT_SMALL_MODEL", "edgar.contact": "FIN_AGENT_CONTACT"}


def _variable(place: Place) -> str:
    usual = f"FIN_AGENT_{_VARIABLE_INFIXES['.'.join(place[:-1])]}{place[-1].upper()}"
    return _IRREGULAR_VARIABLES.get(".".join(place), usual)


VARIABLES: Mapping[str, str] = {".".join(place): _variable(place) for place in types_of(Settings)}
"""Setting (`models.budget.tokens`) -> the environment variable that sets it."""


_OTHERS = ("INDEX", "CONFIG", "API_KEY", "TOKEN", "LEXICON", "PDF_READER")
_OF_ELASTICSEARCH = ("API_KEY", "USERNAME", "PASSWORD", "CA", "TIMEOUT", "PATIENCE", "SHARDS")
OTHER_VARIABLES = frozenset(
    [*(f"FIN_AGENT_{name}" for name in _OTHERS), *(f"FIN_AGENT_ES_{name}" for name in _OF_ELASTICSEARCH)]
)
"""Variables that set no setting. Modules that import this one read them, so their names are repeated here."""


def unknown_variables(key_variable: str | None = None) -> dict[str, str]:
    """Return the `FIN_AGENT_` variables that nothing reads, such as misspelled ones, with the closest known name or "".

    `key_variable` is the variable that the settings name for a model's API key; it counts as known.
    """
    known = {*VARIABLES.values(), *RECORDING_VARIABLES.values(), *OTHER_VARIABLES, key_variable or ""}
    known.add(os.environ.get(VARIABLES["models.key_variable"], ""))
    return {
        name: next(iter(difflib.get_close_matches(name, known, n=1)), "")
        for name in sorted(os.environ)
        if name.startswith("FIN_AGENT_") and not name.startswith("FIN_AGENT_TEST_") and name not in known
    }


def unknown_variable_message(name: str, closest: str) -> tuple[str, str]:
    """Return what is wrong with a variable that nothing reads, and the remedy."""
    remedy = f"Did you mean {closest}?" if closest else "Unset it, or see docs/models.md for those that are read"
    return f"the environment variable {name} is set, but nothing reads it", remedy


class Recording(BaseModel):
    """Whether and where runs are recorded, and how many are stored. It does not affect answers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = Field(default=True, description="whether `ask` and `batch` record their runs")
    file: Path | None = Field(default=None, description="file of the runs; `runs.sqlite` beside the index if not given")
    runs_kept: int = Field(default=1_000, ge=1, description="runs stored at most; the oldest are deleted first")
    megabytes: int = Field(default=100, ge=1, description="MB of all runs at most; the oldest are deleted first")


@dataclass(frozen=True, slots=True)
class Configured:
    """Settings together with the source of each value."""

    settings: Settings
    sources: Mapping[Place, SettingValue]
    """The value in effect for each setting that was given; settings left at their default are absent."""
    file: Path | None
    """The `fin-agent.toml` that was read."""


def configured(flags: Iterable[SettingValue] = (), *, file: Path | str | None = None, **given: object) -> Configured:
    """Resolve settings from keyword arguments, `flags`, the settings file and the environment, with their sources.

    An earlier source overrides a later one, for each setting on its own: a model from the environment can be combined
    with a budget from the file. Without `file`, the one that `settings_file` finds is read. Nested settings are given
    as dicts.

    Raises:
        SettingsError: A value cannot be used; the message names it and its source.
    """
    file = None if file is None else Path(file)
    found = settings_file(file)
    of_file = () if found is None else tuple(file_values(found, Settings, trusted=is_trusted(found, file)))
    values = (*environment_values(VARIABLES), *of_file, *flags, *keyword_values(given))
    return Configured(*validated(Settings, values), found)


def settings_from(flags: Iterable[SettingValue] = (), *, file: Path | str | None = None, **given: object) -> Settings:
    """Collect settings from `given`, `flags`, `fin-agent.toml` and the environment, in this order of precedence.

    Args:
        flags: Options of a command line.
        file: A file of settings in place of `fin-agent.toml`.
        **given: Settings by name, nested ones as dicts.

    Returns:
        The settings.

    Raises:
        SettingsError: A value cannot be used; the message names it and where it comes from.

    >>> from fin_agent import settings_from
    >>> settings_from(models={"model": "openai:gpt-5.4"}, rounds=2).models.model
    'openai:gpt-5.4'

    `Settings` itself is exact, for a checker of types as well:

    >>> from fin_agent import ModelSettings, Settings
    >>> Settings(models=ModelSettings(model="openai:qwen3", base_url="http://localhost:11434/v1")).by_model
    True
    """
    found = configured(flags, file=file, **given).settings
    for name, closest in unknown_variables(found.models.key_variable).items():
        warnings.warn(". ".join(unknown_variable_message(name, closest)), UserWarning, stacklevel=2)
    return found


def recording_from_environment(**given: object) -> Recording:
    """Return how runs are recorded, from keyword arguments or else the environment.

    Raises:
        SettingsError: A value cannot be used.
    """
    return validated(Recording, (*environment_values(RECORDING_VARIABLES), *keyword_values(given)))[0]


def index_folder(given: Path | str | None = None) -> Path:
    """Return the index to use: `given`, else `FIN_AGENT_INDEX`, else the index in the user's data folder."""
    if given is not None:
        return Path(given)
    named = os.environ.get(INDEX_VARIABLE)
    return Path(named).expanduser() if named else platformdirs.user_data_path("fin-agent") / "index"
