"""`fin-agent filings`, `info`, `check` and `remove`."""

from __future__ import annotations

import platform
import sqlite3
from collections.abc import Sequence

import typer

from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import IndexOptions, command
from fin_agent.cli.streams import as_plain, fields_of, say
from fin_agent.distribution import installed_version
from fin_agent.errors import FilingIndexError
from fin_agent.filings.facts.statement_check import Outcome
from fin_agent.index.opening import open_index
from fin_agent.index.protocol import FilingRecord, VectorModel
from fin_agent.index.sqlite import FILE_NAME
from fin_agent.lexicon.company_mentions import CompanyDirectory
from fin_agent.presentation.filings import CheckedFiling, checked_view, filings_view, sort_filings
from fin_agent.presentation.terminal_text import count_with_noun, settings_view


@command
def filings(on: IndexOptions) -> ExitCode:
    """List the filings in the index."""
    with on.open_workspace() as workspace:
        records = sort_filings(workspace.index.filings())
    document = {"filings": [fields_of(record, _FILING) for record in records]}
    on.show(document, *([filings_view(records)] if records else []))
    return ExitCode.DONE


_FILING = (
    "doc_id company=identity.company form=identity.form fiscal_year=identity.fiscal_year quarter=identity.quarter"
    " period_end=identity.period_end filed=identity.filed amended=identity.amended ticker=identity.ticker"
    " cik=identity.cik pages=page_count passages=passage_count facts=fact_count source content_hash"
)


@command
def info(on: IndexOptions) -> ExitCode:
    """Show the version, the index in use and why, and what it contains."""
    chosen = on.chosen
    state, problem = "ready", ""
    records: tuple[FilingRecord, ...] = ()
    vectors: tuple[VectorModel, ...] = ()
    if chosen.address is None and not (chosen.folder / FILE_NAME).is_file():
        state = "does not exist yet: `fin-agent ingest PATH...` creates it"
    else:
        try:
            with open_index(chosen.place) as index:
                records, vectors = index.filings(), index.vector_models()
        except FilingIndexError as error:
            state, problem = "cannot be read", str(error)
    size = None if chosen.address else sum(file.stat().st_size for file in chosen.folder.glob(f"{FILE_NAME}*"))
    held = {
        "filings": len(records),
        "companies": len(CompanyDirectory((record.doc_id, record.identity) for record in records).companies),
        "pages": sum(record.page_count for record in records),
        "passages": sum(record.passage_count for record in records),
        "facts": sum(record.fact_count for record in records),
    }
    document = {
        "version": installed_version(),
        "index": str(chosen.place),
        "index_chosen_by": chosen.chosen_by,
        "index_state": state,
        "index_bytes": size,
        **held,
        "vectors": [
            {
                **fields_of(each, "model unit"),
                "kind": "sparse" if each.sparse else "dense",
                **fields_of(each, "dimensions filings vectors=rows"),
            }
            for each in vectors
        ],
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }
    shown = [
        ("fin-agent", installed_version()),
        ("index", str(chosen.place)),
        ("", _REASONS[chosen.chosen_by]),
        ("state", state),
        *([] if size is None else [("size", f"{size / 1_000_000:,.1f} MB")]),
        *((name, f"{count:,}") for name, count in held.items()),
        *_vector_lines(vectors, len(records)),
        ("Python", platform.python_version()),
        ("SQLite", sqlite3.sqlite_version),
    ]
    on.show(document, settings_view(shown))
    if problem:
        say(f"error: {problem}")
        return ExitCode.FAILED
    return ExitCode.DONE


_REASONS = {
    "--index": "named by --index",
    "FIN_AGENT_INDEX": "named by FIN_AGENT_INDEX",
    "default": "the default; --index or FIN_AGENT_INDEX name another",
}


def _vector_lines(vectors: Sequence[VectorModel], filings: int) -> list[tuple[str, str]]:
    """Return a line for each model and unit."""
    lines = [
        f"{held.model}, by {held.unit.value}: {held.filings:,} of {filings:,} filings, {held.rows:,} vectors"
        for held in vectors
    ]
    if not lines and filings:
        lines = ["none; `fin-agent embed` computes them"]
    return [("" if number else "vectors", line) for number, line in enumerate(lines)]


@command
def check(on: IndexOptions, doc_ids: list[str] | None = None, every: bool = False) -> ExitCode:
    """Check the sums of statements: balance, cash, income. Exit code 3 if a check fails.

    On the command line:
        doc_ids (DOC_ID...): Filings to check.
        every (--all): Check every filing in the index.
    """
    if bool(doc_ids) == every:
        raise typer.BadParameter("name the filings to check, or give --all for every filing in the index")
    with on.open_workspace() as workspace:
        if every:
            records = sort_filings(workspace.index.filings())
        else:
            records = [workspace.index.filing(doc_id) for doc_id in dict.fromkeys(doc_ids or ())]
        checked = [
            # One filing at a time, so that the facts of all of them are not in memory at once.
            CheckedFiling.of(record, [held.fact for held in workspace.index.facts([record.doc_id])])
            for record in records
        ]
    document = {"filings": [_checked_fields(filing) for filing in checked]}
    on.show(document, *([checked_view(checked)] if checked else []))
    failed = any(filing.count(Outcome.FAILS) for filing in checked)
    return ExitCode.SOME_FAILED if failed else ExitCode.DONE


def _checked_fields(filing: CheckedFiling) -> dict[str, object]:
    record = filing.record
    return {
        **fields_of(record, "doc_id company=identity.company form=identity.form"),
        **{outcome.name.lower(): filing.count(outcome) for outcome in Outcome},
        **fields_of(filing, "figures proved doubtful"),
        "checks": [{**as_plain(check), "pages": check.pages} for check in filing.checks],
        "warnings": as_plain(record.warnings),
        "conflicts": as_plain(record.identity.conflicts()),
    }


@command
def remove(doc_ids: list[str], on: IndexOptions) -> ExitCode:
    """Remove filings from the index. Their files are not deleted: `fin-agent ingest` adds them again.

    On the command line:
        doc_ids (DOC_ID...): Filings, as `fin-agent filings` lists them.
    """
    removed: list[str] = []
    unknown: list[str] = []
    with on.open_workspace() as workspace:
        for doc_id in dict.fromkeys(doc_ids):
            (removed if workspace.index.remove(doc_id) else unknown).append(doc_id)
        left = len(workspace.index.entries())
    place = on.chosen.place
    for doc_id in unknown:
        say(f"error: {doc_id}: this filing is not in the index in {place}. `fin-agent filings` lists the filings")
    summary = (
        f"{len(removed)} removed, {len(unknown)} unknown."
        f" The index in {place} contains {count_with_noun(left, 'filing')}."
    )
    on.show({"removed": removed, "unknown": unknown, "filings": left}, summary)
    return ExitCode.SOME_FAILED if unknown else ExitCode.DONE
