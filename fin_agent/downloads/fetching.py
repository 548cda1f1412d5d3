"""Fetch a company's filings into a folder: what is there already is left alone, what broke off goes on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from fin_agent.downloads import refusals
from fin_agent.downloads.asking import EdgarConnection
from fin_agent.downloads.bodies import PartialFile
from fin_agent.downloads.choosing import NotFiled, Wanted, Years, wanted_of
from fin_agent.downloads.companies import Company, company_of
from fin_agent.downloads.fetched import Fetched, FetchedFiles
from fin_agent.downloads.genuine import check_filing, is_filing
from fin_agent.downloads.lists import Lists
from fin_agent.downloads.refusals import DownloadError, NotThereError
from fin_agent.downloads.settings import EdgarSettings
from fin_agent.downloads.submissions import Submissions
from fin_agent.filings.reader import is_readable


class Became(StrEnum):
    """What became of a filing that was to be fetched."""

    FETCHED = "fetched"
    THERE = "there"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """One filing and what became of it."""

    name: str
    became: Became
    url: str
    path: Path | None = None
    bytes: int = 0
    reason: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class CompanyFilings:
    """A company and those of its filings that are wanted."""

    company: Company
    name: str
    wanted: tuple[Wanted, ...]
    not_filed: tuple[NotFiled, ...] = ()
    """What was asked for and is not in EDGAR's list."""


class Edgar:
    """EDGAR, over one connection."""

    def __init__(self, connection: EdgarConnection, settings: EdgarSettings) -> None:
        self._connection = connection
        self._url = settings.url.rstrip("/")
        self._lists_url = settings.lists_url
        self._lists = Lists(connection, settings.cache_folder / "lists")

    def find(self, company: str, forms: Sequence[str], years: Years | None) -> CompanyFilings:
        """The filings of a company (ticker or CIK) on these forms. Raises DownloadError where there is none."""
        known = company_of(company, self._lists, self._url)
        try:
            submissions = Submissions(known.cik10, self._lists, self._lists_url)
        except NotThereError as error:
            raise refusals.unknown_company(company, ()) from error
        named = Company(known.cik, known.ticker or submissions.filer.ticker, submissions.filer.name)
        wanted, not_filed = wanted_of(named, submissions, forms, years)
        return CompanyFilings(named, submissions.filer.name, tuple(wanted), tuple(not_filed))

    def fetch(
        self, found: CompanyFilings, folder: Path, on_file: Callable[[FetchedFile], None] = lambda file: None
    ) -> list[FetchedFile]:
        """Fetch filings into `folder`. One that cannot be fetched is reported and the rest goes on, save where EDGAR
        cannot be reached or refuses: that raises DownloadError, and the next run goes on from there."""
        files = FetchedFiles(folder)
        known = files.known()
        done: list[FetchedFile] = []
        for wanted in found.wanted:
            done.append(self._fetched(found, wanted, folder, files, known.get(wanted.listed.accession)))
            on_file(done[-1])
        return done

    def _fetched(
        self, found: CompanyFilings, wanted: Wanted, folder: Path, files: FetchedFiles, known: Fetched | None
    ) -> FetchedFile:
        listed = wanted.listed
        if known is not None and is_filing(folder / known.file, listed, known.url):
            return FetchedFile(wanted.name, Became.THERE, known.url, folder / known.file, known.bytes)
        url, ending = self._address(found.company, wanted)
        if ending is None:
            error = refusals.not_readable_form(listed.document or "plain text")
            return FetchedFile(wanted.name, Became.FAILED, url, reason=error.what, remedy=error.remedy)
        path = folder / f"{wanted.name}{ending}"
        try:
            content = PartialFile(path, url).fetch(
                self._connection, check=lambda content: check_filing(content, listed, url)
            )
        except DownloadError as error:
            if error.ends_all:
                raise
            return FetchedFile(wanted.name, Became.FAILED, url, reason=error.what, remedy=error.remedy)
        try:
            files.add(
                Fetched(
                    file=path.name,
                    url=url,
                    accession=listed.accession,
                    cik=found.company.cik,
                    company=found.name,
                    form=listed.form,
                    filed=listed.filed,
                    period=listed.period,
                    bytes=len(content),
                    sha256=hashlib.sha256(content).hexdigest(),
                    fetched_at=datetime.now(UTC).replace(microsecond=0),
                )
            )
        except OSError as error:
            raise refusals.not_writable(str(folder), error.strerror or str(error)) from error
        return FetchedFile(wanted.name, Became.FETCHED, url, path, len(content))

    def _address(self, company: Company, wanted: Wanted) -> tuple[str, str | None]:
        """Where a filing is, and the ending of its file; None where it is not read.

        What an 8-K tells stands in its exhibits: it is fetched as the whole submission, of which the reader takes the
        report and its releases.
        """
        listed = wanted.listed
        folder = f"{self._url}/Archives/edgar/data/{company.cik}/{listed.accession.replace('-', '')}"
        document = Path(listed.document)
        if not listed.document or not is_readable(document) or document.suffix.lower() == ".gz":
            return f"{folder}/{listed.accession}-index.htm", None
        if listed.form.upper().startswith("8-K"):
            return f"{folder}/{listed.accession}.txt", ".htm"
        return f"{folder}/{listed.document.replace(' ', '%20')}", document.suffix.lower()
