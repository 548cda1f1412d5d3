"""`fin-agent index copy`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import chosen_index
from fin_agent.cli.progress import Progress
from fin_agent.cli.streams import say, show, show_json
from fin_agent.errors import FilingIndexError
from fin_agent.index.copying import CopiedFiling, CopyOutcome, copy_filings
from fin_agent.index.opening import address_of, create_index, open_index


def copy_index(given: Path | None, to: Path, doc_ids: Sequence[str], *, jobs: int, as_json: bool) -> ExitCode:
    """Copy, and say what became of each filing; SOME_FAILED where one could not be copied."""
    here, there = chosen_index(given).place, address_of(to) or to
    if str(here) == str(there):
        raise FilingIndexError(
            "an index cannot be copied into itself", subject=str(there), remedy="Name another place with --to"
        )
    started = time.perf_counter()
    with open_index(here) as source, create_index(there) as target:
        total = len(doc_ids) or len(source.entries())
        with Progress(total, "copying filings", "filings") as progress:

            def told(filing: CopiedFiling) -> None:
                progress.step(_line(filing), problem=filing.outcome is CopyOutcome.FAILED)

            report = copy_filings(source, target, tuple(dict.fromkeys(doc_ids)), jobs=jobs, on_filing=told)
        held = len(target.entries())
    seconds = time.perf_counter() - started
    counts = {outcome.value: report.count(outcome) for outcome in CopyOutcome}
    if as_json:
        filings = [
            {"doc_id": each.doc_id, "outcome": each.outcome.value, "pages": each.pages, "reason": each.reason or None}
            for each in sorted(report.filings, key=lambda each: each.doc_id)
        ]
        show_json(
            {"from": str(here), "to": str(there), **counts, "held": held, "seconds": round(seconds, 3),
             "filings": filings}
        )  # fmt: skip
    else:
        told_counts = ", ".join(f"{count:,} {name}" for name, count in counts.items())
        show(f"{told_counts}, in {seconds:.1f} s. The index at {there} holds {held:,} filings.")
    if not counts[CopyOutcome.FAILED.value]:
        return ExitCode.DONE
    say(f"{counts[CopyOutcome.FAILED.value]:,} could not be copied; the same command tries these again")
    return ExitCode.SOME_FAILED


def _line(filing: CopiedFiling) -> str:
    if filing.outcome is CopyOutcome.FAILED:
        return f"{filing.doc_id}: failed: {filing.reason}"
    pages = f", {filing.pages} pages" if filing.pages else ""
    vectors = f", vectors of {filing.vectors} kinds" if filing.vectors else ""
    return f"{filing.doc_id}: {filing.outcome.value}{pages}{vectors}"
