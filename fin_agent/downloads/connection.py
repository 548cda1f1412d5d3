"""Requests to EDGAR: told who asks, at a pace that all processes share, within its hosts, tried again if it helps."""

from __future__ import annotations

import math
import random
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin, urlsplit

from fin_agent.downloads.settings import CONTACT_VARIABLE, SEC, EdgarSettings
from fin_agent.errors import FinAgentError, how_to_install

if TYPE_CHECKING:
    import httpx
    from tenacity import RetryCallState

REDIRECTS = 5
MAX_BYTES = 128 * 2**20
"""Of a document; larger ones are not read either."""
PER_SECOND = 9
"""The SEC allows ten; one is kept back for requests that the network delays and then delivers together."""
_TAKEN = frozenset({200, 304})
_TRIED_AGAIN = frozenset({403, 408, 425, 429, 500, 502, 503, 504})
_TOO_MANY = frozenset({403, 429})
_FARTHEST = 3600.0
"""Seconds. A turn further off was written by a clock that has been set since."""
_MAX_HOLD_LENGTH = 86_400.0
"""Seconds for which a host is left alone at most, whatever it asks for."""
_TOLD_FROM = 2.0
"""Seconds of waiting that are told: shorter ones nobody notices."""
_EMAIL = re.compile(r"(?:^|[\s<(\"'])[\w.+'-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_REFUSALS = (
    b"undeclared automated tool",
    b"request rate threshold exceeded",
    b"automated access to our sites must comply",
)
"""What pages say by which EDGAR refuses requests; a filing as short as these does not."""
_MAX_REFUSAL_LENGTH = 100_000
_POLICY = (
    "The SEC's fair access policy asks whoever fetches by program to say who they are, so that it can write before it"
    " blocks them"
)
_GOES_ON = "it resumes from there. Filings that you have are brought in with `fin-agent ingest PATH...`"


class DownloadError(FinAgentError):
    """A filing could not be fetched."""

    def __init__(self, what: str, *, subject: str = "", remedy: str = "", ends_all: bool = False) -> None:
        super().__init__(what, subject=subject, remedy=remedy)
        self.ends_all = ends_all
        """Whether the next filing would fare no better: EDGAR cannot be reached, refuses, or nothing can be written."""


class NotThereError(DownloadError):
    """EDGAR has nothing at an address."""


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


class Response(NamedTuple):
    """What an address gave."""

    status: int
    """200, or 304 where nothing has changed."""
    headers: Mapping[str, str]
    content: bytes


class BrokenOffError(Exception):
    """An answer that did not come, or not to its end; it may come when asked for again."""

    def __init__(self, reason: str, *, pause: float = 0.0, status: int | None = None) -> None:
        super().__init__(reason)
        self.pause = pause
        self.status = status


