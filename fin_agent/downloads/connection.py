"""Requests to EDGAR: identified by a contact, paced across all processes, and retried."""

from __future__ import annotations

import math
import random
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fin_agent.atomic_write import reporting_write_errors
from fin_agent.downloads.settings import CONTACT_VARIABLE, EdgarSettings
from fin_agent.errors import FinAgentError, how_to_install

if TYPE_CHECKING:
    import httpx
    from tenacity import RetryCallState

MAX_BYTES = 128 * 2**20
"""Size limit of a document; larger files are not ingested either."""
PER_SECOND = 9
"""Requests per second. The SEC allows ten; one is a margin for requests that the network delivers in a burst."""
_TRIED_AGAIN = frozenset({403, 408, 425, 429, 500, 502, 503, 504})
_TOO_MANY = frozenset({403, 429})
_FARTHEST = 3600.0
"""Seconds. A reserved time further in the future was written before the clock was set back."""
_MAX_HOLD_LENGTH = 86_400.0
"""Longest pause in seconds that is observed for a host, whatever it asks for."""
_TOLD_FROM = 2.0
"""Shortest wait in seconds that is reported."""
_ADDRESS = re.compile(r"https?://[^\s/@:]+(:\d{1,5})?(/[^\s@]*)?")
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
        """Whether further filings would fail as well: EDGAR cannot be reached or refuses."""


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


class BrokenOffError(Exception):
    """A reply is missing or incomplete; another attempt may succeed, else `told` is raised."""

    def __init__(self, told: DownloadError, pause: float = 0.0) -> None:
        super().__init__(told.what)
        self.told = told
        self.pause = pause


class EdgarConnection:
    """A connection to EDGAR or to a mirror. Use it in a `with` statement."""

    def __init__(
        self, settings: EdgarSettings, *, pace: RequestPacer | None = None, patience: Patience | None = None
    ) -> None:
        """Prepare a client; nothing is sent yet.

        Raises:
            DownloadError: No contact is given, or an address or the proxy of the environment cannot be used.
            FinAgentError: The extra `edgar` is not installed.
        """
        agent = user_agent(settings.contact)
        if not all(map(_ADDRESS.fullmatch, (settings.url, settings.lists_url))):
            raise DownloadError(
                "one of them cannot be an address of EDGAR",
                subject="edgar.url, edgar.data_url",
                remedy="Give an address such as https://www.sec.gov, without user and password",
            )
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
                remedy="Set it to an address such as http://proxy.example.org:3128; a SOCKS proxy needs socksio",
            ) from None

    def __enter__(self) -> EdgarConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def get(self, url: str, *, most: int = MAX_BYTES) -> bytes:
        """Fetch a document of at most `most` bytes, unpacked.

        A request is repeated after a pause if the network fails, the reply is incomplete or the server asks for it.

        Raises:
            DownloadError: EDGAR replies with another status than 200, a redirect, a page that refuses requests or a
                document that is too large, or the last attempt failed.
        """
        trying = self._tenacity.Retrying(
            retry=self._tenacity.retry_if_exception(
                lambda error: isinstance(error, BrokenOffError) and error.pause <= self._patience.longest
            ),
            stop=self._tenacity.stop_after_attempt(self._patience.attempts),
            wait=self._wait,
            sleep=self._patience.sleep,
            reraise=True,
        )
        try:
            return trying(self._asked, url, most)
        except BrokenOffError as failure:
            raise failure.told from failure

    def _wait(self, state: RetryCallState) -> float:
        failure = state.outcome.exception() if state.outcome is not None else None
        asked_for = failure.pause if isinstance(failure, BrokenOffError) else 0.0
        doubled: float = self._patience.first * 2.0 ** (state.attempt_number - 1)
        return max(asked_for, doubled * random.uniform(0.75, 1.25))

    def _asked(self, url: str, most: int) -> bytes:
        self._pace.wait(_host(url))
        try:
            with self._client.stream("GET", url) as response:
                status = response.status_code
                if status == 200:
                    return _content(response, url, most)
                if response.has_redirect_location or status not in _TRIED_AGAIN:
                    raise _refused(url, status, 0.0)
                said = response.headers.get("Retry-After", "").strip()
                pause = float(said[:9]) if said.isdigit() else 0.0
                if status in _TOO_MANY or pause:  # other processes on this machine should wait as well
                    self._pace.pause(max(pause, self._patience.first), _host(url))
                raise BrokenOffError(_refused(url, status, pause), pause)
        except (self._httpx.TransportError, self._httpx.DecodingError) as error:
            unreachable = DownloadError(
                f"EDGAR cannot be reached ({str(error) or type(error).__name__})",
                subject=_host(url),
                remedy=f"Check the network, then run the same command again: {_GOES_ON}",
                ends_all=True,
            )
            raise BrokenOffError(unreachable) from error


