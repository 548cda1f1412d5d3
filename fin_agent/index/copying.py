"""Filings of one index brought into another of any kind: whole, one by one, going on where it was stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol, runtime_checkable

from fin_agent.errors import FilingIndexError
from fin_agent.index.protocol import FilingIndex, FilingRecord, PageKey, VectorModel
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.vocabulary.fact import Fact, Tag
from fin_agent.vocabulary.filing import Filing

_AHEAD = 2
"""Filings under way for each thread: enough to keep all busy, few enough to keep memory flat."""


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

    Each is visible in `target` when all of it is there. One that is there as it is here is left alone, so a copy
    that was stopped goes on where it was; one that fails is told, and the rest goes on, unless nothing can be written
    at all: then FilingIndexError is raised. `jobs` filings are on their way at once.
    """
    report = CopyReport()
    wanted = doc_ids or [entry.doc_id for entry in source.entries()]
    carrying = _Carrying(source, target)
    with ThreadPoolExecutor(jobs) as pool:
        waiting = iter(wanted)
        running: set[Future[CopiedFiling]] = set()
        try:
            for doc_id in waiting:
                running.add(pool.submit(carrying.carried, doc_id))
                if len(running) >= jobs * _AHEAD:
                    running = _told(running, report, on_filing)
            while running:
                running = _told(running, report, on_filing)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return report


def whole_filing(index: FilingIndex, record: FilingRecord) -> tuple[Filing, tuple[str, ...]]:
    """A filing put together again from what an index hands out, and its cards."""
    doc_id = record.doc_id
    keys = [outline.key for outline in index.outline([doc_id])]
    tags = index.tags(doc_id)
    kept = {tag: tag for tag in reversed(tags)}
    stored = sorted(index.passages(keys), key=lambda each: each.passage.ordinal)
    filing = Filing(
        doc_id=doc_id,
        source=record.source,
        content_hash=record.content_hash,
        identity=record.identity,
        pages=tuple(each.page for each in index.pages(keys)),
        passages=tuple(each.passage for each in stored),
        facts=tuple(_with_own_tag(each.fact, kept) for each in index.facts([doc_id])),
        tables=tuple(index.tables([PageKey(doc_id, key.page) for key in keys])),
        items=record.items,
        notes=record.notes,
        tags=tuple(tags),
        warnings=record.warnings,
    )
    held = (len(filing.pages), len(filing.passages), len(filing.facts))
    if held != (record.page_count, record.passage_count, record.fact_count):
        raise FilingIndexError(
            f"of {record.page_count} pages, {record.passage_count} passages and {record.fact_count} facts it gives"
            f" {held[0]}, {held[1]} and {held[2]}",
            subject=doc_id,
            remedy="Ingest it again, and copy it then",
        )
    return filing, tuple(each.card for each in stored)


def _with_own_tag(fact: Fact, tags: Mapping[Tag, Tag]) -> Fact:
    """A fact whose tag is one of the filing's, and no copy of it."""
    return fact if fact.tag is None else replace(fact, tag=tags.get(fact.tag, fact.tag))


@runtime_checkable
class KeepsReaders(Protocol):
    """An index that knows by what each filing was read, and can be told."""

    def readers(self) -> Mapping[str, str]:
        """doc_id -> version of what read it."""

    def add_as_read(self, filing: Filing, cards: Sequence[str], summary: str, reader: str) -> None:
        """As FilingIndex.add, of a filing that `reader` has read."""


class _Carrying:
    """Carries filings from one index to another. Safe to share between threads."""

    def __init__(self, source: FilingIndex, target: FilingIndex) -> None:
        self._source = source
        self._target = target
        self._there = {entry.doc_id: entry.content_hash for entry in target.entries()}
        self._readers = _readers(source)
        self._readers_there = _readers(target)
        self._models = source.vector_models()
        self._without: dict[VectorModel, frozenset[str]] = {}
        self._guard = threading.Lock()

    def carried(self, doc_id: str) -> CopiedFiling:
        """Copy one filing and its vectors."""
        try:
            record = self._source.filing(doc_id)
            copied = not self._is_there(record)
            if copied:
                filing, cards = whole_filing(self._source, record)
                self._add(filing, cards, record.summary)
            vectors = sum(self._carried_vectors(held, doc_id, copied) for held in self._models)
        except (ValueError, FilingIndexError) as error:
            if isinstance(error, FilingIndexError) and error.subject != doc_id:
                raise  # no filing is to blame
            what = error.what if isinstance(error, FilingIndexError) else str(error)
            return CopiedFiling(doc_id, CopyOutcome.FAILED, reason=what)
        outcome = CopyOutcome.COPIED if copied or vectors else CopyOutcome.UNCHANGED
        return CopiedFiling(doc_id, outcome, record.page_count if copied else 0, vectors)

    def _is_there(self, record: FilingRecord) -> bool:
        if self._there.get(record.doc_id) != record.content_hash:
            return False
        here = self._readers.get(record.doc_id)
        if here != self._readers_there.get(record.doc_id, here):
            return False
        there = self._target.filing(record.doc_id)
        return replace(there, source=record.source) == record

    def _add(self, filing: Filing, cards: Sequence[str], summary: str) -> None:
        reader = self._readers.get(filing.doc_id)
        if isinstance(self._target, KeepsReaders) and reader is not None:
            self._target.add_as_read(filing, cards, summary, reader)
        else:
            self._target.add(filing, cards, summary)

    def _carried_vectors(self, held: VectorModel, doc_id: str, copied: bool) -> bool:
        if not copied and doc_id not in self._lacking(held):
            return False
        vectors = list(self._source.vectors(held.model, held.unit, [doc_id]))
        for each in vectors:
            self._target.add_vectors(held.model, held.unit, each)
        return bool(vectors)

    def _lacking(self, held: VectorModel) -> Collection[str]:
        """Filings that had no vectors in the target when they were first asked for."""
        with self._guard:
            if held not in self._without:
                self._without[held] = frozenset(self._target.without_vectors(held.model, held.unit))
            return self._without[held]


def _readers(index: FilingIndex) -> Mapping[str, str]:
    """doc_id -> version of what read it; empty where the index does not tell."""
    if isinstance(index, KeepsReaders):
        return index.readers()
    if isinstance(index, SqliteIndex):
        with index.reading() as connection:
            return dict(connection.execute("SELECT doc_id, reader_version FROM filings").fetchall())
    return {}


def _told(
    running: set[Future[CopiedFiling]], report: CopyReport, on_filing: Callable[[CopiedFiling], None]
) -> set[Future[CopiedFiling]]:
    finished, left = wait(running, return_when=FIRST_COMPLETED)
    for filing in _by_name(finished):
        report.filings.append(filing)
        on_filing(filing)
    return left


def _by_name(finished: set[Future[CopiedFiling]]) -> Iterator[CopiedFiling]:
    yield from sorted((future.result() for future in finished), key=lambda filing: filing.doc_id)
