"""`fin-agent filings`, `info`, `check` and `remove`."""

from __future__ import annotations

import platform
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import chosen_index, opened
from fin_agent.cli.streams import as_plain, fields_of, say, show_result
from fin_agent.distribution import installed_version
from fin_agent.errors import FilingIndexError
from fin_agent.filings.facts.check import Outcome
from fin_agent.filings.facts.checks import check_facts
from fin_agent.index.opening import open_index
from fin_agent.index.protocol import FilingRecord, VectorModel
from fin_agent.index.sqlite import FILE_NAME
from fin_agent.lexicon.companies import CompanyDirectory
from fin_agent.presentation.filings import CheckedFiling, checked_view, filings_view, in_reading_order
from fin_agent.presentation.plain import counted, settings_view
from fin_agent.vocabulary.fact import Fact


def list_filings(given: Path | None, *, as_json: bool) -> ExitCode:
    """List what is indexed, by company and time."""
    with opened(given) as workspace:
        records = in_reading_order(workspace.index.filings())
    document = {"filings": [fields_of(record, _FILING) for record in records]}
    show_result(as_json, document, *([filings_view(records)] if records else []))
    return ExitCode.DONE


def describe_index(given: Path | None, *, as_json: bool) -> ExitCode:
    """Say what is in use. FAILED where there is an index that cannot be read."""
    chosen = chosen_index(given)
    state, problem = "ready", ""
    records: tuple[FilingRecord, ...] = ()
    vectors: tuple[VectorModel, ...] = ()
    if chosen.address is None and not (chosen.folder / FILE_NAME).is_file():
        state = "not made yet: `fin-agent ingest PATH...` makes it"
    else:
        try:
            with open_index(chosen.place) as index:
                records, vectors = index.filings(), index.vector_models()
        except FilingIndexError as error:
            state, problem = "cannot be read", str(error)
    described = Described(
        version=installed_version(),
        index=str(chosen.place),
        chosen_by=chosen.chosen_by,
        state=state,
        size=None if chosen.address else sum(file.stat().st_size for file in chosen.folder.glob(f"{FILE_NAME}*")),
        filings=len(records),
        companies=len(CompanyDirectory((record.doc_id, record.identity) for record in records).companies),
        pages=sum(record.page_count for record in records),
        passages=sum(record.passage_count for record in records),
        facts=sum(record.fact_count for record in records),
        vectors=vectors,
    )
    show_result(as_json, described.fields(), settings_view(described.lines()))
    if problem:
        say(f"error: {problem}")
        return ExitCode.FAILED
    return ExitCode.DONE


@dataclass(frozen=True, slots=True)
class Described:
    """What `info` tells."""

    version: str
    index: str
    chosen_by: str
    state: str
    size: int | None
    """Bytes on this machine's disk; None for an index on a cluster."""
    filings: int
    companies: int
    pages: int
    passages: int
    facts: int
    vectors: tuple[VectorModel, ...]

    def fields(self) -> dict[str, object]:
        """For JSON."""
        vectors = [
            {
                **fields_of(held, "model unit"),
                "kind": "sparse" if held.sparse else "dense",
                **fields_of(held, "dimensions filings vectors=rows"),
            }
            for held in self.vectors
        ]
        own = "version index index_chosen_by=chosen_by index_state=state index_bytes=size"
        return {
            **fields_of(self, f"{own} filings companies pages passages facts"),
            "vectors": vectors,
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
        }

    def lines(self) -> list[tuple[str, str]]:
        """(name, what it is) for people."""
        reasons = {
            "--index": "named by --index",
            "FIN_AGENT_INDEX": "named by FIN_AGENT_INDEX",
            "default": "your own; --index or FIN_AGENT_INDEX name another",
        }
        return [
            ("fin-agent", self.version),
            ("index", self.index),
            ("", reasons[self.chosen_by]),
            ("state", self.state),
            *([] if self.size is None else [("size", f"{self.size / 1_000_000:,.1f} MB")]),
            ("filings", f"{self.filings:,} of {self.companies:,} companies"),
            ("pages", f"{self.pages:,}"),
            ("passages", f"{self.passages:,}"),
            ("facts", f"{self.facts:,}"),
            *self._vector_lines(),
            ("Python", platform.python_version()),
            ("SQLite", sqlite3.sqlite_version),
        ]

    def _vector_lines(self) -> list[tuple[str, str]]:
        """A line for each model and unit."""
        if not self.vectors:
            return [("vectors", "none; `fin-agent embed` makes them")] if self.filings else []
        lines = [
            f"{held.model}, by {held.unit.value}: {held.filings:,} of {self.filings:,} filings, {held.rows:,} vectors"
            for held in self.vectors
        ]
        return list(zip(["vectors", *[""] * (len(lines) - 1)], lines, strict=True))


