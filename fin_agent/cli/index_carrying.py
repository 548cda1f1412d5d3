"""`fin-agent index export` and `import`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import embedded_folder, waiting_time
from fin_agent.cli.streams import messages, show, show_json
from fin_agent.evidence.importing import import_archive
from fin_agent.index.archive import export
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.presentation.plain import counted


def export_index(archive: Path, given: Path | None, *, doc_ids: Sequence[str], as_json: bool) -> ExitCode:
    """Write an archive, and say what is in it."""
    started = time.perf_counter()
    with SqliteIndex(embedded_folder(given)) as index, messages().status("exporting") as status:
        done = export(index, archive, doc_ids=doc_ids, on_filing=lambda doc_id: status.update(f"exporting {doc_id}"))
    seconds = time.perf_counter() - started
    if as_json:
        fields = {"filings": done.filings, "bytes": done.size, "sha256": done.sha256}
        show_json({"archive": str(done.file), **fields, "seconds": round(seconds, 3)})
    else:
        show(f"{counted(done.filings, 'filing')}, {done.size / 1e6:,.1f} MB, in {seconds:.1f} s: {done.file}")
        show(f"SHA-256 {done.sha256}")
    return ExitCode.DONE


def import_index(archive: Path, given: Path | None, *, replace: bool, wait: bool, as_json: bool) -> ExitCode:
    """Take an archive in, and say what became of its filings."""
    folder = embedded_folder(given)
    started = time.perf_counter()
    with messages().status("importing") as status:
        done = import_archive(
            archive,
            folder,
            replace=replace,
            wait=waiting_time(wait),
            on_filing=lambda doc_id: status.update(f"importing {doc_id}"),
        )
    seconds = time.perf_counter() - started
    if as_json:
        fields = {"added": done.added, "replaced": done.replaced, "unchanged": done.unchanged}
        show_json({"index": str(folder), **fields, "seconds": round(seconds, 3)})
    else:
        counts = f"{len(done.added)} added, {len(done.replaced)} replaced, {len(done.unchanged)} unchanged"
        show(f"{counts}, in {seconds:.1f} s. The index is in {folder}.")
    return ExitCode.DONE