@dataclass
class RequestPacer:
    """Space requests across processes by a small SQLite file, whose lock ends with its process.

    When a host asks for a pause, all processes leave it alone for that time.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     RequestPacer(Path(folder) / "pace.sqlite").wait()
    0.0
    """

    file: Path
    per_second: float = PER_SECOND
    _: KW_ONLY
    clock: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    longest: float = 120.0
    """Longest pause in seconds to wait for."""
    told: Callable[[float], None] = lambda seconds: None
    """Is called with the seconds of a pause before it is waited for."""

    def __post_init__(self) -> None:
        """Create the file that processes share if it does not exist. Raises WriteError and DownloadError."""
        with reporting_write_errors(self.file):
            self.file.parent.mkdir(parents=True, exist_ok=True)
        with self._locked() as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS pace (turn REAL NOT NULL)")
            connection.execute("CREATE TABLE IF NOT EXISTS held (host TEXT PRIMARY KEY, until REAL NOT NULL)")

    def wait(self, host: str = "") -> float:
        """Wait until `host` may be asked, and return the seconds waited.

        Raises DownloadError, without waiting, if the host asked for a pause longer than `longest`.
        """
        with self._locked() as connection:
            pause = self._held(connection, host, now := self.clock()) - now
        if pause > self.longest:
            minutes = math.ceil(pause / 60)
            raise DownloadError(
                f"it asked for a pause, of which {minutes:,} minutes are left; no request was sent",
                subject=host,
                remedy=f"Run the same command again in {minutes:,} minutes: {_GOES_ON}",
                ends_all=True,
            )
        if pause > _TOLD_FROM:
            self.told(pause)
        if pause:
            self.sleep(pause)
        # Reserve the time after the pause, since all processes that waited for its end would ask at once.
        if left := self._turn():
            self.sleep(left)
        return pause + left

    def pause(self, seconds: float, host: str = "") -> None:
        """Keep all processes from asking `host` for some seconds, since it reported too many requests or is busy."""
        with self._locked() as connection:
            until = max(self._held(connection, host, now := self.clock()), now + min(seconds, _MAX_HOLD_LENGTH))
            connection.execute("INSERT OR REPLACE INTO held VALUES (?, ?)", (host, until))

    def _turn(self) -> float:
        """Reserve the next time for a request, and return the seconds until then."""
        with self._locked() as connection:
            row, now = connection.execute("SELECT turn FROM pace").fetchone(), self.clock()
            turn = max(row[0], now) if row is not None and row[0] < now + _FARTHEST else now
            connection.execute("DELETE FROM pace")
            connection.execute("INSERT INTO pace VALUES (?)", (turn + 1 / self.per_second,))
        return float(turn - now)

    def _held(self, connection: sqlite3.Connection, host: str, now: float) -> float:
        """Return until when the host is left alone; `now` if it is not."""
        row = connection.execute("SELECT until FROM held WHERE host = ?", (host,)).fetchone()
        return float(row[0]) if row is not None and now < row[0] <= now + _MAX_HOLD_LENGTH else now

    @contextmanager
    def _locked(self) -> Iterator[sqlite3.Connection]:
        """Open the file with an exclusive lock."""
        try:
            with closing(sqlite3.connect(self.file, timeout=60, isolation_level=None)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise DownloadError(
                f"it cannot be written ({error})",
                subject=str(self.file),
                remedy="Delete it, or name a folder with free space and write permission as `edgar.cache`",
                ends_all=True,
            ) from error


def user_agent(contact: str | None) -> str:
    """Return the User-Agent header for a contact. Raises DownloadError if it is missing or has no e-mail address."""
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


def _content(response: httpx.Response, url: str, most: int) -> bytes:
    """Return the unpacked content. Raises DownloadError if it is too large or refuses requests."""
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
    if len(content) <= _MAX_REFUSAL_LENGTH and any(said in content.lower() for said in _REFUSALS):
        raise _too_many("EDGAR sent a page that refuses requests in place of the document", url, 0.0)
    return bytes(content)


def _too_many(what: str, url: str, pause: float) -> DownloadError:
    remedy = (
        f"Wait {max(10, round(pause / 60))} minutes, check that the contact is yours and that no other program asks"
        " EDGAR from this address, then run the same command again: it resumes from there"
    )
    return DownloadError(what, subject=url, remedy=remedy, ends_all=True)


def _refused(url: str, status: int, pause: float) -> DownloadError:
    """Return the error for a status."""
    if status in _TOO_MANY:
        what = f"EDGAR refuses requests (HTTP {status}), as it does for some ten minutes after too many"
        return _too_many(what, url, pause)
    if status == 404:
        return NotThereError(
            "EDGAR has no document here (HTTP 404)",
            subject=url,
            remedy="The filing may have been withdrawn: look at the company's filings on https://www.sec.gov",
        )
    if 300 <= status < 400:
        return DownloadError(
            f"it redirects to another address (HTTP {status}), which is not followed",
            subject=url,
            remedy="Check the network (login pages of hotels and proxies redirect), then run the same command again",
        )
    return DownloadError(
        f"EDGAR replied with an error (HTTP {status})", subject=url, remedy="Run the same command again later"
    )


def _host(url: str) -> str:
    return urlsplit(url).netloc.lower()
