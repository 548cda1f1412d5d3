"""`fin-agent ingest`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import chosen_index
from fin_agent.cli.progress import Progress
from fin_agent.cli.streams import say, show, show_json
from fin_agent.errors import ReadError
from fin_agent.evidence.preparing import prepare
from fin_agent.filings.reader import READABLE
from fin_agent.index.ingest import IngestedFile, IngestReport, Outcome, files_below, ingest
from fin_agent.index.sqlite import SqliteIndex


def ingest_files(paths: Sequence[Path], given: Path | None, *, workers: int | None, as_json: bool) -> ExitCode:
    """Bring the files of `paths` into the index, and say what became of each."""
    files = files_below(paths)
    if not files:
        raise ReadError(
            "there is no filing here",
            subject=", ".join(map(str, paths)),
            remedy=f"Name files, or a folder with {', '.join(READABLE)} files in or below it",
        )
    started = time.perf_counter()
    folder = chosen_index(given).folder
    with SqliteIndex.create(folder) as index, Progress(len(files), "reading filings", "filings") as progress:

        def told(file: IngestedFile) -> None:
            progress.step(line_of(file), problem=file.outcome is Outcome.FAILED)

        with _nothing_from_the_current_folder():
            report = ingest(files, index, prepare, workers=workers, on_file=told)
        held = len(index.filings())
    seconds = time.perf_counter() - started
    if as_json:
        show_json(_document(report, folder, held, seconds))
    else:
        show(_summary(report, folder, held, seconds))
    if not report.failures:
        return ExitCode.DONE
    others = "; the others are in the index" if len(report.failures) < len(report.files) else ""
    say(f"{len(report.failures)} of {len(report.files)} files could not be read{others}")
    return ExitCode.SOME_FAILED


@contextmanager
def _nothing_from_the_current_folder() -> Iterator[None]:
    """No module of the folder the user happens to stand in takes the place of one that a worker process needs."""
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


_SAFE_PATH = "PYTHONSAFEPATH"


def line_of(file: IngestedFile) -> str:
    """`acme_2023_10k: added, 120 pages`."""
    if file.outcome is Outcome.FAILED:
        return f"{file.path}: failed: {file.reason}. {file.remedy}"
    pages = f", {file.pages} pages" if file.pages else ""
    return f"{file.doc_id}: {file.outcome.value}{pages}"


def _summary(report: IngestReport, folder: Path, held: int, seconds: float) -> str:
    counts = ", ".join(f"{report.count(outcome)} {outcome.value}" for outcome in Outcome)
    return f"{counts}, in {seconds:.1f} s. The index in {folder} holds {held} filings."


def _document(report: IngestReport, folder: Path, held: int, seconds: float) -> dict[str, object]:
    return {
        "index": str(folder),
        "filings": held,
        **{outcome.value: report.count(outcome) for outcome in Outcome},
        "seconds": round(seconds, 3),
        # Workers finish in any order; the document does not show it.
        "files": [
            {
                "path": str(file.path),
                "doc_id": file.doc_id,
                "outcome": file.outcome.value,
                "reason": file.reason or None,
                "remedy": file.remedy or None,
                "pages": file.pages if file.outcome is Outcome.ADDED else None,
            }
            for file in sorted(report.files, key=lambda file: str(file.path))
        ],
    }
