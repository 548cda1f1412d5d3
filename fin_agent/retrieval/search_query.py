"""What is searched for in one round, how far, and what a search returns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from fin_agent.index.protocol import PageKey, SourcedFact, StoredPassage
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.lexicon.slots import Slot
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.ranked_group import RankedGroup


@dataclass(frozen=True, slots=True)
class Query:
    """A search over documents, pages and passages."""

    text: str
    """In words: what a person reads in the trace."""
    terms: tuple[str, ...]
    """Search terms of the question itself."""
    expansions: tuple[str, ...] = ()
    """Terms that filings use for the same thing: they count half."""
    synonyms: tuple[str, ...] = ()
    """What filings write for the everyday words of the question."""
    companies: tuple[str, ...] = ()
    """Keys of the companies meant; empty where none is named."""
    unsure: tuple[str, ...] = ()
    """Those of the companies that the question may not mean: a name misspelt, or a part of one."""
    periods: tuple[FiscalPeriod, ...] = ()
    dates: tuple[date, ...] = ()
    forms: tuple[Form, ...] = ()
    statements: tuple[Statement, ...] = ()
    items: tuple[str, ...] = ()
    """Items, as `10-K.7`, where such things are told, best first."""
    tables: tuple[str, ...] = ()
    """Kinds of tables (`TableKind` values) that show such things."""
    slots: tuple[Slot, ...] = ()
    """Figures that are looked for."""
    printed: tuple[SourcedFact, ...] = ()
    """Facts that fact search found for those of the slots that are searched, named after their slots."""
    metrics: tuple[str, ...] = ()
    """Figures that are spoken of: those of the question, and those its ratios are made of."""
    figures: bool = False
    """Whether a figure is asked for that no slot describes: tables go before running text."""


@dataclass(frozen=True, slots=True)
class RankedFiling:
    """A filing and why it stands where it stands."""

    doc_id: str
    score: float
    features: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class RankedPage:
    """A page and why it stands where it stands."""

    key: PageKey
    score: float
    features: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A passage and its score."""

    stored: StoredPassage
    score: float


@dataclass(frozen=True, slots=True)
class Scope:
    """What may be retrieved: everything, or only these filings, or only these pages (the oracles of a benchmark)."""

    doc_ids: tuple[str, ...] | None = None
    pages: tuple[PageKey, ...] | None = None

    @property
    def filings(self) -> tuple[str, ...] | None:
        """The filings that may be retrieved; None where all may."""
        if self.pages is None:
            return self.doc_ids
        of_pages = tuple(dict.fromkeys(key.doc_id for key in self.pages))
        return of_pages if self.doc_ids is None else tuple(doc_id for doc_id in of_pages if doc_id in self.doc_ids)

    def holds(self, page: PageKey) -> bool:
        """Whether that page may be retrieved."""
        in_filing = self.doc_ids is None or page.doc_id in self.doc_ids
        return in_filing and (self.pages is None or page in self.pages)


EVERYTHING = Scope()


@dataclass(frozen=True, slots=True)
class Depth:
    """How many of each to return, best first."""

    documents: int = 5
    pages: int = 20
    passages: int = 10


USUAL_DEPTH = Depth()


@dataclass(frozen=True, slots=True)
class SearchStep:
    """A stage of a search as it went, for the trace."""

    stage: str
    """`documents`, `passages`, `curation`; each strategy names its own."""
    how: str
    """By what means."""
    found: str = ""
    """What came of it."""

    def __str__(self) -> str:
        return f"{self.stage}: {self.how}" + (f": {self.found}" if self.found else "")


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found, each list best first."""

    filings: tuple[RankedFiling, ...]
    pages: tuple[RankedPage, ...]
    passages: tuple[RankedPassage, ...]
    rounds: int = 1
    """Rounds of search it took."""
    kept: int | None = None
    """How many passages, from the first on, an answer is to be written from; None where the reader decides."""
    groups: tuple[RankedGroup, ...] = ()
    """Who met whom, where a tournament was held."""
    curated: bool = False
    """Whether evidence was curated in it, in rounds of its own: nothing more is to be searched for."""
    steps: tuple[SearchStep, ...] = ()
    """Its stages in their order, of strategies that have several."""
