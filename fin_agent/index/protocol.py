"""What every index offers: keep filings whole, find their pages, hand out their passages, cards and facts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

from fin_agent.vocabulary.fact import Fact, Tag
from fin_agent.vocabulary.filing import Filing, Passage, ReadWarning
from fin_agent.vocabulary.identity import Identity
from fin_agent.vocabulary.page import ItemStart, Note, Page
from fin_agent.vocabulary.table import Table

if TYPE_CHECKING:
    from fin_agent.index.stored_filing import StoredFiling


class FilingIndex(Protocol):
    """Filings that were read, kept together. Writes are atomic per filing; reads never see half of one."""

    def add(self, filing: Filing, cards: Sequence[str], summary: str) -> None:
        """Make `filing` visible with everything it holds, replacing one of the same `doc_id`.

        `cards` are its cards as JSON, one per passage in their order; `summary` says on a few lines what it is.
        """

    def remove(self, doc_id: str) -> bool:
        """Take a filing out. Returns False where there was none."""

    def filings(self) -> tuple[FilingRecord, ...]:
        """All filings, ordered by content hash, then doc_id: an order that does not depend on file names."""

    def entries(self) -> tuple[FilingEntry, ...]:
        """All filings in the order of `filings`, with what tells them apart only: cheap with very many of them.

        Like `filings`, the same object until the list changes.
        """

    def filing(self, doc_id: str) -> FilingRecord:
        """One filing. Raises FilingIndexError where it is not in the index."""

    def search_pages(
        self, terms: Sequence[str], *, doc_ids: Collection[str] | None = None, limit: int = 100
    ) -> list[PageHit]:
        """Pages that hold any of `terms`, best first by BM25 over all pages; only of `doc_ids` where given."""

    def search_passages(
        self,
        terms: Sequence[str],
        *,
        doc_ids: Collection[str] | None = None,
        pages: Collection[PageKey] | None = None,
        limit: int = 100,
    ) -> list[PassageHit]:
        """Passages that hold any of `terms`, best first by BM25 over all passages.

        Only those of `doc_ids` and only those on `pages`, where given.
        """

    def search_summaries(
        self, terms: Sequence[str], *, doc_ids: Collection[str] | None = None, limit: int = 100
    ) -> list[tuple[str, float]]:
        """(doc_id, score) of filings whose summary holds any of `terms`, best first by BM25; of `doc_ids` where given.

        Among very many filings, terms that too many summaries hold are left out where a rarer one is given.
        """

    def pages(self, keys: Sequence[PageKey]) -> list[StoredPage]:
        """The pages named, in the order asked for; unknown ones are left out."""

    def outline(self, doc_ids: Collection[str]) -> list[PageOutline]:
        """Item, statement and title of every page of these filings, without text."""

    def passages(self, keys: Sequence[PageKey]) -> list[StoredPassage]:
        """All passages of the pages named, page by page in the order asked for."""

    def facts(
        self,
        doc_ids: Collection[str],
        *,
        metrics: Collection[str] | None = None,
        pages: Collection[PageKey] | None = None,
        years: Collection[int] | None = None,
    ) -> list[SourcedFact]:
        """Facts of these filings; of `metrics`, on `pages`, of fiscal `years` only, where given.

        By filing, page, line, column.
        """

    def row_labels(self, doc_ids: Collection[str], *, holding: Collection[str]) -> list[RowLabel]:
        """Labels that hold any of these letters, of rows with figures of whole companies; by filing, page.

        Once for each page and period; capital letters are as good as small ones.
        """

    def parts(self, doc_ids: Collection[str]) -> frozenset[str]:
        """By which parts (segments, products, regions) these filings divide figures, as printed.

        Components of equity are none.
        """

    def address_texts(self, doc_ids: Collection[str]) -> frozenset[str]:
        """Everything that these filings print around their figures: labels, headings, levels of columns, captions."""

    def tables(self, keys: Sequence[PageKey]) -> list[Table]:
        """Tables of the pages named, in the order asked for, top to bottom."""

    def tags(self, doc_id: str, *, page: int | None = None) -> list[Tag]:
        """What inline XBRL says in a filing (on its page `page` only, where given), in the order of the file."""

    def document_frequencies(self, stems: Collection[str]) -> Mapping[str, int]:
        """On how many pages each Porter stem occurs."""

    def page_count(self) -> int:
        """Number of pages in the index."""

    def add_vectors(self, model: str, unit: VectorUnit, vectors: FilingVectors) -> None:
        """Keep what `model` made of a filing's units, in place of what was kept; it goes when the filing goes.

        Raises FilingIndexError where the filing is not in the index or the vectors contradict themselves.
        """

    def vectors(self, model: str, unit: VectorUnit, doc_ids: Collection[str] | None = None) -> Iterator[FilingVectors]:
        """Vectors filing by filing, in the order of `entries`; only of `doc_ids` where given."""

    def without_vectors(self, model: str, unit: VectorUnit) -> tuple[str, ...]:
        """Filings that `model` has made no vectors of yet, in the order of `entries`."""

    def vector_models(self) -> tuple[VectorModel, ...]:
        """Which models made vectors of which units, by name of the model, then unit."""

    def snapshot(self) -> AbstractContextManager[object]:
        """All that is read inside (by this thread, of an embedded index) is of one state; nobody is kept from writing.

        The log of an embedded index grows until the last reader of an old state ends; a cluster keeps an old state for
        as long as `Reaching.grace` says.
        """

    def check_rows(self, doc_ids: Collection[str], *, words: bool) -> None:
        """Raises FilingIndexError where what an answer reads of these filings is not what was written.

        Looked at is who and when each of them is, its figures, and its tags or, for an answer in `words`, its passages
        and pages. A cluster is taken at its word: it holds its files against checksums itself.
        """

    def check_whole(self) -> None:
        """Where something broke without a reason: raises FilingIndexError where a row is not what was written."""

    def stored(self, doc_id: str) -> StoredFiling:
        """A filing without its vectors, to be carried to another index. Raises FilingIndexError where there is none."""

    def checksums(self, doc_id: str) -> dict[str, str]:
        """Part -> checksum of a filing; empty where it is not in the index."""

    def put(self, stored: StoredFiling) -> None:
        """As `add`, of a filing that was read elsewhere."""


class PageKey(NamedTuple):
    """A page of a filing; `page` is 0-based."""

    doc_id: str
    page: int


@dataclass(frozen=True, slots=True)
class FilingRecord:
    """A filing as listed: everything but its content."""

    doc_id: str
    source: str
    content_hash: str
    identity: Identity
    summary: str
    page_count: int
    passage_count: int
    fact_count: int
    items: tuple[ItemStart, ...] = ()
    notes: tuple[Note, ...] = ()
    warnings: tuple[ReadWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class FilingEntry:
    """A filing in a list of very many: what tells it apart."""

    doc_id: str
    content_hash: str
    identity: Identity
    """Without its `sources`."""
    page_count: int


@dataclass(frozen=True, slots=True)
class PageHit:
    """A page found and its BM25 score (higher is better)."""

    key: PageKey
    score: float


@dataclass(frozen=True, slots=True)
class PassageHit:
    """A passage found and its BM25 score (higher is better)."""

    doc_id: str
    page: int
    ordinal: int
    """Position among the filing's passages, from 0."""
    score: float

    @property
    def key(self) -> PageKey:
        """The page it stands on."""
        return PageKey(self.doc_id, self.page)


