"""EDGAR's lists of companies and of their submissions, cached and requested again when they may have changed."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fin_agent.atomic_write import WriteError, atomic_write
from fin_agent.downloads.connection import DownloadError, EdgarConnection, not_writable

DAY = 86_400.0
_FRESH = 600.0
"""Seconds that a list of filings is cached. EDGAR updates its lists within a second of a filing."""
_MAX_BYTES = 64 * 2**20
_CIK = re.compile(r"(?:CIK)?0*(\d{1,10})", re.I)
_TICKER = re.compile(r"[A-Z0-9][A-Z0-9.\-]{0,11}", re.I)
_ACCESSION = re.compile(r"\d{10}-\d{2}-\d{6}")
_OLDER = re.compile(r"CIK\d{10}-submissions-\d{3}\.json")
_DOCUMENT = re.compile(r"(?!\.)[\w][\w .,()+&-]*")
"""A file name in the filing's own folder, not a path or an address."""

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Company:
    """A filer."""

    cik: int
    ticker: str | None
    """The ticker as EDGAR writes it, `BRK-B`; None if only the CIK was given and EDGAR lists no ticker."""
    name: str

    @property
    def cik10(self) -> str:
        """The CIK with leading zeros, ten digits."""
        return f"{self.cik:010d}"

    @property
    def handle(self) -> str:
        """The beginning of its files' names: `AAPL`, or `CIK0000320193`."""
        return self.ticker if self.ticker and _TICKER.fullmatch(self.ticker) else f"CIK{self.cik10}"


@dataclass(frozen=True, slots=True)
class ListedFiling:
    """A filing in EDGAR's list of a company's filings."""

    accession: str
    """`0000320193-23-000106`."""
    form: str
    filed: date
    period: date | None
    """Last day of the period of the report; for an 8-K, the day of the event; None if EDGAR has none."""
    document: str
    """Name of the main document; empty for filings before 2001, which are one text."""
    size: int | None = None
    """Bytes of the whole submission with all documents; None if the list does not give it."""

    @property
    def day(self) -> date:
        """The day that the filing is about: the end of its period, else the day it was filed."""
        return self.period or self.filed


class Lists:
    """JSON lists of EDGAR, fetched over a connection and cached in a folder."""

    def __init__(self, connection: EdgarConnection, folder: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._connection = connection
        self._folder = folder
        self._clock = clock

    def get(self, url: str, fresh_for: float) -> Mapping[str, object]:
        """Return the JSON object at `url`.

        Args:
            url: The address.
            fresh_for: Age in seconds up to which the cached object is returned; an older one is requested again.

        Raises:
            DownloadError: The object cannot be fetched, or is not a JSON object.
        """
        file = self._folder / f"{hashlib.sha256(url.encode()).hexdigest()[:32]}.json"
        kept = _read_kept(file, url)
        if kept is not None and 0 <= self._clock() - kept.fetched < fresh_for:
            return kept.content
        received = self._connection.get(url, kept.conditions if kept is not None else {}, most=_MAX_BYTES)
        if received.status == 304 and kept is not None:
            found = kept.model_copy(update={"fetched": self._clock()})
        else:
            headers = {"If-None-Match": "ETag", "If-Modified-Since": "Last-Modified"}
            conditions = {name: value for name, said in headers.items() if (value := received.headers.get(said))}
            found = _Kept(url=url, fetched=self._clock(), conditions=conditions, content=_object(received.content, url))
        try:
            atomic_write(file, found.model_dump_json().encode())
        except WriteError as error:
            raise not_writable(file, error.__cause__ if isinstance(error.__cause__, OSError) else error) from error
        return found.content


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True)

    url: str
    fetched: float
    conditions: dict[str, str]
    """Headers that let the server reply that nothing has changed."""
    content: dict[str, object]


def _read_kept(file: Path, url: str) -> _Kept | None:
    try:
        kept = _Kept.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return None  # missing or not readable: it is requested again
    return kept if kept.url == url else None


def company_of(given: str, lists: Lists, url: str) -> Company:
    """Return the company of a ticker or a CIK.

    Args:
        given: A ticker, or a CIK such as `320193` or `CIK0000320193`. A CIK does not have to be in the list: funds and
            companies without shares are not.
        lists: EDGAR's lists.
        url: EDGAR's address.

    Raises:
        DownloadError: EDGAR lists no company under this ticker.
    """
    said = given.strip()
    address = f"{url.rstrip('/')}/files/company_tickers.json"
    try:
        rows = [_Row.model_validate(row) for row in lists.get(address, DAY).values()]
    except ValidationError as error:
        raise _not_understood(address, "it is not a list of companies with tickers") from error
    if cik := _CIK.fullmatch(said):
        number = int(cik[1])
        named = next((row for row in rows if row.cik_str == number), None)
        return Company(number, named.ticker, named.title) if named else Company(number, None, f"CIK {number}")
    for row in rows:
        if _plain(row.ticker) == _plain(said):
            return Company(row.cik_str, row.ticker, row.title)
    raise unknown_company(said, rows)


