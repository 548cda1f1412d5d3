"""Whether what came is the filing that EDGAR lists, and no page that somebody sent in its place."""

from __future__ import annotations

import html
import re
from pathlib import Path

from fin_agent.downloads import refusals
from fin_agent.downloads.refusal_pages import check_no_refusal
from fin_agent.downloads.refusals import DownloadError
from fin_agent.downloads.submissions import Listed

LARGEST_PAGE = 2**20
"""Bytes. No page that refuses, or asks for a login, is larger; many filings are, and are taken without a look."""
_TITLES = {
    "10-K": "annual report",
    "10-Q": "quarterly report",
    "8-K": "current report",
    "20-F": "annual report",
    "40-F": "annual report",
    "6-K": "report of foreign private issuer",
}
_COMMISSION = "securities and exchange commission"
_SUBMISSION = re.compile(rb"\s*(?:-----BEGIN PRIVACY|<SEC-DOCUMENT>|<DOCUMENT>)", re.I)
_TAG = re.compile(rb"<[^<>]*>")


def check_filing(content: bytes, listed: Listed, url: str) -> None:
    """Raises DownloadError where a document is not the one that EDGAR lists: too short, or about something else."""
    check_no_refusal(content, url)
    if why := _too_short(len(content), listed, url) or _something_else(content, listed, url):
        raise refusals.not_the_filing(url, listed.form, why)


def is_filing(file: Path, listed: Listed, url: str) -> bool:
    """Whether a file that was fetched before is the filing, as far as `check_filing` tells."""
    try:
        size = file.stat().st_size
        if size > LARGEST_PAGE:
            return not _too_short(size, listed, url)
        check_filing(file.read_bytes(), listed, url)
    except (OSError, DownloadError):
        return False
    return True


def _too_short(size: int, listed: Listed, url: str) -> str:
    """Why, where a whole submission is much smaller than the list says, which may count a little otherwise."""
    short = url.endswith(".txt") and listed.size is not None and size < listed.size / 2
    return f"it has {size:,} bytes, where the list says {listed.size:,}" if short else ""


def _something_else(content: bytes, listed: Listed, url: str) -> str:
    if url.lower().endswith(".pdf"):
        return "" if b"%PDF-" in content[:1024] else "it is no PDF"
    if len(content) > LARGEST_PAGE or _SUBMISSION.match(content) or content.startswith(b"%PDF-"):
        return ""
    words = " ".join(_text(content, b" ").split())
    joined = "".join(_text(content, b"").split())  # a word may be in several pieces
    form = listed.form.upper().removesuffix("/A")
    named = re.compile(rf"(?<![a-z\d]){'[^a-z0-9]{0,3}'.join(map(re.escape, _parts(form)))}(?![a-z\d])")
    titles = (_TITLES.get(form[:4], _TITLES.get(form[:3], _COMMISSION)), _COMMISSION)
    if named.search(words) or any(title.replace(" ", "") in joined for title in titles):
        return ""
    return f"its {len(content):,} bytes name neither the form nor the Commission"


def _text(content: bytes, between: bytes) -> str:
    return html.unescape(_TAG.sub(between, content).decode("utf-8", "replace")).lower()


def _parts(form: str) -> list[str]:
    """`10` and `k`: a dash, a line end or a blank of any kind may stand between them."""
    return re.findall(r"[a-z]+|\d+", form.lower()) or [form.lower()]