@dataclass(frozen=True, slots=True)
class PageOutline:
    """A page's place in its filing."""

    key: PageKey
    item: str | None
    statement: str | None
    title: str
    kind: str | None = None
    note: str | None = None
    further_statements: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page and the filing it belongs to."""

    doc_id: str
    page: Page

    @property
    def key(self) -> PageKey:
        """Where it is."""
        return PageKey(self.doc_id, self.page.number)


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """A passage, its filing, and its card as JSON."""

    doc_id: str
    passage: Passage
    card: str

    @property
    def key(self) -> PageKey:
        """The page it stands on."""
        return PageKey(self.doc_id, self.passage.page)


class RowLabel(NamedTuple):
    """A label as printed, where, and a period that its row has a figure of."""

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
        """The page it stands on."""
        return PageKey(self.doc_id, self.fact.page)


class VectorUnit(StrEnum):
    """What one vector stands for."""

    SUMMARY = "summary"
    PAGE = "page"
    PASSAGE = "passage"
    WINDOW = "window"
    """A stretch of a passage, as long as the model reads."""

    @property
    def plural(self) -> str:
        """As `fin-agent embed --units` names it: `summaries`."""
        return "summaries" if self is VectorUnit.SUMMARY else f"{self.value}s"


@dataclass(frozen=True, slots=True)
class FilingVectors:
    """What one model made of one filing's units."""

    doc_id: str
    places: tuple[int, ...]
    """Of each row: page number (PAGE), ordinal of the passage (PASSAGE, WINDOW: several rows may share it), or 0."""
    dimensions: int
    values: bytes
    """All numbers are little-endian. Dense: float16, row by row, len(places) x dimensions.

    Sparse: how many terms each row has (uint32), then the terms of all rows (uint32, below `dimensions`), then their
    weights (float16).
    """
    sparse: bool = False


@dataclass(frozen=True, slots=True)
class VectorModel:
    """What an index holds of one model and unit."""

    model: str
    unit: VectorUnit
    dimensions: int
    sparse: bool
    filings: int
    rows: int
    latest: int
    """Grows with everything added: what is held has changed where this, `filings` or `rows` has."""
