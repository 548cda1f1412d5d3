"""Filings of one index brought into another of any kind: whole, one by one, going on where it was stopped."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial

from fin_agent.errors import FilingIndexError
from fin_agent.index.protocol import FilingIndex, VectorModel
from fin_agent.index.sqlite import SqliteIndex


class CopyOutcome(StrEnum):
    """What became of a filing."""

    COPIED = "copied"
    UNCHANGED = "unchanged"
    """It was there, with the same content read in the same way."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class CopiedFiling:
    """One filing and what became of it."""

    doc_id: str
    outcome: CopyOutcome
    pages: int = 0
    vectors: int = 0
    """Models and units whose vectors were copied."""
    reason: str = ""


@dataclass(slots=True)
class CopyReport:
    """What a copy did."""

    filings: list[CopiedFiling] = field(default_factory=list)

    def count(self, outcome: CopyOutcome) -> int:
        """How many filings ended so."""
        return sum(filing.outcome is outcome for filing in self.filings)


def copy_filings(
    source: FilingIndex,
    target: FilingIndex,
    doc_ids: Sequence[str] = (),
    *,
    jobs: int = 1,
    on_filing: Callable[[CopiedFiling], None] = lambda filing: None,
) -> CopyReport:
    """Bring the filings `doc_ids` (all, where none are named) of `source` into `target`, with their vectors.

    Each is visible in `target` when all of it is there, its vectors right after it. One that is there as it is here is
    left alone, so a copy that was stopped goes on where it was; one that fails is told, and the rest goes on, unless
    nothing can be written at all: then FilingIndexError is raised. `jobs` filings are on their way at once.
    """
    report = CopyReport()
    models = source.vector_models()
    lacking = {held: frozenset(target.without_vectors(held.model, held.unit)) for held in models}
    copied = partial(_copy_filing, source, target, lacking=lacking)
    with ThreadPoolExecutor(jobs) as pool:  # what is waiting when one raises is not begun
        for filing in pool.map(copied, doc_ids or [entry.doc_id for entry in source.entries()]):
            report.filings.append(filing)
            on_filing(filing)
    if isinstance(target, SqliteIndex):
        target.merge_full_text(report.count(CopyOutcome.COPIED))
    return report


def _copy_filing(
    source: FilingIndex, target: FilingIndex, doc_id: str, lacking: Mapping[VectorModel, Collection[str]]
) -> CopiedFiling:
    """Copy one filing and its vectors; `lacking` names, of each model, filings without its vectors in the target."""
    pages = vectors = 0
    try:
        record = source.filing(doc_id)
        copied = source.checksums(doc_id) != target.checksums(doc_id)
        if copied:
            stored = source.stored(doc_id)
            if stored.checksums() != source.checksums(doc_id):
                raise FilingIndexError("it is damaged in the source index", subject=doc_id)
            target.put(stored)
            pages = record.page_count
        for held, without in lacking.items():
            if copied or doc_id in without:
                found = list(source.vectors(held.model, held.unit, [doc_id]))
                for each in found:
                    target.add_vectors(held.model, held.unit, each)
                vectors += bool(found)
    except (ValueError, FilingIndexError) as error:
        if isinstance(error, FilingIndexError) and error.subject != doc_id:
            raise  # no filing is to blame
        reason = error.what if isinstance(error, FilingIndexError) else str(error)
        return CopiedFiling(doc_id, CopyOutcome.FAILED, reason=reason)
    return CopiedFiling(doc_id, CopyOutcome.COPIED if copied or vectors else CopyOutcome.UNCHANGED, pages, vectors)
