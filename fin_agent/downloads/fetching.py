"""Select filings of a company, fetch those that a folder lacks, check them, and list them in a manifest."""

from __future__ import annotations

import hashlib
import html
import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from fin_agent.atomic_write import atomic_write, reporting_write_errors
from fin_agent.downloads.connection import DownloadError, EdgarConnection, NotThereError
from fin_agent.downloads.edgar_submissions import Company, ListedFiling, Lists, Submissions, company_of, unknown_company
from fin_agent.downloads.settings import EdgarSettings
from fin_agent.errors import FinAgentError
from fin_agent.filings.reader import is_readable
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.vocabulary.runs import runs_of

MANIFEST = "fetched.jsonl"
LARGEST_PAGE = 2**20
"""Bytes. Refusal and login pages are smaller; larger documents are accepted without a check."""
_COMMISSION = "securitiesandexchangecommission"
_SUBMISSION = re.compile(rb"\s*(?:-----BEGIN PRIVACY|<SEC-DOCUMENT>|<DOCUMENT>)", re.I)
_TAG = re.compile(rb"<[^<>]*>")


class Became(StrEnum):
    """The outcome for a filing that was to be fetched."""

    FETCHED = "fetched"
    THERE = "there"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """One filing and its outcome."""

    name: str
    became: Became
    url: str
    path: Path | None = None
    bytes: int = 0
    reason: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class CompanyFilings:
    """A company and those of its filings to fetch."""

    company: Company
    wanted: tuple[FilingToFetch, ...]
    not_filed: tuple[NotFiled, ...] = ()
    """Requested forms and years that are not in EDGAR's list."""


class Edgar:
    """Find and fetch filings over one connection to EDGAR."""

    def __init__(self, connection: EdgarConnection, settings: EdgarSettings) -> None:
        self._connection = connection
        self._url = settings.url.rstrip("/")
        self._lists_url = settings.lists_url
        self._lists = Lists(connection, settings.cache_folder / "lists")

    def find(self, company: str, forms: Sequence[str], years: Years | None) -> CompanyFilings:
        """Find the filings of a company, given by ticker or CIK.

        Without `years`, the newest filing of each form is found. Raises DownloadError if there is none.
        """
        known = company_of(company, self._lists, self._url)
        try:
            submissions = Submissions(known.cik10, self._lists, self._lists_url)
        except NotThereError as error:
            raise unknown_company(company) from error
        named = Company(known.cik, known.ticker or submissions.ticker, submissions.name)
        wanted, not_filed = select_filings(named, submissions, forms, years)
        return CompanyFilings(named, tuple(wanted), tuple(not_filed))

    def fetch(
        self, found: CompanyFilings, folder: Path, on_file: Callable[[FetchedFile], None] = lambda file: None
    ) -> list[FetchedFile]:
        """Fetch filings into `folder`, report each to `on_file`, and return their outcomes, also of those that fail.

        Raises:
            DownloadError: EDGAR cannot be reached or refuses. The next run continues from there.
            WriteError: A file cannot be written.
        """
        known = {each.accession: each for each in _noted(folder)}
        done: list[FetchedFile] = []
        for wanted in found.wanted:
            done.append(self._fetched(found, wanted, folder, known.get(wanted.listed.accession)))
            on_file(done[-1])
        return done

    def _fetched(
        self, found: CompanyFilings, wanted: FilingToFetch, folder: Path, known: Fetched | None
    ) -> FetchedFile:
        listed = wanted.listed
        if known is not None and Path(known.file).name == known.file:  # not a name that points outside the folder
            there = folder / known.file
            if there.is_file() and there.stat().st_size == known.bytes:
                return FetchedFile(wanted.name, Became.THERE, known.url, there, known.bytes)
        url, ending = self._address(found.company, wanted)
        if ending is None:
            name = listed.document or "plain text"
            remedy = "Print it to a PDF and ingest that: filings before about 2001 are plain text"
            return FetchedFile(
                wanted.name, Became.FAILED, url, reason=f"it was filed as {name}, which cannot be read", remedy=remedy
            )
        path = folder / f"{wanted.name}{ending}"
        try:
            content = self._connection.get(url)
            check_filing(content, listed, url)
        except DownloadError as error:
            if error.ends_all:
                raise
            return FetchedFile(wanted.name, Became.FAILED, url, reason=error.what, remedy=error.remedy)
        atomic_write(path, content)
        record = Fetched(
            file=path.name,
            url=url,
            accession=listed.accession,
            cik=found.company.cik,
            company=found.company.name,
            form=listed.form,
            filed=listed.filed,
            period=listed.period,
            bytes=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
            fetched_at=datetime.now(UTC).replace(microsecond=0),
        )
        manifest = folder / MANIFEST
        with reporting_write_errors(manifest), manifest.open("ab", buffering=0) as file:
            file.write(f"{record.model_dump_json()}\n".encode())  # one write, since processes may share the folder
        return FetchedFile(wanted.name, Became.FETCHED, url, path, len(content))

    def _address(self, company: Company, wanted: FilingToFetch) -> tuple[str, str | None]:
        """Return the address of a filing and the extension of its file; None for a document that cannot be read.

        The content of an 8-K is in its exhibits. It is fetched as the whole submission, from which the reader takes the
        report and its press releases.
        """
        listed = wanted.listed
        folder = f"{self._url}/Archives/edgar/data/{company.cik}/{listed.accession.replace('-', '')}"
        document = Path(listed.document)
        if not listed.document or not is_readable(document) or document.suffix.lower() == ".gz":
            return f"{folder}/{listed.accession}-index.htm", None
        if listed.form.upper().startswith("8-K"):
            return f"{folder}/{listed.accession}.txt", ".htm"
        return f"{folder}/{listed.document.replace(' ', '%20')}", document.suffix.lower()


