"""Requests to EDGAR: identified by a contact, paced across all processes, limited to EDGAR's hosts, and retried."""

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
"""Size limit of a document; larger files are not ingested either."""
PER_SECOND = 9
"""Requests per second. The SEC allows ten; one is a margin for requests that the network delivers in a burst."""
_TAKEN = frozenset({200, 304})
_TRIED_AGAIN = frozenset({403, 408, 425, 429, 500, 502, 503, 504})
_TOO_MANY = frozenset({403, 429})
_FARTHEST = 3600.0
"""Seconds. A reserved time further in the future was written before the clock was set back."""
_MAX_HOLD_LENGTH = 86_400.0
"""Longest pause in seconds that is observed for a host, whatever it asks for."""
_TOLD_FROM = 2.0
"""Shortest wait in seconds that is reported."""
_EMAIL = re.compile(r"(?:^|[\s<(\"'])[\w.+'-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_REFUSALS = (
    b"undeclared automated tool",
    b"request rate threshold exceeded",
    b"automated access to our sites must comply",
)
"""Phrases of the pages by which EDGAR refuses requests. A filing as short as these pages does not contain them."""
_MAX_REFUSAL_LENGTH = 100_000
_POLICY = (
    "The SEC's fair access policy asks programs to name a contact, so that it can write to you before it blocks you"
)
_GOES_ON = "it resumes from there. Add filings that you have with `fin-agent ingest PATH...`"


class DownloadError(FinAgentError):
    """A filing could not be fetched."""

    def __init__(self, what: str, *, subject: str = "", remedy: str = "", ends_all: bool = False) -> None:
        super().__init__(what, subject=subject, remedy=remedy)
        self.ends_all = ends_all
        """Whether further filings would fail as well: EDGAR cannot be reached or refuses, or nothing can be written."""


class NotThereError(DownloadError):
    """EDGAR has no document at this address."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a request is tried, and how long to wait between attempts; tests use shorter times."""

    attempts: int = 5
    first: float = 1.0
    """Seconds before the second attempt; doubled for each further one, with random jitter."""
    longest: float = 120.0
    """Longest pause in seconds that a server may ask for. EDGAR blocks for ten minutes, which is too long to wait."""
    sleep: Callable[[float], None] = time.sleep
    told: Callable[[float], None] = lambda seconds: None
    """Is called with the seconds of a pause that a server asked for, of this process or another one."""


class Response(NamedTuple):
    """The reply from an address."""

    status: int
    """200, or 304 if the document has not changed."""
    headers: Mapping[str, str]
    content: bytes


class BrokenOffError(Exception):
    """A reply is missing or incomplete; another attempt may succeed."""

    def __init__(self, reason: str, *, pause: float = 0.0, status: int | None = None) -> None:
        super().__init__(reason)
        self.pause = pause
        self.status = status


