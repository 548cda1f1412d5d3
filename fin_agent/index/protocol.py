"""The interface of every index, and what all of them do alike with the rows that they keep."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from operator import itemgetter
from string import ascii_uppercase
from typing import Any, NamedTuple, Self, TypeVar

from fin_agent.index import rows
from fin_agent.index.rows import StoredRow
from fin_agent.index.stored_filing import Part, StoredFiling
from fin_agent.vocabulary.fact import Fact, Tag
from fin_agent.vocabulary.filing import Filing, Passage, ReadWarning
from fin_agent.vocabulary.identity import FieldSource, Identity, Origin
from fin_agent.vocabulary.page import ItemStart, Note, Page, Statement
from fin_agent.vocabulary.table import Table

T = TypeVar("T")

_INCOME_HEADINGS = ("revenue", "sales", "cost of")
"""Words in headings of rows that divide revenue in an income statement."""
_SMALL = {ord(letter): letter.lower() for letter in ascii_uppercase}


class FilingIndex(ABC):
    """Stored filings. Writes are atomic per filing; reads never see part of one. Safe to share between threads."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Close the connections."""

    # Writing

    def add(self, filing: Filing, cards: Sequence[str], summary: str) -> None:
        """Add a filing with its summary and its cards (JSON, one per passage), replacing one with the same `doc_id`."""
        self.put(StoredFiling.of(filing, cards, summary))

    @abstractmethod
    def put(self, stored: StoredFiling) -> None:
        """Add a filing that was read elsewhere; see `add`."""

    @abstractmethod
    def remove(self, doc_id: str) -> bool:
        """Remove a filing; return False where there was none."""

    @abstractmethod
    def replace_summary(self, doc_id: str, summary: str) -> bool:
        """Replace the summary of a filing and delete the old one's vectors; return False if there is no such filing."""

    # The list of filings

    @abstractmethod
    def filings(self) -> tuple[FilingRecord, ...]:
        """Return all filings, ordered by content hash, then doc_id: an order that does not depend on file names."""

    @abstractmethod
    def entries(self) -> tuple[FilingEntry, ...]:
        """Return the entries of all filings in the order of `filings`; the same object until the list changes."""

    @abstractmethod
    def filing(self, doc_id: str) -> FilingRecord:
        """Return one filing. Raises FilingIndexError where it is not in the index."""

    def page_count(self) -> int:
        """Return the number of pages in the index."""
        return sum(entry.page_count for entry in self.entries())

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[object]:
        """Make all reads inside see one state (of an embedded index: reads by this thread), without blocking writers.

        The log of an embedded index grows until the last reader of an old state ends; a cluster keeps an old state for
        the time of `ConnectionSettings.grace`.
        """

    # Words

    def search_pages(
        self, terms: Sequence[str], *, doc_ids: Collection[str] | None = None, limit: int = 100
    ) -> list[Hit]:
        """Return pages that contain any of `terms`, best first by BM25 over all pages; of `doc_ids`, if given."""
        return self._search(Part.PAGES, terms, doc_ids, limit)

    def search_passages(
        self, terms: Sequence[str], *, doc_ids: Collection[str] | None = None, limit: int = 100
    ) -> list[Hit]:
        """Return passages that contain any of `terms`, best first by BM25 over all passages; of `doc_ids`, if given."""
        return self._search(Part.PASSAGES, terms, doc_ids, limit)

    def search_summaries(
        self, terms: Sequence[str], *, doc_ids: Collection[str] | None = None, limit: int = 100
    ) -> list[tuple[str, float]]:
        """Return (doc_id, score) of filings whose summary contains any of `terms`, best first by BM25.

        Of `doc_ids`, if given. A large index in a folder ignores terms in too many summaries if there is a rarer one.
        """
        return [(hit.doc_id, hit.score) for hit in self._search(Part.DETAILS, terms, doc_ids, limit)]

    @abstractmethod
    def document_frequencies(self, stems: Collection[str]) -> Mapping[str, int]:
        """Return the number of pages on which each Porter stem occurs."""

    @abstractmethod
    def _search(self, part: Part, terms: Sequence[str], doc_ids: Collection[str] | None, limit: int) -> list[Hit]:
        """Return the best rows of a part that contain any of the terms; of `doc_ids`, if given."""

    # What filings contain

    def pages(self, keys: Sequence[PageKey]) -> list[StoredPage]:
        """Return these pages in the order given; unknown ones are left out."""
        return self._on_pages(Part.PAGES, keys, lambda key, row: StoredPage(key.doc_id, rows.PAGE.value(row)))

    @abstractmethod
    def outline(self, doc_ids: Collection[str]) -> list[StoredPage]:
        """Return every page of these filings without its text: item, statements, title, kind and note."""

    def passages(self, keys: Sequence[PageKey]) -> list[StoredPassage]:
        """Return all passages of these pages, page by page in the order given."""
        return self._on_pages(
            Part.PASSAGES, keys, lambda key, row: StoredPassage(key.doc_id, rows.PASSAGE.value(row[:-1]), row[-1])
        )

    @abstractmethod
    def facts(
        self,
        doc_ids: Collection[str],
        *,
        metrics: Collection[str] | None = None,
        pages: Collection[PageKey] | None = None,
        years: Collection[int] | None = None,
    ) -> list[SourcedFact]:
        """Return facts of these filings, by filing, page, line, column.

        Args:
            doc_ids: The filings.
            metrics: Only facts of these metrics; all where None.
            pages: Only facts on these pages; all where None.
            years: Only facts of these fiscal years; all where None.
        """

    def row_labels(self, doc_ids: Collection[str], *, holding: Collection[str]) -> frozenset[RowLabel]:
        """Return labels of rows with company-level figures that contain any of these letters, whatever their case."""
        columns = ("doc_id", "page", "label", "statement", "fiscal_year", "quarter", "scope", "source")
        found = self._fact_columns(doc_ids, columns, holding)
        return frozenset(RowLabel(*row) for *row, scope, source in found if scope is None and source != "text")

    def parts(self, doc_ids: Collection[str]) -> frozenset[str]:
        """Return the parts (segments, products, regions; not of equity) by which these filings divide figures.

        They are scopes (of rows that no metric names, only those of sentences), labels of tagged parts, and labels of
        rows that divide revenue in income statements.
        """
        named: set[str] = set()
        columns = ("scope", "label", "section", "statement", "source", "metric", "tag")
        for scope, label, section, statement, source, metric, tag in self._fact_columns(doc_ids, columns):
            divided = metric is not None or source == "text"
            if scope is not None and divided and statement != Statement.EQUITY:
                named |= {scope} if tag is None else {scope, label}
            if statement == Statement.INCOME and any(word in section.lower() for word in _INCOME_HEADINGS):
                named.add(label)
        return frozenset(named)

    def address_texts(self, doc_ids: Collection[str]) -> frozenset[str]:
        """Return all texts printed around the figures of these filings: labels, headings, column levels, captions."""
        texts, lists = set[str](), set[str]()
        for label, caption, section, path in self._fact_columns(
            doc_ids, ("label", "caption", "section", "column_path")
        ):
            texts.update((label, caption))
            lists.update((section, path))
        return frozenset(texts).union(*map(rows.texts, lists))

    def _fact_columns(
        self, doc_ids: Collection[str], columns: Sequence[str], holding: Collection[str] | None = None
    ) -> Collection[StoredRow]:
        """Return these columns (`doc_id` is one) of the facts of filings, as they are stored, each row once.

        With `holding`, of facts whose labels contain any of these letters, in either case of ASCII.
        """
        chosen = itemgetter(*map(("doc_id", *rows.FACT.names).index, columns))
        letters = None if holding is None else [each.translate(_SMALL) for each in holding]
        facts = ((sourced.doc_id, sourced.fact) for sourced in self.facts(doc_ids))
        return {
            chosen((doc_id, *rows.fact_row(fact, None if fact.tag is None else 0)))
            for doc_id, fact in facts
            if letters is None or any(each in fact.label.translate(_SMALL) for each in letters)
        }

    def tables(self, keys: Sequence[PageKey]) -> list[Table]:
        """Return the tables of these pages in the order given, top to bottom."""
        found = self._on_pages(Part.TABLES, keys, lambda key, row: rows.tables(*row))
        return [table for of_page in found for table in of_page]

    @abstractmethod
    def tags(self, doc_id: str, *, page: int | None = None) -> list[Tag]:
        """Return the inline XBRL tags of a filing, or of its page `page`, in the order of the file."""

    @abstractmethod
    def _on_pages(self, part: Part, keys: Sequence[PageKey], make: Callable[[PageKey, Any], T]) -> list[T]:
        """Return `make` of each row on these pages in their order; rows of passages end with the card."""

    # Vectors

    @abstractmethod
    def add_vectors(self, model: str, unit: VectorUnit, vectors: FilingVectors) -> None:
        """Store the vectors of a filing's units, replacing earlier ones; they are deleted with the filing.

        Raises FilingIndexError where the filing is not in the index.
        """

    def vectors(self, model: str, unit: VectorUnit, doc_ids: Collection[str] | None = None) -> Iterator[FilingVectors]:
        """Yield the vectors filing by filing, in the order of `entries`; of `doc_ids`, if given."""
        stored = self._filings_with_vectors(model, unit)
        wanted = stored if doc_ids is None else stored & frozenset(doc_ids)
        yield from self._read_vectors(model, unit, [each.doc_id for each in self.entries() if each.doc_id in wanted])

    def without_vectors(self, model: str, unit: VectorUnit) -> tuple[str, ...]:
        """Return the filings without vectors by `model`, in the order of `entries`."""
        stored = self._filings_with_vectors(model, unit)
        return tuple(entry.doc_id for entry in self.entries() if entry.doc_id not in stored)

    @abstractmethod
    def vector_models(self) -> tuple[VectorModel, ...]:
        """Return the models and units with vectors, by model name, then unit."""

    @abstractmethod
    def _filings_with_vectors(self, model: str, unit: VectorUnit) -> frozenset[str]:
        """Return the filings that have vectors of this model and unit."""

    @abstractmethod
    def _read_vectors(self, model: str, unit: VectorUnit, doc_ids: Sequence[str]) -> Iterator[FilingVectors]:
        """Yield the vectors of these filings; filings removed meanwhile are left out."""

    # Whole filings and their checksums

    @abstractmethod
    def stored(self, doc_id: str) -> StoredFiling:
        """Return a filing without its vectors, to copy it. Raises FilingIndexError where there is none."""

    @abstractmethod
    def checksums(self, doc_id: str) -> dict[str, str]:
        """Return the checksums of a filing by part; empty where it is not in the index."""

    def check_rows(self, doc_ids: Collection[str], *, words: bool | None = None) -> None:  # noqa: B027
        """Raise FilingIndexError where content that an answer reads from these filings differs from what was written.

        That is identities, figures, and tags or (for `words`) passages and pages; everything if `words` is None. A
        cluster verifies its files itself.
        """