class Fetched(BaseModel):
    """A fetched file and its filing: one line of `fetched.jsonl` in the folder."""

    model_config = ConfigDict(frozen=True)

    file: str
    """Its name in the folder."""
    url: str
    accession: str
    cik: int
    company: str
    form: str
    filed: date
    period: date | None
    bytes: int
    sha256: str
    fetched_at: datetime


def _noted(folder: Path) -> Iterator[Fetched]:
    try:
        lines = (folder / MANIFEST).read_bytes().splitlines()
    except OSError:
        return
    for line in lines:
        try:
            yield Fetched.model_validate_json(line)
        except ValidationError:
            continue  # cut off, or written by another program: its file is fetched again


def check_filing(content: bytes, listed: ListedFiling, url: str) -> None:
    """Check that a document is the filing that EDGAR lists. Raises DownloadError if it is something else."""
    if why := _unlike(content, listed, url):
        raise DownloadError(
            f"the document is not the {listed.form} that EDGAR lists: {why}; nothing of it is stored",
            subject=url,
            remedy="Open the address in a browser. If a network or proxy shows its own page, log in there and run the"
            " same command again. If it is the filing, save it and add it with `fin-agent ingest`",
        )


def _unlike(content: bytes, listed: ListedFiling, url: str) -> str:
    """Return why the content is not the listed filing; empty if it seems to be.

    A whole submission has at least half of its listed size, which is not counted exactly.
    """
    if url.endswith(".txt") and listed.size is not None and len(content) < listed.size / 2:
        return f"it has {len(content):,} bytes, and the list gives {listed.size:,}"
    if url.lower().endswith(".pdf"):
        return "" if b"%PDF-" in content[:1024] else "it is not a PDF"
    if len(content) > LARGEST_PAGE or _SUBMISSION.match(content) or content.startswith(b"%PDF-"):
        return ""
    words = " ".join(_text(content, b" ").split())
    joined = "".join(_text(content, b"").split())  # a word may be in several pieces
    # `10` and `k`: a dash, a line end or white space may separate them.
    parts = re.findall(r"[a-z]+|\d+", listed.form.lower().removesuffix("/a"))
    if _COMMISSION in joined or re.search(rf"(?<![a-z\d]){'[^a-z0-9]{0,3}'.join(parts)}(?![a-z\d])", words):
        return ""
    return f"its {len(content):,} bytes name neither the form nor the Commission"


def _text(content: bytes, between: bytes) -> str:
    return html.unescape(_TAG.sub(between, content).decode("utf-8", "replace")).lower()


_EARLIEST, _LATEST = 1993, 2100
_QUARTER = 91.3
_SLACK = timedelta(days=20)
"""Fiscal years of 52 and 53 weeks end some days before or after the date in EDGAR's list."""


@dataclass(frozen=True, slots=True)
class Years:
    """A span of years, both ends included."""

    first: int
    last: int

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first} to {self.last}"


@dataclass(frozen=True, slots=True)
class FilingToFetch:
    """A filing to fetch, with its fiscal period and the name of its file (without extension)."""

    listed: ListedFiling
    place: FiscalPeriod
    name: str


@dataclass(frozen=True, slots=True)
class NotFiled:
    """A requested form, and the years without such a filing; no years if none were requested."""

    form: str
    years: tuple[Years, ...] = ()
    at_all: bool = True
    """Whether the company has no filing on this form in any of the requested years."""

    def __str__(self) -> str:
        return f"{self.form} of {', '.join(map(str, self.years))}" if self.years else self.form


def years_in(written: str) -> Years:
    """Parse `2022`, `2022-2024` or `2022:2024`.

    Raises:
        FinAgentError: The text names no years, or years outside EDGAR's range.

    >>> years_in("2022-2024")
    Years(first=2022, last=2024)
    """
    match = re.fullmatch(r"\s*(\d{4})\s*(?:[-:–]\s*(\d{4})\s*)?", written)
    if match is not None:
        first, last = int(match[1]), int(match[2] or match[1])
        if _EARLIEST <= first <= last <= _LATEST:
            return Years(first, last)
    raise FinAgentError(
        f"{written[:40]!r} names no years", remedy=f"Give a year or a span such as 2022-2024, from {_EARLIEST} on"
    )


