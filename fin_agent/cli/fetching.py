"""`fin-agent fetch`."""

from __future__ import annotations

import time
from pathlib import Path

from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import IndexOptions, command
from fin_agent.cli.streams import Progress, fields_of, say
from fin_agent.config import settings_from
from fin_agent.config_sources import SettingValue
from fin_agent.downloads.connection import DownloadError, EdgarConnection, Patience
from fin_agent.downloads.fetching import MANIFEST, Became, CompanyFilings, Edgar, FetchedFile, years_in


@command
def fetch(
    companies: list[str],
    on: IndexOptions,
    form: list[str] | None = None,
    years: str | None = None,
    out: Path = Path("filings"),
    contact: str | None = None,
    ingested: bool = False,
) -> ExitCode:
    """Fetch filings from EDGAR, at most ten requests per second. Existing files are not fetched again.

    On the command line:
        companies (TICKER|CIK...): Companies, by ticker (AAPL) or CIK (320193).
        form (--form FORM): Form, by default 10-K; can be repeated.
        years (--years YEARS): Years in which fiscal years end: 2023 or 2022-2024. By default the newest of each form.
        out (--out DIR): Folder for the files.
        contact (--contact WHO): Your name and e-mail address: "Jane Doe jane@example.com". The SEC requires it of
            programs. FIN_AGENT_CONTACT, or `contact` under [edgar] in fin-agent.toml.
        ingested (--ingest): Also add the files to the index; --json prints a second document.
    """
    flags = () if contact is None else (SettingValue(("edgar", "contact"), contact, "--contact"),)
    settings = settings_from(flags).edgar
    span = years_in(years) if years is not None else None
    files: list[FetchedFile] = []
    found: list[CompanyFilings] = []
    unknown: list[dict[str, str]] = []
    patience = Patience(
        sleep=_report_wait,
        told=lambda seconds: say(f"EDGAR asked for a pause; the next request follows in {seconds:.0f} s"),
    )
    with EdgarConnection(settings, patience=patience) as connection:
        edgar = Edgar(connection, settings)
        for company in dict.fromkeys(companies):
            try:
                found.append(edgar.find(company, form or ("10-K",), span))
            except DownloadError as error:
                if error.ends_all or len(companies) == 1:
                    raise
                say(f"error: {error}")
                unknown.append({"company": company, "reason": error.what, "remedy": error.remedy})
        progress = Progress(sum(len(each.wanted) for each in found))

        def report_outcome(file: FetchedFile) -> None:
            failed = file.became is Became.FAILED
            told = f"{file.url}: {file.reason}. {file.remedy}" if failed else f"{file.bytes / 1e6:.1f} MB"
            progress.step(f"{file.name}: {file.became.value}{':' if failed else ','} {told}", problem=failed)

        for each in found:
            files += edgar.fetch(each, out, report_outcome)
    missing = [(each.company.handle, not_filed) for each in found for not_filed in each.not_filed]
    for company, not_filed in missing:
        say(f"{company}: EDGAR has no {not_filed}")
    counts = {became.value: sum(file.became is became for file in files) for became in Became}
    document = {
        "folder": str(out),
        **counts,
        "files": [fields_of(file, "name became path url bytes reason? remedy?") for file in files],
        "not_filed": [
            {"company": company, "form": each.form, "years": [[span.first, span.last] for span in each.years] or None}
            for company, each in missing
        ],
        "companies_failed": unknown,
    }
    told = ", ".join(f"{count} {name}" for name, count in counts.items())
    on.show(document, f"{told}. {out / MANIFEST} describes each file.")
    paths = [file.path for file in files if file.path is not None]
    lacking = unknown or len(paths) < len(files) or any(each.at_all for _, each in missing)
    code = ExitCode.SOME_FAILED if lacking else ExitCode.DONE
    if ingested and paths:
        from fin_agent.cli.ingesting import ingest_files

        code = max(code, ingest_files(paths, on))
    return code


def _report_wait(seconds: float) -> None:
    """Report why nothing happens, and wait."""
    say(f"a request to EDGAR failed; the next attempt follows in {seconds:.0f} s")
    time.sleep(seconds)
