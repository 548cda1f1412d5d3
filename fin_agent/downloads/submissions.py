"""What a company filed, as EDGAR lists it: the newest thousand, and older ones in further files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fin_agent.downloads import refusals
from fin_agent.downloads.lists import DAY, Lists

Model = TypeVar("Model", bound=BaseModel)

_FRESH = 600.0
"""Seconds: EDGAR updates these lists within a second of a filing."""
_ACCESSION = re.compile(r"\d{10}-\d{2}-\d{6}")
_OLDER = re.compile(r"CIK\d{10}-submissions-\d{3}\.json")
_DOCUMENT = re.compile(r"(?!\.)[\w][\w .,()+&-]*")
"""A name in the filing's own folder: no path, no address."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A filing in EDGAR's list."""

    accession: str
    """`0000320193-23-000106`."""
    form: str
    filed: date
    period: date | None
    """Last day of the period that it reports on; of an 8-K, the day of what it tells. None where EDGAR has none."""
    document: str
    """Name of its main document; empty for filings before 2001, which are one text."""
    size: int | None = None
    """Bytes of the whole submission, of all its documents; None where the list does not say."""

    @property
    def day(self) -> date:
        """The day that it is about."""
        return self.period or self.filed


@dataclass(frozen=True, slots=True)
class Filer:
    """What EDGAR's list says of the company itself."""

    name: str
    ticker: str | None
    year_end: tuple[int, int] | None
    """Month and day on which its fiscal years end, as it is now."""


class _Columns(BaseModel):
    model_config = ConfigDict(frozen=True, populate_by_name=True)

    accession: tuple[str, ...] = Field(alias="accessionNumber")
    filed: tuple[str, ...] = Field(alias="filingDate")
    period: tuple[str, ...] = Field(alias="reportDate")
    form: tuple[str, ...]
    document: tuple[str, ...] = Field(alias="primaryDocument")
    size: tuple[int | None, ...] | None = None


class _Older(BaseModel):
    model_config = ConfigDict(frozen=True, populate_by_name=True)

    name: str
    until: date = Field(alias="filingTo")


class _Filings(BaseModel):
    model_config = ConfigDict(frozen=True)

    recent: _Columns
    files: tuple[_Older, ...] = ()


class _Submissions(BaseModel):
    model_config = ConfigDict(frozen=True, populate_by_name=True)

    name: str
    tickers: tuple[str, ...] = ()
    year_end: str | None = Field(default=None, alias="fiscalYearEnd")
    filings: _Filings


class Submissions:
    """The filings of one company; older lists are fetched when they are asked for."""

    def __init__(self, cik10: str, lists: Lists, url: str) -> None:
        """Raises DownloadError where EDGAR has no such filer, or its list cannot be understood."""
        self._lists = lists
        self._folder = f"{url.rstrip('/')}/submissions"
        address = f"{self._folder}/CIK{cik10}.json"
        self._found = _read(_Submissions, lists.get(address, _FRESH), address)
        self._recent = _rows(self._found.filings.recent, address)
        self.filer = Filer(
            self._found.name, next(iter(self._found.tickers), None), _month_and_day(self._found.year_end)
        )

    def since(self, first_year: int | None) -> Iterator[Listed]:
        """Filings, the newest first; with a year, older lists are left out that end before it."""
        yield from self._recent
        for older in sorted(self._found.filings.files, key=lambda older: older.until, reverse=True):
            if first_year is not None and older.until.year < first_year:
                return
            if not _OLDER.fullmatch(older.name):
                raise refusals.not_understood(self._folder, f"it names {older.name[:80]!r} as a list")
            address = f"{self._folder}/{older.name}"
            yield from _rows(_read(_Columns, self._lists.get(address, DAY), address), address)

    def forms(self) -> list[str]:
        """Forms among the newest filings, the most frequent first."""
        counts: dict[str, int] = {}
        for listed in self._recent:
            counts[listed.form] = counts.get(listed.form, 0) + 1
        return sorted(counts, key=lambda form: (-counts[form], form))


def _read(model: type[Model], content: Mapping[str, object], url: str) -> Model:
    try:
        return model.model_validate(content)
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise refusals.not_understood(url, f"`{place}`: {error.errors()[0]['msg'].lower()}") from error


def _rows(columns: _Columns, url: str) -> list[Listed]:
    try:
        sizes = columns.size if columns.size is not None else (None,) * len(columns.accession)
        rows = zip(columns.accession, columns.form, columns.filed, columns.period, columns.document, sizes, strict=True)
        return [
            Listed(_checked(accession), form, date.fromisoformat(filed), _day(period), _safe(document), size)
            for accession, form, filed, period, document, size in rows
        ]
    except ValueError as error:
        raise refusals.not_understood(url, str(error)) from error


def _checked(accession: str) -> str:
    if not _ACCESSION.fullmatch(accession):
        raise ValueError(f"{accession[:80]!r} is no accession number")
    return accession


def _safe(document: str) -> str:
    """The name, where it is one in the filing's own folder; what EDGAR draws from XML stands in another: not read."""
    return document if _DOCUMENT.fullmatch(document) else ""


def _day(said: str) -> date | None:
    return date.fromisoformat(said) if said else None


def _month_and_day(said: str | None) -> tuple[int, int] | None:
    if said is None or not re.fullmatch(r"\d{4}", said):
        return None
    month, day = int(said[:2]), int(said[2:])
    return (month, day) if 1 <= month <= 12 and 1 <= day <= 31 else None
