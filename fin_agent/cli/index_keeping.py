"""`fin-agent index verify`, `repair`, `compact` and `failures`."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.hints import with_index
from fin_agent.cli.indexes import embedded_folder, waiting_time
from fin_agent.cli.streams import messages, say, show, show_json
from fin_agent.index.compacting import compact
from fin_agent.index.ingest_lock import Owner, lock_owner
from fin_agent.index.manifest import FileState, Manifest, UnreadFile
from fin_agent.index.repairing import Repaired, repair
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.index.verifying import IndexFinding, Verified, verify
from fin_agent.presentation.index_keeping import findings_table, repair_lines, unread_table
from fin_agent.presentation.plain import counted


def verify_index(given: Path | None, *, wait: bool, as_json: bool) -> ExitCode:
    """Say what is wrong with the index, and what to do."""
    folder = embedded_folder(given)
    started = time.perf_counter()
    with messages().status("verifying") as status:
        verified = verify(
            folder, wait=waiting_time(wait), on_filing=lambda doc_id: status.update(f"looking at {doc_id}")
        )
    seconds = time.perf_counter() - started
    verified = replace(verified, findings=tuple(map(_hinted, verified.findings)))
    if as_json:
        show_json(_document(verified, folder, seconds))
    else:
        if verified.findings:
            show(findings_table(verified.findings))
        show(_verdict(verified, folder, seconds))
    return ExitCode.SOME_FAILED if verified.faults else ExitCode.DONE


def _hinted(finding: IndexFinding) -> IndexFinding:
    return replace(finding, remedy=with_index(finding.remedy))


def _verdict(verified: Verified, folder: Path, seconds: float) -> str:
    faults = len(verified.faults)
    told = f"{counted(faults, 'fault')} found in" if faults else "No fault found in"
    return f"{told} the index in {folder}: {counted(verified.filings, 'filing')} looked at, in {seconds:.1f} s."


def _document(verified: Verified, folder: Path, seconds: float) -> dict[str, object]:
    return {
        "index": str(folder),
        "whole": not verified.faults,
        "filings": verified.filings,
        "seconds": round(seconds, 3),
        "findings": [
            {
                "aspect": finding.aspect.value,
                "subject": finding.subject,
                "found": finding.found,
                "remedy": finding.remedy,
                "fault": finding.fault,
            }
            for finding in verified.findings
        ],
    }


def repair_index(given: Path | None, *, wait: bool, as_json: bool) -> ExitCode:
    """Repair, verify, and say what was done, what was lost and what is left to do."""
    folder = embedded_folder(given)
    with messages().status("repairing"):
        repaired = repair(folder, wait=waiting_time(wait))
        left = verify(folder, wait=waiting_time(wait))
    if as_json:
        show_json(_repaired_document(repaired, left, folder))
    else:
        show(repair_lines(repaired, list(map(_hinted, left.faults)), with_index))
    return ExitCode.SOME_FAILED if repaired.lost or left.faults else ExitCode.DONE


def _repaired_document(repaired: Repaired, left: Verified, folder: Path) -> dict[str, object]:
    return {
        "index": str(folder),
        "whole": not left.faults and not repaired.lost,
        "filings": repaired.kept,
        "done": repaired.done,
        "lost": [
            {
                "doc_id": lost.doc_id if lost.named else None,
                "source": lost.source or None,
                "why": lost.why,
                "remedy": with_index(lost.remedy),
            }
            for lost in repaired.lost
        ],
        "damaged_copy": str(repaired.damaged_copy) if repaired.damaged_copy else None,
    }


def compact_index(given: Path | None, *, wait: bool, as_json: bool) -> ExitCode:
    """Compact, and say how much was gained."""
    folder = embedded_folder(given)
    started = time.perf_counter()
    with messages().status("compacting"):
        done = compact(folder, wait=waiting_time(wait))
    seconds = time.perf_counter() - started
    gained = done.before - done.after
    if as_json:
        fields = {"before": done.before, "after": done.after, "gained": gained, "read_meanwhile": done.read_meanwhile}
        show_json({"index": str(folder), **fields, "seconds": round(seconds, 3)})
    else:
        sizes = f"{done.before / 1e6:,.1f} MB before, {done.after / 1e6:,.1f} MB now"
        show(f"{gained / 1e6:,.1f} MB gained: {sizes}, in {seconds:.1f} s.")
    if done.read_meanwhile:
        say("the index is being read: the file becomes smaller when the last reader has ended")
    return ExitCode.DONE


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
    if as_json:
        files = [
            {
                "path": str(file.path),
                "doc_id": file.doc_id,
                "state": file.state.value,
                "reason": file.reason,
                "remedy": file.remedy,
            }
            for file in unread
        ]
        show_json({"index": str(folder), "forgotten": forgotten, "files": files})
        return ExitCode.DONE
    if forget_gone:
        say(f"{counted(forgotten, 'file')} gone, taken off the list")
    show(unread_table(unread) if unread else "No file is left unread.")
    return ExitCode.DONE
