"""`fin-agent fetch`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.progress import Progress
from fin_agent.cli.streams import say, show, show_json
from fin_agent.config import settings_from
from fin_agent.config_sources import Said
from fin_agent.downloads.choosing import years_in
from fin_agent.downloads.connection import DownloadError, EdgarConnection, Patience
from fin_agent.downloads.fetching import MANIFEST, Became, CompanyFilings, Edgar, FetchedFile
from fin_agent.errors import FinAgentError


@dataclass(frozen=True, slots=True)
class Wish:
    """Which filings of which companies, and where to."""

    companies: tuple[str, ...]
    forms: tuple[str, ...]
    years: str | None
    folder: Path
    contact: str | None


def fetch_filings(wish: Wish, index: Path | None, *, ingested: bool, as_json: bool) -> ExitCode:
    """Fetch the filings, bring them into the index where that is wanted, and say what became of each."""
    flags = () if wish.contact is None else (Said(("edgar", "contact"), wish.contact, "--contact"),)
    settings = settings_from(flags).edgar
    years = years_in(wish.years) if wish.years is not None else None
    files: list[FetchedFile] = []
    unknown: list[tuple[str, DownloadError]] = []
    with EdgarConnection(settings, patience=Patience(sleep=_told_and_waited, told=_told)) as connection:
        edgar = Edgar(connection, settings)
        found: list[CompanyFilings] = []
        for company in dict.fromkeys(wish.companies):
            try:
                found.append(edgar.find(company, wish.forms, years))
            except DownloadError as error:
                if error.ends_all or len(wish.companies) == 1:
                    raise
                say(f"error: {error}")
                unknown.append((company, error))
        files = _fetched(edgar, found, wish.folder)
    for each in found:
        if each.not_filed:
            say(f"{each.company.handle}: EDGAR has no {'; no '.join(map(str, each.not_filed))}")
    if as_json:
        show_json(_document(wish.folder, files, unknown, found))
    else:
        show(_summary(wish.folder, files))
    paths = [file.path for file in files if file.path is not None]
    lacking = any(missing.at_all for each in found for missing in each.not_filed)
    code = ExitCode.SOME_FAILED if unknown or lacking or len(paths) < len(files) else ExitCode.DONE
    if ingested and paths:
        from fin_agent.cli.ingesting import ingest_files

        code = max(code, ingest_files(paths, index, workers=None, as_json=as_json))
    return code


def _told_and_waited(seconds: float) -> None:
    """Whoever sits before a terminal where nothing moves is told why."""
    say(f"EDGAR did not answer as it should; asking again in {seconds:.0f} s")
    time.sleep(seconds)


def _told(seconds: float) -> None:
    say(f"EDGAR asked for a pause; asking again in {seconds:.0f} s")


def _fetched(edgar: Edgar, found: Sequence[CompanyFilings], folder: Path) -> list[FetchedFile]:
    files: list[FetchedFile] = []
    with Progress(sum(len(each.wanted) for each in found), "fetching filings", "filings") as progress:

        def told(file: FetchedFile) -> None:
            progress.step(line_of(file), problem=file.became is Became.FAILED)

        for each in found:
            files += edgar.fetch(each, folder, told)
    return files


def line_of(file: FetchedFile) -> str:
    """`AAPL_2023_10K: fetched, 1.5 MB`."""
    if file.became is Became.FAILED:
        return f"{file.name}: failed: {file.url}: {file.reason}. {file.remedy}"
    return f"{file.name}: {file.became.value}, {file.bytes / 1e6:.1f} MB"


def _summary(folder: Path, files: Sequence[FetchedFile]) -> str:
    counts = ", ".join(f"{sum(file.became is became for file in files)} {became.value}" for became in Became)
    return f"{counts}. {folder / MANIFEST} says what each file is."


def _document(
    folder: Path,
    files: Sequence[FetchedFile],
    unknown: Sequence[tuple[str, FinAgentError]],
    found: Sequence[CompanyFilings],
) -> dict[str, object]:
    return {
        "folder": str(folder),
        **{became.value: sum(file.became is became for file in files) for became in Became},
        "files": [
            {
                "name": file.name,
                "became": file.became.value,
                "path": str(file.path) if file.path is not None else None,
                "url": file.url,
                "bytes": file.bytes,
                "reason": file.reason or None,
                "remedy": file.remedy or None,
            }
            for file in files
        ],
        "not_filed": [
            {
                "company": each.company.handle,
                "form": missing.form,
                "years": [[span.first, span.last] for span in missing.years] or None,
            }
            for each in found
            for missing in each.not_filed
        ],
        "companies_failed": [
            {"company": company, "reason": error.what, "remedy": error.remedy} for company, error in unknown
        ],
    }