def select_filings(
    company: Company, submissions: Submissions, forms: Sequence[str], years: Years | None
) -> tuple[list[FilingToFetch], list[NotFiled]]:
    """Select filings on the given forms: those of the years, or the newest of each form.

    Returns the filings, oldest first, and what is missing. Raises DownloadError if there is none at all.
    """
    asked = dict.fromkeys(form.strip().upper() for form in forms)
    left = set(asked)
    found: list[FilingToFetch] = []
    there: set[int] = set()
    for listed in submissions.since(years.first if years else None):
        if listed.form.upper() not in left:
            continue
        place = place_of(listed, submissions.year_end)
        there.add(place.fiscal_year)
        if years is None:
            left.discard(listed.form.upper())
        elif not years.first <= place.fiscal_year <= years.last:
            continue
        found.append(FilingToFetch(listed, place, name_of(company.handle, listed, place)))
        if not left:
            break
    if not found:
        raise _none(company, submissions, forms, years, there)
    told_apart = _told_apart(sorted(found, key=lambda wanted: (wanted.listed.day, wanted.listed.accession)))
    return told_apart, [missing for form in asked if (missing := _missing(form, found, years)) is not None]


def _missing(form: str, found: Sequence[FilingToFetch], years: Years | None) -> NotFiled | None:
    held = {wanted.place.fiscal_year for wanted in found if wanted.listed.form.upper() == form}
    if years is None:
        return None if held else NotFiled(form)
    lacking = (year for year in range(years.first, years.last + 1) if year not in held)
    spans = tuple(Years(run[0], run[-1]) for run in runs_of(lacking, lambda run, year: year - run[-1] > 1))
    return NotFiled(form, spans, at_all=not held) if spans else None


def _told_apart(wanted: list[FilingToFetch]) -> list[FilingToFetch]:
    """Make names unique: the first filing keeps its name, later ones of that name get their accession number."""
    first = {each.name: each for each in reversed(wanted)}
    return [
        each if first[each.name] is each else replace(each, name=f"{each.name}_{each.listed.accession}")
        for each in wanted
    ]


def _none(
    company: Company, submissions: Submissions, forms: Sequence[str], years: Years | None, there: set[int]
) -> FinAgentError:
    of_years = f" of {years}" if years else ""
    if there:
        remedy = f"Give other --years: there are filings of {', '.join(map(str, sorted(there)))}"
    else:
        listed = ", ".join(submissions.forms()[:12])
        remedy = f"Give another --form: its newest filings are {listed}" if listed else "It has filed nothing"
    wanted = f"{' or '.join(forms)}{of_years}"
    return DownloadError(f"EDGAR has no {wanted}", subject=f"{company.handle} ({company.name})", remedy=remedy)


def place_of(listed: ListedFiling, year_end: tuple[int, int] | None) -> FiscalPeriod:
    """Return the fiscal year (the calendar year in which it ends) and quarter of a report; for other forms the year.

    >>> place_of(ListedFiling("0000320193-23-000064", "10-Q", date(2023, 5, 5), date(2023, 4, 1), "a.htm"), (9, 28))
    FiscalPeriod(fiscal_year=2023, quarter=2, months=None)
    """
    form = listed.form.upper().removesuffix("/A")
    if not form.startswith(("10-K", "10-Q", "20-F", "40-F")):
        return FiscalPeriod(fiscal_year=listed.day.year)
    (month, last), first = year_end or (12, 31), listed.day - _SLACK
    ends = (date(year, month, min(last, monthrange(year, month)[1])) for year in (first.year, first.year + 1))
    end = next(end for end in ends if end >= first)
    if not form.startswith("10-Q"):
        year = end.year if abs((end - listed.day).days) <= _SLACK.days else listed.day.year
        return FiscalPeriod(fiscal_year=year)
    quarter = 4 - round((end - listed.day).days / _QUARTER)
    return FiscalPeriod(fiscal_year=end.year, quarter=quarter if 1 <= quarter <= 3 else None)


def name_of(handle: str, listed: ListedFiling, place: FiscalPeriod) -> str:
    """Return the doc_id of the file: `AAPL_2023_10K`, `AAPL_2023Q2_10Q`, `AAPL_2023-05-04_8K`."""
    form = re.sub(r"[^A-Z0-9]", "", listed.form.upper())[:12] or "FORM"
    when = str(place.fiscal_year)
    if place.quarter is not None:
        when = f"{place.fiscal_year}Q{place.quarter}"
    elif not form.startswith(("10K", "10Q", "20F", "40F")):
        when = listed.day.isoformat()
    return f"{handle}_{when}_{form}"
