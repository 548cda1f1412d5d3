"""EDGAR's lists (of companies, of a company's filings) as JSON: kept for a while, then asked for again if changed."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fin_agent.downloads import refusals
from fin_agent.downloads.asking import EdgarConnection
from fin_agent.downloads.bodies import whole_body, write_whole
from fin_agent.downloads.refusal_pages import check_no_refusal

if TYPE_CHECKING:
    import httpx

DAY = 86_400.0
MOST_BYTES = 64 * 2**20


class Lists:
    """Lists fetched through a connection, kept in a folder."""

    def __init__(self, connection: EdgarConnection, folder: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._connection = connection
        self._folder = folder
        self._clock = clock

    def get(self, url: str, fresh_for: float) -> Mapping[str, object]:
        """The JSON object at `url`, asked for again where what is kept is older than `fresh_for` seconds.

        Raises DownloadError.
        """
        file = self._folder / f"{hashlib.sha256(url.encode()).hexdigest()[:32]}.json"
        kept = _kept(file, url)
        if kept is not None and 0 <= self._clock() - kept.fetched < fresh_for:
            return kept.content
        headers = {} if kept is None else kept.conditions

        def take(response: httpx.Response) -> _Kept:
            if response.status_code == 304 and kept is not None:
                return _Kept(url, self._clock(), kept.conditions, kept.content)
            content = _object(whole_body(response, url, MOST_BYTES), url)
            return _Kept(url, self._clock(), _conditions(response), content)

        found = self._connection.get(url, take, lambda: headers)
        try:
            write_whole(file, found.written())
        except OSError as error:
            raise refusals.not_writable(str(file), error.strerror or str(error)) from error
        return found.content


class _Kept:
    def __init__(self, url: str, fetched: float, conditions: Mapping[str, str], content: Mapping[str, object]) -> None:
        self.url = url
        self.fetched = fetched
        self.conditions = conditions
        self.content = content

    def written(self) -> bytes:
        return json.dumps(
            {"url": self.url, "fetched": self.fetched, "conditions": dict(self.conditions), "content": self.content}
        ).encode()


def _kept(file: Path, url: str) -> _Kept | None:
    try:
        kept = json.loads(file.read_bytes())
        if kept["url"] != url or not isinstance(kept["content"], dict):
            return None
        conditions = {str(name): str(value) for name, value in kept["conditions"].items()}
        return _Kept(url, float(kept["fetched"]), conditions, kept["content"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None  # not there, or not written by this: it is asked for again


def _conditions(response: httpx.Response) -> dict[str, str]:
    """Headers by which a server says that nothing changed since."""
    named = {"If-None-Match": response.headers.get("ETag"), "If-Modified-Since": response.headers.get("Last-Modified")}
    return {name: value for name, value in named.items() if value}


def _object(content: bytes, url: str) -> Mapping[str, object]:
    check_no_refusal(content, url)
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise refusals.not_understood(url, "it is no JSON") from error
    if not isinstance(found, dict):
        raise refusals.not_understood(url, "it is no JSON object")
    return found
