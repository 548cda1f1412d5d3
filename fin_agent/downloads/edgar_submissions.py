"""EDGAR's lists of companies and of their submissions, cached for some time."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, TypeVar

import pydantic.dataclasses
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from fin_agent.atomic_write import atomic_write
from fin_agent.downloads.connection import DownloadError, EdgarConnection

DAY = 86_400.0
_FRESH = 600.0
"""Seconds that a list of filings is cached. EDGAR updates its lists within a second of a filing."""
_MAX_BYTES = 64 * 2**20
_CIK = re.compile(r"(?:CIK)?0*(\d{1,10})", re.I)
_TICKER = re.compile(r"[A-Z0-9][A-Z0-9.\-]{0,11}", re.I)
_NAME = re.compile(r"(?!\.)[\w][\w .,()+&-]*")
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


@pydantic.dataclasses.dataclass(frozen=True, config=ConfigDict(populate_by_name=True))
class ListedFiling:
    """A filing in EDGAR's list of a company's filings."""

    accession: Annotated[str, Field(alias="accessionNumber", pattern=r"^\d{10}-\d{2}-\d{6}$")]
    """`0000320193-23-000106`."""
    form: str
    filed: Annotated[date, Field(alias="filingDate")]
    period: Annotated[date | None, Field(alias="reportDate"), BeforeValidator(lambda said: said or None)]
    """Last day of the period of the report; for an 8-K, the day of the event; None if EDGAR has none."""
    document: Annotated[
        str, Field(alias="primaryDocument"), AfterValidator(lambda name: name if _NAME.fullmatch(name) else "")
    ]
    """Name of the main document; empty for filings before 2001, which are one text, and documents in another folder."""
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
        """Return the JSON object at `url`, cached for `fresh_for` seconds. Raises DownloadError and WriteError."""
        file = self._folder / f"{hashlib.sha256(url.encode()).hexdigest()[:32]}.json"
        with suppress(OSError, ValidationError):  # missing or not readable: it is requested again
            kept = _Kept.model_validate_json(file.read_bytes())
            if kept.url == url and 0 <= self._clock() - kept.fetched < fresh_for:
                return kept.content
        try:
            content = json.loads(self._connection.get(url, most=_MAX_BYTES))
        except (ValueError, RecursionError) as error:
            raise _not_understood(url, "it is not JSON") from error
        if not isinstance(content, dict):
            raise _not_understood(url, "it is not a JSON object")
        found = _Kept(url=url, fetched=self._clock(), content=content)
        atomic_write(file, found.model_dump_json().encode())
        return found.content


class _Kept(BaseModel):
    url: str
    fetched: float
    content: dict[str, object]


def company_of(given: str, lists: Lists, url: str) -> Company:
    """Return the company of a ticker, or of a CIK such as `320193` or `CIK0000320193`. Raises DownloadError.

    A CIK does not have to be in the list: funds and companies without shares are not.
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


def unknown_company(given: str, rows: Sequence[_Row] = ()) -> DownloadError:
    """Return the error for a company that EDGAR does not list, with those whose name or ticker begins alike."""
    low = given.casefold()
    alike = [row for row in rows if len(low) > 2 and row.title.casefold().startswith(low)]
    alike += [row for row in rows if len(row.ticker) > 2 and low.startswith(row.ticker.casefold())]
    near = " or ".join(f"{row.ticker} ({row.title})" for row in alike[:2])
    return DownloadError(
        "EDGAR lists no company under this ticker or CIK",
        subject=given[:80],
        remedy=f"{f'Did you mean {near}? ' if near else ''}Give the ticker of its shares, or its CIK"
        " (https://www.sec.gov/search-filings)",
    )


class Submissions:
    """The filings of one company: the newest thousand, and older lists, which are fetched when they are needed."""

    def __init__(self, cik10: str, lists: Lists, url: str) -> None:
        """Fetch the list of the newest filings. Raises DownloadError if EDGAR has no such filer."""
        self._lists = lists
        self._folder = f"{url.rstrip('/')}/submissions"
        address = f"{self._folder}/CIK{cik10}.json"
        found = _read(_Found, lists.get(address, _FRESH), address)
        self._older = found.filings.files
        self._recent = found.filings.recent
        self.name = found.name
        self.ticker = next(iter(found.tickers), None)
        closing = re.fullmatch(r"(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])", found.year_end or "")
        self.year_end = (int(closing[1]), int(closing[2])) if closing else None
        """Month and day of the current fiscal year end."""

    def since(self, first_year: int | None) -> Iterator[ListedFiling]:
        """Yield filings, newest first; with `first_year`, lists that end before that year are not fetched."""
        yield from self._recent
        for older in sorted(self._older, key=lambda older: older.until, reverse=True):
            if first_year is not None and older.until.year < first_year:
                return
            address = f"{self._folder}/{older.name}"
            yield from _read(_Filings, {"recent": self._lists.get(address, DAY)}, address).recent

    def forms(self) -> list[str]:
        """Return the forms of the newest filings, the most frequent first."""
        counts = Counter(listed.form for listed in self._recent)
        return sorted(counts, key=lambda form: (-counts[form], form))


class _Said(BaseModel):
    model_config = ConfigDict(frozen=True, populate_by_name=True)


class _Row(_Said):
    cik_str: int
    ticker: str
    title: str


def _rows(columns: object) -> object:
    """Return the rows of a table that EDGAR writes column by column."""
    if not isinstance(columns, dict):
        return columns
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


class _Older(_Said):
    name: str = Field(pattern=r"^CIK\d{10}-submissions-\d{3}\.json$")
    until: date = Field(alias="filingTo")


class _Filings(_Said):
    recent: Annotated[list[ListedFiling], BeforeValidator(_rows)]
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


def _plain(ticker: str) -> str:
    """Return a ticker in one form: `BRK.B`, `brk-b` and `BRK/B` are the same."""
    return re.sub(r"[^A-Z0-9]", "", ticker.upper())


def _not_understood(url: str, why: str) -> DownloadError:
    return DownloadError(
        f"the reply of EDGAR cannot be read ({why})",
        subject=url,
        remedy="Run the same command again; if the error stays, report it",
    )
