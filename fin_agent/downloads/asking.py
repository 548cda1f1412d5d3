"""Requests to EDGAR: told who asks, in turn, within its hosts, tried again where that may help."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urljoin, urlsplit

from fin_agent.downloads import refusals
from fin_agent.downloads.pace import Pace
from fin_agent.downloads.settings import SEC, EdgarSettings
from fin_agent.errors import FinAgentError, how_to_install

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

REDIRECTS = 5
_TAKEN = frozenset({200, 206, 304, 416})
_TRIED_AGAIN = frozenset({403, 408, 425, 429, 500, 502, 503, 504})
_TOO_MANY = frozenset({403, 429})
_EMAIL = re.compile(r"(?:^|[\s<(\"'])[\w.+'-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a request is tried, and how long is waited in between; tests wait less."""

    attempts: int = 5
    first: float = 1.0
    """Seconds before the second attempt; doubled each time, a part of it by chance."""
    longest: float = 120.0
    """Seconds of waiting that a server may ask for; EDGAR blocks for ten minutes, which nobody wants to sit through."""
    sleep: Callable[[float], None] = time.sleep
    told: Callable[[float], None] = lambda seconds: None
    """Hears the seconds that are waited because a server asked an earlier request, or another process, for a pause."""


class BrokenOffError(Exception):
    """An answer that did not come, or not to its end; it may come when asked for again."""

    def __init__(self, reason: str, *, pause: float = 0.0, status: int | None = None) -> None:
        super().__init__(reason)
        self.pause = pause
        self.status = status


class EdgarConnection:
    """A connection to EDGAR, or to a mirror. Use it with `with`."""

    def __init__(self, settings: EdgarSettings, *, pace: Pace | None = None, patience: Patience | None = None) -> None:
        """Raises DownloadError where no contact is given, or the environment names a proxy that cannot be used;
        FinAgentError where the extra is missing."""
        agent = user_agent(settings.contact)
        self._origins = (_origin(settings.url), _origin(settings.lists_url))
        self._of_sec = settings.url.rstrip("/") == SEC
        try:
            import httpx
        except ImportError as error:
            raise FinAgentError("fetching filings needs httpx", remedy=how_to_install("edgar")) from error
        self._patience = patience or Patience()
        self._pace = pace or Pace(
            settings.cache_folder / "pace.sqlite", longest=self._patience.longest, told=self._patience.told
        )
        self._httpx = httpx
        headers = {"User-Agent": agent, "Accept-Encoding": "gzip"}
        try:
            self._client = httpx.Client(headers=headers, timeout=settings.timeout, follow_redirects=False)
        except (ValueError, ImportError, httpx.InvalidURL):
            raise refusals.proxy_unusable() from None  # what it says may hold the proxy's password

    def __enter__(self) -> EdgarConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def get(self, url: str, take: Callable[[httpx.Response], T], headers: Callable[[], Mapping[str, str]] = dict) -> T:
        """What `take` makes of the answer of `url`: of its status (200, 206, 304 or 416), headers and stream.

        Tried again, after a pause, where the network fails, the answer breaks off (`take` may say so by raising
        BrokenOffError) or the server asks for that. `headers` are asked for each time: what came need not come again.
        Raises DownloadError for another status, a redirect to another host, or after the last attempt.
        """
        for left in reversed(range(self._patience.attempts)):
            try:
                with self._answered(url, headers()) as response:
                    return take(response)
            except BrokenOffError as failure:
                if not left or failure.pause > self._patience.longest:
                    if failure.status is not None:
                        raise refusals.refused(url, failure.status, failure.pause) from failure
                    raise refusals.unreachable(urlsplit(url).netloc, str(failure)) from failure
                tried = self._patience.attempts - left - 1
                self._patience.sleep(max(failure.pause, self._patience.first * 2**tried * random.uniform(0.75, 1.25)))
        raise AssertionError("the last attempt returns or raises")

    @contextmanager
    def _answered(self, url: str, headers: Mapping[str, str]) -> Iterator[httpx.Response]:
        try:
            with self._followed(url, headers) as response:
                status = response.status_code
                if status in _TAKEN:
                    yield response
                    return
                if status not in _TRIED_AGAIN:
                    raise refusals.refused(url, status, 0.0)
                pause = _pause_asked_for(response)
                if status in _TOO_MANY or pause:  # whoever else asks from here, now or later, had better wait as well
                    self._pace.pause(max(pause, self._patience.first), _host(str(response.url)))
                raise BrokenOffError(f"HTTP {status}", pause=pause, status=status)
        except self._httpx.InvalidURL as error:
            raise refusals.address_unusable(url) from error
        except (self._httpx.TransportError, self._httpx.DecodingError) as error:
            raise BrokenOffError(str(error) or type(error).__name__) from error

    @contextmanager
    def _followed(self, url: str, headers: Mapping[str, str]) -> Iterator[httpx.Response]:
        asked = url
        for _ in range(REDIRECTS + 1):
            self._pace.wait(_host(url))
            response = self._client.send(self._client.build_request("GET", url, headers=dict(headers)), stream=True)
            try:
                if not response.has_redirect_location:
                    yield response
                    return
                target = urljoin(url, response.headers["location"])
            finally:
                response.close()
            if not self._is_edgar(target):
                raise refusals.led_away(asked, target)
            url = target
        raise refusals.led_away(asked, f"one address after another, at last {url}")

    def _is_edgar(self, url: str) -> bool:
        try:
            origin = _origin(url)
        except FinAgentError:
            return False
        scheme, host, port = origin
        within_sec = scheme == "https" and port == 443 and (host == "sec.gov" or host.endswith(".sec.gov"))
        return origin in self._origins or (self._of_sec and within_sec)


def user_agent(contact: str | None) -> str:
    """What EDGAR is told of who asks. Raises DownloadError where there is no e-mail address in it."""
    if contact is None or not contact.strip():
        raise refusals.contact_missing()
    said = contact.strip()
    if not (said.isascii() and said.isprintable() and len(said) <= 200 and _EMAIL.search(said)):
        raise refusals.contact_unusable(said)
    return said


def _origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port. Raises DownloadError where there is none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise refusals.address_unusable(url) from error
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise refusals.address_unusable(url)
    return parts.scheme, parts.hostname, port or {"http": 80, "https": 443}[parts.scheme]


def _host(url: str) -> str:
    """Host and port, without what an address may hold beside them."""
    return urlsplit(url).netloc.rpartition("@")[2].lower()


def _pause_asked_for(response: httpx.Response) -> float:
    """Seconds of `Retry-After`, in either of its forms (RFC 9110, 10.2.3); 0 where there is none."""
    said = response.headers.get("Retry-After", "").strip()
    if said.isdigit():
        return float(said[:9])
    try:
        return max(0.0, (parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return 0.0
