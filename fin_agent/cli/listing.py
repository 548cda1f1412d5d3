"""`fin-agent filings`, `info`, `check`, `remove` and `index ...`."""

from __future__ import annotations

import platform
import sqlite3
import time
from collections.abc import Iterable, Sequence
from math import inf
from pathlib import Path

import typer
from rich.console import RenderableType
from rich.text import Text

from fin_agent.cli.exit_codes import ExitCode, with_index
from fin_agent.cli.options import IndexOptions, command
from fin_agent.cli.streams import Progress, messages, say
from fin_agent.distribution import installed_version
from fin_agent.errors import FilingIndexError
from fin_agent.filings.facts.accounting_identities import Outcome
from fin_agent.index.copying import CopiedFiling, CopyOutcome, copy_filings
from fin_agent.index.ingest import FileState, Manifest
from fin_agent.index.ingest_lock import lock_owner
from fin_agent.index.opening import address_of, create_index, open_index
from fin_agent.index.protocol import FilingRecord, VectorModel
from fin_agent.index.repairing import RepairReport
from fin_agent.index.repairing import repair as repair_index
from fin_agent.index.sqlite import FILE_NAME, SqliteIndex
from fin_agent.index.verifying import IndexFinding
from fin_agent.index.verifying import verify as verify_index
from fin_agent.lexicon.company_mentions import CompanyDirectory
from fin_agent.presentation.filings import CheckedFiling, checked_view, filings_view, sort_filings
from fin_agent.presentation.json_fields import as_plain, fields_of
from fin_agent.presentation.terminal_text import advice_view, count_with_noun, one_line, settings_view


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
    state, problem, records, vectors = "ready", "", tuple[FilingRecord, ...](), tuple[VectorModel, ...]()
    if chosen.address is None and not (chosen.folder / FILE_NAME).is_file():
        state = "does not exist yet: `fin-agent ingest PATH...` creates it"
    else:
        try:
            with open_index(chosen.place) as index:
                records, vectors = index.filings(), index.vector_models()
        except FilingIndexError as error:
            state, problem = "cannot be read", str(error)
    size = None if chosen.address else sum(file.stat().st_size for file in chosen.folder.glob(f"{FILE_NAME}*"))
    companies = CompanyDirectory((record.doc_id, record.identity) for record in records).companies
    counted = ("page", "passage", "fact")
    counts = {f"{each}s": sum(getattr(record, f"{each}_count") for record in records) for each in counted}
    held = {"filings": len(records), "companies": len(companies), **counts}
    versions = {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    document = {
        "version": installed_version(),
        "index": str(chosen.place),
        "index_chosen_by": chosen.chosen_by,
        "index_state": state,
        "index_bytes": size,
        **held,
        "vectors": [{**fields_of(each, _VECTORS), "kind": "sparse" if each.sparse else "dense"} for each in vectors],
        **versions,
    }
    told = [
        f"{each.model}, by {each.unit.value}: {each.filings:,} of {len(records):,} filings, {each.rows:,} vectors"
        for each in vectors
    ]
    shown = {
        "fin-agent": installed_version(),
        "index": f"{chosen.place} ({_REASONS[chosen.chosen_by]})",
        "state": state,
        **({} if size is None else {"size": f"{size / 1_000_000:,.1f} MB"}),
        **{name: f"{count:,}" for name, count in held.items()},
        "vectors": "; ".join(told) or "none; `fin-agent embed` computes them",
        **versions,
    }
    on.show(document, settings_view(list(shown.items())))
    if problem:
        say(f"error: {problem}")
    return ExitCode.FAILED if problem else ExitCode.DONE


_VECTORS = "model unit dimensions filings vectors=rows"
_REASONS = {
    "--index": "named by --index",
    "FIN_AGENT_INDEX": "named by FIN_AGENT_INDEX",
    "default": "the default; --index or FIN_AGENT_INDEX name another",
}


@command
def check(on: IndexOptions, doc_ids: list[str] | None = None, every: bool = False) -> ExitCode:
    """Check the sums of statements: balance, cash, income. Exit code 3 if a check fails."""
    if bool(doc_ids) == every:
        raise typer.BadParameter("name the filings to check, or give --all for every filing in the index")
    with on.open_workspace() as workspace:
        index = workspace.index
        records = [index.filing(doc_id) for doc_id in dict.fromkeys(doc_ids or ())] or sort_filings(index.filings())
        # One filing at a time, so that the facts of all of them are not in memory at once.
        checked = [CheckedFiling.of(each, [held.fact for held in index.facts([each.doc_id])]) for each in records]
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
    """Remove filings from the index. Their files are not deleted: `fin-agent ingest` adds them again."""
    place = on.chosen.place
    with on.open_workspace() as workspace:
        removed = [doc_id for doc_id in dict.fromkeys(doc_ids) if workspace.index.remove(doc_id)]
        left = len(workspace.index.entries())
    unknown = [doc_id for doc_id in dict.fromkeys(doc_ids) if doc_id not in removed]
    for doc_id in unknown:
        say(f"error: {doc_id}: this filing is not in the index in {place}. `fin-agent filings` lists the filings")
    contains = f"The index in {place} contains {count_with_noun(left, 'filing')}."
    document = {"removed": removed, "unknown": unknown, "filings": left}
    on.show(document, f"{len(removed)} removed, {len(unknown)} unknown. {contains}")
    return ExitCode.SOME_FAILED if unknown else ExitCode.DONE


@command
def verify(on: IndexOptions) -> ExitCode:
    """Verify everything in the index by its checksums. Exit code 0 if it is whole, 3 if there is a fault.

    It changes nothing, and may run while other commands read and write.
    """
    folder = on.folder
    started = time.perf_counter()
    with messages().status("verifying") as status:
        verified = verify_index(folder, on_filing=lambda doc_id: status.update(f"verifying {doc_id}"))
    seconds = time.perf_counter() - started
    document = {
        "index": str(folder),
        "whole": not verified.faults,
        "filings": verified.filings,
        "seconds": round(seconds, 3),
        "findings": [
            {**fields_of(each, "aspect subject found fault"), "remedy": with_index(each.remedy)}
            for each in verified.findings
        ],
    }
    found = f"{count_with_noun(len(verified.faults), 'fault')} found" if verified.faults else "No fault found"
    filings = count_with_noun(verified.filings, "filing")
    verdict = f"{found} in the index in {folder}: {filings} verified, in {seconds:.1f} s."
    on.show(document, *([_findings_view(verified.findings), ""] if verified.findings else []), verdict)
    return ExitCode.SOME_FAILED if verified.faults else ExitCode.DONE


def _findings_view(findings: Sequence[IndexFinding]) -> RenderableType:
    """Return the findings with their remedies, faults first."""
    return _advice(
        (
            Text("fault  ", style="bold red") if finding.fault else Text("note   ", style="dim"),
            f"{finding.aspect}: {finding.subject}: {finding.found}",
            finding.remedy,
        )
        for finding in sorted(findings, key=lambda each: not each.fault)
    )


def _advice(rows: Iterable[tuple[Text, str, str]]) -> RenderableType:
    return advice_view((head, said, with_index(remedy)) for head, said, remedy in rows)


@command
def repair(on: IndexOptions, wait: bool = False) -> ExitCode:
    """Rebuild what can be rebuilt, remove damaged filings, and mark their files to be read again.

    A damaged database is saved under another name next to the new one. Exit code 3 if a filing was removed.
    """
    folder = on.folder
    with messages().status("repairing"):
        repaired = repair_index(folder, wait=inf if wait else 0)
        left = verify_index(folder)
    lost = [
        {
            "doc_id": each.doc_id if each.named else None,
            **fields_of(each, "source? why"),
            "remedy": with_index(each.remedy),
        }
        for each in repaired.lost
    ]
    document = {
        "index": str(folder),
        "whole": not left.faults and not lost,
        "filings": repaired.kept,
        "done": repaired.done,
        "lost": lost,
        "damaged_copy": str(repaired.damaged_copy) if repaired.damaged_copy else None,
    }
    shown: list[RenderableType] = [Text(f"- {one_line(with_index(done))}") for done in repaired.done]
    if repaired.damaged_copy is not None:
        shown.append(Text(f"- the damaged database is saved as {repaired.damaged_copy}"))
    head = Text("lost   ", style="bold red")
    shown.append(_advice((head, f"{each.doc_id}: {each.why}", each.remedy) for each in repaired.lost))
    shown += [_findings_view(left.faults), _repair_verdict(repaired, bool(left.faults))]
    on.show(document, *shown)
    return ExitCode.SOME_FAILED if lost or left.faults else ExitCode.DONE


def _repair_verdict(repaired: RepairReport, faults: bool) -> str:
    """Return the verdict; an index that lost filings is never called repaired without saying so."""
    held = f"it contains {count_with_noun(repaired.kept, 'filing')}"
    if faults:
        return f"Faults remain: {held}."
    if not repaired.lost:
        return f"{'The index is repaired' if repaired.done else 'Nothing was wrong'}: {held}."
    if not repaired.kept:
        return "Nothing could be saved: the index is now empty."
    lost = [f"{repaired.removed:,} {'was' if repaired.removed == 1 else 'were'} lost"] if repaired.removed else []
    doubt = ["it may have contained more"] if repaired.has_unnamed_losses else []
    return f"The rest of the index is sound: {held}; {', '.join([*lost, *doubt])}."


@command
def failures(on: IndexOptions, forget_gone: bool = False) -> ExitCode:
    """List files that failed, were not read yet, or are damaged in the index, with what to do."""
    folder = on.folder
    forgotten = 0
    with SqliteIndex(folder) as index:
        manifest = Manifest(index)
        unread = manifest.unread()
        if forget_gone:
            forgotten = manifest.forget(file.path for file in unread if file.is_missing)
            on.say(f"removed from the list: {count_with_noun(forgotten, 'file')} that no longer exist")
            unread = [file for file in unread if not file.is_missing]
    if owner := lock_owner(folder):
        # A file that waits during a running ingest was not left behind by an earlier one.
        reason = f"it is not read yet: another command is writing to this index, {owner}"
        wait = "Wait until it ends, and list again"
        unread = [
            file._replace(reason=reason, remedy=wait) if file.state is FileState.WAITING else file for file in unread
        ]
    files = [{**fields_of(file, "path doc_id state reason"), "remedy": with_index(file.remedy)} for file in unread]
    listed = _advice((Text(f"{file.state.value:<8} "), f"{file.path}: {file.reason}", file.remedy) for file in unread)
    shown = [listed, "", count_with_noun(len(unread), "file")] if unread else ["No file is left unread."]
    on.show({"index": str(folder), "forgotten": forgotten, "files": files}, *shown)
    return ExitCode.DONE


@command
def copy(to: Path, on: IndexOptions, doc: list[str] | None = None, jobs: int = 4) -> ExitCode:
    """Copy filings with their vectors into another index, for example to an Elasticsearch cluster.

    It can be stopped at any time: the same command resumes. Keys come from the environment (FIN_AGENT_ES_API_KEY),
    never from an address.
    """
    here, there = on.chosen.place, address_of(to) or to
    if str(here) == str(there):
        raise FilingIndexError(
            "an index cannot be copied into itself", subject=str(there), remedy="Name another place with --to"
        )
    started = time.perf_counter()
    with open_index(here) as source, create_index(there) as target:
        total = len(doc or ()) or len(source.entries())
        progress = Progress(total)

        def report_outcome(filing: CopiedFiling) -> None:
            pages = f", {filing.pages} pages" if filing.pages else ""
            failed = filing.outcome is CopyOutcome.FAILED
            told = f"failed: {filing.reason}" if failed else f"{filing.outcome.value}{pages}"
            progress.step(f"{filing.doc_id}: {told}", problem=failed)

        report = copy_filings(source, target, tuple(dict.fromkeys(doc or ())), jobs=jobs, on_filing=report_outcome)
        held = len(target.entries())
    seconds = time.perf_counter() - started
    counts = {outcome.value: report.count(outcome) for outcome in CopyOutcome}
    in_order = sorted(report.filings, key=lambda each: each.doc_id)
    document = {
        "from": str(here),
        "to": str(there),
        **counts,
        "held": held,
        "seconds": round(seconds, 3),
        "filings": [fields_of(each, "doc_id outcome pages reason?") for each in in_order],
    }
    told = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    on.show(document, f"{told}, in {seconds:.1f} s. The index at {there} contains {count_with_noun(held, 'filing')}.")
    if failed := report.count(CopyOutcome.FAILED):
        say(f"{failed:,} could not be copied; the same command tries these again")
    return ExitCode.SOME_FAILED if failed else ExitCode.DONE