def unknown_company(given: str, rows: list[_Row] | None = None) -> DownloadError:
    """Return the error for a company that EDGAR does not list, with companies of that name or with similar tickers."""
    listed = rows or []
    called = [row for row in listed if len(given) > 2 and row.title.casefold().startswith(given.casefold())][:2]
    by_ticker = {row.ticker: row for row in reversed(listed)}
    alike = [by_ticker[near] for near in difflib.get_close_matches(given.upper(), list(by_ticker), n=2, cutoff=0.7)]
    near = " or ".join(f"{row.ticker} ({row.title})" for row in called or alike)
    return DownloadError(
        "EDGAR lists no company under this ticker or CIK",
        subject=given[:80],
        remedy=f"{f'Did you mean {near}? ' if near else ''}Give the ticker of its shares, or its CIK"
        " (https://www.sec.gov/search-filings)",
    )


class Submissions:
    """The filings of one company: the newest thousand, and older lists, which are fetched when they are needed."""

    def __init__(self, cik10: str, lists: Lists, url: str) -> None:
        """Fetch the list of the newest filings.

        Raises:
            DownloadError: EDGAR has no such filer, or its list cannot be read.
        """
        self._lists = lists
        self._folder = f"{url.rstrip('/')}/submissions"
        address = f"{self._folder}/CIK{cik10}.json"
        found = _read(_Found, lists.get(address, _FRESH), address)
        self._older = found.filings.files
        self._recent = _listed(found.filings.recent, address)
        self.name = found.name
        self.ticker = next(iter(found.tickers), None)
        self.year_end = _month_and_day(found.year_end)
        """Month and day of the current fiscal year end."""

    def since(self, first_year: int | None) -> Iterator[ListedFiling]:
        """Yield filings, newest first; with `first_year`, lists that end before that year are not fetched."""
        yield from self._recent
        for older in sorted(self._older, key=lambda older: older.until, reverse=True):
            if first_year is not None and older.until.year < first_year:
                return
            if not _OLDER.fullmatch(older.name):
                raise _not_understood(self._folder, f"it names {older.name[:80]!r} as a list")
            address = f"{self._folder}/{older.name}"
            yield from _listed(_read(_Columns, self._lists.get(address, DAY), address), address)

    def forms(self) -> list[str]:
        """Return the forms of the newest filings, the most frequent first."""
        counts: dict[str, int] = {}
        for listed in self._recent:
            counts[listed.form] = counts.get(listed.form, 0) + 1
        return sorted(counts, key=lambda form: (-counts[form], form))


class _Said(BaseModel):
    model_config = ConfigDict(frozen=True, populate_by_name=True)


class _Row(_Said):
    cik_str: int
    ticker: str
    title: str


class _Columns(_Said):
    accession: tuple[str, ...] = Field(alias="accessionNumber")
    filed: tuple[str, ...] = Field(alias="filingDate")
    period: tuple[str, ...] = Field(alias="reportDate")
    form: tuple[str, ...]
    document: tuple[str, ...] = Field(alias="primaryDocument")
    size: tuple[int | None, ...] | None = None


class _Older(_Said):
    name: str
    until: date = Field(alias="filingTo")


class _Filings(_Said):
    recent: _Columns
    files: tuple[_Older, ...] = ()


class _Found(_Said):
    name: str
    tickers: tuple[str, ...] = ()
    year_end: str | None = Field(default=None, alias="fiscalYearEnd")
    filings: _Filings


def _read(model: type[Model], content: Mapping[str, object], url: str) -> Model:
    try:
        return model.model_validate(content)
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise _not_understood(url, f"`{place}`: {error.errors()[0]['msg'].lower()}") from error


def _listed(columns: _Columns, url: str) -> list[ListedFiling]:
    try:
        sizes = columns.size if columns.size is not None else (None,) * len(columns.accession)
        rows = zip(columns.accession, columns.form, columns.filed, columns.period, columns.document, sizes, strict=True)
        return [
            ListedFiling(
                _checked(accession),
                form,
                date.fromisoformat(filed),
                date.fromisoformat(period) if period else None,
                # Documents that EDGAR renders from XML are in another folder and are not read.
                document if _DOCUMENT.fullmatch(document) else "",
                size,
            )
            for accession, form, filed, period, document, size in rows
        ]
    except ValueError as error:
        raise _not_understood(url, str(error)) from error


def _checked(accession: str) -> str:
    if not _ACCESSION.fullmatch(accession):
        raise ValueError(f"{accession[:80]!r} is not an accession number")
    return accession


def _month_and_day(said: str | None) -> tuple[int, int] | None:
    if said is None or not re.fullmatch(r"\d{4}", said):
        return None
    month, day = int(said[:2]), int(said[2:])
    return (month, day) if 1 <= month <= 12 and 1 <= day <= 31 else None


def _plain(ticker: str) -> str:
    """Return a ticker in one form: `BRK.B`, `brk-b` and `BRK/B` are the same."""
    return re.sub(r"[^A-Z0-9]", "", ticker.upper())


def _object(content: bytes, url: str) -> dict[str, object]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise _not_understood(url, "it is not JSON") from error
    if not isinstance(found, dict):
        raise _not_understood(url, "it is not a JSON object")
    return found


def _not_understood(url: str, why: str) -> DownloadError:
    return DownloadError(
        f"the reply of EDGAR cannot be read ({why})",
        subject=url,
        remedy="Run the same command again; if the error stays, report it",
    )