class EdgarConnection:
    """A connection to EDGAR, or to a mirror. Use it with `with`."""

    def __init__(
        self, settings: EdgarSettings, *, pace: RequestPacer | None = None, patience: Patience | None = None
    ) -> None:
        """Prepare a client; nothing is sent yet.

        Raises:
            DownloadError: No contact is given, or the environment names a proxy that cannot be used.
            FinAgentError: The extra `edgar` is not installed.
        """
        agent = user_agent(settings.contact)
        self._origins = (_origin(settings.url), _origin(settings.lists_url))
        self._of_sec = settings.url.rstrip("/") == SEC
        try:
            import httpx
            import tenacity
        except ImportError as error:
            raise FinAgentError("fetching filings needs httpx", remedy=how_to_install("edgar")) from error
        self._httpx, self._tenacity = httpx, tenacity
        self._patience = patience or Patience()
        self._pace = pace or RequestPacer(
            settings.cache_folder / "pace.sqlite", longest=self._patience.longest, told=self._patience.told
        )
        headers = {"User-Agent": agent, "Accept-Encoding": "gzip"}
        try:
            self._client = httpx.Client(headers=headers, timeout=settings.timeout, follow_redirects=False)
        except (ValueError, ImportError, httpx.InvalidURL):  # what it says may hold the proxy's password
            raise DownloadError(
                "the proxy that the environment names cannot be used",
                subject="HTTPS_PROXY, HTTP_PROXY or ALL_PROXY",
                remedy="Set it to an address as http://proxy.example.org:3128, without a line end or other control"
                " character; a SOCKS proxy needs the package socksio",
            ) from None

    def __enter__(self) -> EdgarConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def get(self, url: str, headers: Mapping[str, str] | None = None, *, most: int = MAX_BYTES) -> Response:
        """What is at `url`: its status (200 or 304), headers and content, unpacked.

        Tried again, after a pause, where the network fails, the answer breaks off or the server asks for that. Raises
        DownloadError for another status, a redirect to another host, more than `most` bytes, a page by which EDGAR
        refuses, or after the last attempt.
        """
        trying = self._tenacity.Retrying(
            retry=self._tenacity.retry_if_exception(self._worth_another_try),
            stop=self._tenacity.stop_after_attempt(self._patience.attempts),
            wait=self._wait,
            sleep=self._patience.sleep,
            reraise=True,
        )
        try:
            return trying(self._asked, url, headers or {}, most)
        except BrokenOffError as failure:
            if failure.status is not None:
                raise _refused(url, failure.status, failure.pause) from failure
            raise DownloadError(
                f"EDGAR cannot be reached ({failure})",
                subject=urlsplit(url).netloc,
                remedy=f"Check the network, then run the same command again: {_GOES_ON}",
                ends_all=True,
            ) from failure

    def _worth_another_try(self, error: BaseException) -> bool:
        return isinstance(error, BrokenOffError) and error.pause <= self._patience.longest

    def _wait(self, state: RetryCallState) -> float:
        failure = state.outcome.exception() if state.outcome is not None else None
        asked_for = failure.pause if isinstance(failure, BrokenOffError) else 0.0
        doubled: float = self._patience.first * 2.0 ** (state.attempt_number - 1)
        return max(asked_for, doubled * random.uniform(0.75, 1.25))

    def _asked(self, url: str, headers: Mapping[str, str], most: int) -> Response:
        try:
            with self._followed(url, headers) as response:
                status = response.status_code
                if status == 304 and not headers:
                    raise BrokenOffError("the reply was empty")
                if status in _TAKEN:
                    received = Response(status, response.headers, _content(response, url, most))
                    _check_no_refusal(received.content, url)
                    return received
                if status not in _TRIED_AGAIN:
                    raise _refused(url, status, 0.0)
                pause = _pause_asked_for(response)
                if status in _TOO_MANY or pause:  # whoever else asks from here, now or later, had better wait as well
                    self._pace.pause(max(pause, self._patience.first), _host(str(response.url)))
                raise BrokenOffError(f"HTTP {status}", pause=pause, status=status)
        except self._httpx.InvalidURL as error:
            raise _unusable(url) from error
        except (self._httpx.TransportError, self._httpx.DecodingError) as error:
            raise BrokenOffError(str(error) or type(error).__name__) from error

    @contextmanager
    def _followed(self, url: str, headers: Mapping[str, str]) -> Iterator[httpx.Response]:
        asked = url
        for _ in range(REDIRECTS + 1):
            self._pace.wait(_host(url))
            with self._client.stream("GET", url, headers=dict(headers)) as response:
                if not response.has_redirect_location:
                    yield response
                    return
                target = urljoin(url, response.headers["location"])
            if not self._is_edgar(target):
                raise _led_away(asked, target)
            url = target
        raise _led_away(asked, f"one address after another, at last {url}")

    def _is_edgar(self, url: str) -> bool:
        try:
            origin = _origin(url)
        except FinAgentError:
            return False
        scheme, host, port = origin
        within_sec = scheme == "https" and port == 443 and (host == "sec.gov" or host.endswith(".sec.gov"))
        return origin in self._origins or (self._of_sec and within_sec)


