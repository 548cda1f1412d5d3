"""`fin-agent filings` and `fin-agent info`."""

from __future__ import annotations

import platform
import sqlite3
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import chosen_index, opened
from fin_agent.cli.streams import say, show, show_json
from fin_agent.errors import FilingIndexError
from fin_agent.index.opening import open_index
from fin_agent.index.protocol import FilingRecord, VectorModel
from fin_agent.index.sqlite import FILE_NAME
from fin_agent.lexicon.companies import CompanyDirectory
from fin_agent.presentation.filings import filings_view, in_reading_order
from fin_agent.presentation.plain import settings_view


def list_filings(given: Path | None, *, as_json: bool) -> ExitCode:
    """List what is indexed, by company and time."""
    with opened(given) as workspace:
        records = in_reading_order(workspace.index.filings())
    if as_json:
        show_json({"filings": [_fields(record) for record in records]})
    elif records:
        show(filings_view(records))
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
        version=version("fin-agent"),
        index=str(chosen.place),
        chosen_by=chosen.chosen_by,
        state=state,
        size=None if chosen.address else _size(chosen.folder),
        filings=len(records),
        companies=len(CompanyDirectory((record.doc_id, record.identity) for record in records).companies),
        pages=sum(record.page_count for record in records),
        passages=sum(record.passage_count for record in records),
        facts=sum(record.fact_count for record in records),
        vectors=vectors,
    )
    if as_json:
        show_json(described.fields())
    else:
        show(settings_view(described.lines()))
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
        return {
            "version": self.version,
            "index": self.index,
            "index_chosen_by": self.chosen_by,
            "index_state": self.state,
            "index_bytes": self.size,
            "filings": self.filings,
            "companies": self.companies,
            "pages": self.pages,
            "passages": self.passages,
            "facts": self.facts,
            "vectors": [
                {
                    "model": held.model,
                    "unit": held.unit.value,
                    "kind": "sparse" if held.sparse else "dense",
                    "dimensions": held.dimensions,
                    "filings": held.filings,
                    "vectors": held.rows,
                }
                for held in self.vectors
            ],
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


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in sorted(folder.glob(f"{FILE_NAME}*")))


def _fields(record: FilingRecord) -> dict[str, object]:
    identity = record.identity
    return {
        "doc_id": record.doc_id,
        "company": identity.company,
        "form": identity.form.value,
        "fiscal_year": identity.fiscal_year,
        "quarter": identity.quarter,
        "period_end": identity.period_end.isoformat() if identity.period_end else None,
        "filed": identity.filed.isoformat() if identity.filed else None,
        "amended": identity.amended,
        "ticker": identity.ticker,
        "cik": identity.cik,
        "pages": record.page_count,
        "passages": record.passage_count,
        "facts": record.fact_count,
        "source": record.source,
        "content_hash": record.content_hash,
    }
