"""`fin-agent fetch`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.streams import Progress, fields_of, say, show_result
from fin_agent.config import settings_from
from fin_agent.config_sources import Said
from fin_agent.downloads.choosing import years_in
from fin_agent.downloads.connection import DownloadError, EdgarConnection, Patience
from fin_agent.downloads.fetching import MANIFEST, Became, CompanyFilings, Edgar, FetchedFile
from fin_agent.errors import FinAgentError


def fetch_filings(
    companies: Sequence[str],
    forms: Sequence[str],
    index: Path | None,
    *,
    years: str | None,
    folder: Path,
    contact: str | None,
    ingested: bool,
    as_json: bool,
) -> ExitCode:
    """Fetch the filings, bring them into the index where that is wanted, and say what became of each."""
    flags = () if contact is None else (Said(("edgar", "contact"), contact, "--contact"),)
    settings = settings_from(flags).edgar
    span = years_in(years) if years is not None else None
    files: list[FetchedFile] = []
    unknown: list[tuple[str, DownloadError]] = []
    with EdgarConnection(
        settings,
        patience=Patience(
            sleep=_told_and_waited,
            told=lambda seconds: say(f"EDGAR asked for a pause; asking again in {seconds:.0f} s"),
        ),
    ) as connection:
        edgar = Edgar(connection, settings)
        found: list[CompanyFilings] = []
        for company in dict.fromkeys(companies):
            try:
                found.append(edgar.find(company, forms, span))
            except DownloadError as error:
                if error.ends_all or len(companies) == 1:
                    raise
                say(f"error: {error}")
                unknown.append((company, error))
        files = _fetched(edgar, found, folder)
    for each in found:
        if each.not_filed:
            say(f"{each.company.handle}: EDGAR has no {'; no '.join(map(str, each.not_filed))}")
    counts = ", ".join(f"{sum(file.became is became for file in files)} {became.value}" for became in Became)
    summary = f"{counts}. {folder / MANIFEST} says what each file is."
    show_result(as_json, _document(folder, files, unknown, found), summary)
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


def _document(
    folder: Path,
    files: Sequence[FetchedFile],
    unknown: Sequence[tuple[str, FinAgentError]],
    found: Sequence[CompanyFilings],
) -> dict[str, object]:
    return {
        "folder": str(folder),
        **{became.value: sum(file.became is became for file in files) for became in Became},
        "files": [fields_of(file, "name became path url bytes reason? remedy?") for file in files],
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