class RequestPacer:
    """Turns, a ninth of a second apart, in a small SQLite file: its lock is the system's, and ends with its process.

    A host that asked for a pause is left alone by all processes. `told` hears how many seconds are waited for that,
    before they are; more than `longest` are not waited for.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     RequestPacer(Path(folder) / "pace.sqlite").wait()
    0.0
    """

    def __init__(
        self,
        file: Path,
        per_second: float = PER_SECOND,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        longest: float = 120.0,
        told: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        """Raises DownloadError where the file cannot be made."""
        self._file = file
        self._apart = 1 / per_second
        self._clock = clock
        self._sleep = sleep
        self._longest = longest
        self._told = told
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise not_writable(file, error) from error
        with self._locked() as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS pace (turn REAL NOT NULL)")
            connection.execute("CREATE TABLE IF NOT EXISTS held (host TEXT PRIMARY KEY, until REAL NOT NULL)")

    def wait(self, host: str = "") -> float:
        """Wait for a turn to ask `host`; the seconds waited.

        Raises DownloadError, without waiting, where the host asked for a longer pause than anybody sits through.
        """
        with self._locked() as connection:
            pause = self._held(connection, host, now := self._clock()) - now
        if pause > self._longest:
            minutes = math.ceil(pause / 60)
            raise DownloadError(
                f"it asked for a pause, of which {minutes:,} minutes are left: nothing was asked",
                subject=host,
                remedy=f"Run the same command again in {minutes:,} minutes: {_GOES_ON}",
                ends_all=True,
            )
        if pause > _TOLD_FROM:
            self._told(pause)
        if pause:
            self._sleep(pause)
        # After the pause: all who waited for its end would ask at once.
        if left := self._turn():
            self._sleep(left)
        return pause + left

    def pause(self, seconds: float, host: str = "") -> None:
        """Let no process ask `host` for so long: it says that there were too many requests, or that it is busy."""
        with self._locked() as connection:
            until = max(self._held(connection, host, now := self._clock()), now + min(seconds, _MAX_HOLD_LENGTH))
            connection.execute("INSERT OR REPLACE INTO held VALUES (?, ?)", (host, until))

    def _turn(self) -> float:
        """Seconds until the turn that was taken."""
        with self._locked() as connection:
            row, now = connection.execute("SELECT turn FROM pace").fetchone(), self._clock()
            turn = max(row[0], now) if row is not None and row[0] < now + _FARTHEST else now
            connection.execute("DELETE FROM pace")
            connection.execute("INSERT INTO pace VALUES (?)", (turn + self._apart,))
        return float(turn - now)

    def _held(self, connection: sqlite3.Connection, host: str, now: float) -> float:
        """Until when the host is left alone; now where it is not."""
        row = connection.execute("SELECT until FROM held WHERE host = ?", (host,)).fetchone()
        return float(row[0]) if row is not None and now < row[0] <= now + _MAX_HOLD_LENGTH else now

    @contextmanager
    def _locked(self) -> Iterator[sqlite3.Connection]:
        """The file, to be read and written by nobody else meanwhile."""
        try:
            connection = sqlite3.connect(self._file, timeout=60, isolation_level=None)
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise not_writable(self._file, error) from error


def user_agent(contact: str | None) -> str:
    """What EDGAR is told of who asks. Raises DownloadError where there is no e-mail address in it."""
    if contact is None or not contact.strip():
        raise DownloadError(
            "EDGAR requires a contact",
            remedy=f'{_POLICY}: give --contact "Jane Doe jane@example.com" (yours), set {CONTACT_VARIABLE}, or write'
            " `contact` under [edgar] in fin-agent.toml",
        )
    said = contact.strip()
    if not (said.isascii() and said.isprintable() and len(said) <= 200 and _EMAIL.search(said)):
        raise DownloadError(
            f"{said[:80]!r} cannot be used as a contact",
            remedy=f"{_POLICY}: give your name and e-mail address on one line of plain letters, as"
            " Jane Doe jane@example.com",
        )
    return said


def not_writable(where: Path, error: Exception) -> DownloadError:
    """The error for a file that cannot be written."""
    return DownloadError(
        f"it cannot be written ({getattr(error, 'strerror', None) or error})",
        subject=str(where),
        remedy="Name a folder with space that may be written to",
        ends_all=True,
    )


def _content(response: httpx.Response, url: str, most: int) -> bytes:
    content = bytearray()
    for chunk in response.iter_bytes(2**16):
        content += chunk
        if len(content) > most:
            raise DownloadError(
                f"it is larger than {most // 2**20} MB, which no filing is",
                subject=url,
                remedy="`fin-agent ingest` takes no larger file either. Open it in a browser; if it is the filing,"
                " print the pages that you need to a PDF, and ingest it",
            )
    return bytes(content)


def is_refusal(content: bytes) -> bool:
    """Whether it is a page by which EDGAR refuses requests, sent as if it were what was asked for."""
    return len(content) <= _MAX_REFUSAL_LENGTH and any(said in content.lower() for said in _REFUSALS)


def _check_no_refusal(content: bytes, url: str) -> None:
    if is_refusal(content):
        raise DownloadError(
            "EDGAR sent a page that refuses requests in place of the document; nothing of it is stored",
            subject=url,
            remedy="Wait 10 minutes, check that the contact is yours and that no other program asks EDGAR from this"
            " address, then run the same command again: it resumes from there",
            ends_all=True,
        )


def _refused(url: str, status: int, pause: float) -> DownloadError:
    if status in _TOO_MANY:
        return DownloadError(
            f"EDGAR refuses requests (HTTP {status}), as it does for some ten minutes after too many",
            subject=url,
            remedy=f"Wait {max(10, round(pause / 60))} minutes, check that the contact is yours and that no other"
            " program asks EDGAR from this address, then run the same command again: it resumes from there",
            ends_all=True,
        )
    if status == 404:
        return NotThereError(
            "EDGAR has no document here (HTTP 404)",
            subject=url,
            remedy="The filing may have been withdrawn: look at the company's filings on https://www.sec.gov",
        )
    return DownloadError(
        f"EDGAR answers with an error (HTTP {status})", subject=url, remedy="Run the same command again later"
    )


def _led_away(url: str, target: str) -> DownloadError:
    return DownloadError(
        f"it redirects to {_without_password(target)}, which is not EDGAR, and is not followed",
        subject=url,
        remedy="Check the network (a login page of a hotel or a proxy redirects so), then run the same command again",
    )


def _unusable(url: str) -> DownloadError:
    return DownloadError(
        "this cannot be an address of EDGAR",
        subject=_without_password(url),
        remedy="Give one as https://www.sec.gov, or leave `url` and `data_url` out of the settings",
    )


def _without_password(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    before, sign, place = rest.rpartition("@")
    return (f"{scheme}://...@{place}" if separator and before and sign else url)[:200]


def _origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port. Raises DownloadError where there is none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise _unusable(url) from error
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise _unusable(url)
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
