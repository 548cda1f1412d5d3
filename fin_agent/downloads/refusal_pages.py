"""Pages by which EDGAR refuses requests, sent as if they were what was asked for."""

from __future__ import annotations

from fin_agent.downloads import refusals

_SAID = (
    b"undeclared automated tool",
    b"request rate threshold exceeded",
    b"automated access to our sites must comply",
)
"""What such pages say; a filing as short as these does not."""
_LONGEST = 100_000
"""Bytes."""


def check_no_refusal(content: bytes, url: str) -> None:
    """Raises DownloadError where it is such a page."""
    if len(content) <= _LONGEST and any(said in content.lower() for said in _SAID):
        raise refusals.turned_away(url)