class PageKey(NamedTuple):
    """A page of a filing; `page` is 0-based."""

    doc_id: str
    page: int


@dataclass(frozen=True, slots=True)
class FilingEntry:
    """A filing in a long list: what identifies it."""

    doc_id: str
    content_hash: str
    identity: Identity
    """Without its `sources`."""
    page_count: int

    @property
    def page_keys(self) -> list[PageKey]:
        """The keys of all its pages."""
        return [PageKey(self.doc_id, number) for number in range(self.page_count)]

    @classmethod
    def of(cls, row: Sequence[Any]) -> FilingEntry:
        """Return the entry from a row of ENTRY_COLUMNS."""
        doc_id, content_hash, page_count, *identity = row
        return cls(doc_id, content_hash, rows.IDENTITY.value(identity), page_count)


@dataclass(frozen=True, slots=True)
class FilingRecord(FilingEntry):
    """A filing as listed: everything except its content; its identity has `sources`."""

    source: str
    summary: str
    passage_count: int
    fact_count: int
    items: tuple[ItemStart, ...] = ()
    notes: tuple[Note, ...] = ()
    warnings: tuple[ReadWarning, ...] = ()

    @classmethod
    def of(cls, row: Sequence[Any]) -> FilingRecord:
        """Return the record from a row of FILING_COLUMNS and DETAIL_COLUMNS."""
        doc_id, source, content_hash, _, *identity, page_count, passage_count, fact_count, s, i, n, w, summary = row
        sources, items, notes, warnings = map(json.loads, (s, i, n, w))
        fields = tuple(FieldSource(field, value, Origin(origin), *more) for field, value, origin, *more in sources)
        return cls(
            *(doc_id, content_hash, rows.IDENTITY.value(identity, sources=fields), page_count),
            *(source, summary, passage_count, fact_count),
            items=tuple(ItemStart(*start) for start in items),
            notes=tuple(Note(*note) for note in notes),
            warnings=tuple(ReadWarning(*warning) for warning in warnings),
        )