class EdgarConnection:
    """A connection to EDGAR or to a mirror. Use it in a `with` statement."""

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
        except (ValueError, ImportError, httpx.InvalidURL):  # its message may contain the proxy's password
            raise DownloadError(
                "the proxy that the environment names cannot be used",
                subject="HTTPS_PROXY, HTTP_PROXY or ALL_PROXY",
                remedy="Set it to an address such as http://proxy.example.org:3128, without a line end or other control"
                " character; a SOCKS proxy needs the package socksio",
            ) from None

    def __enter__(self) -> EdgarConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def get(self, url: str, headers: Mapping[str, str] | None = None, *, most: int = MAX_BYTES) -> Response:
        """Fetch a document.

        A request is repeated after a pause if the network fails, the reply is incomplete or the server asks for it.

        Args:
            url: The address.
            headers: Headers of the request, such as conditions.
            most: Size limit in bytes, unpacked.

        Returns:
            Status (200 or 304), headers and unpacked content.

        Raises:
            DownloadError: The status is another one, the reply is too large or is one of EDGAR's refusals, it redirects
                to another host, or the last attempt failed.
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
                if status in _TOO_MANY or pause:  # other processes on this machine should wait as well
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
    """Space requests across processes by a small SQLite file, whose lock ends with its process.

    When a host asks for a pause, all processes leave it alone for that time.

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
        """Create the file if it does not exist.

        Args:
            file: The SQLite file that processes share.
            per_second: Requests per second.
            clock: Returns the time in seconds.
            sleep: Waits for some seconds.
            longest: Longest pause in seconds to wait for.
            told: Is called with the seconds of a pause before it is waited for.

        Raises:
            DownloadError: The file cannot be created.
        """
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
        """Wait until `host` may be asked.

        Returns:
            The seconds waited.

        Raises:
            DownloadError: The host asked for a pause longer than `longest`; nothing was waited for.
        """
        with self._locked() as connection:
            pause = self._held(connection, host, now := self._clock()) - now
        if pause > self._longest:
            minutes = math.ceil(pause / 60)
            raise DownloadError(
                f"it asked for a pause, of which {minutes:,} minutes are left; no request was sent",
                subject=host,
                remedy=f"Run the same command again in {minutes:,} minutes: {_GOES_ON}",
                ends_all=True,
            )
        if pause > _TOLD_FROM:
            self._told(pause)
        if pause:
            self._sleep(pause)
        # Reserve the time after the pause, since all processes that waited for its end would ask at once.
        if left := self._turn():
            self._sleep(left)
        return pause + left

    def pause(self, seconds: float, host: str = "") -> None:
        """Keep all processes from asking `host` for some seconds, since it reported too many requests or is busy."""
        with self._locked() as connection:
            until = max(self._held(connection, host, now := self._clock()), now + min(seconds, _MAX_HOLD_LENGTH))
            connection.execute("INSERT OR REPLACE INTO held VALUES (?, ?)", (host, until))

    def _turn(self) -> float:
        """Reserve the next time for a request, and return the seconds until then."""
        with self._locked() as connection:
            row, now = connection.execute("SELECT turn FROM pace").fetchone(), self._clock()
            turn = max(row[0], now) if row is not None and row[0] < now + _FARTHEST else now
            connection.execute("DELETE FROM pace")
            connection.execute("INSERT INTO pace VALUES (?)", (turn + self._apart,))
        return float(turn - now)

    def _held(self, connection: sqlite3.Connection, host: str, now: float) -> float:
        """Return until when the host is left alone; `now` if it is not."""
        row = connection.execute("SELECT until FROM held WHERE host = ?", (host,)).fetchone()
        return float(row[0]) if row is not None and now < row[0] <= now + _MAX_HOLD_LENGTH else now

    @contextmanager
    def _locked(self) -> Iterator[sqlite3.Connection]:
        """Open the file with an exclusive lock."""
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
    """Return the User-Agent header for a contact.

    Raises:
        DownloadError: The contact is missing, or has no e-mail address.
    """
    if contact is None or not contact.strip():
        raise DownloadError(
            "EDGAR requires a contact",
            remedy=f'{_POLICY}. Give your own as --contact "Jane Doe jane@example.com", set {CONTACT_VARIABLE}, or'
            " write `contact` under [edgar] in fin-agent.toml",
        )
    said = contact.strip()
    if not (said.isascii() and said.isprintable() and len(said) <= 200 and _EMAIL.search(said)):
        raise DownloadError(
            f"{said[:80]!r} cannot be used as a contact",
            remedy=f"{_POLICY}. Give your name and e-mail address on one line of ASCII characters, such as"
            " Jane Doe jane@example.com",
        )
    return said


def not_writable(where: Path, error: Exception) -> DownloadError:
    """Return the error for a file that cannot be written."""
    return DownloadError(
        f"it cannot be written ({getattr(error, 'strerror', None) or error})",
        subject=str(where),
        remedy="Name a folder with free space and write permission",
        ends_all=True,
    )


def _content(response: httpx.Response, url: str, most: int) -> bytes:
    content = bytearray()
    for chunk in response.iter_bytes(2**16):
        content += chunk
        if len(content) > most:
            raise DownloadError(
                f"it is larger than {most // 2**20} MB, the limit for a filing",
                subject=url,
                remedy="Open it in a browser. If it is the filing, print the pages that you need to a PDF, and ingest"
                " that: `fin-agent ingest` has the same limit",
            )
    return bytes(content)


def is_refusal(content: bytes) -> bool:
    """Return whether the content is a page by which EDGAR refuses requests, sent in place of the document."""
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
        f"EDGAR replied with an error (HTTP {status})", subject=url, remedy="Run the same command again later"
    )


def _led_away(url: str, target: str) -> DownloadError:
    return DownloadError(
        f"it redirects to {_without_password(target)}, which is not EDGAR; the redirect is not followed",
        subject=url,
        remedy="Check the network (login pages of hotels and proxies redirect), then run the same command again",
    )


def _unusable(url: str) -> DownloadError:
    return DownloadError(
        "this cannot be an address of EDGAR",
        subject=_without_password(url),
        remedy="Give an address such as https://www.sec.gov, or leave `url` and `data_url` out of the settings",
    )


def _without_password(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    before, sign, place = rest.rpartition("@")
    return (f"{scheme}://...@{place}" if separator and before and sign else url)[:200]


def _origin(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port. Raises DownloadError for another kind of address."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise _unusable(url) from error
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise _unusable(url)
    return parts.scheme, parts.hostname, port or {"http": 80, "https": 443}[parts.scheme]


def _host(url: str) -> str:
    """Return host and port, without user and password."""
    return urlsplit(url).netloc.rpartition("@")[2].lower()


def _pause_asked_for(response: httpx.Response) -> float:
    """Return the seconds of `Retry-After`, in either of its forms (RFC 9110, 10.2.3); 0 if there is none."""
    said = response.headers.get("Retry-After", "").strip()
    if said.isdigit():
        return float(said[:9])
    try:
        return max(0.0, (parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return 0.0