_FILING = (
    "doc_id company=identity.company form=identity.form fiscal_year=identity.fiscal_year quarter=identity.quarter"
    " period_end=identity.period_end filed=identity.filed amended=identity.amended ticker=identity.ticker"
    " cik=identity.cik pages=page_count passages=passage_count facts=fact_count source content_hash"
)


def check_filings(doc_ids: Sequence[str], given: Path | None, *, every: bool, as_json: bool) -> ExitCode:
    """Check the statements of these filings, or of every one. SOME_FAILED where a check fails."""
    if bool(doc_ids) == every:
        raise typer.BadParameter("name the filings to check, or give --all for every filing in the index")
    with opened(given) as workspace:
        if every:
            records = in_reading_order(workspace.index.filings())
        else:
            records = [workspace.index.filing(doc_id) for doc_id in dict.fromkeys(doc_ids)]
        checked = [
            # Filing by filing: the facts of all of them need not be held at once.
            _checked(record, [held.fact for held in workspace.index.facts([record.doc_id])])
            for record in records
        ]
    document = {"filings": [_checked_fields(filing) for filing in checked]}
    show_result(as_json, document, *([checked_view(checked)] if checked else []))
    failed = any(filing.count(Outcome.FAILS) for filing in checked)
    return ExitCode.SOME_FAILED if failed else ExitCode.DONE


def _checked(record: FilingRecord, facts: Sequence[Fact]) -> CheckedFiling:
    in_tables = [fact for fact in facts if fact.column or fact.proved]
    return CheckedFiling(
        record,
        check_facts(facts),
        len(in_tables),
        sum(fact.proved for fact in in_tables),
        sum(fact.doubtful for fact in in_tables),
    )


def _checked_fields(filing: CheckedFiling) -> dict[str, object]:
    record = filing.record
    return {
        **fields_of(record, "doc_id company=identity.company form=identity.form"),
        **{outcome.name.lower(): filing.count(outcome) for outcome in Outcome},
        **fields_of(filing, "figures proved doubtful"),
        "checks": [
            {
                **fields_of(check, "name outcome period pages sentence"),
                "figures": [fields_of(figure, "label value unit weight page line") for figure in check.figures],
                **fields_of(check, "difference tolerance"),
            }
            for check in filing.checks
        ],
        "warnings": as_plain(record.warnings),
        "conflicts": [
            {"field": taken.field, "taken": fields_of(taken, _CLAIM), "other": fields_of(other, _CLAIM)}
            for taken, other in record.identity.conflicts()
        ],
    }


_CLAIM = "value origin page"


def remove_filings(doc_ids: Sequence[str], given: Path | None, *, as_json: bool) -> ExitCode:
    """Take these filings out, with what the index knows of their files; SOME_FAILED where one is not in the index."""
    removed: list[str] = []
    unknown: list[str] = []
    with opened(given) as workspace:
        for doc_id in dict.fromkeys(doc_ids):
            (removed if workspace.index.remove(doc_id) else unknown).append(doc_id)
        left = len(workspace.index.entries())
    folder = chosen_index(given).place
    for doc_id in unknown:
        say(f"error: {doc_id}: this filing is not in the index in {folder}. `fin-agent filings` lists those that are")
    summary = f"{len(removed)} removed, {len(unknown)} unknown. The index in {folder} holds {counted(left, 'filing')}."
    show_result(as_json, {"removed": removed, "unknown": unknown, "filings": left}, summary)
    return ExitCode.SOME_FAILED if unknown else ExitCode.DONE