class Hit(NamedTuple):
    """A page, passage or summary found."""

    doc_id: str
    page: int
    """0-based; 0 for a summary."""
    ordinal: int
    """Position among the filing's pages or passages, from 0."""
    score: float
    """By BM25: higher is better."""

    @property
    def key(self) -> PageKey:
        """The page, or that of the passage."""
        return PageKey(self.doc_id, self.page)


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page and the filing it belongs to."""

    doc_id: str
    page: Page

    @property
    def key(self) -> PageKey:
        """The key of the page."""
        return PageKey(self.doc_id, self.page.number)


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """A passage, its filing, and its card as JSON."""

    doc_id: str
    passage: Passage
    card: str

    @property
    def key(self) -> PageKey:
        """The page of the passage."""
        return PageKey(self.doc_id, self.passage.page)


class RowLabel(NamedTuple):
    """A row label as printed, with its page and a period for which the row has a figure."""

    doc_id: str
    page: int
    label: str
    statement: str | None
    fiscal_year: int
    quarter: int | None


@dataclass(frozen=True, slots=True)
class SourcedFact:
    """A fact and the filing that states it."""

    doc_id: str
    fact: Fact

    @property
    def key(self) -> PageKey:
        """The page of the fact."""
        return PageKey(self.doc_id, self.fact.page)


class VectorUnit(StrEnum):
    """The units of text that vectors represent."""

    SUMMARY = "summary"
    PAGE = "page"
    PASSAGE = "passage"
    WINDOW = "window"
    """A part of a passage that fits the model."""

    @property
    def plural(self) -> str:
        """The name in `fin-agent embed --units`, such as `summaries`."""
        return "summaries" if self is VectorUnit.SUMMARY else f"{self.value}s"


@dataclass(frozen=True, slots=True)
class FilingVectors:
    """The vectors of one filing's units by one model."""

    doc_id: str
    places: tuple[int, ...]
    """For each row: page number (PAGE), ordinal of the passage (PASSAGE, WINDOW: several rows may share it), or 0."""
    dimensions: int
    values: bytes
    """All numbers are little-endian. Dense: float16, row by row, len(places) x dimensions.

    Sparse: how many terms each row has (uint32), then the terms of all rows (uint32, below `dimensions`), then their
    weights (float16).
    """
    sparse: bool = False


@dataclass(frozen=True, slots=True)
class VectorModel:
    """A model and unit with vectors in an index."""

    model: str
    unit: VectorUnit
    dimensions: int
    sparse: bool
    filings: int
    rows: int
    latest: int
    """Increases with every addition: the vectors have changed if this, `filings` or `rows` has."""
