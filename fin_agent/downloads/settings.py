"""Settings of EDGAR: the contact, the addresses, and the cache."""

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
        default=None, description="name and e-mail address to send to EDGAR: `Jane Doe jane@example.com`"
    )
    url: str = Field(default=SEC, description="EDGAR, or a mirror with its paths")
    data_url: str | None = Field(
        default=None, description="the host of lists of filings; by default that of the SEC, or `url` for a mirror"
    )
    cache: Path | None = Field(default=None, description="folder of cached lists; the user's cache folder if none")
    timeout: float = Field(default=30.0, gt=0, le=600, description="seconds without a reply before the next attempt")

    @property
    def lists_url(self) -> str:
        """The host of lists of filings."""
        return self.data_url or (SEC_DATA if self.url.rstrip("/") == SEC else self.url)

    @property
    def cache_folder(self) -> Path:
        """The folder of cached lists and of the file by which all processes of a user share the pace of requests."""
        return self.cache or platformdirs.user_cache_path("fin-agent") / "edgar"
