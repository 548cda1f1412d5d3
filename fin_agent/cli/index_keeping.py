"""What `fin-agent index ...` does."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fin_agent.cli.exits import ExitCode, with_index
from fin_agent.cli.indexes import chosen_index, embedded_folder, waiting_time
from fin_agent.cli.streams import Progress, fields_of, messages, say, show_result
from fin_agent.errors import FilingIndexError
from fin_agent.index.copying import CopiedFiling, CopyOutcome, copy_filings
from fin_agent.index.ingest_lock import Owner, lock_owner
from fin_agent.index.manifest import FileState, Manifest, UnreadFile
from fin_agent.index.opening import address_of, create_index, open_index
from fin_agent.index.repairing import Repaired, repair
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.index.verifying import IndexFinding, verify
from fin_agent.presentation.plain import counted, one_line


def verify_index(given: Path | None, *, as_json: bool) -> ExitCode:
    """Say what is wrong with the index, and what to do."""
    folder = embedded_folder(given)
    started = time.perf_counter()
    with messages().status("verifying") as status:
        verified = verify(folder, on_filing=lambda doc_id: status.update(f"looking at {doc_id}"))
    seconds = time.perf_counter() - started
    findings = [_hinted(finding) for finding in verified.findings]
    document = {
        "index": str(folder),
        "whole": not verified.faults,
        "filings": verified.filings,
        "seconds": round(seconds, 3),
        "findings": [fields_of(finding, "aspect subject found remedy fault") for finding in findings],
    }
    faults = len(verified.faults)
    verdict = f"{counted(faults, 'fault')} found in" if faults else "No fault found in"
    verdict += f" the index in {folder}: {counted(verified.filings, 'filing')} looked at, in {seconds:.1f} s."
    show_result(as_json, document, *([findings_table(findings)] if findings else []), verdict)
    return ExitCode.SOME_FAILED if verified.faults else ExitCode.DONE


def _hinted(finding: IndexFinding) -> IndexFinding:
    return replace(finding, remedy=with_index(finding.remedy))


def repair_index(given: Path | None, *, wait: bool, as_json: bool) -> ExitCode:
    """Repair, verify, and say what was done, what was lost and what is left to do."""
    folder = embedded_folder(given)
    with messages().status("repairing"):
        repaired = repair(folder, wait=waiting_time(wait))
        left = verify(folder)
    document = {
        "index": str(folder),
        "whole": not left.faults and not repaired.lost,
        "filings": repaired.kept,
        "done": repaired.done,
        "lost": [
            {
                "doc_id": lost.doc_id if lost.named else None,
                **fields_of(lost, "source? why"),
                "remedy": with_index(lost.remedy),
            }
            for lost in repaired.lost
        ],
        "damaged_copy": str(repaired.damaged_copy) if repaired.damaged_copy else None,
    }
    show_result(as_json, document, _repair_lines(repaired, [_hinted(fault) for fault in left.faults]))
    return ExitCode.SOME_FAILED if repaired.lost or left.faults else ExitCode.DONE


def _as_it_is(file: UnreadFile, owner: Owner | None) -> UnreadFile:
    """With hints for this index; a file that waits while an ingest runs is not one that an ingest left."""
    if file.state is FileState.WAITING and owner is not None:
        reason = f"it is not read yet: another command is writing to this index, {owner}"
        return replace(file, reason=reason, remedy="Let that end, and look again")
    return replace(file, remedy=with_index(file.remedy))


def list_failures(given: Path | None, *, forget_gone: bool, as_json: bool) -> ExitCode:
    """List the files that are not in the index as they should be."""
    folder = embedded_folder(given)
    with SqliteIndex(folder) as index:
        manifest = Manifest(index)
        unread = manifest.unread()
        forgotten = manifest.forget(file.path for file in unread if file.gone) if forget_gone else 0
    if forget_gone:
        unread = [file for file in unread if not file.gone]
    unread = [_as_it_is(file, lock_owner(folder)) for file in unread]
    files = [fields_of(file, "path doc_id state reason remedy") for file in unread]
    if forget_gone and not as_json:
        say(f"{counted(forgotten, 'file')} gone, taken off the list")
    document = {"index": str(folder), "forgotten": forgotten, "files": files}
    show_result(as_json, document, unread_table(unread) if unread else "No file is left unread.")
    return ExitCode.DONE


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
    in_order = sorted(report.filings, key=lambda each: each.doc_id)
    filings = [fields_of(each, "doc_id outcome pages reason?") for each in in_order]
    places = {"from": str(here), "to": str(there)}
    told_counts = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    show_result(
        as_json,
        {**places, **counts, "held": held, "seconds": round(seconds, 3), "filings": filings},
        f"{told_counts}, in {seconds:.1f} s. The index at {there} holds {held:,} filings.",
    )
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


def findings_table(findings: Sequence[IndexFinding]) -> RenderableType:
    """Each with what to do; what is wrong stands before what is only worth knowing."""
    lines: list[RenderableType] = []
    for finding in sorted(findings, key=lambda each: not each.fault):
        style = "bold red" if finding.fault else "dim"
        head = Text("fault  " if finding.fault else "note   ", style=style)
        lines.append(_block(head, f"{finding.aspect.value}: {finding.subject}: {finding.found}", finding.remedy))
    return Group(*lines, "")


def _repair_lines(repaired: Repaired, left: Sequence[IndexFinding]) -> RenderableType:
    """What was done, what was lost, what is left."""
    lines: list[RenderableType] = [Text(f"- {one_line(with_index(done))}") for done in repaired.done]
    if repaired.damaged_copy is not None:
        lines.append(Text(f"- the damaged database is kept as {repaired.damaged_copy}"))
    for lost in repaired.lost:
        lines.append(_block(Text("lost   ", style="bold red"), f"{lost.doc_id}: {lost.why}", with_index(lost.remedy)))
    if left:
        lines.append(findings_table(left))
    lines.append(Text(_repair_verdict(repaired, bool(left), bool(lines))))
    return Group(*lines)


def _repair_verdict(repaired: Repaired, left: bool, something_done: bool) -> str:
    """`whole` is never said where anything was lost."""
    held = f"it holds {repaired.kept:,} filing{'s' * (repaired.kept != 1)}"
    if left:
        return f"Faults are left: {held}."
    if not repaired.lost:
        return f"{'The index is whole again' if something_done else 'Nothing was wrong'}: {held}."
    if not repaired.kept:
        return "Nothing could be saved: the index is empty now."
    lost = [f"{repaired.taken_out:,} {'was' if repaired.taken_out == 1 else 'were'} lost"] if repaired.taken_out else []
    doubt = ["whether it held more cannot be told"] if repaired.names_lost else []
    return f"What is in the index is sound again: {held}; {', '.join([*lost, *doubt])}."


def unread_table(unread: Sequence[UnreadFile]) -> RenderableType:
    """Each with why it is unread and what to do."""
    states = [_block(Text(f"{file.state.value:<8} "), f"{file.path}: {file.reason}", file.remedy) for file in unread]
    return Group(*states, "", Text(f"{len(unread)} file{'s' * (len(unread) != 1)}"))


def _block(head: Text, said: str, remedy: str) -> Table:
    block = Table.grid(padding=(0, 0))
    block.add_column(no_wrap=True)
    block.add_column(overflow="fold")
    block.add_row(head, Text(one_line(said)))
    block.add_row("", Text(f"→ {one_line(remedy)}", style="cyan"))
    return block
