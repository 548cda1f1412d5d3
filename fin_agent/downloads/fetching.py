"""Find filings in EDGAR's lists, fetch those that a folder lacks, check them, and list them in a manifest."""

from __future__ import annotations

import hashlib
import html
import json
import re
import time
from calendar import monthrange
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeVar

import pydantic.dataclasses
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from fin_agent.atomic_write import atomic_write, reporting_write_errors
from fin_agent.downloads.connection import DownloadError, EdgarConnection, NotThereError
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
            done.append(self._fetched(found.company, wanted, folder, known.get(wanted.listed.accession)))
            on_file(done[-1])
        return done

    def _fetched(self, company: Company, wanted: FilingToFetch, folder: Path, known: Fetched | None) -> FetchedFile:
        listed = wanted.listed
        if known is not None and Path(known.file).name == known.file:  # not a name that points outside the folder
            there = folder / known.file
            if there.is_file() and there.stat().st_size == known.bytes:
                return FetchedFile(wanted.name, Became.THERE, known.url, there, known.bytes)
        url, ending = self._address(company, wanted)
        if ending is None:
            reason = f"it was filed as {listed.document or 'plain text'}, which cannot be read"
            remedy = "Print it to a PDF and ingest that: filings before about 2001 are plain text"
            return FetchedFile(wanted.name, Became.FAILED, url, reason=reason, remedy=remedy)
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
            cik=company.cik,
            company=company.name,
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
    with suppress(OSError):
        for line in (folder / MANIFEST).read_bytes().splitlines():
            with suppress(ValidationError):  # cut off, or written by another program: its file is fetched again
                yield Fetched.model_validate_json(line)


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
    if there:
        remedy = f"Give other --years: there are filings of {', '.join(map(str, sorted(there)))}"
    else:
        listed = ", ".join(submissions.forms()[:12])
        remedy = f"Give another --form: its newest filings are {listed}" if listed else "It has filed nothing"
    wanted = f"{' or '.join(forms)}{f' of {years}' if years else ''}"
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
    cik = int(match[1]) if (match := _CIK.fullmatch(said)) else None
    for row in rows:
        if _plain(row.ticker) == _plain(said) if cik is None else row.cik_str == cik:
            return Company(row.cik_str, row.ticker, row.title)
    if cik is None:
        raise unknown_company(said, rows)
    return Company(cik, None, f"CIK {cik}")


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


class _Row(BaseModel):
    cik_str: int
    ticker: str
    title: str


def _rows(columns: object) -> object:
    """Return the rows of a table that EDGAR writes column by column."""
    if not isinstance(columns, dict):
        return columns
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


class _Older(BaseModel):
    name: str = Field(pattern=r"^CIK\d{10}-submissions-\d{3}\.json$")
    until: date = Field(alias="filingTo")


class _Filings(BaseModel):
    recent: Annotated[list[ListedFiling], BeforeValidator(_rows)]
    files: tuple[_Older, ...] = ()


class _Found(BaseModel):
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
