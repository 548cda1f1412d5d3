"""Settings of a run, and where its index is."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs
from pydantic import BaseModel, ConfigDict, Field

INDEX_VARIABLE = "FIN_AGENT_INDEX"
MODEL_VARIABLES = {
    "encoder": "FIN_AGENT_ENCODER",
    "sparse_encoder": "FIN_AGENT_SPARSE_ENCODER",
    "reranker": "FIN_AGENT_RERANKER",
    "chat_model": "FIN_AGENT_CHAT_MODEL",
    "prompts": "FIN_AGENT_PROMPTS",
}
"""Setting -> the environment variable that the command line takes it from."""


class Settings(BaseModel):
    """How a run searches, how far, and with which models.

    The defaults are HiREC's: 5 documents, 20 pages, 5 passages a round, 3 rounds, 10 kept. No model is needed for the
    strategy `default`.
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
    prompts: Path | None = Field(default=None, description="folder whose Markdown files replace prompts of that name")


def settings_from_environment(**given: object) -> Settings:
    """Settings with the values `given`; the models not given are those the environment names."""
    named = {field: os.environ.get(variable) for field, variable in MODEL_VARIABLES.items()}
    return Settings.model_validate({**{field: value for field, value in named.items() if value}, **given})


def index_folder(given: Path | None = None) -> Path:
    """The index to use: the one given, else `FIN_AGENT_INDEX`, else a folder of the user's own."""
    if given is not None:
        return given
    named = os.environ.get(INDEX_VARIABLE)
    return Path(named).expanduser() if named else platformdirs.user_data_path("fin-agent") / "index"
