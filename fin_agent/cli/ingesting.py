"""`fin-agent ingest` and `fetch`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from pathlib import Path

import typer

from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import IndexOptions, command
from fin_agent.cli.streams import Progress, say
from fin_agent.config import settings_from
from fin_agent.config_sources import SettingValue
from fin_agent.downloads.connection import DownloadError, EdgarConnection, Patience
from fin_agent.downloads.fetching import MANIFEST, Became, CompanyFilings, Edgar, FetchedFile, years_in
from fin_agent.errors import FilingIndexError, ReadError
from fin_agent.evidence.filing_preparation import prepare
from fin_agent.filings.reader import READABLE
from fin_agent.index.ingest import IngestedFile, IngestReport, KnownFile, Manifest, Outcome, PreparedFiling, files_below
from fin_agent.index.ingest import ingest as ingest_into
from fin_agent.index.opening import open_index
from fin_agent.index.sqlite import FILE_NAME, SqliteIndex
from fin_agent.index.sqlite_file import rename_outdated
from fin_agent.presentation.json_fields import as_plain, fields_of
from fin_agent.presentation.terminal_text import count_with_noun, warning_lines_by_page
from fin_agent.process_pool import exclude_current_folder


@command
def ingest(
    on_index: IndexOptions,
    paths: list[Path] | None = None,
    retry_failed: bool = False,
    accept_repaired: bool = False,
    again: bool = False,
    wait: bool = False,
    workers: int | None = None,
    on: str | None = None,
    writers: int = 1,
) -> ExitCode:
    """Add filings to the index. Files that have not changed are skipped; a file that fails does not stop the others.

    It can be stopped at any time: the same command resumes. `fin-agent index failures` lists what failed, and why.
    """
    if on is not None:
        if retry_failed or not paths or not on.startswith("ray://"):
            raise typer.BadParameter("it takes ray://HOST:PORT, and files or folders in addition", param_hint="--on")
        return _ingest_over_ray(paths, on_index, on, writers)
    if again:
        paths = [*(paths or ()), *_files_to_read_again(on_index.folder)]
    elif not paths and not retry_failed:
        raise typer.BadParameter("name files or folders, or give --retry-failed", param_hint="PATH")
    reading = partial(prepare, accept_repaired=True) if accept_repaired else prepare
    return ingest_files(paths or (), on_index, workers, reading, retry_failed=retry_failed, wait=wait)


def ingest_files(
    paths: Sequence[Path],
    on: IndexOptions,
    workers: int | None = None,
    reading: Callable[[Path], PreparedFiling] = prepare,
    *,
    retry_failed: bool = False,
    wait: bool = False,
) -> ExitCode:
    """Add the files of `paths` to the index and show each outcome; with `retry_failed`, also files not read before."""
    folder, started = on.folder, time.perf_counter()
    gone: list[KnownFile] = []
    if retry_failed:
        with SqliteIndex(folder) as index:
            unread = Manifest(index).unread()
        gone = [file for file in unread if file.is_missing]
        paths = [*paths, *(Path(file.path) for file in unread if not file.is_missing)]
    files = files_below(paths)
    if not files and not retry_failed:
        raise ReadError(
            "no filing was found here",
            subject=", ".join(map(str, paths)),
            remedy=f"Name files, or a folder with {', '.join(READABLE)} files in or below it",
        )
    with SqliteIndex.create(folder) as index:
        progress = Progress(len(files) + len(gone))
        with exclude_current_folder():
            report = ingest_into(
                files,
                index,
                reading,
                workers=workers,
                on_file=partial(_step, progress),
                wait=inf if wait else 0,
                on_wait=lambda owner: say(f"waiting for another command that writes to this index: {owner}"),
            )
        for file in gone:
            reason = f"it is gone; before: {file.reason}"
            missing = IngestedFile(Path(file.path), file.doc_id, Outcome.FAILED, reason, file.remedy, kept=True)
            report.files.append(missing)
            _step(progress, missing)
        held = len(index.filings())
    return _show(report, folder, held, started, on)


def _files_to_read_again(folder: Path) -> list[Path]:
    """Return the files that the index was read from, and rename it. Raises FilingIndexError if it lists none."""
    files = rename_outdated(folder / FILE_NAME)
    if not files:
        raise FilingIndexError(
            "no index here lists the files that it was read from", subject=str(folder), remedy="Name files or folders"
        )
    say(f"reading {count_with_noun(len(files), 'file')} again; the previous index remains in {folder}")
    return files


def _ingest_over_ray(paths: Sequence[Path], on: IndexOptions, address: str, writers: int) -> ExitCode:
    """Add files read by tasks of a Ray cluster, into a folder or an Elasticsearch cluster."""
    from fin_agent.index.ingest_ray import ingest_on_ray

    started, place = time.perf_counter(), on.chosen.place
    progress = Progress(len(files_below(paths)))
    report = ingest_on_ray(paths, place, address, writers=writers, on_file=partial(_step, progress))
    with open_index(place) as index:
        held = len(index.entries())
    return _show(report, place, held, started, on)


def _step(progress: Progress, file: IngestedFile) -> None:
    """Report the outcome of a file on one line: `acme_2023_10k: added, 120 pages`."""
    if file.outcome is Outcome.FAILED:
        progress.step(f"{file.path}: failed: {file.reason}. {file.remedy}", problem=True)
        return
    pages = f", {file.pages} pages" if file.pages else ""
    warnings = [f"{file.doc_id}: {each}" for each in warning_lines_by_page(file.warnings)]
    progress.step(f"{file.doc_id}: {file.outcome.value}{pages}", warnings=warnings)


def _show(report: IngestReport, place: Path | str, held: int, started: float, on: IndexOptions) -> ExitCode:
    """Show the counts, and where failures are listed."""
    seconds = time.perf_counter() - started
    document = {
        "index": str(place),
        "filings": held,
        **{outcome.value: report.count(outcome) for outcome in Outcome},
        "seconds": round(seconds, 3),
        # Workers finish in any order; the document does not show it.
        "files": [
            {
                **fields_of(file, "path doc_id outcome reason? remedy?"),
                "pages": file.pages if file.outcome is Outcome.ADDED else None,
                "warnings": as_plain(file.warnings),
            }
            for file in sorted(report.files, key=lambda file: str(file.path))
        ],
    }
    counts = ", ".join(f"{report.count(outcome)} {outcome.value}" for outcome in Outcome)
    contains = f"The index in {place} contains {count_with_noun(held, 'filing')}."
    on.show(document, f"{counts}, in {seconds:.1f} s. {contains}")
    if not report.failures:
        return ExitCode.DONE
    kept = any(each.kept for each in report.failures)  # not a path that does not exist or is no file
    listed = "; `fin-agent index failures` lists them with remedies" if kept else ""
    say(f"{len(report.failures)} of {count_with_noun(len(report.files), 'file')} could not be read{listed}")
    return ExitCode.SOME_FAILED


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
    """Fetch filings from EDGAR, at most ten requests per second. Existing files are not fetched again."""
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
    return max(code, ingest_files(paths, on)) if ingested and paths else code


def _report_wait(seconds: float) -> None:
    """Report why nothing happens, and wait."""
    say(f"a request to EDGAR failed; the next attempt follows in {seconds:.0f} s")
    time.sleep(seconds)
