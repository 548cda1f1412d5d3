"""Values of a search: what to search for, how deep, and what it returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from fin_agent.index.protocol import PageKey, SourcedFact, StoredPassage
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.lexicon.slots import Slot
from fin_agent.lexicon.words import load_yaml
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.ranked_group import RankedGroup


@dataclass(frozen=True, slots=True)
class Query:
    """A search for filings, pages and passages."""

    text: str
    """The question in words, as the trace shows it."""
    terms: tuple[str, ...]
    """Search terms from the question itself."""
    expansions: tuple[str, ...] = ()
    """Terms that filings use for the same thing, with half the weight."""
    synonyms: tuple[str, ...] = ()
    """What filings write for everyday words of the question."""
    companies: tuple[str, ...] = ()
    """Keys of the companies meant; empty where none is named."""
    unsure: tuple[str, ...] = ()
    """Those of the companies that the question may not mean: a name misspelt, or part of one."""
    periods: tuple[FiscalPeriod, ...] = ()
    dates: tuple[date, ...] = ()
    forms: tuple[Form, ...] = ()
    statements: tuple[Statement, ...] = ()
    items: tuple[str, ...] = ()
    """Items such as `10-K.7` where the answer is usually found, best first."""
    tables: tuple[str, ...] = ()
    """Kinds of tables (`TableKind` values) where the answer is usually found."""
    slots: tuple[Slot, ...] = ()
    """Figures to find."""
    printed: tuple[SourcedFact, ...] = ()
    """Facts that fact search found for searched slots, named after their slots."""
    metrics: tuple[str, ...] = ()
    """Metrics mentioned: those of the question and the components of its ratios."""
    figures: bool = False
    """Whether the question asks for a figure that no slot describes; tables then come before running text."""


@dataclass(frozen=True, slots=True)
class RankedFiling:
    """A filing with its score and the features that explain it."""

    doc_id: str
    score: float
    features: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class RankedPage:
    """A page with its score and the features that explain it."""

    key: PageKey
    score: float
    features: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A passage with its score."""

    stored: StoredPassage
    score: float


@dataclass(frozen=True, slots=True)
class Scope:
    """What may be retrieved: everything, only certain filings, or only certain pages (as in a benchmark's oracles)."""

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
        """Return whether a page may be retrieved."""
        in_filing = self.doc_ids is None or page.doc_id in self.doc_ids
        return in_filing and (self.pages is None or page in self.pages)


EVERYTHING = Scope()


@dataclass(frozen=True, slots=True)
class Depth:
    """How many filings, pages and passages to return."""

    documents: int = 5
    pages: int = 20
    passages: int = 10


DEFAULT_DEPTH = Depth()


@dataclass(frozen=True, slots=True)
class SearchStep:
    """A stage of a search, for the trace."""

    stage: str
    """`documents`, `passages`, `curation`; each strategy has its own names."""
    how: str
    """The method."""
    found: str = ""
    """The result."""

    def __str__(self) -> str:
        return f"{self.stage}: {self.how}" + (f": {self.found}" if self.found else "")


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The results of a search, each list best first."""

    filings: tuple[RankedFiling, ...]
    pages: tuple[RankedPage, ...]
    passages: tuple[RankedPassage, ...]
    rounds: int = 1
    """Number of rounds of search."""
    kept: int | None = None
    """How many of the first passages the answer is to be written from; None where the reader decides."""
    groups: tuple[RankedGroup, ...] = ()
    """The groups of a tournament, if there was one."""
    curated: bool = False
    """Whether the search curated evidence in rounds of its own, so that no further search is needed."""
    steps: tuple[SearchStep, ...] = ()
    """The stages in order, for strategies that have several."""


def meanings(kind: str) -> Mapping[str, str]:
    """Return the meaning of each feature of `filings` or `pages`, or of each kind of `scores`, by its name."""
    found: dict[str, str] = load_yaml("meanings", __package__)[kind]
    return found
