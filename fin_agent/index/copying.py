"""Copy filings from one index to another of any kind, one by one, resuming where a copy was stopped."""

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
    """The result for a filing."""

    COPIED = "copied"
    UNCHANGED = "unchanged"
    """The target already has it, with the same content read in the same way."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class CopiedFiling:
    """One filing and its result."""

    doc_id: str
    outcome: CopyOutcome
    pages: int = 0
    vectors: int = 0
    """Number of models and units whose vectors were copied."""
    reason: str = ""


@dataclass(slots=True)
class CopyReport:
    """The results of a copy."""

    filings: list[CopiedFiling] = field(default_factory=list)

    def count(self, outcome: CopyOutcome) -> int:
        """Return the number of filings with an outcome."""
        return sum(filing.outcome is outcome for filing in self.filings)


def copy_filings(
    source: FilingIndex,
    target: FilingIndex,
    doc_ids: Sequence[str] = (),
    *,
    jobs: int = 1,
    on_filing: Callable[[CopiedFiling], None] = lambda filing: None,
) -> CopyReport:
    """Copy filings of `source` to `target`, with their vectors.

    A filing becomes visible in `target` once it is complete, followed by its vectors. A filing that is unchanged is
    skipped, so a copy that was stopped can be resumed. A filing that fails is reported, and the others are copied.

    Args:
        source: The index to read.
        target: The index to write.
        doc_ids: The filings to copy; all where empty.
        jobs: Number of filings copied in parallel.
        on_filing: Called with each result.

    Raises:
        FilingIndexError: Nothing can be written at all.
    """
    report = CopyReport()
    models = source.vector_models()
    lacking = {held: frozenset(target.without_vectors(held.model, held.unit)) for held in models}
    copied = partial(_copy_filing, source, target, lacking=lacking)
    with ThreadPoolExecutor(jobs) as pool:  # filings still waiting when one raises are not started
        for filing in pool.map(copied, doc_ids or [entry.doc_id for entry in source.entries()]):
            report.filings.append(filing)
            on_filing(filing)
    if isinstance(target, SqliteIndex):
        target.merge_full_text(report.count(CopyOutcome.COPIED))
    return report


def _copy_filing(
    source: FilingIndex, target: FilingIndex, doc_id: str, lacking: Mapping[VectorModel, Collection[str]]
) -> CopiedFiling:
    """Copy one filing and its vectors; `lacking` gives the filings without vectors in the target, per model."""
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
            raise  # the error does not concern this filing
        reason = error.what if isinstance(error, FilingIndexError) else str(error)
        return CopiedFiling(doc_id, CopyOutcome.FAILED, reason=reason)
    return CopiedFiling(doc_id, CopyOutcome.COPIED if copied or vectors else CopyOutcome.UNCHANGED, pages, vectors)
