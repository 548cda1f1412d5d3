"""Settings of a run, and where its index is."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs
from pydantic import BaseModel, ConfigDict, Field

INDEX_VARIABLE = "FIN_AGENT_INDEX"


class Settings(BaseModel):
    """How far a run looks. The defaults are HiREC's: 5 documents, 20 pages, 5 passages a round, 3 rounds, 10 kept."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    documents: int = Field(default=5, ge=1, le=100, description="filings searched per round")
    pages: int = Field(default=20, ge=1, le=200, description="pages looked at per round")
    passages: int = Field(default=5, ge=1, le=50, description="passages read per round")
    listed: int = Field(default=10, ge=1, le=200, description="documents, pages and passages listed as retrieved")
    rounds: int = Field(default=3, ge=1, le=3, description="rounds of search at most")
    evidence: int = Field(default=10, ge=1, le=50, description="passages kept at most")


def index_folder(given: Path | None = None) -> Path:
    """The index to use: the one given, else `FIN_AGENT_INDEX`, else a folder of the user's own."""
    if given is not None:
        return given
    named = os.environ.get(INDEX_VARIABLE)
    return Path(named).expanduser() if named else platformdirs.user_data_path("fin-agent") / "index"
