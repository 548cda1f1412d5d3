"""Who asks EDGAR, where it is, and where what it said is kept."""

from __future__ import annotations

from pathlib import Path

import platformdirs
from pydantic import BaseModel, ConfigDict, Field

SEC = "https://www.sec.gov"
SEC_DATA = "https://data.sec.gov"
CONTACT_VARIABLE = "FIN_AGENT_CONTACT"


class EdgarSettings(BaseModel):
    """How filings are fetched."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    contact: str | None = Field(
        default=None, description="name and e-mail address that EDGAR is told: `Jane Doe jane@example.com`"
    )
    url: str = Field(default=SEC, description="EDGAR, or a mirror with its paths")
    data_url: str | None = Field(
        default=None, description="the host of lists of filings; that of the SEC, or `url` where that is another"
    )
    cache: Path | None = Field(default=None, description="folder of lists and of the pace; one of your own if none")
    timeout: float = Field(default=30.0, gt=0, le=600, description="seconds without an answer until it is tried again")

    @property
    def lists_url(self) -> str:
        """The host of lists of filings."""
        return self.data_url or (SEC_DATA if self.url.rstrip("/") == SEC else self.url)

    @property
    def cache_folder(self) -> Path:
        """The folder of lists and of the pace: one for all processes of a user, so that they share the pace."""
        return self.cache or platformdirs.user_cache_path("fin-agent") / "edgar"
